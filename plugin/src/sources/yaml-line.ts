// One parsed line of plain YAML: its indentation, whether it is an entry or an item, and its value. The result does not depend
// on the place of the line, and most lines of manifests occur many times (`metadata:`, ` namespace: team-a`), so each text is
// parsed once.
import { readFlow } from './yaml-flow.ts'
import { resolvePlain } from './yaml-scalars.ts'

/** An entry of a mapping (`key: value`) or an item of a list (`- value`). */
export interface YamlLine {
  /** The column of the key or the dash, from 0. */
  readonly indent: number
  /** Undefined for an item. */
  readonly key: string | undefined
  /** The entry or the item that stands behind the dash of an item, as if it stood there alone. */
  readonly inner: YamlLine | undefined
  /** The one-line scalar on the line; undefined where there is none. */
  readonly scalar: unknown
  /** Where there is no scalar: a list or mapping in brackets, the head of a block scalar, or nothing, as it stands there. */
  readonly open: string
}

/** Nothing, or a comment. */
export const BLANK: YamlLine = { indent: -1, key: undefined, inner: undefined, scalar: undefined, open: '' }
/** The line that begins a document. */
export const MARK: YamlLine = { ...BLANK }
/** A line that only the YAML library can read. */
export const UNSUPPORTED: YamlLine = { ...BLANK }

/** The lines that are known, by their text. */
export type YamlLines = Map<string, YamlLine>

/** How many lines are remembered: a file of any size is read in bounded memory. */
const KNOWN_MAX = 20_000

/** A longer line is no usual one: taking it apart could need more stack than there is. In UTF-16 units. */
const LENGTH_MAX = 65_536

/** What a line of printable ASCII says, its line break left out; and remembers it. */
export function learnLine(lines: YamlLines, text: string): YamlLine {
  const line = text.length > LENGTH_MAX ? UNSUPPORTED : takeApart(text)
  if (lines.size < KNOWN_MAX) lines.set(text, line)
  return line
}

/**
 * The indentation; a key that is surely a string, with its colon, or a dash, before a blank or the end; and the rest
 * without the blanks around it.
 */
const LINE = /^( *)(?:([A-Za-z_][A-Za-z0-9_./-]*):(?= |$)|(-)(?= |$))? *(.*[^ ])? *$/

function takeApart(text: string): YamlLine {
  const parts = LINE.exec(text)
  if (parts === null) return UNSUPPORTED
  // By number: taking a list apart by a pattern costs as much as the expression.
  const indent = parts[1]?.length ?? 0
  const key = parts[2]
  const rest = parts[4] ?? ''
  if (key !== undefined) {
    if (indent + key.length > KEY_MAX) return UNSUPPORTED
    // `yes:` is the key "true".
    return key.length > WORD_MAX || typeof resolvePlain(key) === 'string'
      ? withValue(indent, key, rest)
      : UNSUPPORTED
  }
  if (parts[3] !== undefined) return takeItemApart(indent, text, rest)
  if (rest === '' || rest.startsWith('#')) return BLANK
  return rest === '---' && indent === 0 ? MARK : UNSUPPORTED
}

/** The column up to which a dash may stand behind other dashes; real manifests have few. */
const COLUMN_MAX = 128

function takeItemApart(indent: number, text: string, rest: string): YamlLine {
  if (indent > COLUMN_MAX) return UNSUPPORTED
  // What stands behind a dash is as far to the right as if the dash were a blank.
  const inner = takeApart(' '.repeat(indent + 1) + text.slice(indent + 1))
  if (inner.indent > indent) return { indent, key: undefined, inner, scalar: undefined, open: '' }
  return withValue(indent, undefined, rest)
}

/** Where the colon of a key stands at most: YAML takes none further than 1,024 characters behind the key's beginning. */
const KEY_MAX = 1024

/** No word that means something else than itself is longer; a key begins like no number. */
const WORD_MAX = 5
/** A word of six characters and more that begins with a letter is a text: the special ones are shorter. */
const LONG_WORD = /^[A-Za-z][^ ]{4,}[^ :]$/
/** No scalar, and understood all the same. The head of a block scalar that says how far it is indented is not. */
const OPEN: ReadonlySet<string> = new Set(['', '{}', '[]', '|', '|-', '|+', '>', '>-', '>+'])

/** An entry, or an item, with what stands behind its colon or dash. */
function withValue(indent: number, key: string | undefined, value: string): YamlLine {
  const isFlow = value.startsWith('{') || value.startsWith('[')
  if (OPEN.has(value) || (isFlow && readFlow(value) !== undefined))
    return { indent, key, inner: undefined, scalar: undefined, open: value }
  const scalar = LONG_WORD.test(value) ? value : readScalar(value)
  return scalar === undefined ? UNSUPPORTED : { indent, key, inner: undefined, scalar, open: '' }
}

/** Begins like a plain scalar; indicators, quotes and dashes before blanks do not. */
const PLAIN = /^(?:[A-Za-z0-9/_.+(<$~=]|-[^ ])/
const QUOTED = /^(?:"([^"\\]*)"|'([^']*)')(?: +#.*)?$/
/** What ends a plain scalar, or is wrong in it. */
const COMMENT_OR_COLON = /: | #|:$/

/** A one-line scalar; undefined for anything else. */
function readScalar(text: string): unknown {
  if (!PLAIN.test(text)) {
    const quoted = QUOTED.exec(text)
    return quoted?.[1] ?? quoted?.[2] ?? escaped(text)
  }
  const plain = COMMENT_OR_COLON.test(text) ? withoutComment(text) : text
  const value = plain === undefined ? undefined : resolvePlain(plain)
  // Infinity and NaN are refused, and the library knows where they stand.
  return typeof value === 'number' && !Number.isFinite(value) ? undefined : value
}

/** Escapes of JSON that kubectl's YAML does not have: half a character, and a slash. */
const JSON_ALONE = /\\(?:u[dD][89a-fA-F]|\/)/

/** A string of JSON is the same in double quotes of YAML: what dumps of live objects are full of. */
function escaped(text: string): string | undefined {
  if (!text.startsWith('"') || !text.includes('\\') || JSON_ALONE.test(text)) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'string' ? value : undefined
  } catch {
    return undefined
  }
}

/** Undefined where a colon would make it a mapping. */
function withoutComment(text: string): string | undefined {
  const comment = text.indexOf(' #')
  const plain = comment === -1 ? text : text.slice(0, comment).trimEnd()
  return plain.includes(': ') || plain.endsWith(':') ? undefined : plain
}
