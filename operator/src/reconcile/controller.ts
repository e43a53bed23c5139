// The controller: takes the keys of a queue, has each reconciled, and puts it back when it is to be looked at again. It
// writes from the moment it leads.
import { namespaceWritten } from '@kleym/shared/core/model/namespaced-name.ts'
import type { Clock } from '@kleym/shared/kube/clock.ts'
import { allCaches, type Caches } from '../caches/caches.ts'
import type { OutputSchema } from '../caches/output-schema.ts'
import type { Indexes } from '../claims/indexes.ts'
import type { Installs } from '../claims/installs.ts'
import type { WorkQueue } from '../queue/queue.ts'
import { runWorkers, PAUSE_EVERY_MS } from '../queue/workers.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { WriteBudget } from '../write/write-budget.ts'
import type { Writer } from '../write/writer.ts'
import type { NamespaceRoom } from './namespace-room.ts'
import type { Next } from './next.ts'
import type { Reconciler } from './reconciler.ts'
import type { Reports } from './reports.ts'

export interface ControllerOptions {
  readonly caches: Caches
  readonly indexes: Indexes
  readonly queue: WorkQueue
  readonly reconciler: Reconciler
  readonly clock: Clock
  readonly metrics: Pick<Metrics, 'reconciled'>
  readonly reports: Pick<Reports, 'restoreInForce'>
  readonly outputSchema: Pick<OutputSchema, 'changed'>
  readonly budget: Pick<WriteBudget, 'waiting' | 'ended'>
  readonly room: Pick<NamespaceRoom, 'ended'>
  readonly writer: Pick<Writer, 'isUnsettled'>
  readonly installs: Pick<Installs, 'problem' | 'standsBy'>
  /** How many bindings are worked on at the same time. */
  readonly workers: number
  /** After how many milliseconds every binding is looked at again, should a change have been missed; undefined: never. */
  readonly resyncMs: number | undefined
  /** Lets timers and I/O have their turn. */
  readonly pause: () => Promise<unknown>
}

/** When statuses are written with `InForce` again after the CRD has changed, in milliseconds. */
const AFTER_CRD_MS = [0, 5_000, 60_000] as const

export class Controller {
  readonly #options: ControllerOptions
  /** Keys whose last attempt failed: looked at at once when the API server is heard of again. */
  readonly #failing = new Set<string>()
  /**
   * Until when the API server asked not to be called for a key (429, Retry-After). A change that wakes the key later ends
   * it: what is needed now is not what was put off then.
   */
  readonly #notBefore = new Map<string, number>()
  #leads = false
  #cancelResync: () => void = () => {}

  constructor(options: ControllerOptions) {
    this.#options = options
    for (const cache of allCaches(options.caches)) cache.onSyncState(() => this.retryNow())
  }

  /** Works until `stop`. Rejects for a bug: the caller must end the process. */
  async lead(): Promise<void> {
    const { indexes, queue, clock, workers, pause } = this.#options
    this.#leads = true
    indexes.wakeAll()
    this.#resyncLater()
    await runWorkers(queue, workers, (key) => this.#reconcile(key), { clock, everyMs: PAUSE_EVERY_MS, pause })
  }

  /** Takes nothing new in, and resolves when what was begun is done. */
  async stop(): Promise<void> {
    this.#cancelResync()
    await this.#options.queue.shutDown()
  }

  /** Which other installs have outputs in the cluster, and what to do; undefined if none has. */
  get otherInstalls(): string | undefined {
    return this.#options.installs.problem
  }

  /** Whether no key waits or is about to be woken, none is worked on, and none has failed. */
  get isIdle(): boolean {
    const { queue, reconciler, budget, indexes } = this.#options
    const { depth, processing } = queue.state()
    const waiting = this.#failing.size + reconciler.waiting + budget.waiting
    return depth === 0 && processing === 0 && waiting === 0 && !indexes.isBusy
  }

  /** Asks for a key to be reconciled soon; nothing before this process leads, as `lead` wakes all keys. */
  wake(key: string): void {
    this.#notBefore.delete(key)
    if (this.#leads) this.#options.queue.add(key)
  }

  /** Looks at once at whatever has failed: the reason may be gone. */
  retryNow(): void {
    if (this.#leads) for (const key of this.#failing) this.#options.queue.add(key)
  }

  /** Looks at every binding: what concerns them all has changed. */
  lookAtAll(): void {
    if (this.#leads) this.#options.indexes.wakeAll()
  }

  /** The API server may drop other fields of outputs from now on; `isNew`: their CRD is there since the start, or again. */
  outputsCrdChanged(isNew: boolean): void {
    void this.#options.outputSchema.changed(isNew)
  }

  /** The API server may take statuses that it has refused so far; it may need a moment for it. */
  bindingsCrdChanged(): void {
    const { clock, indexes, reports } = this.#options
    for (const ms of AFTER_CRD_MS) {
      clock.after(ms, () => {
        if (this.#leads && reports.restoreInForce()) indexes.wakeAll()
      })
    }
  }

  async #reconcile(key: string): Promise<void> {
    const { budget, room, writer } = this.#options
    try {
      await this.#look(key)
    } finally {
      // Also where the binding has gone meanwhile: what was kept for it is another's.
      budget.ended(key)
      // A write without an answer may have made the output.
      if (!writer.isUnsettled(key)) room.ended(key)
    }
  }

  async #look(key: string): Promise<void> {
    const { caches, queue, reconciler, indexes, clock, metrics, installs } = this.#options
    // Its end wakes all keys.
    if (installs.standsBy) return
    const began = clock.monotonicMs()
    const early = (this.#notBefore.get(key) ?? 0) - began
    if (early > 0) {
      queue.addAfter(key, early)
      return
    }
    this.#notBefore.delete(key)
    // Mostly there is nothing to work in, or it is this one binding. A deletion needs its own outputs alone.
    const isDeleting = caches.bindings.store.get(key)?.meta.deletedAt !== undefined
    if (!isDeleting) await indexes.workIn(namespaceWritten(key))
    const next = await reconciler.reconcile(key)
    metrics.reconciled(RESULTS[next.kind], clock.monotonicMs() - began)
    this.#schedule(key, next)
  }

  #schedule(key: string, next: Next): void {
    const { queue, clock } = this.#options
    // A look sees all there is: what an earlier one wanted to see again later, it has seen.
    queue.dropDelay(key)
    if (next.kind === 'retry') {
      this.#failing.add(key)
      if (next.atLeastMs > 0) this.#notBefore.set(key, clock.monotonicMs() + next.atLeastMs)
      queue.retry(key, next)
      return
    }
    this.#failing.delete(key)
    queue.forget(key)
    if (next.kind === 'after') queue.addAfter(key, next.ms)
  }

  #resyncLater(): void {
    const { indexes, clock, resyncMs } = this.#options
    if (resyncMs === undefined) return
    this.#cancelResync = clock.after(resyncMs, () => {
      indexes.wakeAll()
      this.#resyncLater()
    })
  }
}

/** controller-runtime's words for the result of a reconcile. */
const RESULTS = { 'nothing to do': 'success', after: 'requeue_after', retry: 'error' } as const
