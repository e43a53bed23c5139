// How much a JSON value takes, roughly and cheaply: for the limits on what strangers send.
import { isRecord } from './json.ts'

/** What each value counts beside its text. */
const EACH = 16

/**
 * The characters of a value's texts, keys included, and 16 for each value. What is found to be more than `most` is not looked at
 * further: the answer is then some number above it. Depth is no danger: JSON.parse takes no more.
 */
export function sizeOf(value: unknown, most = Infinity): number {
  const waiting: unknown[] = [value]
  let size = EACH
  while (waiting.length > 0 && size <= most) {
    const next = waiting.pop()
    if (typeof next === 'string') size += next.length
    else if (Array.isArray(next)) {
      size += EACH * next.length
      if (size <= most) for (const item of next as readonly unknown[]) waiting.push(item)
    } else if (isRecord(next)) {
      const keys = Object.keys(next)
      size += EACH * keys.length
      if (size > most) return size
      for (const key of keys) {
        size += key.length
        waiting.push(next[key])
      }
    }
  }
  return size
}
