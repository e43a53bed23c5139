// The plain YAML of nearly all manifests: block mappings and lists, one-line scalars and brackets, block
// scalars, comments. It takes a fraction of the library's time, which decides how long an offline command takes. Whatever is beyond
// it, or in doubt, is left to the library by giving `undefined`; a property test holds that both agree on the rest.
import { own } from '@kleym/shared/core/base/json.ts'
import { readFlow } from './yaml-flow.ts'
import { UNSUPPORTED, BLANK, learnLine, MARK, type YamlLine, type YamlLines } from './yaml-line.ts'

/** What was read, and the line in the text (from 0) on which it begins. */
export interface PlainDocument {
  readonly value: Record<string, unknown>
  readonly line: number
  /** How many lines were read. */
  readonly lines: number
  /** The line in the text (from 0) of the object at a path of item numbers: `[2, 0]` is `.items[2].items[0]`. */
  itemLine(path: readonly number[]): number | undefined
}

/** The mapping that a text is, or undefined when this reader does not take it. `lines` may be shared between texts. */
export function parsePlainYaml(text: string, lines: YamlLines = new Map()): PlainDocument | undefined {
  if (!PRINTABLE.test(text)) return undefined
  const texts = text.split('\n')
  const place: Place = { texts, lines, number: -1, line: MARK, itemLines: new Map() }
  while (place.line === MARK) next(place)
  const line = place.number
  const value = readMapping(place, 0)
  if (value === undefined || place.line !== END) return undefined
  const { itemLines } = place
  return { value, line, lines: texts.length, itemLine: (path) => placeOfItem(value, path, itemLines) }
}

/** The place of the object at a path of item numbers, of those where the items of each list begin; undefined where none is known. */
export function placeOfItem(
  value: unknown,
  path: readonly number[],
  places: ReadonlyMap<readonly unknown[], readonly number[]>,
): number | undefined {
  let at = value
  let place: number | undefined
  for (const number of path) {
    const items = own(at, 'items')
    if (!Array.isArray(items)) return undefined
    place = places.get(items)?.[number]
    at = items[number]
  }
  return place
}

const DEPTH_MAX = 32
/** No tabs, no carriage returns, nothing beyond printable ASCII. */
const PRINTABLE = /^[\n\u0020-\u007e]*$/
/** Less indented than any line, so that whatever is open ends before it, and before what is beyond this reader. */
const END: YamlLine = { ...UNSUPPORTED }

/** How far a text has been read. */
interface Place {
  readonly texts: readonly string[]
  readonly lines: YamlLines
  number: number
  /** The line of that number; behind the dash of an item, the rest of it. */
  line: YamlLine
  /** The lines on which the items of each list begin that stands under `items`. */
  readonly itemLines: Map<readonly unknown[], readonly number[]>
}

/** Goes to the next line that holds something. */
function next(place: Place): void {
  let line: YamlLine
  do {
    const text = place.texts[++place.number]
    line = text === undefined ? END : (place.lines.get(text) ?? learnLine(place.lines, text))
  } while (line === BLANK)
  place.line = line
}

// Every function below gives undefined for what this reader does not take; then the whole text is left to the library.

function readMapping(place: Place, depth: number): Record<string, unknown> | undefined {
  const { indent } = place.line
  if (depth > DEPTH_MAX || indent < 0) return undefined
  const record: Record<string, unknown> = {}
  for (let line = place.line; line.indent === indent; line = place.line) {
    const { key } = line
    // `__proto__` must not be assigned, and the library says where a key stands twice.
    if (key === undefined || key in record) return undefined
    let value = line.scalar
    if (value === undefined) value = readValue(place, line, depth)
    else next(place)
    if (value === undefined) return undefined
    record[key] = value
  }
  // A deeper line after a finished value continues it, or is wrong.
  return place.line.indent < indent ? record : undefined
}

/** A list beside the key that it belongs to ends where the next key stands. */
function readList(
  place: Place,
  depth: number,
  besideKey: boolean,
  itemLines?: number[],
): unknown[] | undefined {
  const { indent } = place.line
  if (depth > DEPTH_MAX) return undefined
  const items: unknown[] = []
  for (let line = place.line; line.indent === indent; line = place.line) {
    if (line.key !== undefined) return besideKey ? items : undefined
    // Behind a dash that stands alone, the item begins on another line.
    if (itemLines !== undefined && line.inner === undefined && line.scalar === undefined && line.open === '')
      return undefined
    itemLines?.push(place.number)
    let item = line.scalar
    if (item === undefined) item = readValue(place, line, depth)
    else next(place)
    if (item === undefined) return undefined
    items.push(item)
  }
  return place.line.indent < indent ? items : undefined
}

/** The value of an entry or an item that is no scalar on its line. */
function readValue(place: Place, line: YamlLine, depth: number): unknown {
  const { inner, open } = line
  if (open !== '') return readOpen(place, line)
  if (inner === undefined) next(place)
  else place.line = inner
  return readBelow(place, line, depth + 1)
}

/** What stands in brackets, or a block scalar. */
function readOpen(place: Place, { open, indent }: YamlLine): unknown {
  if (open.startsWith('{') || open.startsWith('[')) {
    next(place)
    return readFlow(open)
  }
  const block = readBlock(place.texts, place.number + 1, indent)
  if (block === undefined) return undefined
  place.number = block.end - 1
  next(place)
  return blockText(open, block.lines)
}

/** What stands below a key or a dash, or behind the dash. */
function readBelow(place: Place, { indent, key }: YamlLine, depth: number): unknown {
  const { line } = place
  if (line.indent > indent)
    return line.key === undefined ? readListOf(place, depth, key, false) : readMapping(place, depth)
  // A list may be as far left as the key that it belongs to.
  const isBeside = line.indent === indent && key !== undefined && line.key === undefined
  return isBeside ? readListOf(place, depth, key, true) : null
}

/** A list, and where the items of a `List` stand in it. */
function readListOf(
  place: Place,
  depth: number,
  key: string | undefined,
  besideKey: boolean,
): unknown[] | undefined {
  if (key !== 'items') return readList(place, depth, besideKey)
  const lines: number[] = []
  const items = readList(place, depth, besideKey, lines)
  if (items !== undefined) place.itemLines.set(items, lines)
  return items
}

/**
 * The lines of a block scalar without their indentation, and the number of the line after it; undefined where they are indented in a way that
 * takes more rules than these.
 */
function readBlock(
  all: readonly string[],
  from: number,
  indent: number,
): { readonly lines: readonly string[]; readonly end: number } | undefined {
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
