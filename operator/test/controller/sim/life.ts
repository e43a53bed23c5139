// One life of an operator, from a start with empty memory to a crash: the real controller over simulated surroundings.
import type { Config } from '@kleym/shared/core/compile/config.ts'
import type { Clock } from '@kleym/shared/kube/clock.ts'
import { Controller } from '../../../src/controller/controller.ts'
import { cachedBinding, cachedObjective, cachedOutput, cachedPool } from '../../../src/controller/read.ts'
import { createWorld, type World } from '../../../src/controller/world.ts'
import type { EventNote } from '../../../src/telemetry/events.ts'
import type { Metrics } from '../../../src/telemetry/metrics.ts'
import { keptLog, type LogLine } from '../../log-lines.ts'
import type { Calls } from './calls.ts'
import type { Dice } from './dice.ts'
import { feedOf, type Feed } from './feed.ts'
import type { SimulatedServer } from './server.ts'

export interface LifeOptions {
  readonly id: number
  readonly server: SimulatedServer
  readonly calls: Calls
  readonly clock: Clock
  readonly dice: Dice
  readonly config: Config
  readonly workers: number
}

export class Life {
  readonly id: number
  readonly world: World
  readonly feeds: readonly Feed[]
  /** What it has told people. */
  readonly notes: EventNote[] = []
  readonly lines: readonly LogLine[]
  /** What must never happen: a listener or the controller has thrown. */
  readonly failures: unknown[] = []
  /** How many outputs it put right. */
  repairs = 0
  readonly #controller: Controller
  #alive = true

  constructor({ id, server, calls, clock, dice, config, workers }: LifeOptions) {
    this.id = id
    const onError = (error: unknown): void => void this.failures.push(error)
    const world = createWorld({ onError })
    this.world = world
    this.feeds = [
      feedOf(server, world.bindings, cachedBinding),
      feedOf(server, world.outputs, cachedOutput),
      ...[...world.pools].map(([group, cache]) => feedOf(server, cache, cachedPool(group))),
      ...[...world.objectives].map(([group, cache]) => feedOf(server, cache, cachedObjective(group))),
    ]
    const { log, lines } = keptLog()
    this.lines = lines
    this.#controller = new Controller({
      api: calls.apiOf(id),
      world,
      config,
      clock: this.#mortal(clock),
      random: () => dice.next(),
      log,
      metrics: this.#metrics(),
      events: { record: (note) => void this.notes.push(note), drain: async () => {} },
      recheck: async (cache) => {
        // A discovery that fails says nothing, and throws nothing.
        const isServed = await calls.discover(id, cache.resource).catch(() => undefined)
        if (isServed === undefined) return
        this.feeds.find((feed) => feed.cache.resource === cache.resource)?.heed(isServed)
      },
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
      outputRepaired: () => {
        this.repairs += 1
      },
      eventEnded: nothing,
      eventLoopLagged: nothing,
      render: async () => ({ contentType: '', body: '' }),
    }
  }
}

function nothing(): void {}
