// The objects of a store that are confirmed gone while its stream may still show them. A tombstone keeps late events and
// lists from bringing its object back; it goes when the stream cannot show the object any more.
import type { ObjectMeta } from '../core/model/objects/meta.ts'
import { isAtMost, isNewer } from './resource-version.ts'

interface Tombstone {
  readonly uid: string | undefined
  /** The newest version of the object that was seen: whatever the key held up to then is gone too. */
  readonly version: string | undefined
  /** When it was added, by the store's count of lists and observations. */
  readonly tick: number
}

/** The identity and version of an object. */
type Version = Pick<ObjectMeta, 'uid' | 'resourceVersion'>

/** At most one tombstone for each key of a store. */
export class Tombstones {
  readonly #byKey = new Map<string, Tombstone>()

  /** Adds one for the object that was last seen as `last`, unless the key has one of a newer version, which covers both. */
  add(key: string, last: Version, tick: number): void {
    if (isNewer(this.#byKey.get(key)?.version, last.resourceVersion)) return
    this.#byKey.set(key, { uid: last.uid, version: last.resourceVersion, tick })
  }

  /** Whether an object is confirmed gone, or is older than one under its key that is. */
  covers(key: string, object: Version): boolean {
    const tombstone = this.#byKey.get(key)
    if (tombstone === undefined) return false
    return tombstone.uid === object.uid || isAtMost(object.resourceVersion, tombstone.version)
  }

  /** The same, by what was confirmed since a list or a read began: that knows better than what was confirmed before it. */
  coversSince(tick: number | undefined, key: string, object: Version): boolean {
    const { tick: added = 0 } = this.#byKey.get(key) ?? {}
    return (tick === undefined || added > tick) && this.covers(key, object)
  }

  /** The key holds another object now. */
  remove(key: string): void {
    this.#byKey.delete(key)
  }

  /** The stream has shown the deletion of the object with this UID. */
  removeOf(key: string, uid: string | undefined): void {
    if (this.#byKey.get(key)?.uid === uid) this.#byKey.delete(key)
  }

  /**
   * Removes the tombstones that a list makes needless: the list began after them, or is new enough to show the deletion.
   * Returns the keys whose item in the list (`itemAt`) is covered by a tombstone.
   */
  prune(
    itemAt: (key: string) => Version | undefined,
    list: { readonly version: string; readonly beganAtTick: number },
  ): readonly string[] {
    const covered: string[] = []
    for (const [key, { version, tick }] of this.#byKey) {
      const item = itemAt(key)
      if (tick < list.beganAtTick) this.#byKey.delete(key)
      else if (item !== undefined && this.covers(key, item)) covered.push(key)
      else if (isAtMost(version, list.version)) this.#byKey.delete(key)
    }
    return covered
  }
}
