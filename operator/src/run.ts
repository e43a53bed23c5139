// One operator, from its settings to its end: client, caches, servers, leadership, controller, and an orderly shutdown.
import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import { classLabelProblem } from '@kleym/shared/core/compile/output.ts'
import { POOL_KINDS, qualifiedKind } from '@kleym/shared/core/kinds.ts'
import { namespacedName } from '@kleym/shared/core/namespaced-name.ts'
import { backoffMs, type Backoff } from '@kleym/shared/kube/backoff.ts'
import { createApi, type Client } from '@kleym/shared/kube/client.ts'
import type { Resource } from '@kleym/shared/kube/api.ts'
import { pause } from '@kleym/shared/kube/clock.ts'
import { resourceName } from '@kleym/shared/kube/resources.ts'
import { classWithoutLabelText } from './check/checks.ts'
import { isOthersCrd } from './check/other-implementation.ts'
import { clusterOf, type ClusterSurroundings } from './settings/cluster.ts'
import { composeController } from './compose.ts'
import type { Controller } from './reconcile/controller.ts'
import { DatastoreHistory, heldUntilListed, isListedAnew } from './caches/datastore-history.ts'
import { KindKeeper } from './caches/kind-keeper.ts'
import { allCaches, createCaches, type Caches } from './caches/caches.ts'
import { Election, type Leadership } from './election/election.ts'
import { eventRecorder, type EventRecorder } from './telemetry/events.ts'
import { fenced } from './election/fence.ts'
import type { LeaseName } from './election/lease.ts'
import { newSignature } from './election/signature.ts'
import type { RunningServer } from './server/http.ts'
import type { Log } from './telemetry/log.ts'
import { apiReviewer } from './server/metrics-access.ts'
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
/** The waits between the tries of a new leader to list everything once. */
const CATCH_UP_BACKOFF: Backoff = { firstMs: 100, maxMs: 1_000 }

/** Runs until `stop`, and then ends in order. Rejects with an `OperatorEnded` where it cannot go on. */
export async function runOperator(settings: Settings, surroundings: OperatorSurroundings): Promise<void> {
  const operator = await Operator.create(settings, surroundings)
  try {
    await operator.run()
  } finally {
    await operator.close()
  }
}

class Operator {
  readonly #settings: Settings
  readonly #surroundings: OperatorSurroundings
  readonly #client: Client
  readonly #caches: Caches
  readonly #history: DatastoreHistory
  readonly #keeper: KindKeeper
  readonly #controller: Controller
  readonly #events: EventRecorder
  readonly #metrics: Metrics
  readonly #endWatchingLoop: () => void
  readonly #election: Election | undefined
  readonly #elected = Promise.withResolvers<void>()
  /** Rejected by whatever makes going on impossible. */
  readonly #broken = Promise.withResolvers<never>()
  readonly #servers: RunningServer[] = []

  static async create(settings: Settings, surroundings: OperatorSurroundings): Promise<Operator> {
    const { clock, log } = surroundings
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
    const metrics = createMetrics()
    const client = createApi(cluster, {
      userAgent: USER_AGENT,
      clock,
      maxSockets: settings.workers + SOCKETS_BESIDE_WORKERS,
      onRequest: ({ method, status }) =>
        metrics.requested({ method, code: status ?? '<error>', host: cluster.server.host }),
    })
    return new Operator(settings, surroundings, { client, metrics, namespace: cluster.namespace })
  }

  private constructor(
    settings: Settings,
    surroundings: OperatorSurroundings,
    made: { readonly client: Client; readonly metrics: Metrics; readonly namespace: string },
  ) {
    const { clock, random, log, env } = surroundings
    const { client, metrics } = made
    this.#settings = settings
    this.#surroundings = surroundings
    this.#client = client
    this.#metrics = metrics
    this.#endWatchingLoop = watchEventLoop(clock, (ms) => metrics.eventLoopLagged(ms))
    const onError = (error: unknown): void => this.#broken.reject(error)
    this.#broken.promise.catch(() => undefined)
    this.#caches = createCaches({ onError })
    const onRecovered = (): void => this.#controller.retryNow()
    this.#history = new DatastoreHistory({
      clock,
      onRestored: (resource) => this.#restored(resource),
      onOldList: ({ kind }) =>
        log.warn(
          'the API server answers lists from before the datastore was restored; nothing is written until it is restarted',
          { kind },
        ),
    })
    const watched = this.#history.watchedApi(client)
    this.#keeper = new KindKeeper({
      api: { ...watched, raw: (...call) => client.raw(...call) },
      caches: this.#caches,
      clock,
      random,
      log,
      onError,
      onRecovered,
      onCrdChange: (cache) => {
        if (cache === this.#caches.outputs) this.#controller.outputsCrdChanged()
        if (cache === this.#caches.bindings)
          void this.#refuseOtherImplementation().then(() => this.#controller.bindingsCrdChanged())
      },
    })
    const instance = env['POD_NAME'] ?? hostname()
    const lease = leaseOf(settings.lease, made.namespace)
    this.#election = settings.leaderElection ? this.#createElection(lease, instance) : undefined
    const leadership: Leadership = { isLeader: () => this.#election?.isLeader() ?? true }
    this.#events = eventRecorder({
      api: client,
      clock,
      random,
      log,
      instance,
      isLeader: leadership.isLeader,
      isHeld: () => !isListedAnew(this.#caches),
      ended: (result) => metrics.eventEnded(result),
    })
    this.#controller = composeController({
      api: fenced(
        heldUntilListed(watched, () => isListedAnew(this.#caches)),
        leadership,
      ),
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
    await this.#serve()
    const stopped = new Promise<void>((resolve) => {
      if (stop.aborted) resolve()
      stop.addEventListener('abort', () => resolve())
    })
    const end = await Promise.race([this.#work(), this.#broken.promise, stopped])
    log.info('stopping')
    const isDone = await this.#within(STOP_MS, this.#controller.stop())
    await this.#events.drain(EVENTS_MS)
    // What is still under way may be carried out yet: another operator must not decide without it before the Lease runs out.
    if (isDone) await this.#election?.release()
    else this.#election?.abandon()
    if (end !== undefined) throw end
  }

  async close(): Promise<void> {
    this.#endWatchingLoop()
    this.#client.close()
    const ends = Promise.allSettled([this.#keeper.stop(), ...this.#servers.map((server) => server.close())])
    await this.#within(CLOSE_MS, ends)
  }

  /** Works until it is stopped, or until there is nothing to work for: then the reason, for an end in order. */
  async #work(): Promise<OperatorEnded | undefined> {
    const { log } = this.#surroundings
    if (this.#election === undefined) this.#elected.resolve()
    else this.#election.start()
    const led = await this.#within(FIRST_TRY_MS, this.#elected.promise)
    await this.#refuseOtherImplementation()
    await this.#keeper.start()
    await this.#elected.promise
    // Caches that were filled before this process led may lack what the last leader wrote.
    if (!led) await this.#catchUp()
    log.info('leading')
    const hadPools = !this.#poolsAreAbsent()
    const leads = this.#controller.lead()
    const end = hadPools ? undefined : await Promise.race([leads, this.#withdrawWithoutPools()])
    if (end !== undefined) return end
    await leads
    return undefined
  }

  /** Ends where the CRD of bindings is the other implementation's, whose operator would fight this one over the same objects. */
  async #refuseOtherImplementation(): Promise<void> {
    try {
      if (!(await isOthersCrd(this.#client))) return
    } catch (error) {
      // Its kinds cannot be read either, and are unknown.
      this.#surroundings.log.debug('cannot read the CRD of bindings', { error })
      return
    }
    this.#broken.reject(
      new OperatorEnded(
        'the CRD of InferenceIdentityBinding is that of the Go implementation of the same API group (it lacks spec.mode or status.clusterSPIFFEID), and two operators would fight over the same objects: remove one of the two',
      ),
    )
  }

  /** At start no pool kind is served: withdraws what rests on one, and says why to end (docs/contract.md §3), unless a pool kind is served by then. */
  async #withdrawWithoutPools(): Promise<OperatorEnded | undefined> {
    const { clock, log } = this.#surroundings
    const kinds = POOL_KINDS.map(qualifiedKind).join(' nor ')
    log.warn('the API server serves no InferencePool; withdrawing what rests on one')
    const until = clock.monotonicMs() + WITHDRAW_MS
    while (clock.monotonicMs() < until && !(this.#isFilled() && this.#controller.isIdle)) {
      await pause(clock, LOOK_MS)
    }
    if (!this.#poolsAreAbsent()) return undefined
    return new OperatorEnded(
      `the API server serves neither ${kinds}: there is nothing to compile; install the CRDs of the Gateway API Inference Extension`,
    )
  }

  async #catchUp(): Promise<void> {
    const { clock, log, stop } = this.#surroundings
    for (let failures = 1; !stop.aborted; failures++) {
      try {
        await this.#keeper.catchUp()
        return
      } catch (error) {
        log.warn('cannot list what the last leader has left; trying again', { error })
        await pause(clock, backoffMs(CATCH_UP_BACKOFF, failures))
      }
    }
  }

  /** What is known is of another history: nothing is decided or written before it is listed anew (docs/contract.md §6). */
  #restored(resource: Resource): void {
    this.#surroundings.log.warn('the datastore was restored to an earlier state; listing everything anew', {
      kind: resourceName(resource),
    })
    this.#metrics.datastoreRestored()
    this.#keeper.beginHistory()
  }

  #createElection(lease: LeaseName, instance: string): Election {
    const { clock, random, log } = this.#surroundings
    const election = new Election({
      api: this.#history.watchedLeases(this.#client),
      clock,
      random,
      log,
      lease,
      identity: newSignature(instance),
      onElected: () => this.#elected.resolve(),
      onLost: (reason) => this.#broken.reject(new OperatorEnded(`the Lease is lost: ${reason}`)),
    })
    this.#metrics.watchLeadership(election, lease.name)
    return election
  }

  async #serve(): Promise<void> {
    const { log, clock } = this.#surroundings
    const { probes, metrics } = this.#settings
    if (probes !== undefined) {
      this.#servers.push(await serveProbes({ address: probes, notReady: () => this.#notReady(), log }))
    }
    if (metrics === undefined) return
    const secure = metrics.tls && {
      files: metrics.tls,
      readFile: (path: string) => readFile(path, 'utf8'),
      reviewer: apiReviewer({ api: this.#client, clock, path: METRICS_PATH }),
      clock,
    }
    this.#servers.push(
      await serveMetrics({ address: metrics.address, render: () => this.#metrics.render(), secure, log }),
    )
  }

  #notReady(): string | undefined {
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

  /** Whether `work` ended in time. */
  async #within(ms: number, work: Promise<unknown>): Promise<boolean> {
    const late = Promise.withResolvers<boolean>()
    const cancel = this.#surroundings.clock.after(ms, () => late.resolve(false))
    const inTime = await Promise.race([work.then(() => true), late.promise])
    cancel()
    return inTime
  }
}

/** Connections for lists, live reads, events and the Lease, beside one for each worker. */
const SOCKETS_BESIDE_WORKERS = 6
