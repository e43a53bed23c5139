// A set of causes. Most sets have no member or one, and most unions are of a set with itself: both cost nothing.
import { unknownKey, type Unknown } from './unknown.ts'

/** As many causes are kept by name. A set with more says so. */
export const CAUSES_MAX = 64

/** A cause with its key, which most causes are never asked for. */
class Keyed {
  readonly cause: Unknown
  #key: string | undefined

  constructor(cause: Unknown) {
    this.cause = cause
  }

  get key(): string {
    return (this.#key ??= unknownKey(this.cause))
  }
}

/** The causes of something that is open, in the order of their keys. The order of unions does not matter. */
export class CauseSet {
  static readonly EMPTY: CauseSet = new CauseSet([], false)

  readonly #members: readonly Keyed[]
  /** Whether there are more causes than those that are kept. */
  readonly isCut: boolean

  private constructor(members: readonly Keyed[], isCut: boolean) {
    this.#members = members
    this.isCut = isCut
  }

  static of(cause: Unknown): CauseSet {
    return new CauseSet([new Keyed(cause)], false)
  }

  /** Equal for sets of the same causes. */
  get key(): string {
    return this.#members.map(({ key }) => key).join()
  }

  get size(): number {
    return this.#members.length
  }

  [Symbol.iterator](): Iterator<Unknown> {
    return this.#members.map(({ cause }) => cause)[Symbol.iterator]()
  }

  /** The causes of both. Of more than `CAUSES_MAX` the first are kept, in the order of their keys. */
  union(other: CauseSet): CauseSet {
    if (this.#holds(other)) return this
    if (other.#holds(this)) return other
    const merged: Keyed[] = []
    const [left, right] = [this.#members, other.#members]
    for (let i = 0, j = 0; i < left.length || j < right.length;) {
      const [one, two] = [left[i], right[j]]
      const isLeft = one !== undefined && (two === undefined || one.key <= two.key)
      const next = isLeft ? one : two
      if (next === undefined) break
      merged.push(next)
      if (isLeft) i++
      if (two !== undefined && next.key === two.key) j++
    }
    const isCut = this.isCut || other.isCut || merged.length > CAUSES_MAX
    return new CauseSet(merged.slice(0, CAUSES_MAX), isCut)
  }

  #holds(other: CauseSet): boolean {
    if (other === this || (other.#members.length === 0 && !other.isCut)) return true
    if (other.#members.length > this.#members.length || (other.isCut && !this.isCut)) return false
    return other.#members.every(({ key }) => this.#members.some((one) => one.key === key))
  }
}
