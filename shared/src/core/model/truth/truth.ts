// A truth: yes, no, or open with the causes why it is not known. `yes` holds in every world that the input allows, `no` in none.
// The only ways to combine truths keep every cause that an open result has (docs/assumptions.md).
import { CauseSet } from './causes.ts'
import { unknownText, type Unknown } from './unknown.ts'

/** Yes, no or open. It is no boolean: the linter refuses `if (truth)` (`strict-boolean-expressions`). */
export class Truth {
  // Private, so that no other object is taken for a truth.
  readonly #value: 'yes' | 'no' | 'open'
  /** Why it is open; empty if it is not. */
  readonly causes: CauseSet

  /** For this file alone: all others take `YES`, `NO` and `open`. */
  constructor(value: 'yes' | 'no' | 'open', causes: CauseSet) {
    this.#value = value
    this.causes = causes
  }

  get value(): 'yes' | 'no' | 'open' {
    return this.#value
  }
}

/** True in every world. The one truth with that value: compare with `===`. */
export const YES = new Truth('yes', CauseSet.EMPTY)
/** True in no world. The one truth with that value: compare with `===`. */
export const NO = new Truth('no', CauseSet.EMPTY)

/** What is not known, for a reason. Callers that ask it of many pods keep the result, and share it. */
export function open(cause: Unknown): Truth {
  return openFor(CauseSet.of(cause))
}

/** What is not known, for several reasons; there is at least one. */
export function openFor(causes: CauseSet): Truth {
  if (causes.size === 0) throw new TypeError('an open truth needs a cause')
  return new Truth('open', causes)
}

/** What something decides that is not known: `on`, a noun phrase, and `why` it is not known. */
export function openOn(on: string, why: string): Truth {
  return open({ kind: 'verdict', of: {}, on, why })
}

/** Why a truth is open, in one line: the words of its first cause; undefined if it is not open. */
export function whyOpenText({ causes }: Truth): string | undefined {
  const [first] = causes
  return first === undefined ? undefined : unknownText(first)
}

/** What a plain predicate of known facts says. */
export function known(holds: boolean): Truth {
  return holds ? YES : NO
}

/** Whether all of them hold; of none: yes. */
export function all(...truths: readonly Truth[]): Truth {
  return combine(truths, NO, YES)
}

/** Whether one of them holds at least; of none: no. */
export function any(...truths: readonly Truth[]): Truth {
  return combine(truths, YES, NO)
}

/** The opposite. What is open stays open, for the same reasons. */
export function not(truth: Truth): Truth {
  if (truth === YES) return NO
  return truth === NO ? YES : truth
}

/** Whether `count` of them hold at least. */
export function atLeast(count: number, truths: Iterable<Truth>): Truth {
  const tally = new TruthCount()
  for (const truth of truths) tally.add(truth)
  return tally.atLeast(count)
}

/** Counts many truths. It unites their causes as they come, which costs nothing for causes that many share. */
export class TruthCount {
  #yes = 0
  #no = 0
  #open = 0
  #causes = CauseSet.EMPTY

  add(truth: Truth): void {
    if (truth === YES) this.#yes++
    else if (truth === NO) this.#no++
    else {
      this.#open++
      this.#causes = this.#causes.union(truth.causes)
    }
  }

  /** How many hold: for certain, and at most. */
  get count(): { readonly certain: number; readonly most: number } {
    return { certain: this.#yes, most: this.#yes + this.#open }
  }

  /** The causes of all that are open. */
  get causes(): CauseSet {
    return this.#causes
  }

  all(): Truth {
    if (this.#no > 0) return NO
    return this.#open === 0 ? YES : openFor(this.#causes)
  }

  any(): Truth {
    return this.atLeast(1)
  }

  atLeast(count: number): Truth {
    if (this.#yes >= count) return YES
    return this.#yes + this.#open < count ? NO : openFor(this.#causes)
  }
}

/** `deciding` if one of them is it; else open if one is; else `otherwise`. */
function combine(truths: readonly Truth[], deciding: Truth, otherwise: Truth): Truth {
  let result = otherwise
  for (const truth of truths) {
    if (truth === deciding) return deciding
    if (truth === otherwise || truth === result) continue
    if (result === otherwise) result = truth
    else {
      const causes = result.causes.union(truth.causes)
      if (causes !== result.causes) result = causes === truth.causes ? truth : openFor(causes)
    }
  }
  return result
}
