// How long a reflector waits between attempts, and how long one may take.
import { backoffMs, type Backoff } from './backoff.ts'
import { ApiError } from './errors.ts'

/** The longest wait between two attempts that fail; the shortest is half of it: 0.8 to 1.6 s first, 15 to 30 s in the end. */
const CEILING: Backoff = { firstMs: 1_600, maxMs: 30_000 }

/**
 * An API server ends a watch itself after 28 to 34 s: not all of them at one moment. client-go asks for minutes and sends
 * pings of HTTP/2 in between; a watch over HTTP/1.1 has no ping, and its end is the only word that a quiet one must send.
 * The server sends a bookmark 2 s before that end, so that the next watch goes on from a recent version.
 */
const SHORTEST_WATCH_S = 28
const LONGEST_WATCH_S = 34

/**
 * How long a watch may go on after it should have ended, before it counts as stalled. With the longest watch and the wait
 * before the next one that is below 45 s, which is client-go's limit for a silent connection (docs/reliability.md).
 */
export const WATCH_GRACE_MS = 8_000

/** How long one page of a list may take: an API server gives up at 60 s. */
export const PAGE_LIMIT_MS = 75_000

/** A watch that ends sooner than this is not asked for again at once. */
export const SHORT_WATCH_MS = 1_000

/** The wait after the given failure in a row (from 1), in milliseconds; a Retry-After is its minimum. */
export function waitAfter(failures: number, error: unknown, random: () => number): number {
  const wait = (backoffMs(CEILING, failures) / 2) * (1 + random())
  const asked = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0
  return Math.max(wait, asked)
}

/** `timeoutSeconds` of one watch. */
export function watchSeconds(random: () => number): number {
  return SHORTEST_WATCH_S + Math.floor(random() * (LONGEST_WATCH_S - SHORTEST_WATCH_S + 1))
}
