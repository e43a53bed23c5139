// Waiting for a condition, bounded: what tests on a real control plane do instead of sleeping.

const FIRST_PAUSE_MS = 10
const LONGEST_PAUSE_MS = 200

/** What a condition may say while it does not hold yet; anything else is its result. */
export type NotYet = undefined | null | false

/**
 * Calls `condition` until it returns something and returns that. A condition that throws does not hold yet.
 * Rejects after `ms` milliseconds (a minute when absent), saying what was waited for and what the last try came to.
 */
export async function until<T>(
  condition: () => T | NotYet | Promise<T | NotYet>,
  what: string,
  ms = 60_000,
): Promise<T> {
  const deadline = performance.now() + ms
  let last: unknown = undefined
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      const result = await condition()
      if (result !== undefined && result !== null && result !== false) return result
      last = result
    } catch (error) {
      last = error
    }
    if (performance.now() >= deadline) throw new Error(`waited ${ms} ms for ${what}${lastWords(last)}`)
    await pauseFor(pause)
  }
}

/** Resolves after so many milliseconds. For waiting loops and for proving that something does *not* happen. */
export function pauseFor(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
}

function lastWords(last: unknown): string {
  if (last === undefined || last === null || last === false) return ''
  return `; the last try: ${last instanceof Error ? last.message : JSON.stringify(last)}`
}
