// A queue of items by group (a namespace). Groups with items take turns, so that ten thousand items of one group do not delay
// one item of another.
import { getOrCreate } from '@kleym/shared/core/base/get-or-create.ts'
import { Fifo } from './fifo.ts'

interface Group<T> {
  readonly name: string
  readonly items: Fifo<T>
}

export class Turns<T> {
  /** The groups that have items, in the order of their turns: each is in it once. */
  readonly #turns = new Fifo<Group<T>>()
  readonly #groups = new Map<string, Group<T>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Whether a group has as many items as fall to each, or more. */
  hasItsShare(name: string): boolean {
    return (this.#groups.get(name)?.items.size ?? 0) * this.#groups.size >= this.#size
  }

  /** Puts an item behind the others of its group; a group that had none has its turn last. */
  push(name: string, item: T): void {
    const group = getOrCreate(this.#groups, name, () => ({ name, items: new Fifo<T>() }))
    if (group.items.size === 0) this.#turns.push(group)
    group.items.push(item)
    this.#size += 1
  }

  /**
   * The oldest item of the first group in turn whose oldest item `may` be taken now, taken out; undefined when there is none. Groups
   * before it keep their turn, and it takes as long as there are such.
   */
  shift(may: (group: string, oldest: T) => boolean = () => true): T | undefined {
    const group = this.#turns.shiftFirst(({ name, items }) => {
      const { first } = items
      return first !== undefined && may(name, first)
    })
    if (group === undefined) return undefined
    const item = group.items.shift()
    this.#size -= 1
    if (group.items.size > 0) this.#turns.push(group)
    else this.#groups.delete(group.name)
    return item
  }

  /** Takes the oldest item of the group that has most, if that has more than one; whether it did. */
  dropOne(): boolean {
    let most: Group<T> | undefined
    for (const group of this.#groups.values()) if (group.items.size > (most?.items.size ?? 1)) most = group
    if (most === undefined) return false
    most.items.shift()
    this.#size -= 1
    return true
  }

  clear(): void {
    this.#turns.clear()
    this.#groups.clear()
    this.#size = 0
  }
}
