// Time, as a value that a composition root hands in: tests and simulations bring their own.

export interface Clock {
  /** The wall clock, for what people read. */
  now(): Date
  /** Milliseconds that never go back, for measuring. */
  monotonicMs(): number
  /** Calls `run` once after `ms` milliseconds; the result cancels it. */
  after(ms: number, run: () => void): () => void
}

/** The time of this process. */
export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
}

/** A clock whose timers run until it ends. */
export interface EndingClock extends Clock {
  /** No timer of it runs any more. */
  end(): void
}

/** The time of something that may end before its process does. */
export function endingClock(clock: Clock): EndingClock {
  let hasEnded = false
  return {
    now: () => clock.now(),
    monotonicMs: () => clock.monotonicMs(),
    after: (ms, run) =>
      clock.after(ms, () => {
        if (!hasEnded) run()
      }),
    end: () => {
      hasEnded = true
    },
  }
}

/** Resolves after `ms` milliseconds. */
export function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(ms, resolve)
  })
}
