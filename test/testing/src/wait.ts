// Bounded waits: what tests do instead of sleeping. Every wait ends with a reason of its own, before the test runner's bound
// (vitest.config.ts) ends the test without one.

/** How long a wait may take where its caller gives no bound: far more than a busy machine needs. */
export const WAIT_MS = 60_000
const FIRST_PAUSE_MS = 10
const LONGEST_PAUSE_MS = 200
const LAST_CALL_MS = 1000

/** What a condition may return while it does not hold yet; anything else is its result. */
export type NotYet = undefined | null | false

/** Thrown by a condition that can never hold any more, e.g. because a program has ended: the wait ends at once. */
export class CannotHold extends Error {
  override readonly name = 'CannotHold'
}

/**
 * Calls `condition` until it returns something and returns that. A condition that throws does not hold yet, unless it
 * throws `CannotHold`. Rejects after `ms` milliseconds, also in the middle of a call that does not end, saying what was
 * waited for and what the last call that ended came to.
 */
export async function until<T>(
  condition: () => T | NotYet | Promise<T | NotYet>,
  what: string,
  ms = WAIT_MS,
): Promise<T> {
  const deadline = performance.now() + ms
  let last: unknown = undefined
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    // The last call begins just before the deadline, and gets some time all the same.
    const left = Math.max(LAST_CALL_MS, Math.ceil(deadline - performance.now()))
    let isOpen = false
    try {
      const result = await settledWithin(Promise.try(condition), left)
      isOpen = result === OPEN
      if (result !== OPEN && result !== undefined && result !== null && result !== false) return result
      if (result !== OPEN) last = result
    } catch (error) {
      if (error instanceof CannotHold)
        throw new Error(`${what} cannot come: ${error.message}`, { cause: error })
      last = error
    }
    if (performance.now() >= deadline)
      throw new Error(
        `waited ${ms} ms for ${what}${lastResult(last)}${isOpen ? '; a later try has not ended' : ''}`,
      )
    await pauseFor(pause)
  }
}

/**
 * What `promise` comes to. Rejects when it has not settled after `ms` milliseconds, saying what was waited for; `what` may
 * be a function, which then says how things are.
 */
export async function within<T>(
  promise: Promise<T>,
  what: string | (() => string),
  ms = WAIT_MS,
): Promise<T> {
  const result = await settledWithin(promise, ms)
  if (result === OPEN) throw new Error(`waited ${ms} ms for ${typeof what === 'string' ? what : what()}`)
  return result
}

const OPEN = Symbol('not settled yet')

/** What a promise comes to, or `OPEN` after `ms` milliseconds. */
async function settledWithin<T>(promise: Promise<T>, ms: number): Promise<T | typeof OPEN> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<typeof OPEN>((resolve) => {
    timer = setTimeout(() => resolve(OPEN), ms)
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
