// How much an answer may hold. Some megabytes of files make thousands of ClusterSPIFFEIDs select each of thousands of pods, or all
// bindings collide with all others; what follows of that takes gigabytes, and more than a person can read. What the worst of it
// costs stands in docs/reliability.md.
import type { Prediction } from '@kleym/shared/core/spire/prediction.ts'
import { KleymError } from '../io/errors.ts'

/** ClusterSPIFFEIDs that select a pod, of all pods together: more entries than a SPIRE server holds. Each takes some 15 µs. */
export const SELECTIONS_MAX = 1_000_000

/** What an answer shows, and how much of it at most. */
export interface AnswerLimit {
  readonly most: number
  readonly what: string
  readonly fix: string
}

const NARROWER = 'ask about one namespace with -n, about one pod or workload, or with -l'
/** Each takes some 4 KB. */
export const SHOWN_REGISTRATIONS: AnswerLimit = {
  most: 200_000,
  what: 'registrations of containers',
  fix: NARROWER,
}
/** As a page, each takes some 6 KB. */
export const DRAWN_REGISTRATIONS: AnswerLimit = { ...SHOWN_REGISTRATIONS, most: 150_000 }
/** Each takes some 2 KB. */
export const SHOWN_ENTRIES: AnswerLimit = { ...SHOWN_REGISTRATIONS, what: 'registration entries' }
/** What the explanations of bindings name. Each takes some 1 KB. */
export const EXPLAINED: AnswerLimit = {
  most: 500_000,
  what: 'peers and pods',
  fix: 'explain one binding, or one namespace with -n; kubectl kleym conflicts -A sums up what collides',
}

/** Counts what an answer shows. */
export class AnswerCount {
  readonly #limit: AnswerLimit
  #count = 0

  constructor(limit: AnswerLimit) {
    this.#limit = limit
  }

  /** Throws a KleymError where it is more than the answer may show. */
  add(count: number): void {
    this.#count += count
    refuseMoreThan(this.#limit, this.#count)
  }
}

/** Throws a KleymError where an answer shows more than it may. */
export function refuseMoreThan({ most, what, fix }: AnswerLimit, count: number): void {
  if (count > most) throw tooLarge(`it has more than ${most.toLocaleString('en')} ${what}`, fix)
}

/** Throws a KleymError where an answer, whichever it is, would be made of more than kleym works on. */
export function refuseTooManySelections(prediction: Prediction): void {
  if (!prediction.hasMoreSelections(SELECTIONS_MAX)) return
  throw tooLarge(
    `ClusterSPIFFEIDs select pods more than ${SELECTIONS_MAX.toLocaleString('en')} times`,
    'give the ClusterSPIFFEIDs selectors that choose fewer pods, or give fewer files or one namespace',
  )
}

function tooLarge(why: string, fix: string): KleymError {
  return new KleymError({ code: 'input', what: 'cannot make so large an answer', why, fix })
}
