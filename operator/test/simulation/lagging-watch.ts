// How one cache of an operator is filled: what happens on the server joins a queue, and the scheduler lets the cache see it
// in that order, when it likes: a watch that lags. Lists stand in the same queue, in the state in which they began.
import type { JsonRecord } from '@kleym/shared/core/json.ts'
import type { UnknownReason } from '@kleym/shared/core/unknown-reason.ts'
import type { Listing, Resource } from '@kleym/shared/kube/api.ts'
import type { Clock } from '@kleym/shared/kube/clock.ts'
import type { Cached, ListToken } from '@kleym/shared/kube/store.ts'
import type { AnyFollowedKind, FollowedKind } from '@kleym/shared/kube/followed-kind.ts'
import { metadataOf, type ServerChange, type SimulatedCluster } from './cluster.ts'

type QueuedNews =
  | { readonly kind: 'event'; readonly change: ServerChange }
  | {
      readonly kind: 'list'
      readonly listing: Listing
      readonly token: ListToken
      readonly arrive: ArrivingList
    }
  /** Discovery is asked whether the kind is served. */
  | { readonly kind: 'discovery' }

const FORBIDDEN: UnknownReason = { verb: 'list', what: 'a kind', cause: 'forbidden' }
/** After how long a list that was refused is asked for again, and a watch that is silent is given up, in milliseconds. */
const RELIST_MS = 1_000
const STALL_MS = 45_000

/** A list that has begun: lets it arrive. False where it is not to be taken in. */
export type ArrivingList = (listing: Listing) => Promise<boolean>

/** What looks for signs of a restored datastore in what caches are filled with. */
export interface Guard {
  /** To be called when the list begins. */
  listBegins(resource: Resource): ArrivingList
  /** Takes note of an event. */
  sees(resource: Resource, object: JsonRecord): Promise<void>
  /** A list was refused; something else may show meanwhile how far the new history has come. */
  refused(): Promise<void>
}

/** What the scheduler may do with the cache of one kind. */
export interface LaggingWatch {
  /** `Kind.group`. */
  readonly kind: string
  readonly cache: AnyFollowedKind
  /** Whether there is anything that the cache has not seen and that may reach it. */
  readonly waits: boolean
  readonly isBlind: boolean
  /** Looks whether the kind is served, and begins to follow it. */
  start(): void
  /** Something has changed on the server. */
  hear(change: ServerChange): void
  /** A kind has come or gone: discovery will find that out. */
  hearKind(resource: Resource): void
  /** Lets the cache see what comes next. */
  deliver(): Promise<void>
  /** The watch breaks: whatever is on its way is lost, and a new list begins. */
  relist(): void
  /** Nothing reaches it any more, and it does not know: until it gives the watch up, and goes on where it was, or lists. */
  fallSilent(how: { readonly relists: boolean }): void
  /** Nothing may be read any more, until `start`. */
  blind(): void
  /** The datastore was restored: whatever is on its way is of another history. */
  beginHistory(): void
  /** Takes in what discovery has answered. */
  heed(isServed: boolean): void
}

export interface LaggingWatchOptions {
  readonly server: SimulatedCluster
  readonly clock: Clock
  readonly guard: Guard
}

/** Fills a cache from the server, as late as the scheduler likes. */
export function laggingWatch<T extends Cached>(
  cache: FollowedKind<T>,
  options: LaggingWatchOptions,
): LaggingWatch {
  return new CacheWatch(cache, options)
}

class CacheWatch<T extends Cached> implements LaggingWatch {
  readonly cache: FollowedKind<T>
  readonly #options: LaggingWatchOptions
  #queue: QueuedNews[] = []
  #blind = false
  #silent = false
  #started = false
  /** The version from which the watch goes on: an older one is never sent. */
  #position = 0

  constructor(cache: FollowedKind<T>, options: LaggingWatchOptions) {
    this.cache = cache
    this.#options = options
  }

  get kind(): string {
    return `${this.cache.resource.kind}.${this.cache.resource.group}`
  }

  get waits(): boolean {
    return this.#queue.length > 0 && !this.#silent
  }

  get isBlind(): boolean {
    return this.#blind
  }

  start(): void {
    this.#blind = false
    this.#started = true
    if (this.#options.server.serves(this.cache.resource)) this.#list()
    else this.#queue = [{ kind: 'discovery' }]
  }

  hear(change: ServerChange): void {
    const { resource } = this.cache
    if (!this.#started || this.#blind) return
    if (change.resource.plural !== resource.plural || change.resource.group !== resource.group) return
    const version = Number(metadataOf(change.object)['resourceVersion'])
    if (version <= this.#position) return
    this.#position = version
    this.#queue.push({ kind: 'event', change })
  }

  hearKind({ plural, group }: Resource): void {
    const { resource } = this.cache
    if (!this.#started || this.#blind || plural !== resource.plural || group !== resource.group) return
    this.#queue.push({ kind: 'discovery' })
  }

  async deliver(): Promise<void> {
    const entry = this.#queue.shift()
    if (entry === undefined) return
    const { cache } = this
    switch (entry.kind) {
      case 'event': {
        // Nobody watches a kind that is not served.
        if (cache.syncState.kind === 'absent') return
        const { object, type } = entry.change
        await this.#options.guard.sees(cache.resource, object)
        cache.store.apply(type, cache.read(object))
        return
      }
      case 'list':
        await this.#takeIn(entry)
        return
      case 'discovery':
        // However late it is asked, its answer is of that moment.
        this.heed(this.#options.server.serves(cache.resource))
    }
  }

  relist(): void {
    if (this.#blind || !this.#options.server.serves(this.cache.resource)) return
    this.#list()
  }

  fallSilent({ relists }: { readonly relists: boolean }): void {
    if (this.#silent) return
    this.#silent = true
    this.#options.clock.after(STALL_MS, () => {
      this.#silent = false
      if (relists) this.relist()
    })
  }

  blind(): void {
    this.#blind = true
    this.#queue = []
    this.cache.setSyncState({ kind: 'unknown', why: FORBIDDEN })
  }

  beginHistory(): void {
    const { cache } = this
    // As `KindKeeper` does it.
    if (cache.syncState.kind === 'absent') {
      cache.setSyncState({ kind: 'waiting' })
      this.#queue = [{ kind: 'discovery' }]
      return
    }
    cache.beginHistory()
    cache.setSyncState(this.#blind ? { kind: 'unknown', why: FORBIDDEN } : { kind: 'waiting' })
    if (!this.#blind) this.start()
  }

  heed(isServed: boolean): void {
    const { cache } = this
    if (this.#blind) return
    if (!isServed) {
      // As `KindKeeper` does it.
      cache.setSyncState({ kind: 'absent' })
      cache.clear()
    } else if (cache.syncState.kind !== 'synced' && this.#options.server.serves(cache.resource)) {
      cache.setSyncState({ kind: 'waiting' })
      if (!this.#queue.some((entry) => entry.kind === 'list')) this.#list()
    }
  }

  async #takeIn({ listing, token, arrive }: Extract<QueuedNews, { readonly kind: 'list' }>): Promise<void> {
    const { cache } = this
    const { guard, clock } = this.#options
    if (await arrive(listing)) {
      cache.store.replace(
        listing.items.map((item) => cache.read(item)),
        listing.resourceVersion,
        token,
      )
      cache.setSyncState({ kind: 'synced' })
      return
    }
    // The sign that it has shown has begun another list, or the list is refused until the API server is restarted.
    if (this.#queue.some(({ kind }) => kind === 'list')) return
    clock.after(RELIST_MS, () => void guard.refused().then(() => this.relist()))
  }

  #list(): void {
    const { resource, store } = this.cache
    const listing = this.#options.server.list(resource)
    this.#position = Number(listing.resourceVersion)
    const token = store.listBegins()
    this.#queue = [{ kind: 'list', listing, token, arrive: this.#options.guard.listBegins(resource) }]
  }
}
