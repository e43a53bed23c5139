// A secondary index of a store: its objects by keys that a function reads off each of them.
import { getOrCreate } from '../core/base/get-or-create.ts'

const NOTHING: ReadonlySet<never> = new Set<never>()

/** The objects of a store by keys of their own. */
export interface StoreIndex<T> {
  /** The objects under `key`; a live view in no promised order: copy it before a wait. */
  get(key: string): ReadonlySet<T>
}

/** An index as its store keeps it. */
export class KeptIndex<T> implements StoreIndex<T> {
  readonly #keysOf: (object: T) => Iterable<string>
  readonly #sets = new Map<string, Set<T>>()

  /** `keysOf` must be total and always read the same keys off the same object. */
  constructor(keysOf: (object: T) => Iterable<string>) {
    this.#keysOf = keysOf
  }

  get(key: string): ReadonlySet<T> {
    return this.#sets.get(key) ?? NOTHING
  }

  add(object: T): void {
    for (const key of this.#keysOf(object)) getOrCreate(this.#sets, key, () => new Set()).add(object)
  }

  remove(object: T): void {
    for (const key of this.#keysOf(object)) {
      const set = this.#sets.get(key)
      if (set?.delete(object) === true && set.size === 0) this.#sets.delete(key)
    }
  }
}
