// One life of an operator, from a start with empty memory to a crash: the real controller, history and election over
// simulated surroundings.
import type { Config } from '@kleym/shared/core/decide/settings/config.ts'
import type { Api, Listing, Resource } from '@kleym/shared/kube/api.ts'
import { ApiError } from '@kleym/shared/kube/errors.ts'
import type { AnyFollowedKind } from '@kleym/shared/kube/followed-kind.ts'
import { endingClock, type EndingClock } from '@kleym/shared/kube/clock.ts'
import { LEASES } from '@kleym/shared/kube/resources.ts'
import type { FakeClock } from '@kleym/testing/fake-clock.ts'
import { composeController } from '../../src/compose.ts'
import type { Controller } from '../../src/reconcile/controller.ts'
import { createCaches, type Caches } from '../../src/caches/caches.ts'
import { DatastoreHistory } from '../../src/caches/datastore-history.ts'
import { Election } from '../../src/election/election.ts'
import { fenced } from '../../src/election/fence.ts'
import type { LeaseApi } from '../../src/election/lease.ts'
import type { EventNote } from '../../src/telemetry/events.ts'
import type { Metrics } from '../../src/telemetry/metrics.ts'
import { ProcessClock } from '../build/fake-time.ts'
import { keptLog, type LogLine } from '../build/log-lines.ts'
import type { Calls } from './calls.ts'
import type { Dice } from './dice.ts'
import { laggingWatch, type ArrivingList, type Guard, type LaggingWatch } from './lagging-watch.ts'
import type { SimulatedCluster } from './cluster.ts'

/** After how long the Lease is renewed for a list that waits for it, in milliseconds. */
const RENEWED_MS = 1_000
/** The Lease of the install. */
export const LEASE = { namespace: 'kleym-system', name: 'kleym' } as const

export interface LifeOptions {
  readonly id: number
  readonly server: SimulatedCluster
  readonly calls: Calls
  readonly time: FakeClock
  readonly dice: Dice
  readonly config: Config
  readonly workers: number
  readonly bindingsPerNamespace: number | undefined
  /** The step that the simulation is at. */
  readonly step: () => number
  /** Called when the Lease is won; undefined where a test decides who leads. */
  readonly onElected: (() => void) | undefined
  /** Whether its process has seen a restore of the datastore already. */
  readonly isLater: boolean
  /** Called when it sees one; it ends with that. */
  readonly onRestored: () => void
}

export class Life {
  readonly id: number
  /** What it is set to. */
  readonly config: Config
  readonly bindingsPerNamespace: number | undefined
  /** Whether its process has seen a restore of the datastore. */
  readonly isLater: boolean
  /** The step at which it began. */
  readonly bornAt: number
  readonly caches: Caches
  readonly watches: readonly LaggingWatch[]
  /** What it has told people. */
  readonly notes: EventNote[] = []
  readonly lines: readonly LogLine[]
  /** What must never happen: a listener or the controller has thrown. */
  readonly failures: unknown[] = []
  /** How many outputs it put right. */
  repairs = 0
  /** How often it has looked at a binding. */
  looks = 0
  readonly #server: SimulatedCluster
  readonly #calls: Calls
  /** The calls of the process, with an eye on the datastore. */
  readonly #api: Api
  readonly #plainApi: Api
  readonly #leases: LeaseApi
  readonly #time: ProcessClock
  readonly #clock: EndingClock
  readonly #controller: Controller
  readonly #history: DatastoreHistory
  readonly #election: Election | undefined
  readonly #step: () => number
  #alive = true

  constructor(options: LifeOptions) {
    const { id, server, calls, time, dice, config, workers, bindingsPerNamespace, step, onElected } = options
    const { isLater, onRestored } = options
    this.id = id
    this.config = config
    this.bindingsPerNamespace = bindingsPerNamespace
    this.isLater = isLater
    const onError = (error: unknown): void => void this.failures.push(error)
    const caches = createCaches({ onError })
    this.caches = caches
    this.#server = server
    this.#calls = calls
    this.#step = step
    this.bornAt = step()
    this.#time = new ProcessClock(time, {})
    this.#clock = endingClock(this.#time)
    const clock = this.#clock
    this.#history = new DatastoreHistory({
      clock,
      seen: (resource) => this.watches.find(({ cache }) => cache.resource === resource)?.seen,
      isLater,
      onRestored: () => {
        // As `runOperator` does it: another one begins.
        this.crash()
        onRestored()
      },
      onOldList: nothing,
    })
    this.#plainApi = calls.apiOf(id)
    this.#api = this.#history.watchedApi(this.#plainApi)
    this.#leases = this.#history.watchedLeases(this.#plainLeases())
    const guard: Guard = (resource) => this.#arrivingList(resource)
    this.watches = [
      laggingWatch(caches.bindings, { server, clock, guard }),
      laggingWatch(caches.outputs, { server, clock, guard }),
      ...[...caches.pools.values()].map((cache) => laggingWatch(cache, { server, clock, guard })),
      ...[...caches.objectives.values()].map((cache) => laggingWatch(cache, { server, clock, guard })),
    ]
    const { log, lines } = keptLog()
    this.lines = lines
    const random = (): number => dice.next()
    this.#election = onElected && this.#candidate({ random, onElected })
    this.#controller = composeController({
      api: fenced(this.#api, { isLeader: () => this.#alive && (this.#election?.isLeader() ?? true) }),
      caches,
      config,
      clock,
      random,
      log,
      metrics: this.#metrics(),
      events: { record: (note) => void this.notes.push(note), drain: async () => {} },
      writesPerSecond: undefined,
      bindingsPerNamespace,
      takeOver: new Set(),
      classlessIgnored: false,
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

  /** While it is true its machine is suspended: no timer runs, and its monotonic clock stands still. */
  get isSuspended(): boolean {
    return this.#time.suspended
  }

  set isSuspended(suspended: boolean) {
    this.#time.suspended = suspended
  }

  /** Whether what it knows is of the history since this step: it has started later, and has listed. */
  knowsOf(step: number): boolean {
    const { bindings, outputs } = this.caches
    return this.bornAt > step && bindings.syncState.kind !== 'waiting' && outputs.syncState.kind !== 'waiting'
  }

  /** Begins to try for the Lease. */
  stand(): void {
    this.#election?.start()
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

  /** What an election does every 2 s, without one: reads and writes the Lease, which shows whether the datastore was restored. */
  async renew(): Promise<void> {
    if (this.#election !== undefined || !this.#alive) return
    const spec = { holderIdentity: `life-${this.id}`, renewTime: `step ${this.#step()}` }
    try {
      const lease = await this.#leases.get(LEASES, LEASE)
      await this.#leases.update(LEASES, { ...lease, spec })
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      // Another one came first.
      if (error.status === 409) return
      await this.#leases.create(LEASES, { metadata: { ...LEASE }, spec })
    }
  }

  /** No timer of it runs any more, and no answer reaches it. */
  crash(): void {
    this.#alive = false
    this.#clock.end()
  }

  async #catchUp(): Promise<void> {
    const believed = this.watches.filter(({ cache }) => cache.syncState.kind === 'synced')
    for (const watch of this.watches) {
      if (watch.cache.syncState.kind === 'absent' || watch.isBlind) continue
      watch.cache.setSyncState({ kind: 'waiting' })
      watch.start()
    }
    for (const { cache, isBlind } of this.watches)
      if (cache.syncState.kind === 'absent' && !isBlind) await this.#recheck(cache)
    await Promise.all(believed.map(({ cache }) => cache.whenKnown()))
  }

  async #recheck({ resource }: AnyFollowedKind): Promise<void> {
    // A discovery that fails says nothing, and throws nothing.
    const isServed = await this.#calls.discover(this.id, resource).catch(() => undefined)
    if (isServed === undefined) return
    this.watches.find((watch) => watch.cache.resource === resource)?.heed(isServed)
  }

  /** What a list shows of the datastore, by the real code: as if it came alone. */
  #arrivingList(resource: Resource): ArrivingList {
    const { promise, resolve } = Promise.withResolvers<Listing>()
    const pages = (): AsyncIterable<Listing> => onePage(promise)
    const list = async (): Promise<Listing> => {
      // Where no election renews the Lease, something must, or nothing shows how far the datastore has come.
      this.#clock.after(RENEWED_MS, () => void this.renew())
      return this.#server.list(resource)
    }
    const listed = this.#history.watchedApi({ ...this.#plainApi, pages, list }).pages(resource)
    const first = listed[Symbol.asyncIterator]().next()
    return (listing) => {
      resolve(listing)
      return first.then(
        () => true,
        () => false,
      )
    }
  }

  #candidate({ random, onElected }: { random: () => number; onElected: () => void }): Election {
    return new Election({
      api: this.#leases,
      clock: this.#clock,
      random,
      log: keptLog().log,
      lease: LEASE,
      identity: `life-${this.id}`,
      onElected,
      // The process ends.
      onLost: () => this.crash(),
    })
  }

  /** The Lease is read and written at once, unless the process is gone. */
  #plainLeases(): LeaseApi {
    const { id } = this
    return {
      get: async (resource, ref) => this.#server.get(resource, ref),
      create: async (resource, object) => this.#server.create(resource, object, id),
      update: async (resource, object) => this.#server.update(resource, object, id),
    }
  }

  #metrics(): Metrics {
    return {
      reconciled: () => {
        this.looks += 1
      },
      queue: { added: nothing, taken: nothing, done: nothing, retried: nothing },
      watchQueue: nothing,
      watchOutputs: nothing,
      watchLeadership: nothing,
      requested: nothing,
      setBinding: nothing,
      setInForce: nothing,
      outputRepaired: () => {
        this.repairs += 1
      },
      eventEnded: nothing,
      eventLoopLagged: nothing,
      render: async () => ({ contentType: '', body: '' }),
    }
  }
}

async function* onePage(listing: Promise<Listing>): AsyncGenerator<Listing> {
  yield await listing
}

function nothing(): void {}
