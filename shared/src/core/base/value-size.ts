// How much a JSON value takes, roughly and cheaply: for the limits on what strangers send.
import { isRecord } from './json.ts'

/** What each value counts beside its text. */
const EACH = 16

/**
 * The characters of a value's texts, keys included, and 16 for each value. What is found to be more than `most` is not looked at
 * further: the answer is then some number above it. Depth is no danger: JSON.parse takes no more. `known` are the sizes of values that
 * were measured before.
 */
export function sizeOf(value: unknown, most = Infinity, known?: WeakMap<object, number>): number {
  const waiting: unknown[] = [value]
  let size = EACH
  while (waiting.length > 0 && size <= most) {
    const next = waiting.pop()
    if (typeof next === 'string') {
      size += next.length
      continue
    }
    const before = typeof next === 'object' && next !== null ? known?.get(next) : undefined
    if (before !== undefined) size += before - EACH
    else if (Array.isArray(next)) {
      size += EACH * next.length
      if (size <= most) for (const item of next as readonly unknown[]) waiting.push(item)
    } else if (isRecord(next)) {
      // Without a list of its keys: a hundred thousand objects are measured.
      for (const key in next) {
        if (!Object.hasOwn(next, key)) continue
        size += EACH + key.length
        if (size > most) return size
        waiting.push(next[key])
      }
    }
  }
  return size
}
