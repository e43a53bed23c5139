// Outputs that the API server will not have (400, 422, an admission denial, a quota): tried again with backoff up to
// 5 minutes, or at once when something else is to be written (contract §8, `ManagedOutputApplyFailed`).
import type { Output } from '@kleym/shared/core/compile/output.ts'
import { wishOf } from './desired-hash.ts'

const FIRST_MS = 1_000
const MAX_MS = 300_000

interface Failure {
  readonly wish: string
  readonly message: string
  readonly times: number
  readonly dueMs: number
}

export class ApplyFailures {
  readonly #monotonicMs: () => number
  readonly #failures = new Map<string, Failure>()

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs
  }

  /** The API server has refused to write `output` for this binding. */
  note(key: string, output: Output, message: string): void {
    const wish = wishOf(output)
    const before = this.#failures.get(key)
    const times = before?.wish === wish ? before.times + 1 : 1
    const pause = Math.min(FIRST_MS * 2 ** (times - 1), MAX_MS)
    this.#failures.set(key, { wish, message, times, dueMs: this.#monotonicMs() + pause })
  }

  /** The refusal of this very output, and in how many milliseconds it is tried again (0: now). */
  of(key: string, output: Output): { readonly message: string; readonly waitMs: number } | undefined {
    const failure = this.#failures.get(key)
    if (failure === undefined || failure.wish !== wishOf(output)) return undefined
    return { message: failure.message, waitMs: Math.max(0, failure.dueMs - this.#monotonicMs()) }
  }

  /** In how many milliseconds the last refusal of this binding is tried again. */
  waitMs(key: string): number {
    return Math.max(0, (this.#failures.get(key)?.dueMs ?? 0) - this.#monotonicMs())
  }

  forget(key: string): void {
    this.#failures.delete(key)
  }
}
