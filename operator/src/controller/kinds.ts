// Keeps the caches filled as kinds come and go (contract §4): which kinds the API server serves, a reflector for each that
// it does, and the CRDs as the sign to look again. A kind is absent only when the API server says so; a discovery that
// fails is tried again.
import type { JsonRecord } from '@kleym/shared/core/json.ts'
import type { UnknownReason } from '@kleym/shared/core/unknown-reason.ts'
import { readMeta } from '@kleym/shared/core/objects/meta.ts'
import type { Api } from '@kleym/shared/kube/api.ts'
import type { Clock } from '@kleym/shared/kube/clock.ts'
import { discover, type Discoverer, type Served } from '@kleym/shared/kube/discovery.ts'
import { Reflector, type ReflectorState } from '@kleym/shared/kube/reflector.ts'
import { CRDS } from '@kleym/shared/kube/resources.ts'
import { Store, type Cached } from '@kleym/shared/kube/store.ts'
import type { Log } from '../telemetry/log.ts'
import { catchUp } from './live-lists.ts'
import { cachedBinding, cachedObjective, cachedOutput, cachedPool } from './read.ts'
import type { AnyCache, KindCache, World } from './world.ts'

export interface KindsOptions {
  readonly api: Api & Discoverer
  readonly world: World
  readonly clock: Clock
  readonly random: () => number
  readonly log: Log
  /** Hears what a cache's listener threw, which is a bug. */
  readonly onError: (error: unknown) => void
  /** The API server is heard of again after a failure: what failed may be tried at once. */
  readonly onRecovered: () => void
}

/** How often a kind that is not there is looked for again, beside whenever a CRD changes. */
const ABSENT_MS = 30_000
/** Discovery lags behind CRDs by a second or two: it is asked again until it has settled. */
const AFTER_CRD_MS = [0, 500, 1_500, 4_000, 10_000] as const
/**
 * How long what was known of a kind stays so while it cannot be known again: an API server that starts forbids everything
 * until it has its roles, and one that has just got a CRD lists its group before it serves it.
 */
const DISTRUST_MS = 10_000
/** The first wait after a discovery that failed; it doubles up to `ABSENT_MS`. */
const UNKNOWN_MS = 500

/** One kind: its cache, and what fills it while the kind is served. */
interface Keeper {
  readonly cache: AnyCache
  /** Starts filling; returns what ends it. */
  start(): { stop(): Promise<void>; retryNow(): void }
  /** Forgets all objects: the kind is gone. */
  empty(): void
  /** Brings the cache up to the state of the API server now. */
  catchUp(): Promise<void>
  running: { stop(): Promise<void>; retryNow(): void } | undefined
  /** Discoveries that failed in a row. */
  failures: number
  /** Whether its reflector fails. */
  fails: boolean
  /** Takes back that the cache will not be believed any more; undefined where that is not to come. */
  cancelDistrust: (() => void) | undefined
  cancelTimer: () => void
}

export class Kinds {
  readonly #options: KindsOptions
  readonly #keepers: readonly Keeper[]
  readonly #crds: Store<Cached>
  readonly #timers = new Set<() => void>()
  #crdReflector: Reflector<Cached> | undefined
  #stopped = false

  constructor(options: KindsOptions) {
    this.#options = options
    const { world, onError } = options
    this.#keepers = [
      this.#keeper(world.bindings, cachedBinding),
      this.#keeper(world.outputs, cachedOutput),
      ...[...world.pools].map(([group, cache]) => this.#keeper(cache, cachedPool(group))),
      ...[...world.objectives].map(([group, cache]) => this.#keeper(cache, cachedObjective(group))),
    ]
    this.#crds = new Store<Cached>({ onError })
  }

  /** Finds out which kinds there are, and begins to fill their caches. Resolves after the first discovery. */
  async start(): Promise<void> {
    const { api, clock, random } = this.#options
    await this.#look(this.#keepers)
    const names = new Set(this.#keepers.map(({ cache }) => crdName(cache)))
    this.#crds.subscribe((change) => {
      const { meta } = change.kind === 'removed' ? change.before : change.now
      const keeper = this.#keepers.find(({ cache }) => crdName(cache) === meta.name)
      if (keeper !== undefined) this.#lookAround(keeper, change.kind !== 'removed')
    })
    this.#crdReflector = new Reflector<Cached>({
      api,
      resource: CRDS,
      metadataOnly: true,
      store: this.#crds,
      read: (raw) => readCrd(raw, names),
      clock,
      random,
      onError: (error) => this.#options.log.debug('watching CRDs failed', { error }),
    })
    this.#crdReflector.start()
  }

  /** Asks the API server again whether it serves the kind of a cache. */
  async recheck(cache: AnyCache): Promise<void> {
    await this.#look(this.#keepers.filter((keeper) => keeper.cache === cache))
  }

  /**
   * Brings all caches up to the state of the API server now; rejects where a list fails. A cache that has yet to be filled
   * is not waited for, as nobody knows how long that takes: its list, which may be of a state before now, begins anew.
   */
  async catchUp(): Promise<void> {
    const filled = this.#keepers.filter(({ cache }) => cache.standing.kind === 'synced')
    await Promise.all(filled.map((keeper) => keeper.catchUp()))
    // Only now: this call may be repeated until those lists are in, and a list must not be cut short each time.
    for (const keeper of this.#keepers) if (!filled.includes(keeper)) this.#restart(keeper)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    for (const cancel of this.#timers) cancel()
    for (const { cancelTimer, cancelDistrust } of this.#keepers) {
      cancelTimer()
      cancelDistrust?.()
    }
    await Promise.all([this.#crdReflector?.stop(), ...this.#keepers.map(({ running }) => running?.stop())])
  }

  #keeper<T extends Cached>(cache: KindCache<T>, read: (value: JsonRecord) => T): Keeper {
    const { api, clock, random, log } = this.#options
    const { resource, store } = cache
    const keeper: Keeper = {
      cache,
      start: () => {
        cache.stand({ kind: 'waiting' })
        const reflector = new Reflector<T>({
          api,
          resource,
          store,
          read,
          clock,
          random,
          onState: (state) => this.#follow(keeper, state),
          onError: (error) => log.debug('following a kind failed', { kind: resource.kind, error }),
        })
        reflector.start()
        return reflector
      },
      empty: () => store.replace([], store.seen ?? '', store.listBegins()),
      catchUp: () => catchUp(api, cache, read),
      running: undefined,
      failures: 0,
      fails: false,
      cancelDistrust: undefined,
      cancelTimer: () => {},
    }
    return keeper
  }

  async #look(keepers: readonly Keeper[]): Promise<void> {
    const served = await discover(
      this.#options.api,
      keepers.map(({ cache }) => cache.resource),
    )
    if (this.#stopped) return
    for (const [at, keeper] of keepers.entries()) {
      const answer = served[at]
      if (answer !== undefined) this.#heed(keeper, answer)
    }
  }

  #heed(keeper: Keeper, served: Served): void {
    const { cache } = keeper
    keeper.cancelTimer()
    switch (served.state) {
      case 'served':
        keeper.failures = 0
        if (keeper.running === undefined) {
          this.#trust(keeper)
          keeper.running = keeper.start()
        } else keeper.running.retryNow()
        return
      case 'absent':
        keeper.failures = 0
        this.#dismiss(keeper)
        this.#lookLater(keeper, ABSENT_MS)
        return
      case 'unknown': {
        // What is followed goes on being followed: its reflector says what it knows.
        if (keeper.running === undefined) {
          if (cache.standing.kind === 'absent') this.#distrustLater(keeper, served.why)
          else cache.stand({ kind: 'unknown', why: served.why })
        }
        this.#lookLater(keeper, Math.min(UNKNOWN_MS * 2 ** keeper.failures, ABSENT_MS))
        keeper.failures++
      }
    }
  }

  #restart(keeper: Keeper): void {
    const { running } = keeper
    if (running === undefined || this.#stopped) return
    // As in `#dismiss`: nothing of what it is reading reaches the store.
    void running.stop()
    this.#trust(keeper)
    keeper.running = keeper.start()
  }

  #dismiss(keeper: Keeper): void {
    if (keeper.cache.standing.kind !== 'absent') {
      this.#options.log.info('the API server does not serve a kind', { kind: crdName(keeper.cache) })
    }
    const { running } = keeper
    keeper.running = undefined
    // `stop` ends what reaches the store at once; only its promise waits for the request.
    void running?.stop()
    this.#trust(keeper)
    // The standing first: that the objects are gone must not look like deletions of some of them.
    keeper.cache.stand({ kind: 'absent' })
    keeper.empty()
  }

  #lookLater(keeper: Keeper, ms: number): void {
    keeper.cancelTimer = this.#options.clock.after(ms, () => void this.#look([keeper]))
  }

  /** A CRD has come, changed or gone: discovery is asked until it agrees, or has had its time. */
  #lookAround(keeper: Keeper, isThere: boolean, tries = 0): void {
    const ms = AFTER_CRD_MS[tries]
    if (ms === undefined || this.#stopped) return
    const cancel = this.#options.clock.after(ms, () => {
      this.#timers.delete(cancel)
      if (tries > 0 && (keeper.cache.standing.kind !== 'absent') === isThere) return
      void this.#look([keeper]).then(() => this.#lookAround(keeper, isThere, tries + 1))
    })
    this.#timers.add(cancel)
  }

  #follow(keeper: Keeper, state: ReflectorState): void {
    const { cache, fails } = keeper
    keeper.fails = state.kind === 'failing'
    if (state.kind !== 'failing' || state.why.cause !== 'forbidden') this.#trust(keeper)
    switch (state.kind) {
      case 'waiting':
      case 'synced':
        cache.stand(state)
        if (fails) this.#options.onRecovered()
        return
      case 'failing':
        if (state.why.cause === 'absent') void this.#look([keeper])
        if (!state.synced) cache.stand({ kind: 'unknown', why: state.why })
        else if (state.why.cause === 'forbidden') this.#distrustLater(keeper, state.why)
    }
  }

  /** A cache that has been filled is as good as it was a moment ago, unless it may not be read any more. */
  #distrustLater(keeper: Keeper, why: UnknownReason): void {
    keeper.cancelDistrust ??= this.#options.clock.after(DISTRUST_MS, () => {
      keeper.cancelDistrust = undefined
      keeper.cache.stand({ kind: 'unknown', why })
    })
  }

  #trust(keeper: Keeper): void {
    keeper.cancelDistrust?.()
    keeper.cancelDistrust = undefined
  }
}

function readCrd(raw: JsonRecord, names: ReadonlySet<string>): Cached | undefined {
  const meta = readMeta(raw)
  return names.has(meta.name) ? { meta } : undefined
}

function crdName({ resource }: AnyCache): string {
  return `${resource.plural}.${resource.group}`
}
