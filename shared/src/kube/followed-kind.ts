// One kind of an API server, followed for as long as a process runs: its objects, how far they may be believed, and the
// reflector that keeps them up to date. When to follow a kind, and what a failure means for what is known of it, is for its
// owner to decide: the operator stops following a kind that is not served, a person's watch goes on asking.
import type { JsonRecord } from '../core/base/json.ts'
import type { UnknownReason } from '../core/model/unknown-reason.ts'
import type { Api, Resource } from './api.ts'
import type { Clock } from './clock.ts'
import { SMALL_PAGES } from './paging.ts'
import { Reflector, type ReflectorState } from './reflector.ts'
import { isAtMost } from './resource-version.ts'
import { objectKey, Store, type Cached } from './store.ts'

/** How far the objects of a kind may be believed. */
export type SyncState =
  /** The first list is not in, and has not failed. */
  | { readonly kind: 'waiting' }
  | { readonly kind: 'synced' }
  /** The API server says that it does not serve the kind. */
  | { readonly kind: 'absent' }
  /** The kind could not be read, or is not followed any more. */
  | { readonly kind: 'unknown'; readonly why: UnknownReason }

export interface FollowedKindOptions<T extends Cached> {
  readonly resource: Resource
  /** Reads a raw object; keeps nothing of it. */
  readonly read: (object: JsonRecord) => T
  /** Hears what a listener of the store threw, which is a bug; must not throw itself. */
  readonly onError: (error: unknown) => void
}

/** How a kind is followed. */
export interface FollowOptions {
  readonly api: Pick<Api, 'pages' | 'watch'>
  readonly clock: Clock
  /** From 0 to below 1. */
  readonly random: () => number
  /** Hears every change of the reflector's state. */
  readonly onState: (state: ReflectorState) => void
  /** Hears every attempt that failed. */
  readonly onError: (error: unknown) => void
}

/** A followed kind of whatever objects, for those who do not look at them. */
export type AnyFollowedKind = Pick<
  FollowedKind<Cached>,
  | 'resource'
  | 'syncState'
  | 'setSyncState'
  | 'onSyncState'
  | 'whenKnown'
  | 'reflectorState'
  | 'follow'
  | 'unfollow'
  | 'retryNow'
  | 'clear'
  | 'seen'
  | 'catchUp'
>

export class FollowedKind<T extends Cached> {
  readonly resource: Resource
  readonly store: Store<T>
  /** Reads a raw object as the store keeps it. */
  readonly read: (object: JsonRecord) => T
  readonly #listeners = new Set<() => void>()
  #syncState: SyncState = { kind: 'waiting' }
  #reflector: Reflector<T> | undefined

  constructor({ resource, read, onError }: FollowedKindOptions<T>) {
    this.resource = resource
    this.read = read
    this.store = new Store<T>({ onError })
  }

  /** The version up to which everything has been seen; undefined before the first list. */
  get seen(): string | undefined {
    return this.store.seen
  }

  get syncState(): SyncState {
    return this.#syncState
  }

  /** Sets how far the objects may be believed, and notifies the listeners where that changes. */
  setSyncState(state: SyncState): void {
    if (isSameState(this.#syncState, state)) return
    this.#syncState = state
    for (const listener of this.#listeners) listener()
  }

  /** Calls `listener` after every change of the state. */
  onSyncState(listener: () => void): void {
    this.#listeners.add(listener)
  }

  /** Resolves once it is known how far the objects may be believed. */
  async whenKnown(): Promise<void> {
    while (this.#syncState.kind === 'waiting') {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#listeners.add(resolve)
      await promise
      this.#listeners.delete(resolve)
    }
  }

  /** What the reflector that runs knows; undefined where none does. */
  get reflectorState(): ReflectorState | undefined {
    return this.#reflector?.state
  }

  /** Starts a reflector, in place of the one that runs, if any: its first list counts for all that is held. The state is left as it is. */
  follow({ api, clock, random, onState, onError }: FollowOptions): void {
    void this.unfollow()
    const { resource, store, read } = this
    store.distrust()
    this.#reflector = new Reflector<T>({ api, resource, store, read, clock, random, onState, onError })
    this.#reflector.start()
  }

  /** Stops the reflector: nothing reaches the store after the call. Settles when no request is under way. */
  async unfollow(): Promise<void> {
    const reflector = this.#reflector
    this.#reflector = undefined
    await reflector?.stop()
  }

  /** Cuts the reflector's wait for its next attempt short: the caller has learned that it may succeed. */
  retryNow(): void {
    this.#reflector?.retryNow()
  }

  /** Removes all objects. Nothing is known of them any more, as before the first list. */
  clear(): void {
    this.store.clear()
  }

  /** Lists the kind and brings the store up to that state, wherever the watch is. Rejects as the list does. */
  async catchUp(api: Pick<Api, 'pages'>): Promise<void> {
    const { store } = this
    const listed = new Set<string>()
    const began = store.listBegins()
    let version: string | undefined
    for await (const page of api.pages(this.resource, SMALL_PAGES)) {
      // Later pages are of the state of the first one.
      version ??= page.resourceVersion
      for (const raw of page.items) {
        const object = this.read(raw)
        listed.add(uidKey(object))
        store.observe(object, began)
      }
    }
    // What the store holds in a version no newer than the list, and the list does not show, was deleted: also what a watch
    // that lags has added while the list came in.
    for (const object of store.values()) {
      if (!listed.has(uidKey(object)) && isAtMost(object.meta.resourceVersion, version)) {
        store.confirmGone(object.meta)
      }
    }
    if (version !== undefined) store.caughtUp(version)
  }
}

function uidKey({ meta }: Cached): string {
  return `${objectKey(meta)} ${meta.uid ?? ''}`
}

function isSameState(left: SyncState, right: SyncState): boolean {
  if (left.kind !== 'unknown' || right.kind !== 'unknown') return left.kind === right.kind
  return left.why.verb === right.why.verb && left.why.cause === right.why.cause
}
