// Live lists of all ClusterSPIFFEIDs beside their watch: one that began after their deletes shows every binding that waits
// for one whether anything is left of it (docs/contract.md §8). Of ten thousand, a list takes seconds of both sides' CPU, and a tenant
// who creates and deletes all the time would have one after the other: between two lists there is as long a rest as the first took.
import type { Api } from '@kleym/shared/kube/api.ts'
import { pause, type Clock } from '@kleym/shared/kube/clock.ts'
import { ApiError } from '@kleym/shared/kube/errors.ts'
import type { Caches } from './caches.ts'

/** The longest rest, in milliseconds: a list that takes longer is slow for another reason than its length. */
const REST_MAX_MS = 10_000
/** The shortest rest after a list that failed, in milliseconds: one that is refused at once takes no time. */
const FAILED_REST_MS = 1_000

export interface LiveListsOptions {
  readonly clock: Clock
  readonly api: Pick<Api, 'pages'>
  readonly caches: Pick<Caches, 'outputs'>
}

export class LiveLists {
  readonly #options: LiveListsOptions
  /** The list that has not begun yet: every caller until then shares it. */
  #next: Promise<void> | undefined
  #running: Promise<void> = Promise.resolve()
  /** Before when no list begins, in monotonic milliseconds. */
  #restUntilMs = Number.NEGATIVE_INFINITY

  constructor(options: LiveListsOptions) {
    this.#options = options
  }

  /** Resolves when a list that began after this call is in the cache. Rejects as the list does. */
  afterNow(): Promise<void> {
    this.#next ??= this.#begin()
    return this.#next
  }

  async #begin(): Promise<void> {
    // A list that runs began before its later callers deleted anything: they wait for the one after it.
    await this.#running.catch(() => undefined)
    const restMs = this.#restUntilMs - this.#options.clock.monotonicMs()
    if (restMs > 0) await pause(this.#options.clock, restMs)
    this.#next = undefined
    this.#running = this.#list()
    await this.#running
  }

  async #list(): Promise<void> {
    const { api, caches, clock } = this.#options
    const beganMs = clock.monotonicMs()
    let leastRestMs = 0
    try {
      await caches.outputs.catchUp(api)
    } catch (error) {
      const askedMs = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0
      leastRestMs = Math.max(FAILED_REST_MS, askedMs)
      throw error
    } finally {
      const nowMs = clock.monotonicMs()
      this.#restUntilMs = nowMs + Math.max(leastRestMs, Math.min(nowMs - beganMs, REST_MAX_MS))
    }
  }
}
