// SHA-256 (FIPS 180-4). The core imports nothing but zod and itself, the platform's synchronous digest lives in
// `node:crypto`, and the portable one is asynchronous: hence these sixty lines, held against `node:crypto` by a
// property test.
import { utf8 } from './bytes.ts'

// Signed words: V8 keeps them as machine integers, and unsigned ones above 2^31 as floating-point numbers (twice as slow).
const K = Int32Array.from(fractionalRoots(64, 3))
const INITIAL = Int32Array.from(fractionalRoots(8, 2))

/** The SHA-256 of the UTF-8 bytes of `text`, as 64 lower-case hex digits. */
export function sha256Hex(text: string): string {
  const words = pad(utf8(text))
  const state = Int32Array.from(INITIAL)
  const schedule = new Int32Array(64)
  for (let block = 0; block < words.length; block += 16) {
    schedule.set(words.subarray(block, block + 16))
    compress(state, schedule)
  }
  let hex = ''
  for (const word of state) hex += (word >>> 0).toString(16).padStart(8, '0')
  return hex
}

function pad(bytes: Uint8Array): Int32Array {
  const words = new Int32Array((((bytes.length + 8) >> 6) + 1) * 16)
  for (let at = 0; at < bytes.length; at++) put(words, at, bytes[at] ?? 0)
  put(words, bytes.length, 0x80)
  words[words.length - 2] = Math.floor(bytes.length / 0x2000_0000)
  words[words.length - 1] = bytes.length << 3
  return words
}

function put(words: Int32Array, at: number, byte: number): void {
  words[at >> 2] = (words[at >> 2] ?? 0) | (byte << (24 - (at & 3) * 8))
}

/** Works one block, the first 16 words of `w`, into the state. */
function compress(state: Int32Array, w: Int32Array): void {
  for (let at = 16; at < 64; at++) {
    const near = w[at - 15] ?? 0
    const far = w[at - 2] ?? 0
    const low = rotate(near, 7) ^ rotate(near, 18) ^ (near >>> 3)
    const high = rotate(far, 17) ^ rotate(far, 19) ^ (far >>> 10)
    w[at] = (w[at - 16] ?? 0) + low + (w[at - 7] ?? 0) + high
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state
  for (let at = 0; at < 64; at++) {
    const high = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
    const one = (h + high + ((e & f) ^ (~e & g)) + (K[at] ?? 0) + (w[at] ?? 0)) | 0
    const low = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
    const two = (low + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + one) | 0
    d = c
    c = b
    b = a
    a = (one + two) | 0
  }
  const worked = [a, b, c, d, e, f, g, h]
  for (let at = 0; at < worked.length; at++) state[at] = (state[at] ?? 0) + (worked[at] ?? 0)
}

function rotate(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by))
}

/** The first 32 bits of the fractional parts of the square or cube roots of the first `count` primes, exactly. */
function fractionalRoots(count: number, degree: 2 | 3): readonly number[] {
  const roots: number[] = []
  for (let candidate = 2n; roots.length < count; candidate++) {
    let prime = true
    for (let divisor = 2n; divisor * divisor <= candidate; divisor++)
      if (candidate % divisor === 0n) prime = false
    if (prime)
      roots.push(Number(integerRoot(candidate << BigInt(32 * degree), BigInt(degree)) & 0xffff_ffffn))
  }
  return roots
}

function integerRoot(value: bigint, degree: bigint): bigint {
  let low = 0n
  let high = 1n << 40n
  while (low < high) {
    const middle = (low + high + 1n) >> 1n
    if (middle ** degree <= value) low = middle
    else high = middle - 1n
  }
  return low
}
