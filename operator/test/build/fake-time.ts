// Time that a test turns by hand, for promises and for several processes: each has a clock of its own, which may run fast
// or slow, show another date, stand still with its process (SIGSTOP), which then finds its timers late, or with its machine,
// whose monotonic clock then does not know of it.
import type { Clock } from '@kleym/shared/kube/clock.ts'
import { FakeClock } from '@kleym/testing/fake-clock.ts'

/** What a rate may cost in precision, in milliseconds. */
const ROUNDING_MS = 1e-6

export interface ClockTraits {
  /** How many milliseconds this clock counts in a true one. */
  readonly rate?: number
  /** What its date is ahead of the true one. */
  readonly skewMs?: number
}

export class FakeTime {
  readonly #true = new FakeClock(new Date('2026-11-21T00:00:00Z'))

  get nowMs(): number {
    return this.#true.monotonicMs()
  }

  /** How many timers are set. */
  get pending(): number {
    return this.#true.timers
  }

  clock(traits: ClockTraits = {}): ProcessClock {
    return new ProcessClock(this.#true, traits)
  }

  /** Lets `ms` milliseconds pass, and promises go on after each thing that falls due; then `each` is called. */
  async advance(ms: number, each: () => void = () => {}): Promise<void> {
    const untilMs = this.nowMs + ms
    await settled()
    for (let next = this.#true.nextIn; next !== undefined && this.nowMs + next <= untilMs;) {
      this.#true.advance(Math.max(next, 0))
      await settled()
      each()
      next = this.#true.nextIn
    }
    this.pass(untilMs - this.nowMs)
    each()
  }

  /** Lets `ms` milliseconds pass in which no promise goes on: a thread that works. */
  pass(ms: number): void {
    this.#true.advance(ms)
  }
}

/** The clock of one process. */
export class ProcessClock implements Clock {
  readonly #true: FakeClock
  readonly #rate: number
  /** What its date is ahead of the true one: somebody sets it. */
  skewMs: number
  /** What fell due while the process was stopped or the machine suspended. */
  #late: Set<() => void> | undefined
  /** For how long the machine was suspended, in true milliseconds, and since when it is. */
  #suspendedMs = 0
  #suspendedSinceMs: number | undefined

  constructor(time: FakeClock, { rate = 1, skewMs = 0 }: ClockTraits) {
    this.#true = time
    this.#rate = rate
    this.skewMs = skewMs
  }

  get stopped(): boolean {
    return this.#late !== undefined
  }

  /** While it is true no timer of this process runs; its time goes on. */
  set stopped(stopped: boolean) {
    if (stopped === this.stopped) return
    const late = this.#late ?? []
    this.#late = stopped ? new Set() : undefined
    for (const run of late) this.deliver(0, run)
  }

  get suspended(): boolean {
    return this.#suspendedSinceMs !== undefined
  }

  /** While it is true the machine is suspended: nothing runs and the monotonic clock stands still, but the date goes on. */
  set suspended(suspended: boolean) {
    if (suspended === this.suspended) return
    this.#suspendedMs += this.#true.monotonicMs() - (this.#suspendedSinceMs ?? this.#true.monotonicMs())
    this.#suspendedSinceMs = suspended ? this.#true.monotonicMs() : undefined
    this.stopped = suspended
  }

  now(): Date {
    return new Date(this.#true.now().getTime() + this.skewMs)
  }

  monotonicMs(): number {
    const trueMs = this.#suspendedSinceMs ?? this.#true.monotonicMs()
    return (trueMs - this.#suspendedMs) * this.#rate
  }

  after(ms: number, run: () => void): () => void {
    const dueMs = this.monotonicMs() + ms
    // Timers count monotonic time: after a suspension they are due later.
    const look = (): void => {
      const leftMs = dueMs - this.monotonicMs()
      if (leftMs > ROUNDING_MS) cancel = this.deliver(leftMs / this.#rate, look)
      else run()
    }
    let cancel = this.deliver(ms / this.#rate, look)
    return () => cancel()
  }

  /** Runs `run` in this process in true milliseconds, or when it goes on; the result cancels it. */
  deliver(ms: number, run: () => void): () => void {
    let ended = false
    const due = (): void => {
      if (ended) return
      if (this.#late === undefined) run()
      else this.#late.add(due)
    }
    const cancel = this.#true.after(ms, due)
    return () => {
      ended = true
      cancel()
    }
  }
}

/** Resolves when all promises that can go on without time or I/O have done so. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
