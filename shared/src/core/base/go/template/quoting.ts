// Quoted forms of text, after Go's strconv (quote.go). Byte texts in and out.
import { encodeRune, runeAt } from './byte-text.ts'
import { Unknowable } from './signals.ts'

const ESCAPES: ReadonlyMap<number, string> = new Map([
  [7, '\\a'],
  [8, '\\b'],
  [9, '\\t'],
  [10, '\\n'],
  [11, '\\v'],
  [12, '\\f'],
  [13, '\\r'],
])

/**
 * Go's strconv.IsPrint. Beyond the Latin blocks the answer depends on the Unicode version of the Go release: there it throws
 * `Unknowable`.
 */
export function isPrintable(code: number): boolean {
  if (code < 0x7f) return code >= 0x20
  if (code <= 0xa0 || code === 0xad) return false
  if (code < 0x250 || code === 0xfffd) return true
  throw new Unknowable('how Go escapes a character beyond the Latin ones')
}

/** Go's strconv.Quote, or QuoteToASCII. */
export function quote(text: string, asciiOnly: boolean): string {
  let out = '"'
  for (let at = 0; at < text.length;) {
    const rune = runeAt(text, at)
    out += rune.invalid ? `\\x${hex(text.charCodeAt(at), 2)}` : escapeRune(rune.code, '"', asciiOnly)
    at += rune.width
  }
  return `${out}"`
}

/** Go's strconv.QuoteRune, or QuoteRuneToASCII; what is no character is U+FFFD. */
export function quoteRune(code: number, asciiOnly: boolean): string {
  const fine = code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
  return `'${escapeRune(fine ? code : 0xfffd, "'", asciiOnly)}'`
}

function escapeRune(code: number, mark: string, asciiOnly: boolean): string {
  if (code === mark.charCodeAt(0) || code === 0x5c) return `\\${String.fromCharCode(code)}`
  if (asciiOnly ? code < 0x80 && isPrintable(code) : isPrintable(code)) return encodeRune(code)
  const known = ESCAPES.get(code)
  if (known !== undefined) return known
  if (code < 0x20 || code === 0x7f) return `\\x${hex(code, 2)}`
  return code < 0x10000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`
}

/** Go's strconv.CanBackquote. */
export function canBackquote(text: string): boolean {
  for (let at = 0; at < text.length;) {
    const rune = runeAt(text, at)
    if (rune.width === 1 && (rune.invalid || (rune.code < 0x20 && rune.code !== 9))) return false
    if (rune.code === 0x60 || rune.code === 0x7f || rune.code === 0xfeff) return false
    at += rune.width
  }
  return true
}

function hex(value: number, width: number): string {
  return value.toString(16).padStart(width, '0')
}
