// The cached objects of one kind: what lists and watches show of it (the stream, fed by a reflector), and, ahead of
// the stream, what the API server answered to our own calls: such an answer counts as a live read (docs/contract.md §6).
//
// What it rests on (Kubernetes API concepts, "Efficient detection of changes" and "Resource versions"): the versions
// of one resource type are ordered; the stream shows its changes in that order; a list that is not served from the
// watch cache is no older than its beginning; a UID that is gone never comes back. From that it keeps, for each key:
// the cache never goes back in time, whichever of the two sources comes first; and what is confirmed gone stays gone.
import type { ObjectVersion } from '../core/model/objects/meta.ts'
import { compareVersions, isAtMost, isNewer } from './resource-version.ts'
import { KeptIndex, type StoreIndex } from './store-index.ts'
import { Tombstones } from './tombstones.ts'

/** An object in a store, by what a store reads of it. Cached objects are never changed in place. */
export interface Cached {
  readonly meta: ObjectVersion
}

/** What happened to one object. Another UID under the same key is a `removed` and then an `added`. */
export type StoreChange<T> =
  | { readonly kind: 'added'; readonly now: T }
  | { readonly kind: 'updated'; readonly before: T; readonly now: T }
  | { readonly kind: 'removed'; readonly before: T }

/** When a list or a read began, by the store's own count of lists and observations, and what the stream had shown by then. */
export interface ListToken {
  readonly tick: number
  readonly seen: string | undefined
}

export interface StoreOptions {
  /** Hears what a listener threw; must not throw itself. */
  readonly onError: (error: unknown) => void
}

interface Subscription<T> {
  readonly hear: (change: StoreChange<T>) => void
  cancelled: boolean
}

/** Where an object is kept: `namespace/name`, or `name` when it is cluster-scoped. */
export function objectKey(meta: { readonly namespace: string; readonly name: string }): string {
  return meta.namespace === '' ? meta.name : `${meta.namespace}/${meta.name}`
}

export class Store<T extends Cached> {
  readonly #onError: (error: unknown) => void
  readonly #held = new Map<string, T>()
  /** When an object was taken in ahead of the stream. */
  readonly #observedAt = new Map<string, number>()
  /** No key is both held and here. */
  readonly #tombstones = new Tombstones()
  readonly #indexes: KeptIndex<T>[] = []
  #subscriptions: readonly Subscription<T>[] = []
  readonly #pendingChanges: { readonly change: StoreChange<T>; readonly to: readonly Subscription<T>[] }[] =
    []
  #isNotifying = false
  #seen: string | undefined
  #listed = false
  #isDistrusted = false
  #tick = 0
  /** The newest list that came in beside the stream, and when. */
  #caughtUp: { readonly tick: number; readonly version: string } | undefined

  constructor(options: StoreOptions) {
    this.#onError = options.onError
  }

  /** True once a list has come in: only then does an absent key mean that there is no such object. */
  get listed(): boolean {
    return this.#listed
  }

  /** The version up to which everything has been seen: where a watch goes on. Undefined before the first list. */
  get seen(): string | undefined {
    return this.#seen
  }

  get(key: string): T | undefined {
    return this.#held.get(key)
  }

  /** All objects, in no promised order. */
  values(): IterableIterator<T> {
    return this.#held.values()
  }

  /**
   * Calls `hear` for every change from now on, after the store and its indexes have changed (for a list: after all of
   * it is in), in one order for all listeners. What it throws goes to `onError`. The result ends the subscription.
   */
  subscribe(hear: (change: StoreChange<T>) => void): () => void {
    const subscription: Subscription<T> = { hear, cancelled: false }
    this.#subscriptions = [...this.#subscriptions, subscription]
    return () => {
      subscription.cancelled = true
      this.#subscriptions = this.#subscriptions.filter((other) => other !== subscription)
    }
  }

  /** An index by the keys that `keysOf` reads off an object: total, and the same keys each time. Up to date in listeners. */
  index(keysOf: (object: T) => Iterable<string>): StoreIndex<T> {
    const index = new KeptIndex(keysOf)
    for (const object of this.#held.values()) index.add(object)
    this.#indexes.push(index)
    return index
  }

  /** What is held may be of another history: the next list counts also where it shows the very version that is held. */
  distrust(): void {
    this.#isDistrusted = true
  }

  /** To be called right before the first request of a list, or before a read; `replace` and `observe` want the result. */
  listBegins(): ListToken {
    this.#tick += 1
    return { tick: this.#tick, seen: this.#seen }
  }

  /**
   * Takes in a whole list. Objects that it lacks are removed. Only what happened after it began overrides it: an object that
   * was seen since then and is newer than the list stays, and an object that was confirmed gone since then does not come back.
   * A list that goes back in time (a restored etcd) counts too, unless it began before a newer list was complete (`caughtUp`).
   */
  replace(items: readonly T[], listVersion: string, began: ListToken): void {
    this.#listed = true
    const { tick = 0, version } = this.#caughtUp ?? {}
    if (began.tick < tick && isNewer(version, listVersion)) return
    if (began.tick > tick) this.#caughtUp = undefined
    const shown = new Map(items.map((item) => [objectKey(item.meta), item]))
    const list = { version: listVersion, beganAtTick: began.tick }
    for (const key of this.#tombstones.prune((at) => shown.get(at)?.meta, list)) shown.delete(key)
    for (const key of this.#held.keys())
      if (!shown.has(key) && !this.#isAhead(key, listVersion, began)) this.#remove(key)
    for (const [key, item] of shown) if (!this.#isAhead(key, listVersion, began)) this.#place(key, item)
    this.#isDistrusted = false
    this.#seen = listVersion
    this.#notify()
  }

  /** Removes all objects, as before the first list: an absent key means nothing until there is one. */
  clear(): void {
    this.replace([], this.#seen ?? '', this.listBegins())
    this.#listed = false
  }

  /**
   * Takes in a watch event. An event that is older than what is held or confirmed gone under its key, or no newer than a
   * whole list that is in (`caughtUp`), is history and changes nothing; a deletion is final for its UID.
   */
  apply(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): void {
    if (type === 'DELETED') {
      this.deleted(object.meta)
      return
    }
    const key = objectKey(object.meta)
    if (this.#isHistory(object.meta)) return
    this.bookmark(object.meta.resourceVersion)
    if (
      this.#tombstones.covers(key, object.meta) ||
      isNewer(this.#versionAt(key), object.meta.resourceVersion)
    )
      return
    this.#place(key, object)
    this.#observedAt.delete(key)
    this.#notify()
  }

  /**
   * An ADDED or MODIFIED event whose object is held in this very version: our own write, which the stream now shows.
   * False where it is another, and must be read and applied.
   */
  echoed(version: ObjectVersion): boolean {
    const key = objectKey(version)
    const held = this.#held.get(key)
    if (held === undefined || !isSame(held.meta, version)) return false
    this.bookmark(version.resourceVersion)
    this.#observedAt.delete(key)
    return true
  }

  /** A DELETED event: only its metadata matters. */
  deleted(meta: ObjectVersion): void {
    const key = objectKey(meta)
    this.bookmark(meta.resourceVersion)
    this.#tombstones.removeOf(key, meta.uid)
    const held = this.#held.get(key)
    if (held === undefined) return
    if (held.meta.uid !== meta.uid && isNewer(held.meta.resourceVersion, meta.resourceVersion)) return
    this.#remove(key)
    this.#notify()
  }

  /** An ADDED or MODIFIED event of an object that cannot be read: not there, until it can be read again. */
  unreadable(meta: ObjectVersion): void {
    const key = objectKey(meta)
    if (this.#isHistory(meta)) return
    this.bookmark(meta.resourceVersion)
    if (isNewer(this.#versionAt(key), meta.resourceVersion)) return
    this.#remove(key)
    this.#notify()
  }

  /**
   * All that a list of this version showed has been observed, and what it did not show is confirmed gone: whatever the
   * stream still shows of the time up to then is history. An object of that time that the list lacked was deleted, and
   * must not be added by the event that made it, nor by a list that is older.
   */
  caughtUp(version: string): void {
    this.bookmark(version)
    this.#tick += 1
    this.#caughtUp = { tick: this.#tick, version }
  }

  /** The stream has shown everything up to this version; an older one changes nothing. */
  bookmark(version: string | undefined): void {
    if (version === undefined) return
    const order = compareVersions(version, this.#seen)
    if (order === undefined || order > 0) this.#seen = version
  }

  /**
   * Takes in an object as the API server answered it to our own POST, PUT, PATCH or GET, if it is newer than what is held
   * under its key; where nothing is held, if it is newer than what the stream has shown: what the
   * stream has passed was deleted since. A version that cannot be compared changes nothing.
   *
   * A read that began at `began` and still finds what the stream had passed by then, or what had been confirmed gone, is right:
   * that cannot be in one history, so that a restore of the datastore has gone unnoticed.
   */
  observe(object: T, began?: ListToken): void {
    const { meta } = object
    const key = objectKey(meta)
    const passed = this.#held.has(key) ? this.#versionAt(key) : this.#seen
    const isBack = began !== undefined && !this.#held.has(key) && isAtMost(meta.resourceVersion, began.seen)
    if (!isBack && !isNewer(meta.resourceVersion, passed)) return
    if (this.#tombstones.coversSince(began?.tick, key, meta)) return
    this.#place(key, object)
    this.#tick += 1
    this.#observedAt.set(key, this.#tick)
    this.#notify()
  }

  /**
   * The object is gone for good: our DELETE was answered by success, or a live GET by 404 or by another UID. `last` is
   * its metadata as the caller last saw it. It leaves at once, with anything older under its key, and events and lists
   * that lag behind do not bring it back.
   */
  confirmGone(last: ObjectVersion): void {
    const key = objectKey(last)
    const held = this.#held.get(key)
    // The key has gone on to another object since: nothing of `last` can come any more that is not older than that.
    if (
      held !== undefined &&
      held.meta.uid !== last.uid &&
      !isNewer(last.resourceVersion, held.meta.resourceVersion)
    )
      return
    // The stream has passed it and holds nothing: it has shown the deletion, and there is none to wait for.
    if (held === undefined && isAtMost(last.resourceVersion, this.#seen)) return
    const resourceVersion =
      held !== undefined ? newest(held.meta.resourceVersion, last.resourceVersion) : last.resourceVersion
    this.#remove(key)
    this.#tick += 1
    this.#tombstones.add(key, { uid: last.uid, resourceVersion }, this.#tick)
    this.#notify()
  }

  /** True for an object that was observed after the list began, in a version that the list is too old to show. */
  #isAhead(key: string, listVersion: string, began: ListToken): boolean {
    const observedAt = this.#observedAt.get(key)
    return observedAt !== undefined && observedAt > began.tick && isNewer(this.#versionAt(key), listVersion)
  }

  /** Events arrive in the order of their versions: an event that is no newer than the last one is old news. */
  #isHistory({ resourceVersion }: ObjectVersion): boolean {
    return this.#seen !== undefined && isAtMost(resourceVersion, this.#seen)
  }

  #versionAt(key: string): string | undefined {
    return this.#held.get(key)?.meta.resourceVersion
  }

  #place(key: string, now: T): void {
    const before = this.#held.get(key)
    if (before !== undefined && isSame(before.meta, now.meta) && !this.#isDistrusted) return
    if (before !== undefined && before.meta.uid !== now.meta.uid) this.#remove(key)
    const replaced = this.#held.get(key)
    this.#held.set(key, now)
    this.#observedAt.delete(key)
    this.#tombstones.remove(key)
    for (const index of this.#indexes) {
      if (replaced !== undefined) index.remove(replaced)
      index.add(now)
    }
    this.#record(replaced === undefined ? { kind: 'added', now } : { kind: 'updated', before: replaced, now })
  }

  #remove(key: string): void {
    const before = this.#held.get(key)
    if (before === undefined) return
    this.#held.delete(key)
    this.#observedAt.delete(key)
    for (const index of this.#indexes) index.remove(before)
    this.#record({ kind: 'removed', before })
  }

  #record(change: StoreChange<T>): void {
    if (this.#subscriptions.length > 0) this.#pendingChanges.push({ change, to: this.#subscriptions })
  }

  /** A listener that changes the store in its turn adds to the queue, so that all listeners hear one order. */
  #notify(): void {
    if (this.#isNotifying) return
    this.#isNotifying = true
    for (const { change, to } of this.#pendingChanges)
      for (const subscription of to) if (!subscription.cancelled) this.#notifyOne(subscription, change)
    this.#pendingChanges.length = 0
    this.#isNotifying = false
  }

  #notifyOne(subscription: Subscription<T>, change: StoreChange<T>): void {
    try {
      subscription.hear(change)
    } catch (error) {
      this.#onError(error)
    }
  }
}

function isSame(a: ObjectVersion, b: ObjectVersion): boolean {
  return a.uid === b.uid && a.resourceVersion === b.resourceVersion && a.resourceVersion !== undefined
}

function newest(a: string | undefined, b: string | undefined): string | undefined {
  return isNewer(b, a) ? b : a
}
