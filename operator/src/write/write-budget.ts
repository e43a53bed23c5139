// How many writes the operator makes in a second (docs/contract.md §8, "Quiet and fair"): what an API server can take is shared by
// all its clients, and a namespace with thousands of bindings must not use up what others need. No worker waits: a key that may not
// write now gives its worker back, and is woken with its turn, before anything is decided. Withdrawals, deletions and the Lease
// never ask.
import type { Clock } from '@kleym/shared/kube/clock.ts'
import { Turns } from '../queue/turns.ts'

export interface WriteBudgetOptions {
  readonly clock: Clock
  /** Undefined: no limit. As many may be made at once after a second without any. */
  readonly perSecond: number | undefined
  /** Whose turn a key takes: its namespace. */
  readonly groupOf: (key: string) => string
  /** Asks for a key to be reconciled soon. */
  readonly wake: (key: string) => void
}

export class WriteBudget {
  readonly #options: WriteBudgetOptions
  /** Keys that wait for a write, in turn by namespace; each stands in it once. */
  readonly #turns = new Turns<string>()
  readonly #waiting = new Set<string>()
  /** Keys that may write when they are looked at next, and those that do. */
  readonly #granted = new Set<string>()
  readonly #writing = new Set<string>()
  #tokens: number
  #filledMs: number
  #isTimed = false

  constructor(options: WriteBudgetOptions) {
    this.#options = options
    this.#tokens = options.perSecond ?? 0
    this.#filledMs = options.clock.monotonicMs()
  }

  /** How many keys wait for a write, or have been woken for one. */
  get waiting(): number {
    return this.#waiting.size + this.#granted.size
  }

  /**
   * Whether a key may make a write now; if not, it is woken when it may. A look that has begun to write goes on: a finalizer
   * without its output and its status would help nobody. What it writes is counted, and others wait for it.
   */
  take(key: string): boolean {
    if (this.#options.perSecond === undefined) return true
    if (this.#granted.delete(key)) {
      this.#writing.add(key)
      return true
    }
    this.#fill(this.#options.perSecond)
    const isWriting = this.#writing.has(key)
    if (isWriting || (this.#turns.size === 0 && this.#tokens >= 1)) {
      this.#tokens -= 1
      this.#writing.add(key)
      return true
    }
    if (!this.#waiting.has(key)) {
      this.#waiting.add(key)
      this.#turns.push(this.#options.groupOf(key), key)
    }
    this.#grantLater(this.#options.perSecond)
    return false
  }

  /** The look at a key has ended: a write that it did not need is another's. */
  ended(key: string): void {
    this.#writing.delete(key)
    if (!this.#granted.delete(key)) return
    this.#tokens += 1
    this.#grant()
  }

  #fill(perSecond: number): void {
    const now = this.#options.clock.monotonicMs()
    this.#tokens = Math.min(perSecond, this.#tokens + ((now - this.#filledMs) / 1_000) * perSecond)
    this.#filledMs = now
  }

  #grantLater(perSecond: number): void {
    if (this.#isTimed) return
    this.#isTimed = true
    this.#options.clock.after(Math.max(1, Math.ceil(((1 - this.#tokens) / perSecond) * 1_000)), () => {
      this.#isTimed = false
      this.#fill(perSecond)
      this.#grant()
      if (this.#turns.size > 0) this.#grantLater(perSecond)
    })
  }

  #grant(): void {
    while (this.#tokens >= 1) {
      const key = this.#turns.shift()
      if (key === undefined) return
      this.#tokens -= 1
      this.#waiting.delete(key)
      this.#granted.add(key)
      this.#options.wake(key)
    }
  }
}
