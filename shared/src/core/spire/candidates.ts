// Finds the ClusterSPIFFEIDs whose selectors may choose a pod without asking each of them: by namespace, then by the
// rarest label that a selector demands. The candidates are a superset; `selection` is the exact answer.
import type { LabelSelector } from '../objects/label-selector.ts'
import { namespaceNamed, type Namespace, type Pod } from '../objects/pod.ts'
import { getOrCreate } from '../get-or-create.ts'
import { compareBytes } from '../text/bytes.ts'
import { matchSelector, type LabelView, type Match } from './selector.ts'

/** What the index needs of an object. */
export interface Selecting {
  readonly namespaceSelector: LabelSelector | undefined
  readonly podSelector: LabelSelector | undefined
}

/** An object that may select a pod, and whether it does. */
export interface Selection<T> {
  readonly object: T
  readonly match: 'yes' | 'unknown'
  /** Which of the two selectors is not certain. */
  readonly unsure: 'namespace' | 'pod' | undefined
}

/** How many namespaces a selector may match before its objects stop being listed namespace by namespace. */
const NARROW_NAMESPACES = 16

/** Objects that share one namespaceSelector. */
interface Group<T> {
  readonly selector: LabelSelector | undefined
  readonly members: T[]
  /** The answers so far, by namespace. */
  readonly matches: Map<string, Match>
  /** The namespaces that it may match, once they are looked up. */
  within: readonly Namespace[] | undefined
}

interface Entry<T> {
  readonly object: T
  readonly group: Group<T>
}

/** The objects of one place, by one label that their podSelector demands; under each value of it that will do. */
interface LabelPostings<T> {
  readonly any: Entry<T>[]
  readonly byKey: Map<string, Map<string, Entry<T>[]>>
}

/** Counts for `status.stats`. */
export interface NamespaceCount {
  readonly selected: number
  readonly ignored: number
}

export class CandidateIndex<T extends Selecting> {
  readonly #namespaces: ReadonlyMap<string, Namespace>
  /** Namespaces of pods that were asked for later. */
  readonly #strangers = new Map<string, Namespace>()
  readonly #groupOf = new Map<T, Group<T>>()
  readonly #broad: LabelPostings<T> = newPostings()
  readonly #narrow = new Map<string, LabelPostings<T>>()
  readonly #narrowGroups: Group<T>[] = []
  readonly #countOf = new Map<Group<T>, NamespaceCount>()
  readonly #podsWithLabel: Map<string, Map<string, number>>

  constructor(objects: readonly T[], namespaces: readonly Namespace[], pods: readonly Pod[]) {
    this.#namespaces = namespacesOf(namespaces, pods)
    this.#podsWithLabel = countLabels(pods)
    const byLabel = postNamespaces(this.#namespaces.values())
    for (const group of groupByNamespaceSelector(objects)) {
      for (const object of group.members) this.#groupOf.set(object, group)
      this.#place(group, byLabel)
    }
  }

  /** How many of the namespaces a selector certainly matches, and how many of those `isIgnored` names. */
  countNamespaces(object: T, isIgnored: (namespace: string) => boolean): NamespaceCount {
    const group = this.#groupOf.get(object)
    if (group === undefined) return { selected: 0, ignored: 0 }
    const before = this.#countOf.get(group)
    if (before !== undefined) return before
    let selected = 0
    let ignored = 0
    for (const namespace of group.within ?? this.#namespaces.values()) {
      if (matchNamespace(group, namespace) !== 'yes') continue
      selected++
      if (isIgnored(namespace.name)) ignored++
    }
    const count = { selected, ignored }
    this.#countOf.set(group, count)
    return count
  }

  /** Every object whose selectors choose this pod, or may. */
  selecting(pod: Pod): readonly Selection<T>[] {
    const namespace = this.#namespaceOf(pod.namespace)
    const candidates: Entry<T>[] = []
    collect(this.#broad, pod, candidates)
    const narrow = this.#narrow.get(pod.namespace)
    if (narrow !== undefined) collect(narrow, pod, candidates)
    const view: LabelView = { labels: pod.labels, open: pod.openLabels, possible: pod.possibleLabels }
    const selections: Selection<T>[] = []
    for (const { object, group } of candidates) {
      const inNamespace = this.#matchNamespace(group, namespace)
      if (inNamespace === 'no') continue
      const onPod = matchSelector(object.podSelector, view)
      if (onPod === 'no') continue
      const unsure = inNamespace === 'unknown' ? 'namespace' : onPod === 'unknown' ? 'pod' : undefined
      selections.push({ object, match: unsure === undefined ? 'yes' : 'unknown', unsure })
    }
    return selections
  }

  /** A namespace that nobody named before matches by name alone; the narrow groups are then asked one by one. */
  #namespaceOf(name: string): Namespace {
    const known = this.#namespaces.get(name) ?? this.#strangers.get(name)
    if (known !== undefined) return known
    const bare = namespaceNamed(name, new Map(), false)
    this.#strangers.set(name, bare)
    for (const group of this.#narrowGroups) this.#postNarrow(group, bare)
    return bare
  }

  #place(group: Group<T>, byLabel: NamespacePostings): void {
    const candidates = candidateNamespaces(group.selector, byLabel)
    const matching = candidates?.filter((namespace) => this.#matchNamespace(group, namespace) !== 'no')
    group.within = matching
    if (matching === undefined || matching.length > NARROW_NAMESPACES) {
      for (const object of group.members) this.#post(this.#broad, object, group)
      return
    }
    this.#narrowGroups.push(group)
    for (const namespace of matching) this.#postNarrow(group, namespace)
  }

  #postNarrow(group: Group<T>, namespace: Namespace): void {
    if (this.#matchNamespace(group, namespace) === 'no') return
    let postings = this.#narrow.get(namespace.name)
    if (postings === undefined) this.#narrow.set(namespace.name, (postings = newPostings()))
    for (const object of group.members) this.#post(postings, object, group)
  }

  #post(postings: LabelPostings<T>, object: T, group: Group<T>): void {
    const entry = { object, group }
    const rarest = this.#rarestDemand(object.podSelector)
    if (rarest === undefined) {
      postings.any.push(entry)
      return
    }
    const byValue = getOrCreate(postings.byKey, rarest.key, () => new Map<string, Entry<T>[]>())
    for (const value of rarest.values) getOrCreate(byValue, value, () => []).push(entry)
  }

  #rarestDemand(selector: LabelSelector | undefined): Demand | undefined {
    let rarest: Demand | undefined
    let fewest = Number.POSITIVE_INFINITY
    for (const demand of demandsOf(selector)) {
      const byValue = this.#podsWithLabel.get(demand.key)
      let pods = 0
      for (const value of demand.values) pods += byValue?.get(value) ?? 0
      if (pods < fewest) {
        rarest = demand
        fewest = pods
      }
    }
    return rarest
  }

  #matchNamespace(group: Group<T>, namespace: Namespace): Match {
    if (group.selector === undefined) return 'yes'
    const before = group.matches.get(namespace.name)
    if (before !== undefined) return before
    const match = matchNamespace(group, namespace)
    group.matches.set(namespace.name, match)
    return match
  }
}

function matchNamespace<T>({ selector }: Group<T>, { labels, complete }: Namespace): Match {
  return matchSelector(selector, { labels, complete })
}

function newPostings<T>(): LabelPostings<T> {
  return { any: [], byKey: new Map() }
}

function collect<T>(postings: LabelPostings<T>, pod: Pod, into: Entry<T>[]): void {
  for (const entry of postings.any) into.push(entry)
  for (const [key, value] of pod.labels) {
    for (const entry of postings.byKey.get(key)?.get(value) ?? []) into.push(entry)
  }
  if (pod.openLabels.size === 0 && pod.possibleLabels.size === 0) return
  // A value that nobody knows may be any; an entry that stands under several of them counts once.
  const found = new Set<Entry<T>>()
  for (const keys of [pod.openLabels, pod.possibleLabels]) {
    for (const key of keys) {
      for (const list of postings.byKey.get(key)?.values() ?? []) for (const entry of list) found.add(entry)
    }
  }
  for (const entry of found) into.push(entry)
}

/** A label that a selector demands, and the values that will do. */
interface Demand {
  readonly key: string
  readonly values: ReadonlySet<string>
}

function* demandsOf(selector: LabelSelector | undefined): Iterable<Demand> {
  if (selector === undefined) return
  for (const [key, value] of selector.matchLabels) yield { key, values: new Set([value]) }
  for (const { key, operator, values } of selector.matchExpressions) {
    if (operator === 'In') yield { key, values: new Set(values) }
  }
}

function groupByNamespaceSelector<T extends Selecting>(objects: readonly T[]): readonly Group<T>[] {
  const groups = new Map<string, Group<T>>()
  for (const object of objects) {
    const selector = object.namespaceSelector
    const key = selector === undefined ? '' : selectorKey(selector)
    const group = groups.get(key)
    if (group === undefined)
      groups.set(key, { selector, members: [object], matches: new Map(), within: undefined })
    else group.members.push(object)
  }
  return [...groups.values()]
}

/** Equal for selectors that are written alike, whatever the order of their labels. */
export function selectorKey(selector: LabelSelector): string {
  const labels = [...selector.matchLabels].toSorted(([left], [right]) => compareBytes(left, right))
  return JSON.stringify([labels, selector.matchExpressions])
}

/** Namespaces by their labels. */
interface NamespacePostings {
  readonly byKey: ReadonlyMap<string, ReadonlyMap<string, readonly Namespace[]>>
  /** Those whose labels are not all known. */
  readonly incomplete: readonly Namespace[]
  /** Those of them that may carry a key with any value, by key, as far as it was asked. */
  readonly mayCarry: Map<string, readonly Namespace[]>
}

function postNamespaces(namespaces: Iterable<Namespace>): NamespacePostings {
  const byKey = new Map<string, Map<string, Namespace[]>>()
  const incomplete: Namespace[] = []
  for (const namespace of namespaces) {
    if (!namespace.complete) incomplete.push(namespace)
    for (const [key, value] of namespace.labels) {
      const byValue = getOrCreate(byKey, key, () => new Map<string, Namespace[]>())
      getOrCreate(byValue, value, () => []).push(namespace)
    }
  }
  return { byKey, incomplete, mayCarry: new Map() }
}

/** The namespaces that may match a selector, or undefined where it demands no label. */
function candidateNamespaces(
  selector: LabelSelector | undefined,
  postings: NamespacePostings,
): readonly Namespace[] | undefined {
  let fewest: readonly Namespace[] | undefined
  for (const demand of demandsOf(selector)) {
    const found = namespacesMeeting(demand, postings)
    if (fewest === undefined || found.length < fewest.length) fewest = found
  }
  return fewest
}

/** A namespace stands under one value of a key at most, and not there where it only may carry it: none comes twice. */
function namespacesMeeting({ key, values }: Demand, postings: NamespacePostings): readonly Namespace[] {
  const { byKey, incomplete, mayCarry } = postings
  const byValue = byKey.get(key)
  const unsure = getOrCreate(mayCarry, key, () => incomplete.filter(({ labels }) => !labels.has(key)))
  return [...values].flatMap((value) => byValue?.get(value) ?? []).concat(unsure)
}

function namespacesOf(given: readonly Namespace[], pods: readonly Pod[]): Map<string, Namespace> {
  const namespaces = new Map<string, Namespace>()
  for (const namespace of given) {
    const twin = namespaces.get(namespace.name)
    if (twin === undefined || precedes(namespace, twin)) namespaces.set(namespace.name, namespace)
  }
  for (const pod of pods) {
    if (!namespaces.has(pod.namespace)) {
      namespaces.set(pod.namespace, namespaceNamed(pod.namespace, new Map(), false))
    }
  }
  return namespaces
}

/** A snapshot holds a namespace once; where it does not, the answer still must not hang on the order. */
function precedes(left: Namespace, right: Namespace): boolean {
  if (left.complete !== right.complete) return left.complete
  return labelsText(left) < labelsText(right)
}

function labelsText(namespace: Namespace): string {
  return JSON.stringify([...namespace.labels].toSorted(([left], [right]) => compareBytes(left, right)))
}

function countLabels(pods: readonly Pod[]): Map<string, Map<string, number>> {
  const counts = new Map<string, Map<string, number>>()
  for (const pod of pods) {
    for (const [key, value] of pod.labels) {
      let values = counts.get(key)
      if (values === undefined) counts.set(key, (values = new Map()))
      values.set(value, (values.get(value) ?? 0) + 1)
    }
  }
  return counts
}
