// How one cache of an operator is filled: what happens on the server joins a queue, and the scheduler lets the cache see it
// in that order, when it likes: a watch that lags. Lists stand in the same queue, in the state in which they began.
import type { UnknownReason } from '@kleym/shared/core/model/unknown-reason.ts'
import type { Listing, Resource } from '@kleym/shared/kube/api.ts'
import type { Clock } from '@kleym/shared/kube/clock.ts'
import type { Cached, ListToken } from '@kleym/shared/kube/store.ts'
import type { AnyFollowedKind, FollowedKind } from '@kleym/shared/kube/followed-kind.ts'
import { settled } from '../build/fake-time.ts'
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

/** Looks for signs of a restored datastore in a list; to be called when the list begins. */
export type Guard = (resource: Resource) => ArrivingList

/** What the scheduler may do with the cache of one kind. */
export interface LaggingWatch {
  /** `Kind.group`. */
  readonly kind: string
  readonly cache: AnyFollowedKind
  /** Whether there is anything that the cache has not seen and that may reach it. */
  readonly waits: boolean
  readonly isBlind: boolean
  /** The version up to which its cache has been filled. */
  readonly seen: string | undefined
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
  /** The list that has arrived, and may yet be refused. */
  #arriving: QueuedNews | undefined
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
    return this.#queue.length > 0 && !this.#silent && this.#arriving === undefined
  }

  get seen(): string | undefined {
    return this.cache.store.seen
  }

  get isBlind(): boolean {
    return this.#blind
  }

  start(): void {
    this.#blind = false
    this.#started = true
    this.cache.store.distrust()
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
        cache.store.apply(type, cache.read(object))
        return
      }
      case 'list':
        await Promise.race([this.#takeIn(entry), settled()])
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
    this.#arriving = undefined
    this.cache.setSyncState({ kind: 'unknown', why: FORBIDDEN })
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

  async #takeIn(list: Extract<QueuedNews, { readonly kind: 'list' }>): Promise<void> {
    const { listing, token, arrive } = list
    const { cache } = this
    this.#arriving = list
    const isTrue = await arrive(listing)
    // Another one has begun meanwhile.
    if (this.#arriving !== list) return
    this.#arriving = undefined
    if (isTrue) {
      cache.store.replace(
        listing.items.map((item) => cache.read(item)),
        listing.resourceVersion,
        token,
      )
      cache.setSyncState({ kind: 'synced' })
      return
    }
    // It is refused until the API server is restarted.
    this.#options.clock.after(RELIST_MS, () => this.relist())
  }

  #list(): void {
    const { resource, store } = this.cache
    const listing = this.#options.server.list(resource)
    this.#position = Number(listing.resourceVersion)
    const token = store.listBegins()
    this.#arriving = undefined
    this.#queue = [{ kind: 'list', listing, token, arrive: this.#options.guard(resource) }]
  }
}
