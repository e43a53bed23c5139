// Pods by their labels, and the texts that name a pod to a person.
import { namespacedName } from '../namespaced-name.ts'
import { getOrCreate } from '../get-or-create.ts'
import type { Pod } from './pod.ts'

/** `pod team-a/llama-0`, `Deployment team-a/llama` for the pods of a template. */
export function podText(pod: Pod): string {
  const part = pod.part === '' ? '' : ` (${pod.part})`
  return `${pod.ref.kind === 'Pod' ? 'pod' : pod.ref.kind} ${namespacedName(pod.namespace, pod.ref.name)}${part}`
}

/** The same without the namespace: `llama-0`, `Deployment/llama`. */
export function shortPodText(pod: Pod): string {
  const part = pod.part === '' ? '' : ` (${pod.part})`
  return pod.ref.kind === 'Pod' ? pod.ref.name : `${pod.ref.kind}/${pod.ref.name}${part}`
}

/** An index of pods by namespace and label. */
export interface PodIndex {
  /** The pods of a namespace that carry all of these labels. */
  withLabels(namespace: string, labels: ReadonlyMap<string, string>): readonly Pod[]
}

/** Builds the index. A look-up filters the shortest of the lists of pods that its labels have. */
export function indexPods(pods: Iterable<Pod>): PodIndex {
  const postings = new Map<string, Pod[]>()
  for (const pod of pods) {
    for (const label of pod.labels)
      getOrCreate(postings, postingKey(pod.namespace, label), () => []).push(pod)
  }
  return {
    /** The pods of a namespace that carry all of these labels. */
    withLabels(namespace, labels) {
      const lists = [...labels].map((label) => postings.get(postingKey(namespace, label)) ?? [])
      const shortest = lists.reduce<readonly Pod[] | undefined>(
        (best, list) => (best === undefined || list.length < best.length ? list : best),
        undefined,
      )
      return (shortest ?? []).filter((pod) =>
        [...labels].every(([key, value]) => pod.labels.get(key) === value),
      )
    },
  }
}

function postingKey(namespace: string, [key, value]: readonly [string, string]): string {
  return `${namespace}\n${key}\n${value}`
}
