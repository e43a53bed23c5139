// Names for people: a few, and how many more there are.
import { fewText } from '@kleym/shared/core/base/text/counted.ts'

const NAMED = 6

/** `a, b, c` or `a, b, c, d, e, f and 12 more`. */
export function namesText(names: readonly string[]): string {
  return fewText([...new Set(names)], NAMED)
}

/** `1 entry`, `2 entries`. */
export function entriesText(count: number): string {
  return count === 1 ? '1 entry' : `${count} entries`
}

/** `1 policy`, `2 policies`. */
export function policiesText(count: number): string {
  return count === 1 ? '1 policy' : `${count} policies`
}
