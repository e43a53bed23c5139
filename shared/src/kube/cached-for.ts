// A value that is costly to get, kept for a while: files and plugins that are asked before every request.
import { getOrCreate } from '../core/base/get-or-create.ts'
import type { Clock } from './clock.ts'

/**
 * Gets `load`'s value at most once per `ms` milliseconds, and once for all who ask at the same time; `refresh` gets a
 * new one at once. A failure is not kept.
 */
export function cachedFor<T>(
  clock: Clock,
  ms: number,
  load: (refresh: boolean) => Promise<T>,
): (refresh?: boolean) => Promise<T> {
  let kept: { readonly value: T; readonly at: number } | undefined
  const underWay = new Map<boolean, Promise<T>>()
  const run = async (refresh: boolean): Promise<T> => {
    try {
      const value = await load(refresh)
      kept = { value, at: clock.monotonicMs() }
      return value
    } finally {
      underWay.delete(refresh)
    }
  }
  return async (refresh = false) => {
    if (kept !== undefined && !refresh && clock.monotonicMs() - kept.at < ms) return kept.value
    return getOrCreate(underWay, refresh, () => run(refresh))
  }
}
