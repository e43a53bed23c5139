// How much of a cluster kleym keeps, and how that is counted. Clusters may be a stranger's.
import { INPUT_LIMITS } from '../sources/budget.ts'

/** How much of a cluster is kept at most, as `sizeOf` counts. */
export const KEPT_MAX = 512 * 1024 * 1024

/** How much a value keeps: the characters of its texts, and 16 for each value. Depth is no danger: JSON.parse takes no more. */
export function sizeOf(value: unknown): number {
  const waiting: unknown[] = [value]
  let size = 0
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    size += 16
    if (typeof next === 'string') size += next.length
    else if (Array.isArray(next)) for (const item of next as readonly unknown[]) waiting.push(item)
    else if (typeof next === 'object' && next !== null)
      for (const [key, item] of Object.entries(next)) {
        size += key.length
        waiting.push(item)
      }
  }
  return size
}

/** Why so many are more than kleym takes in; undefined where they are not. */
export function overLimit(what: 'objects' | 'bindings', count: number): string | undefined {
  const most = INPUT_LIMITS[what]
  return count > most ? `it has more than ${most.toLocaleString('en')} ${what}` : undefined
}
