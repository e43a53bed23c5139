// What is known of a kind: its items, each of them there or perhaps there, and whether there may be more. an inventory has no length
// and no index: "there is none" cannot be said without an answer to "is that all?".
import { all, any, not, open, TruthCount, YES, NO, type Truth } from './truth.ts'
import type { Unknown } from './unknown.ts'

/**
 * What something that was not read may hold: `any` stands for every object that may be there. A predicate of it must be open if
 * it holds for some of these objects and not for others.
 */
export interface Rest<T> {
  readonly any: T
  readonly cause: Unknown
}

/** An item, or what may be there beside the items, and whether it is. */
interface Member<T> {
  readonly item: T
  readonly there: Truth
}

/** An object that was looked for by its name. */
export type Found<T> =
  | { readonly state: 'found'; readonly item: T; readonly there: Truth }
  | { readonly state: 'absent' }
  | { readonly state: 'open'; readonly there: Truth }

/** The objects of a kind, as far as they are known. Immutable. */
export class Inventory<T> {
  readonly #items: readonly Member<T>[]
  readonly #rest: readonly Member<T>[]

  private constructor(items: readonly Member<T>[], rest: readonly Member<T>[]) {
    this.#items = items
    this.#rest = rest
  }

  /** Exactly these items. */
  static closed<T>(items: readonly T[]): Inventory<T> {
    return new Inventory(
      items.map((item) => ({ item, there: YES })),
      [],
    )
  }

  /** These items, each of them there as `there` says, and what `rest` may hold beside them. */
  static of<T>(items: readonly T[], there: (item: T) => Truth, rest: readonly Rest<T>[]): Inventory<T> {
    return new Inventory(
      items.map((item) => ({ item, there: there(item) })).filter(isPossible),
      rest.map((one) => ({ item: one.any, there: open(one.cause) })),
    )
  }

  /** Whether these are all items, and all of them are there. */
  get isClosed(): boolean {
    return this.#rest.length === 0 && this.#items.every(({ there }) => there === YES)
  }

  /** The items for which a predicate holds, or may hold. */
  matching(holds: (item: T) => Truth): Inventory<T> {
    const chosen = (one: Member<T>): Member<T> => ({ item: one.item, there: all(one.there, holds(one.item)) })
    return new Inventory(
      this.#items.map(chosen).filter(isPossible),
      // That something of the rest has a property certainly is not known: nobody knows that it is there.
      this.#rest.map(chosen).filter(isPossible),
    )
  }

  /** Whether there is one. */
  some(): Truth {
    return this.atLeast(1)
  }

  /** Whether there is none. */
  none(): Truth {
    return not(this.some())
  }

  /** Whether there are so many. What was not read may hold any number. */
  atLeast(count: number): Truth {
    if (count <= 0) return YES
    const tally = new TruthCount()
    for (const { there } of this.#items) tally.add(there)
    const ofItems = tally.atLeast(count)
    if (ofItems === YES || this.#rest.length === 0) return ofItems
    const more = any(...this.#rest.map(({ there }) => there))
    // Items that are perhaps there count for the reasons too, even if they alone are too few.
    return tally.count.most === tally.count.certain ? more : any(more, tally.atLeast(tally.count.most))
  }

  /** The item that `isIt` names; open if what was not read `mayBe` it. */
  named(isIt: (item: T) => boolean, mayBe: (rest: T) => Truth): Found<T> {
    const found = this.#items.find(({ item }) => isIt(item))
    if (found !== undefined) return { state: 'found', ...found }
    const there = this.more(mayBe)
    return there === NO ? { state: 'absent' } : { state: 'open', there }
  }

  /** Each item, with whether it is there. */
  each(): Iterable<{ readonly item: T; readonly there: Truth }> {
    return this.#items
  }

  /** Whether what was not read may hold an object with a property: no, or open. */
  more(holds: (rest: T) => Truth): Truth {
    return any(...this.#rest.map(({ item, there }) => all(there, holds(item))))
  }

  /** The items to show to a person, and whether they are all that there are. */
  shown(): { readonly items: readonly T[]; readonly isAll: Truth } {
    return { items: this.#items.map(({ item }) => item), isAll: not(this.more(() => YES)) }
  }
}

function isPossible({ there }: { readonly there: Truth }): boolean {
  return there !== NO
}
