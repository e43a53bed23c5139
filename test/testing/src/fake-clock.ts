// A clock that a test advances: timers run in the order of their times, none by itself.
import type { Clock } from '@kleym/shared/kube/clock.ts'

interface Timer {
  readonly due: number
  readonly run: () => void
}

/** A clock whose time passes in `advance` alone. */
export class FakeClock implements Clock {
  readonly #began: number
  readonly #timers = new Set<Timer>()
  #elapsed = 0

  /** `began` is what the wall clock says at first. */
  constructor(began = new Date('2026-01-01T00:00:00Z')) {
    this.#began = began.getTime()
  }

  now(): Date {
    return new Date(this.#began + this.#elapsed)
  }

  monotonicMs(): number {
    return this.#elapsed
  }

  after(ms: number, run: () => void): () => void {
    const timer = { due: this.#elapsed + ms, run }
    this.#timers.add(timer)
    return () => {
      this.#timers.delete(timer)
    }
  }

  /** How many timers are set. */
  get timers(): number {
    return this.#timers.size
  }

  /** In how many milliseconds the next timer is due; undefined where none is set. */
  get nextIn(): number | undefined {
    const next = this.#next()
    return next === undefined ? undefined : next.due - this.#elapsed
  }

  /** Lets `ms` milliseconds pass, and runs what falls due in them, timers set by timers included. */
  advance(ms: number): void {
    const end = this.#elapsed + ms
    for (let timer = this.#next(); timer !== undefined && timer.due <= end; timer = this.#next()) {
      this.#timers.delete(timer)
      this.#elapsed = Math.max(this.#elapsed, timer.due)
      timer.run()
    }
    this.#elapsed = end
  }

  /** Those set first come first among equals: a Set keeps its order. */
  #next(): Timer | undefined {
    let next: Timer | undefined
    for (const timer of this.#timers) if (next === undefined || timer.due < next.due) next = timer
    return next
  }
}
