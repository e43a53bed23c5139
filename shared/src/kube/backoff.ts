// Doubling backoff: how long a client waits before it tries again what has failed.

/** The limits of a doubling wait, in milliseconds. */
export interface Backoff {
  /** The wait after the first failure. */
  readonly firstMs: number
  /** The longest wait. */
  readonly maxMs: number
}

/** The wait after this many failures in a row (1 or more), in milliseconds. */
export function backoffMs({ firstMs, maxMs }: Backoff, failures: number): number {
  return Math.min(firstMs * 2 ** (failures - 1), maxMs)
}

/** The wait less a random part of up to a half: clients that fail together must not come back together. */
export function jittered(ms: number, random: () => number): number {
  return ms * (1 - random() / 2)
}
