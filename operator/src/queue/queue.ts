// The work queue: keys to look at, each once however often it is added, and never twice at the same time. The semantics
// are those of client-go's `util/workqueue` (dirty and processing sets, delayed adds, per-item exponential backoff); on top
// of them keys are taken in turn from the groups (namespaces) that have any, so that one of 5,000 keys holds up no other; no group
// gets all workers, so that one whose objects the API server takes half a minute to write holds up no other either, and nor do many
// such; and large objects are worked on one at a time, since each write of one keeps a processor of the API server busy.
import { backoffMs, jittered, type Backoff } from '@kleym/shared/kube/backoff.ts'
import type { Clock } from '@kleym/shared/kube/clock.ts'
import { Fifo } from './fifo.ts'
import { Turns } from './turns.ts'

/** How long a key that fails waits, before jitter. */
const BACKOFF: Backoff = { firstMs: 5, maxMs: 300_000 }

/**
 * How many more workers than those that are left free a group may have. With 8 workers a group that is alone gets 6 of them, two get
 * 3 each and three 7 together: one is always left for a group that has none, until 8 groups have one.
 */
const SHARE = 3

/** From how long a look on is slow, and how long its group counts as slow after it unless a later one is quick, in milliseconds. */
const SLOW_MS = 1_000
const SLOW_FOR_MS = 2 * BACKOFF.maxMs

/** The limits of one wait, in milliseconds; the lower one counts where they cross. */
export interface Pause {
  readonly atLeastMs?: number
  /** The longest backoff of the queue when absent. */
  readonly atMostMs?: number
}

/** The longest delay that a timer of Node can hold (it takes more for 1 ms); waking early is harmless. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** Hears what happens to keys, for the `workqueue_*` metrics, but not which keys they are. */
export interface QueueObserver {
  /** A key was marked to be looked at; not called for adds that coalesce with an earlier one. */
  added(): void
  /** A worker took a key, this long after it was added. */
  taken(waitedMs: number): void
  /** A worker is done with a key, this long after it took it. */
  done(workedMs: number): void
  /** A key was added with a delay. */
  retried(): void
}

export interface QueueOptions {
  readonly clock: Clock
  /** From 0 up to but without 1. */
  readonly random: () => number
  /** Whose turn a key takes: its namespace. */
  readonly groupOf: (key: string) => string
  /** Whether only one key of this sort is processed at a time, across groups; asked when a worker takes it. */
  readonly isLarge?: (key: string) => boolean
  /** How many keys are processed at the same time, which groups share; Infinity where nothing is to be left free. */
  readonly workers: number
  readonly observer?: QueueObserver
}

/** The queue at this moment. */
export interface QueueState {
  /** Keys that wait for a worker; those that wait for a delay to pass are not among them. */
  readonly depth: number
  readonly processing: number
  /** The time that all keys in processing have been so, added up. */
  readonly unfinishedMs: number
  /** The time that the key longest in processing has been so. */
  readonly longestMs: number
}

interface Delayed {
  readonly dueMs: number
  readonly cancel: () => void
}

/**
 * A key is *dirty* from its add until a worker takes it, and *processing* from then until `done`. One that is added while
 * it is processing stays dirty, and is queued again when it is done. All operations take constant time.
 */
export class WorkQueue {
  readonly #clock: Clock
  readonly #random: () => number
  readonly #groupOf: (key: string) => string
  readonly #isLarge: (key: string) => boolean
  readonly #workers: number
  readonly #observer: QueueObserver | undefined

  /** Since when each key is dirty or processing, in monotonic milliseconds. */
  readonly #dirty = new Map<string, number>()
  readonly #processing = new Map<string, number>()
  /** The key that is being processed and was large when it was taken. */
  #largeAtWork: string | undefined
  /** Until when each group counts as slow, as its last look was; the one that was so first comes first. */
  readonly #slowUntil = new Map<string, number>()
  /** The keys that are being processed, whose group was slow when they were taken. */
  readonly #slowAtWork = new Set<string>()
  /** How many keys of each group are processing; groups without any are not in it. */
  readonly #processingOf = new Map<string, number>()
  readonly #delayed = new Map<string, Delayed>()
  readonly #failures = new Map<string, number>()
  /** The keys that wait for a worker. */
  readonly #turns = new Turns<string>()
  /** Workers that wait for a key; while there are keys, they are left free for other groups than those of the keys. */
  readonly #idle = new Fifo<(key: string | undefined) => void>()
  #shutDown: PromiseWithResolvers<void> | undefined

  constructor(options: QueueOptions) {
    this.#clock = options.clock
    this.#random = options.random
    this.#groupOf = options.groupOf
    this.#isLarge = options.isLarge ?? (() => false)
    this.#workers = options.workers
    this.#observer = options.observer
  }

  /** Marks `key` to be looked at as soon as a worker is free. Does nothing once shut down. */
  add(key: string): void {
    if (this.#shutDown !== undefined || this.#dirty.has(key)) return
    this.#dirty.set(key, this.#clock.monotonicMs())
    this.#observer?.added()
    if (!this.#processing.has(key)) this.#enqueue(key)
  }

  /** Adds `key` in `ms` milliseconds. Of several delays of one key the one that ends first counts; `add` ends none. */
  addAfter(key: string, ms: number): void {
    if (this.#shutDown !== undefined) return
    this.#observer?.retried()
    if (!(ms > 0)) {
      this.add(key)
      return
    }
    const dueMs = this.#clock.monotonicMs() + ms
    const earlier = this.#delayed.get(key)
    if (earlier !== undefined && earlier.dueMs <= dueMs) return
    earlier?.cancel()
    const cancel = this.#clock.after(Math.min(ms, LONGEST_TIMER_MS), () => {
      this.#delayed.delete(key)
      this.add(key)
    })
    this.#delayed.set(key, { dueMs, cancel })
  }

  /** Ends the delay of `key`, if one runs: whoever has just looked at it says anew when to look again. */
  dropDelay(key: string): void {
    this.#delayed.get(key)?.cancel()
    this.#delayed.delete(key)
  }

  /** Counts one more failure of `key` and adds it after its backoff, within the limits of `pause`. */
  retry(key: string, { atLeastMs = 0, atMostMs = BACKOFF.maxMs }: Pause = {}): void {
    const failures = this.failures(key) + 1
    this.#failures.set(key, failures)
    const backoff = backoffMs({ ...BACKOFF, maxMs: atMostMs }, failures)
    this.addAfter(key, Math.max(jittered(backoff, this.#random), atLeastMs))
  }

  /** Forgets the failures of `key`. A delay that runs goes on. */
  forget(key: string): void {
    this.#failures.delete(key)
  }

  /** How often `retry` was called for `key` since it was last forgotten. */
  failures(key: string): number {
    return this.#failures.get(key) ?? 0
  }

  /** The next key, which is then processing; undefined once shut down. Every key taken must be given to `done`. */
  take(): Promise<string | undefined> {
    if (this.#shutDown !== undefined) return Promise.resolve(undefined)
    const key = this.#turns.shift(this.#mayHaveWorker)
    if (key === undefined) return new Promise((resolve) => this.#idle.push(resolve))
    this.#start(key)
    return Promise.resolve(key)
  }

  /** Drops the adds of a key that is processing until now: its worker has just looked at everything. */
  clearDirty(key: string): void {
    if (this.#processing.has(key)) this.#dirty.delete(key)
  }

  /** Ends the processing of `key`; it is queued again if it was added meanwhile. Throws for a key that is not processing. */
  done(key: string): void {
    const since = this.#processing.get(key)
    if (since === undefined) throw new Error(`the key ${JSON.stringify(key)} is done, but was not taken`)
    const workedMs = this.#clock.monotonicMs() - since
    this.#processing.delete(key)
    this.#slowAtWork.delete(key)
    if (this.#largeAtWork === key) this.#largeAtWork = undefined
    this.#countProcessing(key, -1)
    this.#noteSpeed(this.#groupOf(key), workedMs)
    this.#observer?.done(workedMs)
    if (this.#dirty.has(key)) this.#enqueue(key)
    else this.#giveToIdle()
    this.#settleShutDown()
  }

  /**
   * Ends all intake and drops what is queued or delayed: work is level-based, so the next leader finds it again, and a
   * long queue must not hold a shutdown up. Resolves when nothing is processing.
   */
  shutDown(): Promise<void> {
    if (this.#shutDown !== undefined) return this.#shutDown.promise
    this.#shutDown = Promise.withResolvers()
    for (const { cancel } of this.#delayed.values()) cancel()
    this.#delayed.clear()
    this.#dirty.clear()
    this.#turns.clear()
    for (let idle = this.#idle.shift(); idle !== undefined; idle = this.#idle.shift()) idle(undefined)
    this.#settleShutDown()
    return this.#shutDown.promise
  }

  state(): QueueState {
    const now = this.#clock.monotonicMs()
    let unfinishedMs = 0
    let longestMs = 0
    for (const since of this.#processing.values()) {
      unfinishedMs += now - since
      longestMs = Math.max(longestMs, now - since)
    }
    return { depth: this.#turns.size, processing: this.#processing.size, unfinishedMs, longestMs }
  }

  #enqueue(key: string): void {
    this.#turns.push(this.#groupOf(key), key)
    this.#giveToIdle()
  }

  /** Gives workers that wait the keys that may have one now. */
  #giveToIdle(): void {
    while (this.#idle.size > 0) {
      const key = this.#turns.shift(this.#mayHaveWorker)
      if (key === undefined) return
      this.#start(key)
      this.#idle.shift()?.(key)
    }
  }

  readonly #mayHaveWorker = (group: string, key: string): boolean => {
    if (this.#largeAtWork !== undefined && this.#isLarge(key)) return false
    // However many groups are slow, one worker is left for those that are not.
    if (this.#isSlow(group) && this.#slowAtWork.size >= Math.max(1, this.#workers - 1)) return false
    const own = this.#processingOf.get(group) ?? 0
    const left = this.#workers - this.#processing.size - 1
    return own === 0 || own < SHARE * left
  }

  #isSlow(group: string): boolean {
    return (this.#slowUntil.get(group) ?? Number.NEGATIVE_INFINITY) > this.#clock.monotonicMs()
  }

  #noteSpeed(group: string, workedMs: number): void {
    this.#slowUntil.delete(group)
    if (workedMs < SLOW_MS) return
    const now = this.#clock.monotonicMs()
    for (const [other, until] of this.#slowUntil) {
      if (until > now) break
      this.#slowUntil.delete(other)
    }
    this.#slowUntil.set(group, now + SLOW_FOR_MS)
  }

  #countProcessing(key: string, change: 1 | -1): void {
    const group = this.#groupOf(key)
    const count = (this.#processingOf.get(group) ?? 0) + change
    if (count === 0) this.#processingOf.delete(group)
    else this.#processingOf.set(group, count)
  }

  #start(key: string): void {
    const now = this.#clock.monotonicMs()
    this.#observer?.taken(now - (this.#dirty.get(key) ?? now))
    this.#dirty.delete(key)
    this.#processing.set(key, now)
    if (this.#isLarge(key)) this.#largeAtWork = key
    if (this.#isSlow(this.#groupOf(key))) this.#slowAtWork.add(key)
    this.#countProcessing(key, 1)
  }

  #settleShutDown(): void {
    if (this.#processing.size === 0) this.#shutDown?.resolve()
  }
}
