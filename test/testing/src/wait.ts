// Bounded waits: what tests do instead of sleeping. Every wait ends with a reason of its own, before the test runner's bound
// (vitest.config.ts) ends the test without one.

/** How long a wait may take where its caller gives no bound: far more than a busy machine needs. */
export const WAIT_MS = 60_000
const FIRST_PAUSE_MS = 10
const LONGEST_PAUSE_MS = 200

/** What a condition may return while it does not hold yet; anything else is its result. */
export type NotYet = undefined | null | false

/** Thrown by a condition that can never hold any more, e.g. because a program has ended: the wait ends at once. */
export class CannotHold extends Error {
  override readonly name = 'CannotHold'
}

/**
 * Calls `condition` until it returns something and returns that. A condition that throws does not hold yet, unless it
 * throws `CannotHold`. Rejects after `ms` milliseconds, also in the midst of a call that does not end, saying what was
 * waited for and what the last call came to.
 */
export async function until<T>(
  condition: () => T | NotYet | Promise<T | NotYet>,
  what: string,
  ms = WAIT_MS,
): Promise<T> {
  const deadline = performance.now() + ms
  let last: unknown = undefined
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      // At least one pause: a condition whose turn comes late is asked once more all the same.
      const left = Math.max(FIRST_PAUSE_MS, Math.ceil(deadline - performance.now()))
      const result = await within(Promise.try(condition), 'the condition to be looked at', left)
      if (result !== undefined && result !== null && result !== false) return result
      last = result
    } catch (error) {
      if (error instanceof CannotHold)
        throw new Error(`${what} cannot come: ${error.message}`, { cause: error })
      last = error
    }
    if (performance.now() >= deadline) throw new Error(`waited ${ms} ms for ${what}${lastResult(last)}`)
    await pauseFor(pause)
  }
}

/**
 * What `promise` comes to. Rejects when it has not settled after `ms` milliseconds, saying what was waited for; `what` may
 * be a function, which then tells how things stand.
 */
export async function within<T>(
  promise: Promise<T>,
  what: string | (() => string),
  ms = WAIT_MS,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`waited ${ms} ms for ${typeof what === 'string' ? what : what()}`))
    }, ms)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Resolves after so many milliseconds. For waiting loops and for proving that something does *not* happen. */
export function pauseFor(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
}

function lastResult(last: unknown): string {
  if (last === undefined || last === null || last === false) return ''
  return `; the last try: ${last instanceof Error ? last.message : JSON.stringify(last)}`
}
