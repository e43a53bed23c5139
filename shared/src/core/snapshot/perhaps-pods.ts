// The pods that objects of kinds which kleym does not read may make. Beside the labels of their templates they may carry any
// other: what matters are those that some registration asks for.
import { getOrCreate } from '../base/get-or-create.ts'
import { lazy } from '../base/lazy.ts'
import { indexPods } from '../model/objects/pod-index.ts'
import type { PodMaker } from '../model/objects/pod-makers.ts'
import type { Pod } from '../model/objects/pod.ts'
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
  const existing = lazy(() => indexPods(pods.filter((pod) => pod.exists)))
  const candidates = new Map<string, ReadonlyMap<string, readonly Pod[]>>()
  const answers = new Map<string, boolean>()
  /**
   * Whether there is a pod with the labels and containers of the template: it shows what the controller makes of it, which may add
   * labels. Thousands of templates may be alike: each question is answered once, by index.
   */
  const isRepresented = (template: Pod, { makesPools }: PodMaker): boolean => {
    const { namespace, labels, containers, serviceAccountName, perhaps: unsure } = template
    if (labels.size === 0 || makesPools) return false
    const account = unsure?.knowsAccount === false ? null : serviceAccountName
    const shape = JSON.stringify([namespace, account, containers.map(({ name }) => name), ...labels])
    const [text, bounds] = [deciding.textOf(template), deciding.boundsOf(template)]
    return getOrCreate(answers, [shape, text, bounds].join('\n'), () => {
      const byText = getOrCreate(candidates, shape, () => {
        const alike = existing()
          .withLabels(namespace, labels)
          .filter((pod) => isOfShape(pod, template) && !deciding.hasUnwantedLabels(pod, template))
        return Map.groupBy(alike, (pod) => deciding.textOf(pod))
      })
      return byText.get(text)?.some((pod) => deciding.isWithinBounds(template, pod)) === true
    })
  }
  return podMakers.flatMap((maker) =>
    maker.pods
      .filter((pod) => !isRepresented(pod, maker))
      .map((pod) =>
        pod.perhaps?.knowsLabels === true
          ? pod
          : {
              ...pod,
              possibleLabels: new Set([
                ...pod.possibleLabels,
                ...keys.difference(new Set(pod.labels.keys())),
              ]),
            },
      ),
  )
}

function isOfShape(pod: Pod, { containers, perhaps, serviceAccountName }: Pod): boolean {
  return (
    containers.every(({ name }) => pod.containers.some((one) => one.name === name)) &&
    (perhaps?.knowsAccount === false || pod.serviceAccountName === serviceAccountName)
  )
}
