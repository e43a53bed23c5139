// Go strings are bytes. Here each is a JavaScript string with one character per byte (0 to 255), so that length,
// index, slice and order are those of Go, and ASCII text is itself.
import { utf8 } from '../../text/bytes.ts'

const NOT_ASCII = /[^\0-\x7f]/
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const lenient = new TextDecoder('utf-8', { ignoreBOM: true })

/** The UTF-8 bytes of a text, one character each. */
export function toByteText(text: string): string {
  if (!NOT_ASCII.test(text)) return text
  const bytes = utf8(text)
  let out = ''
  for (let at = 0; at < bytes.length; at += 4096) out += String.fromCharCode(...bytes.subarray(at, at + 4096))
  return out
}

/** The text that the bytes spell; what is not UTF-8 becomes U+FFFD and `valid` is false. */
export function fromByteText(bytes: string): { readonly text: string; readonly valid: boolean } {
  if (!NOT_ASCII.test(bytes)) return { text: bytes, valid: true }
  const raw = Uint8Array.from(bytes, (character) => character.charCodeAt(0))
  try {
    return { text: strict.decode(raw), valid: true }
  } catch {
    return { text: lenient.decode(raw), valid: false }
  }
}

/** One character of a Go string: its code point and how many bytes it takes; a byte that is not UTF-8 is `invalid`. */
export interface Rune {
  readonly code: number
  readonly width: number
  readonly invalid: boolean
}

const BAD: Rune = { code: 0xfffd, width: 1, invalid: true }

/** The character at byte `at`, as utf8.DecodeRuneInString. */
export function runeAt(bytes: string, at: number): Rune {
  const first = bytes.charCodeAt(at)
  if (first < 0x80) return { code: first, width: 1, invalid: false }
  const width = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2
  const { text, valid } = fromByteText(bytes.slice(at, at + width))
  const code = text.codePointAt(0)
  return valid && code !== undefined ? { code, width, invalid: false } : BAD
}

/** The bytes of a code point, as utf8.AppendRune: what is no character becomes U+FFFD. */
export function encodeRune(code: number): string {
  const fine = code >= 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
  return toByteText(String.fromCodePoint(fine ? code : 0xfffd))
}

/** How many characters a Go string has, as utf8.RuneCountInString. */
export function runeCount(bytes: string): number {
  if (!NOT_ASCII.test(bytes)) return bytes.length
  let count = 0
  for (let at = 0; at < bytes.length; at += runeAt(bytes, at).width) count++
  return count
}
