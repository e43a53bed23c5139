// One kind, followed for as long as the watch runs: its objects, and how far they may be believed. What cannot be read is
// tried again by the reflector, so a kind that is forbidden or not there comes back by itself.
import type { UnknownReason } from '@kleym/shared/core/unknown-reason.ts'
import type { JsonRecord } from '@kleym/shared/core/json.ts'
import type { Api, Resource } from '@kleym/shared/kube/api.ts'
import type { Clock } from '@kleym/shared/kube/clock.ts'
import { discover, type Discoverer } from '@kleym/shared/kube/discovery.ts'
import { Reflector, type ReflectorState } from '@kleym/shared/kube/reflector.ts'
import { resourceName } from '@kleym/shared/kube/resources.ts'
import { Store, type Cached } from '@kleym/shared/kube/store.ts'

/** How far the objects of a feed may be believed. */
export type Standing =
  /** The first list is not in, and has not failed. */
  | { readonly kind: 'waiting' }
  | { readonly kind: 'current' }
  /** The API server says that it does not serve the kind. */
  | { readonly kind: 'absent' }
  /** Nothing of it could be read. */
  | { readonly kind: 'unknown'; readonly why: UnknownReason }
  /** It was read once, and is not followed since. */
  | { readonly kind: 'old'; readonly why: UnknownReason; readonly since: Date }

/** What feeds need of the outside. */
export interface FeedIo {
  readonly api: Pick<Api, 'pages' | 'watch'> & Discoverer
  readonly clock: Clock
  /** From 0 to below 1. */
  readonly random: () => number
  /** Hears of every attempt that failed: a good moment to ask whether the API server is there at all. */
  readonly onFailure: () => void
  /** Hears what only a bug can throw. */
  readonly onBug: (error: unknown) => void
}

export interface FeedOptions<T extends Cached> {
  readonly resource: Resource
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined
  readonly read: (object: JsonRecord) => T
  /** Hears every change of the standing; changes of objects are heard from the store. */
  readonly onStanding: () => void
}

export class Feed<T extends Cached> {
  readonly resource: Resource
  readonly store: Store<T>
  readonly #io: FeedIo
  readonly #options: FeedOptions<T>
  #standing: Standing = { kind: 'waiting' }
  #reflector: Reflector<T> | undefined
  /** Counts starts, so that a discovery that comes late speaks for nobody. */
  #run = 0

  constructor(io: FeedIo, options: FeedOptions<T>) {
    this.#io = io
    this.#options = options
    this.resource = options.resource
    this.store = new Store<T>({ onError: io.onBug })
  }

  get standing(): Standing {
    return this.#standing
  }

  /** Begins to follow the kind, or begins anew where the connection below may have died in silence. */
  start(): void {
    void this.#reflector?.stop()
    const { clock, random, onFailure } = this.#io
    const { resource, read } = this.#options
    const run = ++this.#run
    this.#reflector = new Reflector<T>({
      api: this.#scoped(),
      resource,
      store: this.store,
      read,
      clock,
      random,
      onState: (state) => this.#follow(state, run),
      onError: onFailure,
    })
    this.#reflector.start()
  }

  /** Ends it; settles when no request is under way. */
  async stop(): Promise<void> {
    this.#run++
    await this.#reflector?.stop()
  }

  /** The same calls, in the namespace of the feed alone. */
  #scoped(): Pick<Api, 'pages' | 'watch'> {
    const { api } = this.#io
    const { namespace } = this.#options
    if (namespace === undefined) return api
    return {
      pages: (resource, options) => api.pages(resource, { ...options, namespace }),
      watch: (resource, options) => api.watch(resource, { ...options, namespace }),
    }
  }

  #follow(state: ReflectorState, run: number): void {
    switch (state.kind) {
      case 'waiting':
        return
      case 'synced':
        return this.#stand({ kind: 'current' })
      case 'failing':
        if (state.why.cause === 'absent') void this.#confirmAbsence(state.why, run)
        else this.#fail(state.why)
    }
  }

  /** A 404 of a list may be an API that comes or goes just now: it is an absence only where discovery says so. */
  async #confirmAbsence(why: UnknownReason, run: number): Promise<void> {
    const [served] = await discover(this.#io.api, [this.resource])
    if (run !== this.#run || this.#reflector?.state.kind !== 'failing') return
    if (served?.state === 'absent') this.#stand({ kind: 'absent' })
    else this.#fail(why)
  }

  #fail(why: UnknownReason): void {
    const known = this.#standing
    if (known.kind === 'old') this.#stand({ ...known, why })
    else if (known.kind === 'current') this.#stand({ kind: 'old', why, since: this.#io.clock.now() })
    else this.#stand({ kind: 'unknown', why })
  }

  #stand(standing: Standing): void {
    this.#standing = standing
    this.#options.onStanding()
  }
}

/** Why something of a feed may be missing, for an analysis; undefined where its objects can be used. */
export function ignoranceOfFeed({
  resource,
  standing,
}: Pick<Feed<Cached>, 'resource' | 'standing'>): UnknownReason | undefined {
  switch (standing.kind) {
    case 'current':
    case 'old':
    case 'absent':
      return undefined
    case 'waiting':
      return { verb: 'list', what: resourceName(resource), cause: 'timed out' }
    case 'unknown':
      return standing.why
  }
}
