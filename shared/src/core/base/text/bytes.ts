// Byte-wise text: every limit of ours counts UTF-8 bytes, and every order is the order of UTF-8 bytes, as in Go,
// etcd and SPIRE.

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** The UTF-8 bytes of a string; an unpaired surrogate becomes U+FFFD. */
export function utf8(text: string): Uint8Array {
  return encoder.encode(text)
}

/** The length of a string in UTF-8 bytes. */
export function byteLength(text: string): number {
  let bytes = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit < 0x80) bytes += 1
    else if (unit < 0x800) bytes += 2
    else if (unit >= 0xd800 && unit < 0xdc00 && isLowSurrogate(text.charCodeAt(at + 1))) {
      bytes += 4
      at++
    } else bytes += 3
  }
  return bytes
}

/** In UTF-16 units: of longer ones the loop finds the first difference sooner than all of them are looked through. */
const SHORT = 256
/** A surrogate, or a unit above it. */
const HIGH = /[\ud800-\uffff]/

/**
 * Orders two strings by their UTF-8 bytes. It differs from comparing UTF-16 units only where a surrogate meets a unit
 * above it, because UTF-8 keeps the order of code points.
 */
export function compareBytes(left: string, right: string): number {
  if (left === right) return 0
  const shorter = Math.min(left.length, right.length)
  // Most texts are short and one has no such unit: that is compared natively, as short runs end before the loop is compiled.
  if (left.length < SHORT && right.length < SHORT && !HIGH.test(left)) return left < right ? -1 : 1
  for (let at = 0; at < shorter; at++) {
    const a = left.charCodeAt(at)
    const b = right.charCodeAt(at)
    if (a !== b) return isSurrogate(a) === isSurrogate(b) ? a - b : isSurrogate(a) ? 1 : -1
  }
  return left.length - right.length
}

/** Orders entries of a map by their keys, as `compareBytes` does. */
export function compareKeys(
  [left]: readonly [string, ...unknown[]],
  [right]: readonly [string, ...unknown[]],
): number {
  return compareBytes(left, right)
}

/** The distinct texts, in byte order. */
export function distinct<T extends string>(texts: Iterable<T>): T[] {
  return [...new Set(texts)].toSorted(compareBytes)
}

/** The longest prefix of at most `limit` UTF-8 bytes that splits no character. */
export function cutToBytes(text: string, limit: number): string {
  if (text.length * 3 <= limit || byteLength(text) <= limit) return text
  let bytes = 0
  let end = 0
  for (const character of text) {
    bytes += byteLength(character)
    if (bytes > limit) break
    end += character.length
  }
  return text.slice(0, end)
}

/** At most so many characters of a text, as a copy where it has more: a slice would keep the whole text in memory. */
export function copyOfStart(text: string, characters: number): string {
  return text.length <= characters ? text : decoder.decode(utf8(text.slice(0, characters)))
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xe000
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000
}

/** Those of texts in byte order that begin with `start`. */
export function* beginningWith(start: string, sorted: readonly string[]): Iterable<string> {
  let [from, to] = [0, sorted.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (compareBytes(sorted[middle] ?? '', start) < 0) from = middle + 1
    else to = middle
  }
  for (let one = sorted[from]; one?.startsWith(start) === true; one = sorted[++from]) yield one
}
