// The plain YAML of which nearly all manifests are made, read line by line: block mappings and lists, one-line scalars,
// block scalars, comments. It takes a tenth of the library's time, which decides how long an offline command takes. Whatever is beyond
// it, or in doubt, is left to the library by giving `undefined`; a property test holds that both agree on the rest.
import { resolvePlain } from './yaml-scalars.ts'

/** What was read, and the line in the text (from 0) on which it begins. */
export interface PlainDocument {
  readonly value: Record<string, unknown>
  readonly line: number
}

/** The mapping that a text is, or undefined when this reader does not take it. */
export function parsePlainYaml(text: string): PlainDocument | undefined {
  if (!PRINTABLE.test(text)) return undefined
  const all = text.split('\n')
  const lines = linesWithContent(all)
  const [first] = lines ?? []
  if (lines === undefined || first === undefined) return undefined
  const reader = new Reader(all, lines)
  const value = reader.mapping(first.indent, 0)
  return value === undefined || !reader.atEnd ? undefined : { value, line: first.number }
}

interface SourceLine {
  readonly indent: number
  readonly text: string
  readonly number: number
}

const DEPTH_MAX = 32
/** No tabs, no carriage returns, nothing beyond printable ASCII. */
const PRINTABLE = /^[\n\u0020-\u007e]*$/

/** The lines that hold something; undefined when the text as a whole is not for this reader. */
function linesWithContent(all: readonly string[]): readonly SourceLine[] | undefined {
  const lines: SourceLine[] = []
  for (let number = 0; number < all.length; number++) {
    const line = (all[number] ?? '').trimEnd()
    const content = line.trimStart()
    if (content === '' || content.startsWith('#')) continue
    if (line === '---' && lines.length === 0) continue
    if (line.startsWith('---') || line.startsWith('...') || line.startsWith('%')) return undefined
    lines.push({ indent: line.length - content.length, text: content, number })
  }
  return lines
}

/** A key that is surely a string, then a colon, then nothing or a blank and the value. */
const ENTRY = /^([A-Za-z_][A-Za-z0-9_./-]*):(?: +(\S.*))?$/

/** Every method gives undefined for what this reader does not take; then the whole text is left to the library. */
class Reader {
  /** Every line as it is: in a block scalar, blanks and what looks like a comment are text. */
  readonly #all: readonly string[]
  readonly #lines: readonly SourceLine[]
  #at = 0
  /** The rest of a line of which a list dash was read, in place of the line. */
  #rest: SourceLine | undefined

  constructor(all: readonly string[], lines: readonly SourceLine[]) {
    this.#all = all
    this.#lines = lines
  }

  get atEnd(): boolean {
    return this.#line === undefined
  }

  get #line(): SourceLine | undefined {
    return this.#rest ?? this.#lines[this.#at]
  }

  #next(): void {
    this.#rest = undefined
    this.#at++
  }

  mapping(indent: number, depth: number): Record<string, unknown> | undefined {
    if (depth > DEPTH_MAX) return undefined
    const record: Record<string, unknown> = {}
    for (let line = this.#line; line !== undefined && line.indent === indent; line = this.#line) {
      if (isItem(line.text)) return undefined
      const [, key, rest] = ENTRY.exec(line.text) ?? []
      // `yes:` is the key "true", `__proto__` must not be assigned, and the library says where a key stands twice.
      if (key === undefined || typeof resolvePlain(key) !== 'string' || key in record) return undefined
      this.#next()
      const value =
        rest === undefined ? this.#nested(indent, depth, true) : this.#scalar(rest, indent, line.number)
      if (value === undefined) return undefined
      record[key] = value
    }
    return this.#ended(indent) ? record : undefined
  }

  /** What stands below a key or a dash. A list may be as far left as the key that it belongs to. */
  #nested(indent: number, depth: number, inMapping: boolean): unknown {
    const line = this.#line
    if (line === undefined || line.indent < indent) return null
    if (line.indent === indent)
      return inMapping && isItem(line.text) ? this.#list(indent, depth + 1, true) : null
    return isItem(line.text)
      ? this.#list(line.indent, depth + 1, false)
      : this.mapping(line.indent, depth + 1)
  }

  #list(indent: number, depth: number, besideKey: boolean): unknown[] | undefined {
    if (depth > DEPTH_MAX) return undefined
    const items: unknown[] = []
    for (let line = this.#line; line !== undefined && line.indent === indent; line = this.#line) {
      if (!isItem(line.text)) return besideKey ? items : undefined
      const rest = line.text.slice(1).trimStart()
      let item: unknown
      if (rest === '') {
        this.#next()
        item = this.#nested(indent, depth, false)
      } else if (isItem(rest) || ENTRY.test(rest)) {
        const inner = indent + line.text.length - rest.length
        this.#rest = { indent: inner, text: rest, number: line.number }
        item = isItem(rest) ? this.#list(inner, depth + 1, false) : this.mapping(inner, depth + 1)
      } else {
        this.#next()
        item = this.#scalar(rest, indent, line.number)
      }
      if (item === undefined) return undefined
      items.push(item)
    }
    return this.#ended(indent) ? items : undefined
  }

  /** A scalar whose text begins on a line that has been read, below a key or a dash of that indentation. */
  #scalar(text: string, indent: number, number: number): unknown {
    if (!BLOCK.test(text)) return scalar(text)
    const block = readBlock(this.#all, number + 1, indent)
    if (block === undefined) return undefined
    while ((this.#lines[this.#at]?.number ?? block.end) < block.end) this.#at++
    return blockText(text, block.lines)
  }

  /** A deeper line after a finished value continues it, or is wrong: not for this reader. */
  #ended(indent: number): boolean {
    const line = this.#line
    return line === undefined || line.indent < indent
  }
}

function isItem(text: string): boolean {
  return text === '-' || text.startsWith('- ')
}

/** The head of a block scalar; one that says how far it is indented is left to the library. */
const BLOCK = /^[|>][-+]?$/

/** The lines of a block scalar without their indentation, and the number of the line after it. */
interface Block {
  readonly lines: readonly string[]
  readonly end: number
}

/** Undefined where its lines are indented in a way that takes more rules than these. */
function readBlock(all: readonly string[], from: number, indent: number): Block | undefined {
  const first = all[from] ?? ''
  const inner = first.length - first.trimStart().length
  if (first.trim() === '' || inner <= indent) return undefined
  const lines: string[] = []
  let end = from
  for (; end < all.length - 1; end++) {
    const line = all[end] ?? ''
    const content = line.trimStart()
    if (content === '') {
      if (line.length > inner) return undefined
      lines.push('')
      continue
    }
    const depth = line.length - content.length
    if (depth <= indent) break
    if (depth < inner) return undefined
    lines.push(line.slice(inner))
  }
  // Whether the last line ends in a line break decides about its text: the library knows.
  return all[end] === undefined || (end === all.length - 1 && all[end] !== '') ? undefined : { lines, end }
}

function blockText(head: string, lines: readonly string[]): string | undefined {
  const last = lines.findLastIndex((line) => line !== '')
  const content = lines.slice(0, last + 1)
  const isFolded = head.startsWith('>')
  // Blank and deeper lines keep their line breaks, by rules that are the library's.
  if (isFolded && content.some((line) => line === '' || line.startsWith(' '))) return undefined
  const text = content.join(isFolded ? ' ' : '\n')
  if (head.endsWith('-')) return text
  return head.endsWith('+') ? text + '\n'.repeat(lines.length - last) : `${text}\n`
}

/** Begins like a plain scalar; indicators, quotes and dashes before blanks do not. */
const PLAIN = /^(?:[A-Za-z0-9/_.+(<$~=]|-(?=[^ ]))/
const QUOTED = /^(?:"([^"\\]*)"|'([^']*)')(?: +#.*)?$/

/** A one-line scalar, or an empty list or mapping. */
function scalar(text: string): unknown {
  if (text === '{}') return {}
  if (text === '[]') return []
  const quoted = QUOTED.exec(text)
  if (quoted !== null) return quoted[1] ?? quoted[2]
  if (!PLAIN.test(text)) return undefined
  const comment = text.indexOf(' #')
  const plain = comment === -1 ? text : text.slice(0, comment).trimEnd()
  if (plain.includes(': ') || plain.endsWith(':')) return undefined
  const value = resolvePlain(plain)
  // Infinity and NaN are refused, and the library knows where they stand.
  return typeof value === 'number' && !Number.isFinite(value) ? undefined : value
}
