// The pods that objects of kinds which kleym does not read may make. Beside the labels of their templates they may carry any
// other: what matters are those that some registration asks for.
import type { PodMaker } from '../objects/pod-makers.ts'
import type { Pod } from '../objects/pod.ts'
import { DecidingFacts, type PodRegistrations } from './deciding.ts'
import { labelsAskedFor } from './labels-asked-for.ts'
import type { Snapshot } from './snapshot.ts'

/** What is certain, beside which other pods may come. */
export interface CertainObjects extends PodRegistrations {
  /** The pods that are certain. */
  readonly pods: readonly Pod[]
}

/** The pods that are not certain, without those of templates that an existing pod represents. */
export function perhapsPodsOf(snapshot: Snapshot, certain: CertainObjects): readonly Pod[] {
  const { registered, pods } = certain
  const { podMakers, staticEntries } = snapshot
  if (podMakers.length === 0) return []
  const keys = labelsAskedFor(registered, staticEntries)
  const deciding = new DecidingFacts(snapshot, certain)
  const existing = Map.groupBy(
    pods.filter((pod) => pod.exists),
    ({ namespace }) => namespace,
  )
  /** Whether there is a pod with the labels and containers of the template: it shows what the controller makes of it. */
  const isRepresented = (template: Pod, { makesPools }: PodMaker): boolean => {
    if (template.labels.size === 0 || makesPools) return false
    return (existing.get(template.namespace) ?? []).some(
      (pod) => hasLabelsAndContainers(pod, template) && deciding.isShownBy(template, pod),
    )
  }
  return podMakers.flatMap((maker) =>
    maker.pods
      .filter((pod) => !isRepresented(pod, maker))
      .map((pod) => ({
        ...pod,
        possibleLabels: new Set([...pod.possibleLabels, ...keys.difference(new Set(pod.labels.keys()))]),
      })),
  )
}

function hasLabelsAndContainers(pod: Pod, { labels, containers, perhaps, serviceAccountName }: Pod): boolean {
  return (
    [...labels].every(([key, value]) => pod.labels.get(key) === value) &&
    containers.every(({ name }) => pod.containers.some((one) => one.name === name)) &&
    (perhaps?.knowsAccount === false || pod.serviceAccountName === serviceAccountName)
  )
}
