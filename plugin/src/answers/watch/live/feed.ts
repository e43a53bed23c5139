// One kind, as the watch follows it: what could not be read is tried again by the reflector, so a kind that is forbidden or
// not served comes back by itself, and objects that were read once stay on the screen with the time of that.
import type { UnknownReason } from '@kleym/shared/core/model/unknown-reason.ts'
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import type { Api, Resource } from '@kleym/shared/kube/api.ts'
import type { Clock } from '@kleym/shared/kube/clock.ts'
import { discover, type Discoverer } from '@kleym/shared/kube/discovery.ts'
import { FollowedKind, type SyncState } from '@kleym/shared/kube/followed-kind.ts'
import type { ReflectorState } from '@kleym/shared/kube/reflector.ts'
import { resourceName } from '@kleym/shared/kube/resources.ts'
import type { Cached, Store } from '@kleym/shared/kube/store.ts'
import type { FeedIntake, Intake } from './intake.ts'

/** Whether the objects of a feed are up to date. */
export type FeedState =
  | Exclude<SyncState, { readonly kind: 'synced' }>
  | { readonly kind: 'current' }
  /** It was read once, and is not followed since. */
  | { readonly kind: 'old'; readonly why: UnknownReason; readonly since: Date }

/** What feeds need of the outside. */
export interface FeedIo {
  readonly api: Pick<Api, 'pages' | 'watch'> & Discoverer
  readonly clock: Clock
  /** From 0 to below 1. */
  readonly random: () => number
  /** Called after every failed attempt: a good moment to ask whether the API server is there at all. */
  readonly onFailure: () => void
  /** Counts what is kept. */
  readonly intake: Intake
  /** Called with what only a bug can throw. */
  readonly onBug: (error: unknown) => void
}

/** Which kind a feed follows, and whom it tells. */
export interface FeedOptions<T extends Cached> {
  readonly resource: Resource
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined
  readonly read: (object: JsonRecord) => T
  /** Called at every change of the state; the store tells of changes of objects. */
  readonly onState: () => void
}

/** Follows one kind. */
export class Feed<T extends Cached> {
  readonly resource: Resource
  readonly store: Store<T>
  readonly #io: FeedIo
  readonly #options: FeedOptions<T>
  readonly #followed: FollowedKind<T>
  readonly #intake: FeedIntake
  /** Since when a kind that was read once is not known any more. */
  #outdatedSince: Date | undefined
  /** Counts starts, so that the answer of a discovery from before a restart is dropped. */
  #run = 0

  constructor(io: FeedIo, options: FeedOptions<T>) {
    this.#io = io
    this.#options = options
    const { resource, read } = options
    this.#intake = io.intake.of(resource)
    this.#followed = new FollowedKind<T>({
      resource,
      read: (raw) => {
        const object = read(raw)
        this.#intake.read(object, raw)
        return object
      },
      onError: io.onBug,
    })
    this.#followed.onSyncState(options.onState)
    this.resource = resource
    this.store = this.#followed.store
    this.store.subscribe((change) => this.#intake.changed(change))
  }

  get state(): FeedState {
    const { syncState } = this.#followed
    if (syncState.kind === 'synced') return { kind: 'current' }
    if (syncState.kind !== 'unknown' || this.#outdatedSince === undefined) return syncState
    return { kind: 'old', why: syncState.why, since: this.#outdatedSince }
  }

  /** Begins to follow the kind, or begins anew where the connection below may have died in silence. */
  start(): void {
    const { clock, random, onFailure } = this.#io
    const run = ++this.#run
    this.#followed.follow({
      api: this.#scoped(),
      clock,
      random,
      onState: (state) => this.#heed(state, run),
      onError: onFailure,
    })
  }

  /** Ends it for good; settles when no request is under way. */
  async stop(): Promise<void> {
    this.#run++
    this.#intake.end()
    await this.#followed.unfollow()
  }

  /** The same calls, in the namespace of the feed alone. */
  #scoped(): Pick<Api, 'pages' | 'watch'> {
    const { api } = this.#io
    const { namespace } = this.#options
    if (namespace === undefined) return api
    return {
      pages: (resource, options) => {
        this.#intake.listBegins()
        return api.pages(resource, { ...options, namespace })
      },
      watch: (resource, options) => api.watch(resource, { ...options, namespace }),
    }
  }

  #heed(state: ReflectorState, run: number): void {
    switch (state.kind) {
      case 'waiting':
        return
      case 'synced':
        this.#outdatedSince = undefined
        return this.#followed.setSyncState(state)
      case 'failing':
        if (state.why.cause === 'absent') void this.#confirmAbsence(state.why, run)
        else this.#fail(state.why)
    }
  }

  /** A 404 of a list may be an API that comes or goes just now: it is an absence only where discovery says so. */
  async #confirmAbsence(why: UnknownReason, run: number): Promise<void> {
    const [served] = await discover(this.#io.api, [this.resource])
    if (run !== this.#run || this.#followed.reflectorState?.kind !== 'failing') return
    if (served?.state === 'absent') {
      this.#outdatedSince = undefined
      this.#followed.setSyncState({ kind: 'absent' })
    } else this.#fail(why)
  }

  #fail(why: UnknownReason): void {
    if (this.#followed.syncState.kind === 'synced') this.#outdatedSince = this.#io.clock.now()
    this.#followed.setSyncState({ kind: 'unknown', why })
  }
}

/** Why something of a feed may be missing, for an analysis; undefined where its objects can be used. */
export function unknownReasonOf({
  resource,
  state,
}: Pick<Feed<Cached>, 'resource' | 'state'>): UnknownReason | undefined {
  switch (state.kind) {
    case 'current':
    case 'old':
    case 'absent':
      return undefined
    case 'waiting':
      return { verb: 'list', what: resourceName(resource), cause: 'timed out' }
    case 'unknown':
      return state.why
  }
}
