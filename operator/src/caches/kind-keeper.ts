// Keeps the caches filled as kinds come and go (docs/contract.md §4): asks which kinds the API server serves, follows each
// one that it does, and takes a changed CRD as the sign to ask again. A kind is absent only when the API server says so; a
// discovery that fails is tried again.
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import type { UnknownReason } from '@kleym/shared/core/model/unknown-reason.ts'
import { readObjectVersion } from '@kleym/shared/core/model/objects/meta.ts'
import type { Api } from '@kleym/shared/kube/api.ts'
import { backoffMs, type Backoff } from '@kleym/shared/kube/backoff.ts'
import type { Clock } from '@kleym/shared/kube/clock.ts'
import { discover, type Discoverer, type Served } from '@kleym/shared/kube/discovery.ts'
import type { AnyFollowedKind } from '@kleym/shared/kube/followed-kind.ts'
import { Reflector, type ReflectorState } from '@kleym/shared/kube/reflector.ts'
import { CRDS, resourceName } from '@kleym/shared/kube/resources.ts'
import { Store, type Cached, type StoreChange } from '@kleym/shared/kube/store.ts'
import type { Log } from '../telemetry/log.ts'
import { allCaches, type Caches } from './caches.ts'

export interface KindKeeperOptions {
  readonly api: Api & Discoverer
  readonly caches: Caches
  readonly clock: Clock
  readonly random: () => number
  readonly log: Log
  /** Hears what a listener of the CRDs threw, which is a bug. */
  readonly onError: (error: unknown) => void
  /** A kind could be read again after a failure: what else failed may be tried at once. */
  readonly onRecovered: () => void
  /** The CRD of a cached kind has come, is there from the beginning, has changed or is gone. */
  readonly onCrdChange: (cache: AnyFollowedKind, change: StoreChange<Cached>) => void
}

/** How often the keeper looks again for a kind that is not served, beside whenever a CRD changes. */
const ABSENT_MS = 30_000
/** Discovery lags behind CRDs by a second or two: the keeper asks again until the answer has settled. */
const AFTER_CRD_MS = [0, 500, 1_500, 4_000, 10_000] as const
/**
 * How long a cache is still believed after its kind could not be read: an API server that starts forbids everything until
 * it has its roles, and one that has just got a CRD lists its group before it serves it.
 */
const DISTRUST_MS = 10_000
/** The waits after discoveries that failed. */
const DISCOVERY_BACKOFF: Backoff = { firstMs: 500, maxMs: ABSENT_MS }

/** What discovery says of a kind that is there and cannot be read. */
const OUT_OF_REACH: ReadonlySet<UnknownReason['cause']> = new Set(['served in another version', 'not served'])

/** One cache and what is known of its kind. */
interface KeptKind {
  readonly cache: AnyFollowedKind
  /** Discoveries that failed in a row. */
  failures: number
  /** Whether its reflector fails. */
  isFailing: boolean
  /** Whether it is there, but not served, or in another version alone: its reflector will not find it again for now. */
  isOutOfReach: boolean
  /** Cancels the end of its trust; undefined where none is due. */
  cancelDistrust: (() => void) | undefined
  cancelDiscovery: () => void
}

export class KindKeeper {
  readonly #options: KindKeeperOptions
  readonly #kinds: readonly KeptKind[]
  readonly #crds: Store<Cached>
  /** Resolved once the CRDs are listed, or cannot be. */
  readonly #crdsAsked = Promise.withResolvers<void>()
  readonly #timers = new Set<() => void>()
  #crdReflector: Reflector<Cached> | undefined
  #stopped = false

  constructor(options: KindKeeperOptions) {
    this.#options = options
    this.#kinds = allCaches(options.caches).map((cache) => ({
      cache,
      failures: 0,
      isFailing: false,
      isOutOfReach: false,
      cancelDistrust: undefined,
      cancelDiscovery: () => {},
    }))
    this.#crds = new Store<Cached>({ onError: options.onError })
  }

  /** Finds out which kinds the API server serves, and begins to fill their caches. Resolves after the first discovery. */
  async start(): Promise<void> {
    const { api, clock, random, log } = this.#options
    const byCrd = new Map(this.#kinds.map((kind) => [crdName(kind.cache), kind]))
    this.#crds.subscribe((change) => {
      const { meta } = change.kind === 'removed' ? change.before : change.now
      const kind = byCrd.get(meta.name)
      if (kind === undefined) return
      this.#discoverUntilSettled(kind, change.kind !== 'removed')
      this.#options.onCrdChange(kind.cache, change)
    })
    this.#crdReflector = new Reflector<Cached>({
      api,
      resource: CRDS,
      metadataOnly: true,
      store: this.#crds,
      read: (raw) => readCrd(raw, byCrd),
      clock,
      random,
      onState: () => this.#crdsAsked.resolve(),
      onError: (error) => log.debug('watching CRDs failed', { error }),
    })
    this.#crdReflector.start()
    await this.#discover(this.#kinds)
  }

  /** Asks the API server again whether it serves the kind of a cache. */
  async recheck(cache: AnyFollowedKind): Promise<void> {
    await this.#discover(this.#kinds.filter((kind) => kind.cache === cache))
  }

  /**
   * Fills all caches anew, from lists that begin now, and has each watch go on from its list: what an earlier one must still show may be of
   * another history. Resolves once what was believed before is listed, or cannot be. It does not wait for a cache that must still be filled,
   * which may take any time. Nor is a kind absent without asking again: what says so may lag.
   */
  async catchUp(): Promise<void> {
    const believed = this.#kinds.filter(({ cache }) => cache.syncState.kind === 'synced')
    for (const kind of this.#kinds) if (isFollowed(kind.cache)) this.#follow(kind)
    // Nobody waits for the others. What they held may have gone since, so they have nothing, as in a process that has just started.
    for (const kind of this.#kinds) if (!believed.includes(kind)) kind.cache.clear()
    await this.#discover(this.#kinds.filter(({ cache }) => cache.syncState.kind === 'absent'))
    await Promise.all(believed.map(({ cache }) => cache.whenKnown()))
  }

  async stop(): Promise<void> {
    this.#stopped = true
    for (const cancel of this.#timers) cancel()
    for (const { cancelDiscovery, cancelDistrust } of this.#kinds) {
      cancelDiscovery()
      cancelDistrust?.()
    }
    await Promise.all([this.#crdReflector?.stop(), ...this.#kinds.map(({ cache }) => cache.unfollow())])
  }

  async #discover(kinds: readonly KeptKind[]): Promise<void> {
    const resources = kinds.map(({ cache }) => cache.resource)
    // A CRD shows what is there and not served.
    const [served] = await Promise.all([discover(this.#options.api, resources), this.#crdsAsked.promise])
    if (this.#stopped) return
    for (const [at, kind] of kinds.entries()) {
      const answer = served[at]
      if (answer !== undefined) this.#heed(kind, this.#unlessCrd(kind, answer))
    }
  }

  /**
   * A kind whose CRD is there is not absent: discovery follows a CRD by a second or two, and while its versions change it lists neither
   * the old one nor the new one.
   */
  #unlessCrd({ cache }: KeptKind, served: Served): Served {
    if (served.state !== 'absent' || this.#crds.get(crdName(cache)) === undefined) return served
    const what = resourceName(cache.resource)
    return { state: 'unknown', why: { verb: 'discover', what, cause: 'not served' } }
  }

  #heed(kind: KeptKind, served: Served): void {
    const { cache } = kind
    kind.cancelDiscovery()
    kind.isOutOfReach = served.state === 'unknown' && OUT_OF_REACH.has(served.why.cause)
    switch (served.state) {
      case 'served':
        kind.failures = 0
        if (isFollowed(cache)) cache.retryNow()
        else this.#follow(kind)
        return
      case 'absent':
        kind.failures = 0
        this.#dismiss(kind)
        this.#discoverLater(kind, ABSENT_MS)
        return
      case 'unknown': {
        // A reflector that runs says itself what it knows, but for why it will not find its kind again.
        if (isFollowed(cache)) {
          if (kind.isOutOfReach && kind.isFailing) this.#distrustLater(kind, served.why)
        } else if (cache.syncState.kind === 'absent') this.#distrustLater(kind, served.why)
        else cache.setSyncState({ kind: 'unknown', why: served.why })
        kind.failures++
        this.#discoverLater(kind, backoffMs(DISCOVERY_BACKOFF, kind.failures))
      }
    }
  }

  /** Follows a kind, from its first list on. */
  #follow(kind: KeptKind): void {
    const { api, clock, random, log } = this.#options
    const { cache } = kind
    this.#trust(kind)
    cache.setSyncState({ kind: 'waiting' })
    cache.follow({
      api,
      clock,
      random,
      onState: (state) => this.#reflectorChanged(kind, state),
      onError: (error) => log.debug('following a kind failed', { kind: cache.resource.kind, error }),
    })
  }

  #dismiss(kind: KeptKind): void {
    const { cache } = kind
    if (cache.syncState.kind !== 'absent') {
      this.#options.log.info('the API server does not serve a kind', { kind: crdName(cache) })
    }
    void cache.unfollow()
    this.#trust(kind)
    // The state first: the removal of all objects must not look like deletions of some of them.
    cache.setSyncState({ kind: 'absent' })
    cache.clear()
  }

  #discoverLater(kind: KeptKind, ms: number): void {
    kind.cancelDiscovery = this.#options.clock.after(ms, () => void this.#discover([kind]))
  }

  /** A CRD has come, changed or gone: asks until discovery agrees, or has had its time. */
  #discoverUntilSettled(kind: KeptKind, isThere: boolean, tries = 0): void {
    const ms = AFTER_CRD_MS[tries]
    if (ms === undefined || this.#stopped) return
    const cancel = this.#options.clock.after(ms, () => {
      this.#timers.delete(cancel)
      if (tries > 0 && (kind.cache.syncState.kind !== 'absent') === isThere) return
      void this.#discover([kind]).then(() => this.#discoverUntilSettled(kind, isThere, tries + 1))
    })
    this.#timers.add(cancel)
  }

  #reflectorChanged(kind: KeptKind, state: ReflectorState): void {
    const { cache, isFailing: wasFailing } = kind
    kind.isFailing = state.kind === 'failing'
    // Followed anew, and not listed since: nothing of it can be believed, and who waits for it must not wait for ever.
    const isOpen = cache.syncState.kind === 'waiting'
    if (state.kind !== 'failing' || !(isOpen || this.#mayNotBeRead(kind, state.why))) this.#trust(kind)
    switch (state.kind) {
      case 'waiting':
      case 'synced':
        cache.setSyncState(state)
        if (wasFailing) this.#options.onRecovered()
        return
      case 'failing':
        if (state.why.cause === 'absent') void this.#discover([kind])
        if (!state.synced) cache.setSyncState({ kind: 'unknown', why: state.why })
        else if (isOpen || state.why.cause === 'forbidden') this.#distrustLater(kind, state.why)
    }
  }

  /** Whether the API server says that a kind may not be read, or not in the version that is asked for. */
  #mayNotBeRead({ isOutOfReach }: KeptKind, { cause }: UnknownReason): boolean {
    return cause === 'forbidden' || (cause === 'absent' && isOutOfReach)
  }

  /**
   * A cache that has been filled is as good as it was a moment ago, unless its kind may not be read any more. One that must still be
   * filled anew is not: it has nothing then, as in a process that has just started.
   */
  #distrustLater(kind: KeptKind, why: UnknownReason): void {
    const { cache } = kind
    kind.cancelDistrust ??= this.#options.clock.after(DISTRUST_MS, () => {
      kind.cancelDistrust = undefined
      const isOpen = cache.syncState.kind === 'waiting'
      // The state first, as in `#dismiss`.
      cache.setSyncState({ kind: 'unknown', why })
      if (isOpen) cache.clear()
    })
  }

  #trust(kind: KeptKind): void {
    kind.cancelDistrust?.()
    kind.cancelDistrust = undefined
  }
}

function isFollowed({ reflectorState }: AnyFollowedKind): boolean {
  return reflectorState !== undefined
}

/** Keeps of a CRD that it is there; undefined for the CRD of a kind that the operator does not read. */
function readCrd(raw: JsonRecord, byCrd: ReadonlyMap<string, unknown>): Cached | undefined {
  const meta = readObjectVersion(raw)
  return byCrd.has(meta.name) ? { meta } : undefined
}

function crdName({ resource }: AnyFollowedKind): string {
  return `${resource.plural}.${resource.group}`
}
