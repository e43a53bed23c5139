// Character classes in the text of Go's regular expressions: `[a-z]`, `[^[:alpha:]_]`, `\d` (`parseClass`,
// `parseNamedClass` and `parsePerlClassEscape` of `regexp/syntax`, Go 1.26). Unicode classes (`\p{Greek}`) are not
// followed.
import { complement, foldCase, PERL_CLASSES, POSIX_CLASSES, type Ranges } from './go-regexp-class.ts'
import { badEscape, readEscape, readLiteral, type Escape } from './go-regexp-escape.ts'
import { invalid, unsupported, type Failure } from './go-regexp-tree.ts'

/** The characters of a class, as ranges in any order, and where its text ends. */
export type ClassRead = { readonly kind: 'class'; readonly ranges: Ranges; readonly end: number } | Failure

/** What `(?i)` would take Unicode's tables for. */
export const FOLDS_BEYOND_ASCII: Failure = unsupported('(?i) with a character beyond ASCII')

/** Reads the bracketed class at `start`; `fold` says whether case counts. */
export function readBracket(source: string, start: number, fold: boolean): ClassRead {
  const negated = source[start + 1] === '^'
  const first = start + (negated ? 2 : 1)
  const ranges: number[] = []
  let at = first
  // A "]" that comes first stands for itself.
  while (at === first || source[at] !== ']') {
    if (at >= source.length) return invalid('has a "[" that nothing closes')
    const item =
      readPosixClass(source, at, fold) ?? readNamedClass(source, at, fold) ?? readRange(source, at, fold)
    if (item.kind !== 'class') return item
    ranges.push(...item.ranges)
    at = item.end
  }
  return { kind: 'class', ranges: negated ? complement(ranges) : ranges, end: at + 1 }
}

/** Reads `\d`, `\W`, `\p{..}` and their like at `at`; undefined if there is none of them. */
export function readNamedClass(source: string, at: number, fold: boolean): ClassRead | undefined {
  if (source[at] !== '\\') return undefined
  const letter = source.charAt(at + 1)
  if (letter === 'p' || letter === 'P') return unicodeClass(source.slice(at))
  const ranges = PERL_CLASSES.get(letter.toLowerCase())
  if (ranges === undefined) return undefined
  return asciiClass(ranges, { fold, negated: letter !== letter.toLowerCase(), end: at + 2 })
}

/** Go looks for the end of `[:alpha:]` as far as the expression goes. */
function readPosixClass(source: string, at: number, fold: boolean): ClassRead | undefined {
  if (!source.startsWith('[:', at)) return undefined
  const end = source.indexOf(':]', at + 2)
  if (end === -1) return undefined
  const name = source.slice(at + 2, end)
  const ranges = POSIX_CLASSES.get(name.replace(/^\^/, ''))
  if (ranges === undefined)
    return invalid(`has the unknown class ${JSON.stringify(`[:${name.slice(0, 16)}:]`)}`)
  return asciiClass(ranges, { fold, negated: name.startsWith('^'), end: end + 2 })
}

function asciiClass(
  ranges: Ranges,
  how: { readonly fold: boolean; readonly negated: boolean; readonly end: number },
): ClassRead {
  const folded: number[] = []
  for (let at = 0; at + 1 < ranges.length; at += 2) {
    const range = [ranges[at] ?? 0, ranges[at + 1] ?? 0] as const
    folded.push(...((how.fold ? foldCase(...range) : undefined) ?? range))
  }
  return { kind: 'class', ranges: how.negated ? complement(folded) : folded, end: how.end }
}

function unicodeClass(rest: string): Failure {
  const construct = /^\\[pP](?:\{[^}]*\}|[^{])/su.exec(rest)
  return construct === null ? invalid('has an unfinished \\p') : unsupported(construct[0].slice(0, 24))
}

/** A character or a range of them: `a`, `a-z`, `\x00-\x1f`. */
function readRange(source: string, at: number, fold: boolean): ClassRead {
  const lowest = readCharacter(source, at)
  if (lowest === undefined) return badEscape(source, at)
  const after = source[lowest.end + 1]
  const isRange = source[lowest.end] === '-' && after !== undefined && after !== ']'
  const highest = isRange ? readCharacter(source, lowest.end + 1) : lowest
  if (highest === undefined) return badEscape(source, lowest.end + 1)
  if (highest.character < lowest.character) return invalid('has a range whose ends are the wrong way round')
  const ranges = fold ? foldCase(lowest.character, highest.character) : [lowest.character, highest.character]
  return ranges === undefined ? FOLDS_BEYOND_ASCII : { kind: 'class', ranges, end: highest.end }
}

function readCharacter(source: string, at: number): Escape | undefined {
  return source[at] === '\\' ? readEscape(source, at) : readLiteral(source, at)
}
