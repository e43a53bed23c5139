// Punycode as RFC 3492 §6.2 decodes it and golang.org/x/net/idna refuses it: the part of an `xn--` label after its
// prefix. The core may not import `node:`, and the URL parser follows other rules than SPIRE's.

const BASE = 36
const SKEW = 38
const T_MIN = 1
const T_MAX = 26
const INITIAL_BIAS = 72
const INITIAL_CODE_POINT = 128
const LARGEST = 0x7fffffff

/** The code points that `encoded`, all of lower-case letters, digits and dashes, stands for; undefined if for none. */
export function decodePunycode(encoded: string): readonly number[] | undefined {
  const delimiter = encoded.lastIndexOf('-')
  if (delimiter === 0) return undefined
  const output = delimiter < 0 ? [] : Array.from(encoded.slice(0, delimiter), (basic) => basic.charCodeAt(0))
  let codePoint = INITIAL_CODE_POINT
  let insertAt = 0
  let bias = INITIAL_BIAS
  for (let at = delimiter + 1; at < encoded.length; ) {
    const number = readInteger(encoded, at, bias)
    if (number === undefined || insertAt + number.value > LARGEST) return undefined
    at = number.end
    insertAt += number.value
    const length = output.length + 1
    bias = adapt(number.value, length, output.length === 0 || codePoint === INITIAL_CODE_POINT)
    codePoint += Math.floor(insertAt / length)
    insertAt %= length
    if (codePoint > 0x10ffff) return undefined
    output.splice(insertAt, 0, codePoint)
    insertAt++
  }
  return output
}
