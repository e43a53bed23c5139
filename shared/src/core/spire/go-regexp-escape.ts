// Single characters in Go's regular expressions (`parseEscape` in `regexp/syntax`, Go 1.26): octal and
// hexadecimal numbers, C escapes, and ASCII punctuation as itself. There are no backreferences.
import { invalid, type Failure } from './go-regexp-tree.ts'

/** A character and where its text ends. */
export interface Escape {
  readonly character: number
  readonly end: number
}

const C_ESCAPES: ReadonlyMap<string, number> = new Map([
  ['a', 0x07],
  ['f', 0x0c],
  ['n', 0x0a],
  ['r', 0x0d],
  ['t', 0x09],
  ['v', 0x0b],
])

/** `\0`, `\12` (a single digit would be a backreference), `\x7f`, `\x{10FFFF}`. */
const NUMBER = /^\\(?:(0[0-7]{0,2}|[1-7][0-7]{1,2})|x([0-9A-Fa-f]{2})|x\{([0-9A-Fa-f]+)\})/

/** Reads the escape at the backslash at `at`; undefined where Go refuses it. */
export function readEscape(source: string, at: number): Escape | undefined {
  const number = NUMBER.exec(source.slice(at))
  if (number !== null) {
    const [all, octal, short, long] = number
    const character =
      octal === undefined ? Number.parseInt(short ?? long ?? '', 16) : Number.parseInt(octal, 8)
    return character > 0x10ffff ? undefined : { character, end: at + all.length }
  }
  const letter = source[at + 1]
  if (letter === undefined) return undefined
  const character =
    C_ESCAPES.get(letter) ?? (/[!-/:-@[-`{-~\x00-\x20\x7f]/.test(letter) ? letter.charCodeAt(0) : undefined)
  return character === undefined ? undefined : { character, end: at + 2 }
}

/** What is said of an escape that cannot be read. */
export function badEscape(source: string, at: number): Failure {
  return invalid(`has the bad escape ${JSON.stringify(source.slice(at, at + 3))}`)
}

/** The character at `at`; half a surrogate pair is U+FFFD, as in UTF-8. */
export function readLiteral(source: string, at: number): Escape {
  const character = source.codePointAt(at) ?? 0
  const half = character >= 0xd800 && character <= 0xdfff
  return { character: half ? 0xfffd : character, end: at + (character > 0xffff ? 2 : 1) }
}
