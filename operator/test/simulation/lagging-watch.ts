// How one cache of an operator is filled: what happens on the server joins a queue, and the scheduler lets the cache see it
// in that order, when it likes: a watch that lags. Lists stand in the same queue, in the state in which they began.
import type { JsonRecord } from '@kleym/shared/core/json.ts'
import type { UnknownReason } from '@kleym/shared/core/unknown-reason.ts'
import type { Resource } from '@kleym/shared/kube/api.ts'
import type { Cached, ListToken } from '@kleym/shared/kube/store.ts'
import type { AnyFollowedKind, FollowedKind } from '@kleym/shared/kube/followed-kind.ts'
import type { ServerChange, SimulatedCluster } from './cluster.ts'

type QueuedNews =
  | { readonly kind: 'event'; readonly change: ServerChange }
  | {
      readonly kind: 'list'
      readonly items: readonly JsonRecord[]
      readonly version: string
      readonly token: ListToken
    }
  /** Discovery is asked whether the kind is served. */
  | { readonly kind: 'discovery' }

const FORBIDDEN: UnknownReason = { verb: 'list', what: 'a kind', cause: 'forbidden' }

/** What the scheduler may do with the cache of one kind. */
export interface LaggingWatch {
  /** `Kind.group`. */
  readonly kind: string
  readonly cache: AnyFollowedKind
  /** Whether there is anything that the cache has not seen. */
  readonly waits: boolean
  readonly isBlind: boolean
  /** Looks whether the kind is served, and begins to follow it. */
  start(): void
  /** Something has changed on the server. */
  hear(change: ServerChange): void
  /** A kind has come or gone: discovery will find that out. */
  hearKind(resource: Resource): void
  /** Lets the cache see what comes next. */
  deliver(): void
  /** The watch breaks: whatever is on its way is lost, and a new list begins. */
  relist(): void
  /** Nothing may be read any more, until `start`. */
  blind(): void
  /** Takes in what discovery has answered. */
  heed(isServed: boolean): void
}

/** Fills a cache from the server, as late as the scheduler likes. */
export function laggingWatch<T extends Cached>(
  server: SimulatedCluster,
  cache: FollowedKind<T>,
): LaggingWatch {
  return new CacheWatch(server, cache)
}

class CacheWatch<T extends Cached> implements LaggingWatch {
  readonly cache: FollowedKind<T>
  readonly #server: SimulatedCluster
  #queue: QueuedNews[] = []
  #blind = false
  #started = false

  constructor(server: SimulatedCluster, cache: FollowedKind<T>) {
    this.#server = server
    this.cache = cache
  }

  get kind(): string {
    return `${this.cache.resource.kind}.${this.cache.resource.group}`
  }

  get waits(): boolean {
    return this.#queue.length > 0
  }

  get isBlind(): boolean {
    return this.#blind
  }

  start(): void {
    this.#blind = false
    this.#started = true
    if (this.#server.serves(this.cache.resource)) this.#list()
    else this.#queue = [{ kind: 'discovery' }]
  }

  hear(change: ServerChange): void {
    const { resource } = this.cache
    if (!this.#started || this.#blind) return
    if (change.resource.plural !== resource.plural || change.resource.group !== resource.group) return
    this.#queue.push({ kind: 'event', change })
  }

  hearKind({ plural, group }: Resource): void {
    const { resource } = this.cache
    if (!this.#started || this.#blind || plural !== resource.plural || group !== resource.group) return
    this.#queue.push({ kind: 'discovery' })
  }

  deliver(): void {
    const entry = this.#queue.shift()
    if (entry === undefined) return
    const { cache } = this
    switch (entry.kind) {
      case 'event':
        // Nobody watches a kind that is not served.
        if (cache.syncState.kind === 'absent') return
        cache.store.apply(entry.change.type, cache.read(entry.change.object))
        return
      case 'list':
        cache.store.replace(
          entry.items.map((item) => cache.read(item)),
          entry.version,
          entry.token,
        )
        cache.setSyncState({ kind: 'synced' })
        return
      case 'discovery':
        // However late it is asked, its answer is of that moment.
        this.heed(this.#server.serves(cache.resource))
    }
  }

  relist(): void {
    if (this.#blind || !this.#server.serves(this.cache.resource)) return
    this.#list()
  }

  blind(): void {
    this.#blind = true
    this.#queue = []
    this.cache.setSyncState({ kind: 'unknown', why: FORBIDDEN })
  }

  heed(isServed: boolean): void {
    const { cache } = this
    if (this.#blind) return
    if (!isServed) {
      // As `KindKeeper` does it.
      cache.setSyncState({ kind: 'absent' })
      cache.clear()
    } else if (!this.#isFollowed() && this.#server.serves(cache.resource)) {
      cache.setSyncState({ kind: 'waiting' })
      this.#list()
    }
  }

  #isFollowed(): boolean {
    return this.cache.syncState.kind === 'synced' || this.#queue.some((entry) => entry.kind === 'list')
  }

  #list(): void {
    const { items, resourceVersion } = this.#server.list(this.cache.resource)
    this.#queue = [{ kind: 'list', items, version: resourceVersion, token: this.cache.store.listBegins() }]
  }
}
