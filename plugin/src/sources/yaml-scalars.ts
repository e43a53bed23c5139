// The plain scalars of Go's YAML 1.1 reader, as kubectl has it (https://github.com/yaml/go-yaml/blob/v2.4.0/resolve.go).

/** What Go's reader takes for booleans and for nothing. */
const WORDS: ReadonlyMap<string, boolean | null> = new Map([
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'on', 'On', 'ON', 'true', 'True', 'TRUE'].map(
    (word) => [word, true] as const,
  ),
  ...['n', 'N', 'no', 'No', 'NO', 'off', 'Off', 'OFF', 'false', 'False', 'FALSE'].map(
    (word) => [word, false] as const,
  ),
  ...['', '~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
])

/**
 * What a plain scalar means: a boolean, a number, null, else the text itself. Infinity and NaN, which JSON does not have, are
 * NaN.
 */
export function resolvePlain(text: string): unknown {
  const word = WORDS.get(text)
  if (word !== undefined) return word
  // Most scalars begin like no number.
  const first = text.charCodeAt(0)
  if (first > NINE || first < PLUS || first === SLASH || first === COMMA) return text
  if (INFINITE.test(text)) return Number.NaN
  if (first === POINT) return AFTER_POINT.test(text) ? finite(Number(text.replaceAll('_', '')), text) : text
  const plain = text.replaceAll('_', '')
  return integerIn(plain) ?? (FLOAT.test(plain) ? finite(Number(plain), text) : text)
}

/** Whether a plain scalar is an integer: `1e3` is a number and none. */
export function isIntegerText(text: string): boolean {
  return integerIn(text.replaceAll('_', '')) !== undefined
}

const [PLUS, COMMA, POINT, SLASH, NINE] = [0x2b, 0x2c, 0x2e, 0x2f, 0x39]
const INFINITE = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/
/** Go's own reader of numbers takes an underscore between two digits. */
const AFTER_POINT = /^\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?$/
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/
/** As `strconv.ParseInt(text, 0, 64)` takes it: a leading zero is octal. */
const INTEGER = /^([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))$/
/** As many digits stay within what a double and an int64 hold. */
const SHORT = 15

/** Of 64 bits, without a sign if it needs all of them; undefined: no integer. */
function integerIn(text: string): number | undefined {
  const parts = INTEGER.exec(text)
  if (parts === null) return undefined
  const [, sign = '', hex, binary, octal, decimal] = parts
  const negative = sign === '-'
  if (decimal !== undefined && decimal.length <= SHORT)
    return negative && decimal !== '0' ? -Number(decimal) : Number(decimal)
  const prefixed =
    hex === undefined ? (binary === undefined ? `0o${octal ?? ''}` : `0b${binary}`) : `0x${hex}`
  const size = BigInt(decimal ?? prefixed)
  const most = negative ? 2n ** 63n : sign === '+' ? 2n ** 63n - 1n : 2n ** 64n - 1n
  if (size > most) return undefined
  return Number(negative ? -size : size)
}

/** A number that no double holds stays the text that it is, as in Go. */
function finite(value: number, text: string): unknown {
  return Number.isFinite(value) ? value : text
}
