// How long a reflector waits, and how often: apart from it, so that its rules can be read, and told, in one place.
import { ApiError } from './errors.ts'

/** The waits between two attempts that fail: 0.8 to 1.6 s after the first one, 15 to 30 s in the end. */
const FIRST_CEILING_MS = 1_600
const LAST_CEILING_MS = 30_000

/** An API server ends a watch itself after 290 to 580 s, as client-go asks it to: not all of them at one moment. */
const SHORTEST_WATCH_S = 290
const LONGEST_WATCH_S = 580

/** How long a watch may go on after it should have ended, before it counts as stalled. */
export const WATCH_GRACE_MS = 10_000

/** How long one page of a list may take: an API server gives up at 60 s. */
export const PAGE_LIMIT_MS = 75_000

/** A watch that ends sooner than this is not asked for again at once. */
export const SHORT_WATCH_MS = 1_000

/** The wait after the given failure in a row (from 1), in milliseconds; a Retry-After is its minimum. */
export function waitAfter(failures: number, error: unknown, random: () => number): number {
  const ceiling = Math.min(LAST_CEILING_MS, FIRST_CEILING_MS * 2 ** (failures - 1))
  const wait = (ceiling / 2) * (1 + random())
  const asked = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0
  return Math.max(wait, asked)
}

/** `timeoutSeconds` of one watch. */
export function watchSeconds(random: () => number): number {
  return SHORTEST_WATCH_S + Math.floor(random() * (LONGEST_WATCH_S - SHORTEST_WATCH_S + 1))
}
