// How much an answer may hold. Some megabytes of files make thousands of ClusterSPIFFEIDs select each of thousands of pods, or all
// bindings collide with all others; what follows of that takes gigabytes, and more than a person can read. What the worst of it
// costs stands in docs/performance.md.
import { type Analysis, type State, undecidedOn } from '@kleym/shared/core/analysis/index.ts'
import type { Pod } from '@kleym/shared/core/model/objects/pod.ts'
import type { SelectionCounts } from '@kleym/shared/core/predict/index.ts'
import { KleymError } from '../io/errors.ts'

/**
 * What may give pods an identity, of all pods together: ClusterSPIFFEIDs that select one, ClusterStaticEntries that may match one,
 * and undetermined bindings of its pool. More entries than a SPIRE server holds; each takes some 15 µs, and some 100 bytes for each
 * container of the pod.
 */
const SELECTIONS_MAX: SelectionCounts = { ofPods: 1_000_000, ofContainers: 3_000_000 }

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
/** A pattern may take in every identity. */
export const DRAWN_NAMES: AnswerLimit = {
  ...DRAWN_REGISTRATIONS,
  what: 'identities in rules of access policies',
}
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
export function refuseTooManySelections({ now, settled }: Pick<Analysis, 'now' | 'settled'>): void {
  const later = new Set(settled.outputs.map(({ object }) => object))
  // What is there now and stays as it is selects no more than it does later.
  for (const state of now.outputs.every(({ object }) => later.has(object)) ? [settled] : [now, settled]) {
    if (!state.hasMoreSelections(SELECTIONS_MAX) && !hasMoreUndecided(state)) continue
    const [pods, containers] = [SELECTIONS_MAX.ofPods, SELECTIONS_MAX.ofContainers].map((most) =>
      most.toLocaleString('en'),
    )
    throw tooLarge(
      `ClusterSPIFFEIDs, ClusterStaticEntries and undetermined bindings select pods more than ${pods} times, or containers more than ${containers} times`,
      'give what selects pods selectors that choose fewer of them, or give fewer files or one namespace',
    )
  }
}

/** Whether pods are perhaps given an identity by undetermined bindings more often than that. */
function hasMoreUndecided({ undecided, base: { podsInQuestion } }: State): boolean {
  if (undecided.size === 0) return false
  const { ofPods, ofContainers } = SELECTIONS_MAX
  const inNamespace = (pod: Pod): number => undecided.get(pod.namespace)?.length ?? 0
  // At most those of the namespace; they are compared where these are too many.
  if (!isMore(podsInQuestion, inNamespace)) return false
  return isMore(podsInQuestion, (pod) => undecidedOn(undecided, pod).length)

  function isMore(pods: readonly Pod[], countOf: (pod: Pod) => number): boolean {
    let [onPods, onContainers] = [0, 0]
    return pods.some((pod) => {
      const count = countOf(pod)
      onPods += count
      onContainers += count * pod.containers.length
      return onPods > ofPods || onContainers > ofContainers
    })
  }
}

function tooLarge(why: string, fix: string): KleymError {
  return new KleymError('input', { what: 'cannot make so large an answer', why, fix })
}
