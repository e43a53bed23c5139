// The controller: caches, ledger, queue and workers put together. It follows the cluster from the start, and writes from
// the moment it leads.
import type { Config } from '@kleym/shared/core/compile/config.ts'
import type { Api } from '@kleym/shared/kube/api.ts'
import type { Clock } from '@kleym/shared/kube/clock.ts'
import type { EventRecorder } from '../telemetry/events.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { WorkQueue } from '../queue/queue.ts'
import { runWorkers, REST_EVERY_MS } from '../queue/workers.ts'
import { Ledger } from './ledger.ts'
import { LiveLists } from './live-lists.ts'
import type { Next } from './next.ts'
import { Reconciler } from './reconciler.ts'
import { Reports } from './reports.ts'
import { cachesOf, type AnyCache, type World } from './world.ts'
import { Writer } from './writer.ts'

export interface ControllerOptions {
  readonly api: Api
  readonly world: World
  readonly config: Config
  readonly clock: Clock
  readonly random: () => number
  readonly log: Log
  readonly metrics: Metrics
  readonly events: EventRecorder
  /** Asks the API server again whether it serves the kind of a cache. */
  readonly recheck: (cache: AnyCache) => Promise<void>
  /** How many bindings are worked on at the same time. */
  readonly workers: number
  /** After how many milliseconds everything is looked at again, should anything have been missed; undefined: never. */
  readonly resyncMs: number | undefined
  /** Lets timers and I/O have their turn. */
  readonly pause: () => Promise<unknown>
}

export class Controller {
  readonly #options: ControllerOptions
  readonly #queue: WorkQueue
  readonly #ledger: Ledger
  readonly #reconciler: Reconciler
  /** Keys whose last attempt failed: looked at at once when the API server is heard of again. */
  readonly #failing = new Set<string>()
  /**
   * Until when the API server wants to hear nothing of a key (429, Retry-After). A change that wakes the key later
   * ends it: what is needed now is not what was put off then.
   */
  readonly #notBefore = new Map<string, number>()
  #leads = false
  #cancelResync: () => void = () => {}

  constructor(options: ControllerOptions) {
    this.#options = options
    const { api, world, config, clock, random, log, metrics, events, recheck } = options
    this.#queue = new WorkQueue({ clock, random, groupOf: namespaceOf, observer: metrics.queue })
    metrics.watchQueue(this.#queue)
    this.#ledger = new Ledger({ world, config, wake: (key) => this.#wake(key) })
    const writer = new Writer({ api, world, ledger: this.#ledger })
    this.#reconciler = new Reconciler({
      world,
      ledger: this.#ledger,
      writer,
      lists: new LiveLists(api, world.outputs),
      reports: new Reports({ world, writer, config, clock, events, metrics, log }),
      clock,
      log,
      recheck,
      repaired: () => metrics.outputRepaired(),
      wake: (key) => this.#wake(key),
      looked: (key) => this.#queue.cover(key),
    })
    for (const cache of cachesOf(world)) cache.onStanding(() => this.retryNow())
  }

  /** Works until `stop`. Rejects for a bug: whoever runs this must end the process. */
  async lead(): Promise<void> {
    const { clock, workers, pause } = this.#options
    await this.#ledger.warmUp(pause)
    this.#leads = true
    this.#ledger.wakeAll()
    this.#resyncLater()
    await runWorkers(this.#queue, workers, (key) => this.#reconcile(key), {
      clock,
      everyMs: REST_EVERY_MS,
      pause,
    })
  }

  /** Takes nothing new in, and resolves when what was begun is done. */
  async stop(): Promise<void> {
    this.#cancelResync()
    await this.#queue.shutDown()
  }

  /** Whether nothing waits, nothing is worked on, and nothing has failed. */
  get isIdle(): boolean {
    const { depth, processing } = this.#queue.state()
    return depth === 0 && processing === 0 && this.#failing.size === 0 && this.#reconciler.waiting === 0
  }

  /** Looks at once at whatever has failed: the reason may be gone. */
  retryNow(): void {
    if (this.#leads) for (const key of this.#failing) this.#queue.add(key)
  }

  async #reconcile(key: string): Promise<void> {
    const { clock, metrics } = this.#options
    const began = clock.monotonicMs()
    const early = (this.#notBefore.get(key) ?? 0) - began
    if (early > 0) {
      this.#queue.addAfter(key, early)
      return
    }
    this.#notBefore.delete(key)
    const next = await this.#reconciler.reconcile(key)
    metrics.reconciled(RESULTS[next.kind], clock.monotonicMs() - began)
    this.#schedule(key, next)
  }

  #schedule(key: string, next: Next): void {
    if (next.kind === 'retry') {
      this.#failing.add(key)
      if (next.atLeastMs > 0) {
        this.#notBefore.set(key, this.#options.clock.monotonicMs() + next.atLeastMs)
      }
      this.#queue.retry(key, next)
      return
    }
    this.#failing.delete(key)
    this.#queue.forget(key)
    if (next.kind === 'after') this.#queue.addAfter(key, next.ms)
  }

  #wake(key: string): void {
    this.#notBefore.delete(key)
    if (this.#leads) this.#queue.add(key)
  }

  #resyncLater(): void {
    const { clock, resyncMs } = this.#options
    if (resyncMs === undefined) return
    this.#cancelResync = clock.after(resyncMs, () => {
      this.#ledger.wakeAll()
      this.#resyncLater()
    })
  }
}

const RESULTS = { settled: 'success', after: 'requeue_after', retry: 'error' } as const

function namespaceOf(key: string): string {
  return key.slice(0, key.indexOf('/'))
}
