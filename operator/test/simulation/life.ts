// One life of an operator, from a start with empty memory to a crash: the real controller over simulated surroundings.
import type { Config } from '@kleym/shared/core/compile/config.ts'
import type { Api } from '@kleym/shared/kube/api.ts'
import type { AnyFollowedKind } from '@kleym/shared/kube/followed-kind.ts'
import { pause, type Clock } from '@kleym/shared/kube/clock.ts'
import { composeController } from '../../src/compose.ts'
import type { Controller } from '../../src/reconcile/controller.ts'
import { createCaches, type Caches } from '../../src/caches/caches.ts'
import type { EventNote } from '../../src/telemetry/events.ts'
import type { Metrics } from '../../src/telemetry/metrics.ts'
import { keptLog, type LogLine } from '../build/log-lines.ts'
import type { Calls } from './calls.ts'
import type { Dice } from './dice.ts'
import { laggingWatch, type LaggingWatch } from './lagging-watch.ts'
import type { SimulatedCluster } from './cluster.ts'

/** After how long a new leader tries again to list what the last one has left, in milliseconds. */
const RETRY_MS = 100

export interface LifeOptions {
  readonly id: number
  readonly server: SimulatedCluster
  readonly calls: Calls
  readonly clock: Clock
  readonly dice: Dice
  readonly config: Config
  readonly workers: number
}

export class Life {
  readonly id: number
  /** What it is set to. */
  readonly config: Config
  readonly caches: Caches
  readonly watches: readonly LaggingWatch[]
  /** What it has told people. */
  readonly notes: EventNote[] = []
  readonly lines: readonly LogLine[]
  /** What must never happen: a listener or the controller has thrown. */
  readonly failures: unknown[] = []
  /** How many outputs it put right. */
  repairs = 0
  readonly #calls: Calls
  readonly #api: Api
  readonly #clock: Clock
  readonly #controller: Controller
  #alive = true

  constructor({ id, server, calls, clock, dice, config, workers }: LifeOptions) {
    this.id = id
    this.config = config
    const onError = (error: unknown): void => void this.failures.push(error)
    const caches = createCaches({ onError })
    this.caches = caches
    this.watches = [
      laggingWatch(server, caches.bindings),
      laggingWatch(server, caches.outputs),
      ...[...caches.pools.values()].map((cache) => laggingWatch(server, cache)),
      ...[...caches.objectives.values()].map((cache) => laggingWatch(server, cache)),
    ]
    const { log, lines } = keptLog()
    this.lines = lines
    this.#calls = calls
    this.#api = calls.apiOf(id)
    this.#clock = this.#mortal(clock)
    this.#controller = composeController({
      api: this.#api,
      caches,
      config,
      clock: this.#clock,
      random: () => dice.next(),
      log,
      metrics: this.#metrics(),
      events: { record: (note) => void this.notes.push(note), drain: async () => {} },
      recheck: (cache) => this.#recheck(cache),
      workers,
      resyncMs: undefined,
      pause: async () => {},
    })
  }

  get isAlive(): boolean {
    return this.#alive
  }

  get isIdle(): boolean {
    return this.#controller.isIdle
  }

  lead(): void {
    this.#controller.lead().catch((error: unknown) => this.failures.push(error))
  }

  /** A standby leads now: as in `KindKeeper.catchUp`, every cache comes from a list that began later before anything is written. */
  takeOver(): void {
    this.#catchUp()
      .then(() => this.#controller.lead())
      .catch((error: unknown) => this.failures.push(error))
  }

  async #catchUp(): Promise<void> {
    for (let isCaughtUp = false; !isCaughtUp;) {
      const filled = this.watches.filter(({ cache }) => cache.syncState.kind === 'synced')
      const lists = await Promise.allSettled(filled.map(({ cache }) => cache.catchUp(this.#api)))
      isCaughtUp = lists.every(({ status }) => status === 'fulfilled')
      if (!isCaughtUp) await pause(this.#clock, RETRY_MS)
    }
    for (const { cache, isBlind } of this.watches)
      if (cache.syncState.kind === 'absent' && !isBlind) await this.#recheck(cache)
    for (const watch of this.watches) if (watch.cache.syncState.kind === 'waiting') watch.start()
  }

  async #recheck({ resource }: AnyFollowedKind): Promise<void> {
    // A discovery that fails says nothing, and throws nothing.
    const isServed = await this.#calls.discover(this.id, resource).catch(() => undefined)
    if (isServed === undefined) return
    this.watches.find((watch) => watch.cache.resource === resource)?.heed(isServed)
  }

  /** No timer of it runs any more, and no answer reaches it. */
  crash(): void {
    this.#alive = false
  }

  #mortal(clock: Clock): Clock {
    return {
      now: () => clock.now(),
      monotonicMs: () => clock.monotonicMs(),
      after: (ms, run) =>
        clock.after(ms, () => {
          if (this.#alive) run()
        }),
    }
  }

  #metrics(): Metrics {
    return {
      reconciled: nothing,
      queue: { added: nothing, taken: nothing, done: nothing, retried: nothing },
      watchQueue: nothing,
      watchLeadership: nothing,
      requested: nothing,
      setBinding: nothing,
      setInForce: nothing,
      outputRepaired: () => {
        this.repairs += 1
      },
      eventEnded: nothing,
      eventLoopLagged: nothing,
      datastoreRestored: nothing,
      render: async () => ({ contentType: '', body: '' }),
    }
  }
}

function nothing(): void {}
