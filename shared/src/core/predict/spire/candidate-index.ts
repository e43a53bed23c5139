// Finds the ClusterSPIFFEIDs that select a pod without comparing it with each of them: by namespace, then by the rarest
// label that their podSelector requires. These candidates are a superset; `selecting` compares them and answers exactly.
import {
  requiredLabels,
  type RequiredLabel,
  type NamespacePostings,
  postNamespaces,
  candidateNamespaces,
  namespacesOf,
} from './namespace-postings.ts'
import type { LabelSelector } from '../../model/objects/label-selector.ts'
import { namespaceNamed, type Namespace, type Pod } from '../../model/objects/pod.ts'
import { answerOf, isRecorded } from '../../model/objects/pods-alike.ts'
import { getOrCreate } from '../../base/get-or-create.ts'
import { compareKeys } from '../../base/text/bytes.ts'
import { all, NO, YES, type Truth } from '../../model/truth/truth.ts'
import { labelsOfPod, matchSelector } from '../../model/objects/label-match.ts'

/** What the index needs of an object. */
export interface HasSelectors {
  readonly namespaceSelector: LabelSelector | undefined
  readonly podSelector: LabelSelector | undefined
}

/** An object that may select a pod, and whether it does. */
export interface Selection<T> {
  readonly object: T
  /** Yes, or open. */
  readonly selects: Truth
  /** The selector that is not certain, and the labels that it asks for. */
  readonly uncertain: UncertainSelector | undefined
}

interface UncertainSelector {
  readonly selector: 'namespaceSelector' | 'podSelector'
  /** `the pod's labels: policy x may set some`. */
  readonly labels: string
}

/** The most namespaces that a selector may match for its objects to be listed under each of them. */
const NARROW_NAMESPACES = 16

/** Objects that share one namespaceSelector. */
interface Group<T> {
  readonly selector: LabelSelector | undefined
  readonly members: T[]
  /** The results so far, by namespace. */
  readonly matches: Map<string, Truth>
  /** The namespaces that it may match; undefined where it requires no label, and so may match any. */
  within: readonly Namespace[] | undefined
}

interface Entry<T> {
  readonly object: T
  readonly group: Group<T>
}

/** Objects by one label that their podSelector requires, under each value that it accepts; `any` require none. */
interface LabelPostings<T> {
  readonly any: Entry<T>[]
  readonly byKey: Map<string, Map<string, Entry<T>[]>>
}

/** Counts for `status.stats`. */
export interface NamespaceCount {
  readonly selected: number
  readonly ignored: number
}

/** An index of objects by what they select, for the pods and namespaces of one snapshot. */
export class CandidateIndex<T extends HasSelectors> {
  readonly #namespaces: ReadonlyMap<string, Namespace>
  /** Namespaces that only pods name which the caller asked about later. */
  readonly #laterNamespaces = new Map<string, Namespace>()
  readonly #groupOf = new Map<T, Group<T>>()
  readonly #broad: LabelPostings<T> = newPostings()
  readonly #narrow = new Map<string, LabelPostings<T>>()
  readonly #narrowGroups: Group<T>[] = []
  readonly #countOf = new Map<Group<T>, NamespaceCount>()
  readonly #podsWithLabel: Map<string, Map<string, number>>
  readonly #same = new SameSelections<T>()
  #last: { readonly of: SelectedBy; readonly selections: readonly Selection<T>[] } | undefined

  constructor(objects: readonly T[], namespaces: Iterable<Namespace>, pods: readonly Pod[]) {
    this.#namespaces = namespacesOf(namespaces, pods)
    this.#podsWithLabel = countLabels(pods)
    const byLabel = postNamespaces(this.#namespaces.values())
    for (const group of groupByNamespaceSelector(objects)) {
      for (const object of group.members) this.#groupOf.set(object, group)
      this.#place(group, byLabel)
    }
  }

  /** How many of the namespaces an object's namespaceSelector certainly matches, and how many of these `isIgnored` names. */
  countNamespaces(object: T, isIgnored: (namespace: string) => boolean): NamespaceCount {
    const group = this.#groupOf.get(object)
    if (group === undefined) return { selected: 0, ignored: 0 }
    const before = this.#countOf.get(group)
    if (before !== undefined) return before
    let selected = 0
    let ignored = 0
    for (const namespace of group.within ?? this.#namespaces.values()) {
      if (matchNamespace(group, namespace) !== YES) continue
      selected++
      if (isIgnored(namespace.name)) ignored++
    }
    const count = { selected, ignored }
    this.#countOf.set(group, count)
    return count
  }

  /** Every object whose selectors choose this pod, certainly or perhaps. Labels that no selector names may differ. */
  selecting(pod: Pod): readonly Selection<T>[] {
    return isRecorded(pod) ? answerOf(pod, this.#shared) : this.#selecting(pod)
  }

  readonly #shared = (pod: Pod): readonly Selection<T>[] => this.#same.of(this.#selecting(pod))

  /** The pods of a workload come one after the other. */
  #selecting(pod: Pod): readonly Selection<T>[] {
    if (this.#last !== undefined && areSelectedAlike(this.#last.of, pod)) return this.#last.selections
    const selections = this.#selectionsOf(pod)
    const { labels, unknownLabels, possibleLabels, namespace } = pod
    this.#last = { of: { labels, unknownLabels, possibleLabels, namespace }, selections }
    return selections
  }

  #selectionsOf(pod: Pod): readonly Selection<T>[] {
    const namespace = this.#namespaceOf(pod.namespace)
    const candidates: Entry<T>[] = []
    collect(this.#broad, pod, candidates)
    const narrow = this.#narrow.get(pod.namespace)
    if (narrow !== undefined) collect(narrow, pod, candidates)
    const view = labelsOfPod(pod)
    const selections: Selection<T>[] = []
    for (const { object, group } of candidates) {
      const inNamespace = this.#matchNamespace(group, namespace)
      if (inNamespace === NO) continue
      const onPod = matchSelector(object.podSelector, view)
      if (onPod === NO) continue
      if (inNamespace === YES && onPod === YES)
        selections.push({ object, selects: YES, uncertain: undefined })
      else {
        const uncertain = inNamespace === YES ? ofPod(pod) : ofNamespace(namespace)
        selections.push({ object, selects: all(inNamespace, onPod), uncertain })
      }
    }
    return selections
  }

  /** A namespace that is not in the index can match by its name alone; each narrow group is then compared with it. */
  #namespaceOf(name: string): Namespace {
    const known = this.#namespaces.get(name) ?? this.#laterNamespaces.get(name)
    if (known !== undefined) return known
    const bare = namespaceNamed(name, new Map(), false)
    this.#laterNamespaces.set(name, bare)
    for (const group of this.#narrowGroups) this.#postNarrow(group, bare)
    return bare
  }

  #place(group: Group<T>, byLabel: NamespacePostings): void {
    const candidates = candidateNamespaces(group.selector, byLabel)
    const matching = candidates?.filter((namespace) => this.#matchNamespace(group, namespace) !== NO)
    group.within = matching
    if (matching === undefined || matching.length > NARROW_NAMESPACES) {
      for (const object of group.members) this.#post(this.#broad, object, group)
      return
    }
    this.#narrowGroups.push(group)
    for (const namespace of matching) this.#postNarrow(group, namespace)
  }

  #postNarrow(group: Group<T>, namespace: Namespace): void {
    if (this.#matchNamespace(group, namespace) === NO) return
    const postings = getOrCreate(this.#narrow, namespace.name, newPostings<T>)
    for (const object of group.members) this.#post(postings, object, group)
  }

  #post(postings: LabelPostings<T>, object: T, group: Group<T>): void {
    const entry = { object, group }
    const rarest = this.#rarestLabel(object.podSelector)
    if (rarest === undefined) {
      postings.any.push(entry)
      return
    }
    const byValue = getOrCreate(postings.byKey, rarest.key, () => new Map<string, Entry<T>[]>())
    for (const value of rarest.values) getOrCreate(byValue, value, () => []).push(entry)
  }

  #rarestLabel(selector: LabelSelector | undefined): RequiredLabel | undefined {
    let rarest: RequiredLabel | undefined
    let fewest = Number.POSITIVE_INFINITY
    for (const label of requiredLabels(selector)) {
      const byValue = this.#podsWithLabel.get(label.key)
      let pods = 0
      for (const value of label.values) pods += byValue?.get(value) ?? 0
      if (pods < fewest) {
        rarest = label
        fewest = pods
      }
    }
    return rarest
  }

  #matchNamespace(group: Group<T>, namespace: Namespace): Truth {
    if (group.selector === undefined) return YES
    return getOrCreate(group.matches, namespace.name, () => matchNamespace(group, namespace))
  }
}

/** All that selectors read of a pod. */
type SelectedBy = Pick<Pod, 'labels' | 'unknownLabels' | 'possibleLabels' | 'namespace'>

/** Whether selectors find the same on two pods. */
function areSelectedAlike(one: SelectedBy, other: SelectedBy): boolean {
  return (
    one.labels === other.labels &&
    one.unknownLabels === other.unknownLabels &&
    one.possibleLabels === other.possibleLabels &&
    one.namespace === other.namespace
  )
}

function ofPod({ labelGivers }: Pod): UncertainSelector {
  const [giver] = labelGivers?.values() ?? []
  const more = giver === undefined ? '' : `: ${giver} may set some`
  return { selector: 'podSelector', labels: `the pod's labels${more}` }
}

function ofNamespace({ whyPossible }: Namespace): UncertainSelector {
  const more = whyPossible === undefined ? '' : `: ${whyPossible}`
  return { selector: 'namespaceSelector', labels: `the namespace's labels${more}` }
}

function matchNamespace<T>({ selector }: Group<T>, namespace: Namespace): Truth {
  return matchSelector(selector, namespace)
}

function newPostings<T>(): LabelPostings<T> {
  return { any: [], byKey: new Map() }
}

function collect<T>(postings: LabelPostings<T>, pod: Pod, into: Entry<T>[]): void {
  for (const entry of postings.any) into.push(entry)
  for (const [key, value] of pod.labels) {
    for (const entry of postings.byKey.get(key)?.get(value) ?? []) into.push(entry)
  }
  if (pod.unknownLabels.size === 0 && pod.possibleLabels.size === 0) return
  // A label with an unknown value may have any; an entry that is listed under several values counts once.
  const found = new Set<Entry<T>>()
  for (const keys of [pod.unknownLabels, pod.possibleLabels]) {
    for (const key of keys) {
      for (const list of postings.byKey.get(key)?.values() ?? []) for (const entry of list) found.add(entry)
    }
  }
  for (const entry of found) into.push(entry)
}

function groupByNamespaceSelector<T extends HasSelectors>(objects: readonly T[]): readonly Group<T>[] {
  const groups = new Map<string, Group<T>>()
  for (const object of objects) {
    const selector = object.namespaceSelector
    const key = selector === undefined ? '' : selectorKey(selector)
    const empty = (): Group<T> => ({ selector, members: [], matches: new Map(), within: undefined })
    getOrCreate(groups, key, empty).members.push(object)
  }
  return [...groups.values()]
}

/** Gives one and the same for equal selections that are certain. */
class SameSelections<T> {
  readonly #numbers = new Map<T, number>()
  readonly #known = new Map<string, readonly Selection<T>[]>()

  of(selections: readonly Selection<T>[]): readonly Selection<T>[] {
    if (selections.some(({ uncertain }) => uncertain !== undefined)) return selections
    const numberOf = ({ object }: Selection<T>): number =>
      getOrCreate(this.#numbers, object, () => this.#numbers.size)
    return getOrCreate(this.#known, selections.map(numberOf).join(' '), () => selections)
  }
}

/** The same text for selectors that are equal but for the order of their labels. */
export function selectorKey(selector: LabelSelector): string {
  const labels = [...selector.matchLabels].toSorted(compareKeys)
  return JSON.stringify([labels, selector.matchExpressions])
}

/** How many pods carry each label. Pods that share their labels as one and the same value are counted first. */
function countLabels(pods: readonly Pod[]): Map<string, Map<string, number>> {
  const carriers = new Map<Pod['labels'], number>()
  for (const { labels } of pods) carriers.set(labels, (carriers.get(labels) ?? 0) + 1)
  const counts = new Map<string, Map<string, number>>()
  for (const [labels, count] of carriers) {
    for (const [key, value] of labels) {
      const values = getOrCreate(counts, key, () => new Map<string, number>())
      values.set(value, (values.get(value) ?? 0) + count)
    }
  }
  return counts
}
