// Outputs that the API server refuses (400, 422, an admission denial, a quota) or that a webhook alters: each is tried again
// with backoff up to 5 minutes, or at once when its binding asks for another output (docs/contract.md §8,
// `ManagedOutputApplyFailed`).
import type { Output } from '@kleym/shared/core/decide/index.ts'
import { backoffMs, type Backoff } from '@kleym/shared/kube/backoff.ts'
import type { Clock } from '@kleym/shared/kube/clock.ts'
import { desiredHashOf } from './desired-hash.ts'

const BACKOFF: Backoff = { firstMs: 1_000, maxMs: 300_000 }

/** The last refusal of a binding's output. */
interface ApplyFailure {
  readonly desiredHash: string
  readonly message: string
  /** How often in a row the API server has refused this output. */
  readonly times: number
  /** When the output is tried again, in monotonic milliseconds. */
  readonly dueMs: number
}

export interface ApplyFailuresOptions {
  readonly clock: Clock
}

/** What could not be written as it was proven, by the binding that asked for it. */
export class ApplyFailures {
  readonly #options: ApplyFailuresOptions
  readonly #failures = new Map<string, ApplyFailure>()

  constructor(options: ApplyFailuresOptions) {
    this.#options = options
  }

  /** Notes that `output` could not be written for this binding: the API server has refused it, or answered with another one. */
  note(key: string, output: Output, message: string): void {
    const desiredHash = desiredHashOf(output)
    const before = this.#failures.get(key)
    const times = before?.desiredHash === desiredHash ? before.times + 1 : 1
    const dueMs = this.#options.clock.monotonicMs() + backoffMs(BACKOFF, times)
    this.#failures.set(key, { desiredHash, message, times, dueMs })
  }

  /** The refusal of this very output, and in how many milliseconds it is tried again (0: now). */
  of(key: string, output: Output): { readonly message: string; readonly waitMs: number } | undefined {
    const failure = this.#failures.get(key)
    if (failure === undefined || failure.desiredHash !== desiredHashOf(output)) return undefined
    return { message: failure.message, waitMs: this.waitMs(key) }
  }

  /** Whether the last try to write an output for this binding, whichever it was, has failed. */
  has(key: string): boolean {
    return this.#failures.has(key)
  }

  /** In how many milliseconds the last refusal of this binding is tried again. */
  waitMs(key: string): number {
    return Math.max(0, (this.#failures.get(key)?.dueMs ?? 0) - this.#options.clock.monotonicMs())
  }

  /** Forgets the refusal of a binding's output. */
  forget(key: string): void {
    this.#failures.delete(key)
  }
}
