// What is known of one kind: the objects that were read, and whether there may be more. It has no length, no index and no `find`, so that
// "there is none" cannot be said without the answer to "is that all?" (docs/assumptions.md).
import type { Each } from '../base/each.ts'
import { NO, YES, open, type Truth } from '../model/truth/truth.ts'
import { getOrCreate } from '../base/get-or-create.ts'
import { lazy } from '../base/lazy.ts'
import { namespacedName, type NamespacedName } from '../model/namespaced-name.ts'
import type { Lookup } from '../model/objects/lookup.ts'
import type { UnknownReason } from '../model/unknown-reason.ts'
import type { PlaceAsked } from './rest.ts'

/** What an object is found by; the namespace of a cluster-scoped one is empty. */
interface ObjectName {
  readonly namespace: string
  readonly name: string
}

/** Why there may be others than were read, anywhere or at a place; undefined: that is all. */
type More = (at?: PlaceAsked) => UnknownReason | undefined

/** What is known of a kind, in byte order of namespace and name. */
export class KindListing<T> {
  /**
   * What was read, for what is said of each of them, and for a count of what was read. That none of them fits says nothing: ask `some` or
   * `named` for that (`test/house/certainty.test.ts`).
   */
  readonly read: Each<T>
  readonly #all: readonly T[]
  readonly #more: More
  readonly #nameOf: (one: T) => ObjectName
  readonly #byName: () => ReadonlyMap<NamespacedName, T>

  constructor(read: readonly T[], more: More, nameOf: (one: T) => ObjectName) {
    this.read = read
    this.#all = read
    this.#more = more
    this.#nameOf = nameOf
    this.#byName = lazy(() => {
      const byName = new Map<NamespacedName, T>()
      for (const one of read) {
        const its = nameOf(one)
        getOrCreate(byName, namespacedName(its.namespace, its.name), () => one)
      }
      return byName
    })
  }

  /** Whether any was read: for what only those that were read can bring, since what was not read leaves its own cause. */
  get isAnyRead(): boolean {
    return this.#all.length > 0
  }

  /** With other objects in the place of those that were read: of a change, everything else stays as it is known. */
  with(read: readonly T[]): KindListing<T> {
    return new KindListing(read, this.#more, this.#nameOf)
  }

  /** Why there may be others than were read, anywhere or at a place; undefined: that is all. */
  more(at?: PlaceAsked): UnknownReason | undefined {
    return this.#more(at)
  }

  /** Whether there is one that fits; all that fit are at the place, or anywhere. */
  some(fits: (one: T) => boolean = () => true, at?: PlaceAsked): Truth {
    if (this.#all.some(fits)) return YES
    const why = this.more(at)
    return why === undefined ? NO : open({ kind: 'unread', of: { kind: why.what }, why })
  }

  /** The one of a name; of several, the first. */
  named(namespace: string, name: string): Lookup<T> {
    const object = this.#byName().get(namespacedName(namespace, name))
    if (object !== undefined) return { state: 'found', object }
    const why = this.more({ namespace, name })
    return why === undefined ? { state: 'absent' } : { state: 'unknown', why }
  }
}
