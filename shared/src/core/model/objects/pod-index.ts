// Pods by their labels, and the texts that name a pod to a person.
import { namespacedName } from '../namespaced-name.ts'
import { getOrCreate } from '../../base/get-or-create.ts'
import { counted } from '../../base/text/counted.ts'
import type { Pod } from './pod.ts'

/** `pod team-a/llama-0`, `Deployment team-a/llama` for the pods of a template. */
export function podText(pod: Pod): string {
  const part = pod.part === '' ? '' : ` (${pod.part})`
  return `${pod.ref.kind === 'Pod' ? 'pod' : pod.ref.kind} ${namespacedName(pod.namespace, pod.ref.name)}${part}`
}

/** The same without the numbers that tell apart the pods of one template. */
export function unnumberedText(pod: Pod): string {
  return podText({ ...pod, part: pod.unnumbered ?? pod.part })
}

/** `podText` without the namespace: `llama-0`, `Deployment/llama`. */
export function shortPodText(pod: Pod): string {
  const part = pod.part === '' ? '' : ` (${pod.part})`
  return pod.ref.kind === 'Pod' ? pod.ref.name : `${pod.ref.kind}/${pod.ref.name}${part}`
}

/** A container of a pod by its names: `pod team-a/llama-0` and `vllm`. */
export interface Holder {
  readonly pod: string
  readonly container: string
}

/** The same as a key. */
export function holderKey({ pod, container }: Holder): string {
  return `${pod}:${container}`
}

/** How many pods there are, and how many templates that stand for any number of pods. */
export class PodCount {
  #pods = 0
  #templates = 0

  /** The count of these pods. */
  static of(pods: Iterable<Pod>): PodCount {
    const count = new PodCount()
    for (const pod of pods) count.add(pod)
    return count
  }

  /** Counts one more. */
  add({ ref }: Pod): void {
    if (ref.kind === 'Pod') this.#pods++
    else this.#templates++
  }

  /** Pods and templates together. */
  get total(): number {
    return this.#pods + this.#templates
  }

  /** `1 pod`, `2 pod templates`, `3 pods and 1 pod template`. */
  text(): string {
    const templates = counted(this.#templates, 'pod template')
    if (this.#templates === 0) return counted(this.#pods, 'pod')
    return this.#pods === 0 ? templates : `${counted(this.#pods, 'pod')} and ${templates}`
  }
}

/** An index of pods by namespace and label. */
export interface PodIndex {
  /** The pods of a namespace that carry all of these labels. */
  withLabels(namespace: string, labels: ReadonlyMap<string, string>): readonly Pod[]
}

/** Pods of one namespace that share their labels as one and the same value. */
interface SameLabels {
  readonly labels: Pod['labels']
  /** Where they stand among all pods. */
  readonly positions: number[]
}

/** The labels of a namespace's pods, and who has them. */
interface NamespaceIndex {
  readonly byLabels: Map<Pod['labels'], SameLabels>
  /** By key and value: of the keys that were asked for, or of all of them. */
  readonly postings: Map<string, Postings>
  isWhole: boolean
}

type Postings = ReadonlyMap<string, readonly SameLabels[]>

/** How many keys of a namespace are indexed one by one, as they are asked for: most questions are about one or two. */
const KEYS_ALONE = 8
const NO_POSTINGS: Postings = new Map()

/**
 * Builds the index: a set of labels is answered by the shortest list that one of its labels has. Pods of a cluster share
 * their labels by the thousand: what is indexed are label sets, so that a hundred thousand pods leave little behind.
 */
export function indexPods(pods: readonly Pod[]): PodIndex {
  const namespaces = new Map<string, NamespaceIndex>()
  // Pods come namespace by namespace.
  let index = newNamespaceIndex()
  let indexed: string | undefined
  for (const [position, pod] of pods.entries()) {
    if (pod.namespace !== indexed) {
      indexed = pod.namespace
      index = getOrCreate(namespaces, indexed, newNamespaceIndex)
    }
    const same = index.byLabels.get(pod.labels)
    if (same === undefined) index.byLabels.set(pod.labels, { labels: pod.labels, positions: [position] })
    else same.positions.push(position)
  }
  return {
    /** The pods of a namespace that carry all of these labels. */
    withLabels(namespace, labels) {
      const asked = namespaces.get(namespace)
      if (asked === undefined) return []
      const lists = [...labels].map(([key, value]) => postingsOf(asked, key).get(value) ?? [])
      const shortest = lists.reduce<readonly SameLabels[] | undefined>(
        (best, list) => (best === undefined || list.length < best.length ? list : best),
        undefined,
      )
      const found = (shortest ?? []).filter((same) =>
        [...labels].every(([key, value]) => same.labels.get(key) === value),
      )
      return found
        .flatMap(({ positions }) => positions)
        .toSorted((left, right) => left - right)
        .flatMap((position) => pods[position] ?? [])
    },
  }
}

function newNamespaceIndex(): NamespaceIndex {
  return { byLabels: new Map(), postings: new Map(), isWhole: false }
}

/** Who has which value of a key. Many keys are indexed together: each alone takes a look at every set of labels. */
function postingsOf(index: NamespaceIndex, key: string): Postings {
  const known = index.postings.get(key)
  if (known !== undefined || index.isWhole) return known ?? NO_POSTINGS
  const isAlone = index.postings.size < KEYS_ALONE
  const found = new Map<string, Map<string, SameLabels[]>>()
  const add = (name: string, value: string, same: SameLabels): void => {
    const byValue = getOrCreate(found, name, () => new Map<string, SameLabels[]>())
    getOrCreate(byValue, value, () => []).push(same)
  }
  for (const same of index.byLabels.values()) {
    const value = isAlone ? same.labels.get(key) : undefined
    if (value !== undefined) add(key, value, same)
    if (!isAlone) for (const [name, one] of same.labels) add(name, one, same)
  }
  for (const [name, byValue] of found) index.postings.set(name, byValue)
  index.isWhole = !isAlone
  if (isAlone && !found.has(key)) index.postings.set(key, NO_POSTINGS)
  return index.postings.get(key) ?? NO_POSTINGS
}
