// Namespaces by their labels, so that a namespaceSelector is compared with a few of them only: those that have one of the
// labels that it requires. What it finds is a superset of what matches.
import { getOrCreate } from '../../base/get-or-create.ts'
import type { LabelSelector } from '../../model/objects/label-selector.ts'
import { namespaceNamed, type Namespace, type Pod } from '../../model/objects/pod.ts'
import { compareKeys } from '../../base/text/bytes.ts'

/** A label that a selector requires, and the values that it accepts. */
export interface RequiredLabel {
  readonly key: string
  readonly values: ReadonlySet<string>
}

/** The labels without which a selector matches nothing. */
export function* requiredLabels(selector: LabelSelector | undefined): Iterable<RequiredLabel> {
  if (selector === undefined) return
  for (const [key, value] of selector.matchLabels) yield { key, values: new Set([value]) }
  for (const { key, operator, values } of selector.matchExpressions) {
    if (operator === 'In') yield { key, values: new Set(values) }
  }
}

/** Namespaces by their labels. */
export interface NamespacePostings {
  readonly byKey: ReadonlyMap<string, ReadonlyMap<string, readonly Namespace[]>>
  /** The namespaces whose labels are not all known. */
  readonly incomplete: readonly Namespace[]
  /** Of these, the ones that may carry a key with any value; by key, filled at the first question. */
  readonly mayCarry: Map<string, readonly Namespace[]>
}

/** Indexes namespaces by their labels. */
export function postNamespaces(namespaces: Iterable<Namespace>): NamespacePostings {
  const byKey = new Map<string, Map<string, Namespace[]>>()
  const incomplete: Namespace[] = []
  for (const namespace of namespaces) {
    if (!namespace.complete || namespace.possible !== undefined) incomplete.push(namespace)
    for (const [key, value] of namespace.labels) {
      const byValue = getOrCreate(byKey, key, () => new Map<string, Namespace[]>())
      getOrCreate(byValue, value, () => []).push(namespace)
    }
  }
  return { byKey, incomplete, mayCarry: new Map() }
}

/** The namespaces that may match a selector; undefined where it requires no label. */
export function candidateNamespaces(
  selector: LabelSelector | undefined,
  postings: NamespacePostings,
): readonly Namespace[] | undefined {
  let fewest: readonly Namespace[] | undefined
  for (const label of requiredLabels(selector)) {
    const found = namespacesMeeting(label, postings)
    if (fewest === undefined || found.length < fewest.length) fewest = found
  }
  return fewest
}

/** A namespace has one value of a key at most, and none where it only may carry the key: so the result names none twice. */
function namespacesMeeting(
  { key, values }: RequiredLabel,
  postings: NamespacePostings,
): readonly Namespace[] {
  const { byKey, incomplete, mayCarry } = postings
  const byValue = byKey.get(key)
  const uncertain = getOrCreate(mayCarry, key, () => incomplete.filter(({ labels }) => !labels.has(key)))
  return [...values].flatMap((value) => byValue?.get(value) ?? []).concat(uncertain)
}

/** The given namespaces by name, with those that only pods name: nothing else is known about these. */
export function namespacesOf(given: Iterable<Namespace>, pods: readonly Pod[]): Map<string, Namespace> {
  const namespaces = new Map<string, Namespace>()
  for (const namespace of given) {
    const duplicate = namespaces.get(namespace.name)
    if (duplicate === undefined || precedes(namespace, duplicate)) namespaces.set(namespace.name, namespace)
  }
  for (const pod of pods) {
    if (!namespaces.has(pod.namespace)) {
      namespaces.set(pod.namespace, namespaceNamed(pod.namespace, new Map(), false))
    }
  }
  return namespaces
}

/** If a snapshot holds two namespaces of one name, which it should not, the choice does not depend on their order. */
function precedes(left: Namespace, right: Namespace): boolean {
  if (left.complete !== right.complete) return left.complete
  return labelsText(left) < labelsText(right)
}

function labelsText(namespace: Namespace): string {
  return JSON.stringify([...namespace.labels].toSorted(compareKeys))
}
