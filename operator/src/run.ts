// One operator, from its settings to its end: client, caches, servers, leadership, controller, and an orderly shutdown.
import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import { classLabelProblem } from '@kleym/shared/core/decide/index.ts'
import { stringAt } from '@kleym/shared/core/base/json.ts'
import { POOL_KINDS, qualifiedKind } from '@kleym/shared/core/model/kinds.ts'
import { namespacedName } from '@kleym/shared/core/model/namespaced-name.ts'
import { createApi, type Client } from '@kleym/shared/kube/client.ts'
import type { Api, Resource } from '@kleym/shared/kube/api.ts'
import { endingClock, pause, type Clock, type EndingClock } from '@kleym/shared/kube/clock.ts'
import { resourceName } from '@kleym/shared/kube/resources.ts'
import type { Cached, StoreChange } from '@kleym/shared/kube/store.ts'
import { classWithoutLabelText } from './check/checks.ts'
import { crdOfBindings, isOthersCrd } from './check/other-implementation.ts'
import { clusterOf, type ClusterSurroundings } from './settings/cluster.ts'
import { composeController } from './compose.ts'
import type { Controller } from './reconcile/controller.ts'
import { DatastoreHistory } from './caches/datastore-history.ts'
import { KindKeeper } from './caches/kind-keeper.ts'
import { allCaches, createCaches, type Caches } from './caches/caches.ts'
import { Election, type Leadership } from './election/election.ts'
import { eventRecorder, type EventRecorder } from './telemetry/events.ts'
import { fenced } from './election/fence.ts'
import type { LeaseName } from './election/lease.ts'
import { newSignature } from './election/signature.ts'
import type { RunningServer } from './server/http.ts'
import type { Log } from './telemetry/log.ts'
import { apiReviewer, REVIEWS_MAX } from './server/metrics-access.ts'
import { watchEventLoop } from './telemetry/event-loop-lag.ts'
import { createMetrics, type Metrics } from './telemetry/metrics.ts'
import { METRICS_PATH, serveMetrics, serveProbes } from './server/server.ts'
import { leaseOf, type Settings } from './settings/settings.ts'
import { USER_AGENT } from './settings/version.ts'

/** What an operator needs of its process. */
export interface OperatorSurroundings extends ClusterSurroundings {
  readonly random: () => number
  readonly log: Log
  /** Aborted when the process is asked to end. */
  readonly stop: AbortSignal
}

/** Why the operator has ended, other than by being asked to. */
export class OperatorEnded extends Error {
  override readonly name = 'OperatorEnded'
}

/** How long the first try for the Lease may take before the caches are filled all the same, in milliseconds. */
const FIRST_TRY_MS = 1_000
/** How long work in hand and events may take at the end, in milliseconds: both fit a pod's grace period of 30 s. */
const STOP_MS = 15_000
const EVENTS_MS = 5_000
/** How long connections may take to end, in milliseconds. */
const CLOSE_MS = 1_000
/** How long the operator withdraws outputs in a cluster without pools before the process ends, in milliseconds. */
const WITHDRAW_MS = 60_000
const LOOK_MS = 100
const CLASS_FIX = 'give SCM a className that is a label value, and the operator the same'

/** The datastore was restored: what this operator knows is of another history. */
class DatastoreRestored extends Error {
  override readonly name = 'DatastoreRestored'
}

/**
 * Runs until `stop`, and then ends in order. Rejects with an `OperatorEnded` where it cannot go on. When the datastore was
 * restored, another operator begins, with nothing but the knowledge that it was (docs/contract.md §6).
 */
export async function runOperator(settings: Settings, surroundings: OperatorSurroundings): Promise<void> {
  const { clock } = surroundings
  let operator = await Operator.create(settings, surroundings, 0)
  const servers: RunningServer[] = []
  try {
    await serve(settings, surroundings, { servers, operator: () => operator })
    for (let restores = 1; ; restores++) {
      try {
        await operator.run()
        return
      } catch (error) {
        if (!(error instanceof DatastoreRestored)) throw error
        await operator.close()
        operator = await Operator.create(settings, surroundings, restores)
      }
    }
  } finally {
    await operator.close()
    await within(clock, CLOSE_MS, Promise.allSettled(servers.map((server) => server.close())))
  }
}

/** Serves probes and metrics of the operator that there is. */
async function serve(
  { probes, metrics }: Settings,
  { log, clock }: OperatorSurroundings,
  { servers, operator }: { readonly servers: RunningServer[]; readonly operator: () => Operator },
): Promise<void> {
  if (probes !== undefined) {
    servers.push(await serveProbes({ address: probes, notReady: () => operator().notReady(), log }))
  }
  if (metrics === undefined) return
  const secure = metrics.tls && {
    files: metrics.tls,
    readFile: (path: string) => readFile(path, 'utf8'),
    reviewer: apiReviewer({
      api: { create: (...call) => operator().reviews.create(...call) },
      clock,
      path: METRICS_PATH,
    }),
    clock,
  }
  servers.push(
    await serveMetrics({ address: metrics.address, render: () => operator().metrics.render(), secure, log }),
  )
}

/** Whether `work` ended in time. */
async function within(clock: Clock, ms: number, work: Promise<unknown>): Promise<boolean> {
  const late = Promise.withResolvers<boolean>()
  const cancel = clock.after(ms, () => late.resolve(false))
  const inTime = await Promise.race([work.then(() => true), late.promise])
  cancel()
  return inTime
}

class Operator {
  readonly #surroundings: OperatorSurroundings & { readonly clock: EndingClock }
  readonly #client: Client
  /** For who may read the metrics. */
  readonly reviews: Client
  readonly metrics: Metrics
  readonly #closeClients: () => void
  readonly #caches: Caches
  readonly #keeper: KindKeeper
  readonly #controller: Controller
  readonly #events: EventRecorder
  readonly #leases: Pick<Api, 'get' | 'create' | 'update'>
  readonly #endWatchingLoop: () => void
  readonly #election: Election | undefined
  readonly #elected = Promise.withResolvers<void>()
  /** Rejected by whatever makes going on impossible. */
  readonly #broken = Promise.withResolvers<never>()
  #isOver = false
  /** The version of the CRD of bindings that was read last. */
  #crdVersion: string | undefined

  /** `restores`: how often the datastore was restored since the process has started. */
  static async create(
    settings: Settings,
    surroundings: OperatorSurroundings,
    restores: number,
  ): Promise<Operator> {
    const { log } = surroundings
    // What is left of an operator that has ended does nothing more.
    const clock = endingClock(surroundings.clock)
    const cluster = await clusterOf(settings, surroundings)
    if (cluster.withheld !== undefined)
      log.warn(
        'the connection to the API server is not TLS, so credentials are not sent; give an https:// address',
        {
          server: cluster.server.origin,
          withheld: cluster.withheld,
        },
      )
    const problem = classLabelProblem(settings.className)
    if (problem !== undefined)
      log.warn(classWithoutLabelText(problem), { className: settings.className, fix: CLASS_FIX })
    const metrics = createMetrics({ restores })
    const clientWith = (maxSockets: number): Client =>
      createApi(cluster, {
        userAgent: USER_AGENT,
        clock,
        maxSockets,
        onRequest: ({ method, status }) =>
          metrics.requested({ method, code: status ?? '<error>', host: cluster.server.host }),
      })
    return new Operator(
      settings,
      { ...surroundings, clock },
      {
        client: clientWith(settings.workers + SOCKETS_BESIDE_WORKERS),
        leases: clientWith(LEASE_SOCKETS),
        // Anybody who reaches the metrics can cause them.
        reviews: clientWith(REVIEWS_MAX),
        metrics,
        namespace: cluster.namespace,
        restores,
      },
    )
  }

  private constructor(
    settings: Settings,
    surroundings: OperatorSurroundings & { readonly clock: EndingClock },
    made: {
      readonly client: Client
      readonly leases: Client
      readonly reviews: Client
      readonly metrics: Metrics
      readonly namespace: string
      readonly restores: number
    },
  ) {
    const { clock, random, log, env } = surroundings
    const { client, leases, reviews, metrics, restores } = made
    this.#surroundings = surroundings
    this.#client = client
    this.reviews = reviews
    this.metrics = metrics
    this.#endWatchingLoop = watchEventLoop(clock, (ms) => metrics.eventLoopLagged(ms))
    const onError = (error: unknown): void => this.#broken.reject(error)
    this.#broken.promise.catch(() => undefined)
    this.#caches = createCaches({ onError })
    const onRecovered = (): void => this.#controller.retryNow()
    const history = new DatastoreHistory({
      clock,
      seen: (resource) => allCaches(this.#caches).find((cache) => cache.resource === resource)?.seen,
      isLater: restores > 0 && settings.leaderElection,
      onRestored: (resource) => this.#restored(resource),
      onOldList: ({ kind }) =>
        log.warn(
          'the API server answers lists from before the datastore was restored; nothing is written until it is restarted',
          { kind },
        ),
    })
    const watched = history.watchedApi(client)
    this.#leases = history.watchedLeases(leases)
    this.#closeClients = () => {
      for (const one of [client, leases, reviews]) one.close()
    }
    this.#keeper = new KindKeeper({
      api: { ...watched, raw: (...call) => client.raw(...call) },
      caches: this.#caches,
      clock,
      random,
      log,
      onError,
      onRecovered,
      onCrdChange: (cache, change) => {
        if (cache === this.#caches.outputs) this.#controller.outputsCrdChanged(change.kind === 'added')
        if (cache === this.#caches.bindings)
          void this.#refuseOtherImplementation(change).then(() => this.#controller.bindingsCrdChanged())
      },
    })
    const instance = env['POD_NAME'] ?? hostname()
    const lease = leaseOf(settings.lease, made.namespace)
    this.#election = settings.leaderElection ? this.#createElection(lease, instance) : undefined
    const leadership: Leadership = {
      isLeader: () => !this.#isOver && (this.#election?.isLeader() ?? true),
    }
    this.#events = eventRecorder({
      api: client,
      clock,
      random,
      log,
      instance,
      isLeader: leadership.isLeader,
      ended: (result) => metrics.eventEnded(result),
    })
    this.#controller = composeController({
      api: fenced(watched, leadership),
      caches: this.#caches,
      config: {
        trustDomain: { kind: 'set', value: settings.trustDomain },
        className: settings.className,
        outputLabels: settings.outputLabels,
        variantLabelKey: settings.variantLabelKey,
        install: namespacedName(lease.namespace, lease.name),
      },
      clock,
      random,
      log,
      metrics,
      events: this.#events,
      takeOver: settings.takeOver,
      classlessIgnored: settings.classlessIgnored,
      recheck: (cache) => this.#keeper.recheck(cache),
      writesPerSecond: settings.writesPerSecond,
      bindingsPerNamespace: settings.bindingsPerNamespace,
      workers: settings.workers,
      resyncMs: settings.resyncMs,
      pause: () => setImmediate(),
    })
  }

  async run(): Promise<void> {
    const { stop, log } = this.#surroundings
    const stopped = new Promise<void>((resolve) => {
      if (stop.aborted) resolve()
      stop.addEventListener('abort', () => resolve())
    })
    const end = await Promise.race([this.#work(), this.#broken.promise, stopped])
    log.info('stopping')
    const isDone = await within(this.#surroundings.clock, STOP_MS, this.#controller.stop())
    await this.#events.drain(EVENTS_MS)
    // What is still under way may be carried out yet: another operator must not decide without it before the Lease runs out.
    if (isDone) await this.#election?.release()
    else this.#election?.abandon()
    if (end !== undefined) throw end
  }

  async close(): Promise<void> {
    this.#isOver = true
    this.#endWatchingLoop()
    this.#closeClients()
    const { clock } = this.#surroundings
    await within(clock, CLOSE_MS, this.#keeper.stop())
    clock.end()
  }

  /** Works until it is stopped, or until there is nothing to work for: then the reason, for an end in order. */
  async #work(): Promise<OperatorEnded | undefined> {
    const { log, clock } = this.#surroundings
    if (this.#election === undefined) this.#elected.resolve()
    else this.#election.start()
    const led = await within(clock, FIRST_TRY_MS, this.#elected.promise)
    await this.#refuseOtherImplementation()
    await this.#keeper.start()
    await this.#elected.promise
    // Caches that were filled before this process led may lack what the last leader wrote.
    if (!led) await this.#keeper.catchUp()
    log.info('leading')
    const hadPools = !this.#poolsAreAbsent()
    const leads = this.#controller.lead()
    const end = hadPools ? undefined : await Promise.race([leads, this.#withdrawWithoutPools()])
    if (end !== undefined) return end
    await leads
    return undefined
  }

  /**
   * Ends where the CRD of bindings is the other implementation's, whose operator would fight this one over the same objects.
   * Reads it unless the version that there is was read last.
   */
  async #refuseOtherImplementation(change?: StoreChange<Cached>): Promise<void> {
    if (change?.kind === 'added' && change.now.meta.resourceVersion === this.#crdVersion) return
    try {
      const crd = await crdOfBindings(this.#client)
      this.#crdVersion = stringAt(crd, 'metadata', 'resourceVersion')
      if (!isOthersCrd(crd)) return
    } catch (error) {
      // Its kinds cannot be read either, and are unknown.
      this.#surroundings.log.debug('cannot read the CRD of bindings', { error })
      return
    }
    this.#broken.reject(
      new OperatorEnded(
        'the CRD of InferenceIdentityBinding is that of the Go implementation (it lacks spec.mode or status.clusterSPIFFEID): two operators would fight over the objects; remove one',
      ),
    )
  }

  /** At start no pool kind is served: withdraws what rests on one, and says why to end (docs/contract.md §3), unless a pool kind is served by then. */
  async #withdrawWithoutPools(): Promise<OperatorEnded | undefined> {
    const { clock, log } = this.#surroundings
    const kinds = POOL_KINDS.map(qualifiedKind).join(' nor ')
    log.warn('the API server serves no InferencePool; withdrawing the outputs that depend on one')
    const until = clock.monotonicMs() + WITHDRAW_MS
    while (clock.monotonicMs() < until && !(this.#isFilled() && this.#controller.isIdle)) {
      await pause(clock, LOOK_MS)
    }
    if (!this.#poolsAreAbsent()) return undefined
    return new OperatorEnded(
      `the API server serves neither ${kinds}: there is nothing to compile; install the CRDs of the Gateway API Inference Extension`,
    )
  }

  /** Nothing is written any more from here on: what is known is of another history (docs/contract.md §6). */
  #restored(resource: Resource): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#surroundings.log.warn('the datastore was restored to an earlier state; beginning anew', {
      kind: resourceName(resource),
    })
    this.#election?.abandon()
    void this.#controller.stop()
    this.#broken.reject(new DatastoreRestored('the datastore was restored'))
  }

  #createElection(lease: LeaseName, instance: string): Election {
    const { clock, random, log } = this.#surroundings
    const election = new Election({
      api: this.#leases,
      clock,
      random,
      log,
      lease,
      identity: newSignature(instance),
      onElected: () => this.#elected.resolve(),
      onLost: (reason) => this.#broken.reject(new OperatorEnded(`the Lease is lost: ${reason}`)),
    })
    this.metrics.watchLeadership(election, lease.name)
    return election
  }

  /** Undefined when it is ready, else why it is not, in words. */
  notReady(): string | undefined {
    const waiting = allCaches(this.#caches).filter(({ syncState }) => syncState.kind === 'waiting')
    if (waiting.length > 0)
      return `waiting for ${waiting.map(({ resource }) => resourceName(resource)).join(', ')}`
    return this.#controller.otherInstalls
  }

  /** Whether every cache has what there is, or is known to have nothing. */
  #isFilled(): boolean {
    return allCaches(this.#caches).every(
      ({ syncState }) => syncState.kind === 'synced' || syncState.kind === 'absent',
    )
  }

  #poolsAreAbsent(): boolean {
    return [...this.#caches.pools.values()].every(({ syncState }) => syncState.kind === 'absent')
  }
}

/** Connections for lists, live reads and events, beside one for each worker. */
const SOCKETS_BESIDE_WORKERS = 6
/** Connections for the Lease alone, which waits for no other request: one may hang. */
const LEASE_SOCKETS = 2
