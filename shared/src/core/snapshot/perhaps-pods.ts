// The pods that objects of kinds which kleym does not read may make. Beside the labels of their templates they may carry any
// other: what matters are those that some registration asks for.
import type { ClusterSpiffeId } from '../objects/clusterspiffeid.ts'
import type { PodMaker } from '../objects/pod-makers.ts'
import type { Pod } from '../objects/pod.ts'
import { labelsAskedFor } from './labels-asked-for.ts'
import type { Snapshot } from './snapshot.ts'

/** What is certain, beside which other pods may come. */
export interface CertainObjects {
  /** Every ClusterSPIFFEID that is there now or will be. */
  readonly registered: readonly ClusterSpiffeId[]
  /** The pods that are certain. */
  readonly pods: readonly Pod[]
}

/** The pods that are not certain, without those of templates that an existing pod represents. */
export function perhapsPodsOf(snapshot: Snapshot, { registered, pods }: CertainObjects): readonly Pod[] {
  const { podMakers, staticEntries } = snapshot
  if (podMakers.length === 0) return []
  const keys = labelsAskedFor(registered, staticEntries)
  const existing = Map.groupBy(
    pods.filter((pod) => pod.exists),
    ({ namespace }) => namespace,
  )
  return podMakers.flatMap((maker) =>
    maker.pods
      .filter((pod) => !isRepresented(pod, existing.get(pod.namespace) ?? [], maker))
      .map((pod) => ({
        ...pod,
        possibleLabels: new Set([...pod.possibleLabels, ...keys.difference(new Set(pod.labels.keys()))]),
      })),
  )
}

/** Whether a pod with the labels and containers of the template is there: it shows what the controller makes of it. */
function isRepresented(template: Pod, existing: readonly Pod[], { makesPools }: PodMaker): boolean {
  if (template.labels.size === 0 || makesPools) return false
  return existing.some(
    (pod) =>
      [...template.labels].every(([key, value]) => pod.labels.get(key) === value) &&
      template.containers.every(({ name }) => pod.containers.some((one) => one.name === name)),
  )
}
