// The values of constants: Go's strconv.Unquote and UnquoteChar, and the number rules of text/template/parse/node.go.
import type { NumberConstant } from './ast.ts'
import { encodeRune, runeAt } from './byte-text.ts'
import { SyntaxFault, Unsupported } from './signals.ts'

const SIMPLE: Readonly<Record<string, number>> = { a: 7, b: 8, f: 12, n: 10, r: 13, t: 9, v: 11, '\\': 92 }
const HEX_WIDTH: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 }
const INT_BODY = /^(?:0[xX](?:_?[\da-fA-F])+|0[bB](?:_?[01])+|0[oO]?(?:_?[0-7])+|0|[1-9](?:_?\d)*)$/
const FLOAT = /^[+-]?(?:\d(?:_?\d)*(?:\.(?:\d(?:_?\d)*)?)?|\.\d(?:_?\d)*)(?:[eE][+-]?\d(?:_?\d)*)?$/
const MAX_INT64 = 2n ** 63n - 1n
const MAX_UINT64 = 2n ** 64n - 1n

interface Unquoted {
  readonly code: number
  /** A code point to be encoded; otherwise a byte. */
  readonly wide: boolean
  readonly width: number
}

/** The text of a quoted string token; `raw` for one in back quotes. */
export function stringConstant(token: string, raw: boolean): string {
  const body = token.slice(1, -1)
  if (raw) return body.replaceAll('\r', '')
  if (!body.includes('\\')) return validUtf8(body)
  let text = ''
  for (let at = 0; at < body.length;) {
    const { code, wide, width } = unquoteChar(body, at, '"')
    text += wide ? encodeRune(code) : String.fromCharCode(code)
    at += width
  }
  return text
}

/** The code point of a character constant token, quotes included. */
export function charConstant(token: string): NumberConstant {
  const { code, width } = unquoteChar(token, 1, "'")
  if (token.slice(1 + width) !== "'")
    throw new SyntaxFault(`malformed character constant: ${shortened(token)}`)
  return { kind: 'int', value: BigInt(code) }
}

/** A template comes from JSON, so that its bytes are UTF-8 already. */
function validUtf8(body: string): string {
  if (body.includes('\n')) throw new SyntaxFault('invalid syntax in a quoted string')
  return body
}

function unquoteChar(text: string, at: number, quote: string): Unquoted {
  const first = text[at]
  if (first === undefined || first === quote) return badEscape()
  if (first !== '\\') {
    const rune = runeAt(text, at)
    return { code: rune.code, wide: rune.code >= 0x80, width: rune.width }
  }
  const letter = text.charAt(at + 1)
  const simple = SIMPLE[letter]
  if (simple !== undefined) return { code: simple, wide: false, width: 2 }
  if (letter === quote) return { code: quote.charCodeAt(0), wide: false, width: 2 }
  const hex = HEX_WIDTH[letter]
  if (hex !== undefined) return hexEscape(text.slice(at + 2, at + 2 + hex), hex)
  const octal = text.slice(at + 1, at + 4)
  if (!/^[0-3][0-7]{2}$/.test(octal)) return badEscape()
  return { code: Number.parseInt(octal, 8), wide: false, width: 4 }
}

function hexEscape(digits: string, width: number): Unquoted {
  if (digits.length !== width || !/^[\da-fA-F]+$/.test(digits)) return badEscape()
  const code = Number.parseInt(digits, 16)
  if (width > 2 && (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))) return badEscape()
  return { code, wide: width > 2, width: width + 2 }
}

function badEscape(): never {
  throw new SyntaxFault('invalid syntax in a quoted constant')
}

/** The value of a number token as Go types it where no type is asked for. */
export function numberConstant(token: string): NumberConstant {
  if (token.endsWith('i')) throw new Unsupported('an imaginary number')
  const negative = token.startsWith('-')
  const body = negative || token.startsWith('+') ? token.slice(1) : token
  if (INT_BODY.test(body)) return integer(token, body, negative)
  if (/^0[xX].*[pP]/.test(body)) throw new Unsupported('a hexadecimal floating-point number')
  return float(token)
}

function integer(token: string, body: string, negative: boolean): NumberConstant {
  const plain = body.replaceAll('_', '')
  const value = BigInt(/^0\d/.test(plain) ? `0o${plain.slice(1)}` : plain)
  const signed = negative ? -value : value
  const fits = signed >= -MAX_INT64 - 1n && signed <= MAX_INT64
  // Go takes a signed hexadecimal constant with an `e` among its digits for a float.
  if (fits && body !== token && /e/i.test(body)) return { kind: 'float', value: Number(signed) }
  if (fits) return { kind: 'int', value: signed }
  if (body === token && value <= MAX_UINT64) return { kind: 'overflow', text: token }
  throw new SyntaxFault(`integer overflow: ${shortened(token)}`)
}

function float(token: string): NumberConstant {
  if (!FLOAT.test(token)) throw new SyntaxFault(`illegal number syntax: ${shortened(token)}`)
  if (!/[.eE]/.test(token)) throw new SyntaxFault(`integer overflow: ${shortened(token)}`)
  const value = Number(token.replaceAll('_', ''))
  if (!Number.isFinite(value)) throw new SyntaxFault(`illegal number syntax: ${shortened(token)}`)
  return { kind: 'float', value }
}

function shortened(token: string): string {
  return token.length > 40 ? `${token.slice(0, 40)}...` : token
}
