// Punycode as RFC 3492 §6.2 decodes it, with the overflows of golang.org/x/net/idna: the part of an `xn--` label after
// its prefix. The core may not import `node:`, and the platform's URL parser follows other rules than SPIRE's.

const BASE = 36
const SKEW = 38
const DAMP = 700
const T_MIN = 1
const T_MAX = 26
const INITIAL_BIAS = 72
const INITIAL_CODE_POINT = 128
const LARGEST_INTEGER = 0x7fffffff
const LARGEST_CODE_POINT = 0x10ffff

/** The code points that `encoded`, all of lower-case letters, digits and dashes, stands for; undefined if it stands for none. */
export function decodePunycode(encoded: string): readonly number[] | undefined {
  const delimiter = encoded.lastIndexOf('-')
  if (delimiter === 0) return undefined
  const output = Array.from(encoded.slice(0, Math.max(delimiter, 0)), (basic) => basic.charCodeAt(0))
  let codePoint = INITIAL_CODE_POINT
  let position = 0
  let bias = INITIAL_BIAS
  for (let at = delimiter + 1; at < encoded.length;) {
    const jump = readInteger(encoded, at, bias, position)
    if (jump === undefined) return undefined
    const length = output.length + 1
    bias = adapt(jump.value - position, length, position === 0)
    codePoint += Math.floor(jump.value / length)
    if (codePoint > LARGEST_CODE_POINT) return undefined
    output.splice(jump.value % length, 0, codePoint)
    position = (jump.value % length) + 1
    at = jump.end
  }
  return output
}

/** Adds the variable-length integer at `start` to `base`. */
function readInteger(
  encoded: string,
  start: number,
  bias: number,
  base: number,
): { readonly value: number; readonly end: number } | undefined {
  let value = base
  let weight = 1
  let at = start
  for (let k = BASE; ; k += BASE) {
    const digit = digitAt(encoded, at++)
    if (digit === undefined) return undefined
    value += digit * weight
    if (value > LARGEST_INTEGER) return undefined
    const threshold = Math.min(Math.max(k - bias, T_MIN), T_MAX)
    if (digit < threshold) return { value, end: at }
    weight *= BASE - threshold
    if (weight > LARGEST_INTEGER) return undefined
  }
}

function digitAt(encoded: string, at: number): number | undefined {
  const digit = 'abcdefghijklmnopqrstuvwxyz0123456789'.indexOf(encoded.charAt(at))
  return digit < 0 || at >= encoded.length ? undefined : digit
}

function adapt(delta: number, length: number, first: boolean): number {
  let left = Math.floor(delta / (first ? DAMP : 2))
  left += Math.floor(left / length)
  let k = 0
  for (; left > ((BASE - T_MIN) * T_MAX) / 2; k += BASE) left = Math.floor(left / (BASE - T_MIN))
  return k + Math.floor(((BASE - T_MIN + 1) * left) / (left + SKEW))
}
