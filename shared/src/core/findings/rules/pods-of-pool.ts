// The pods of a pool: those that carry its labels, and those that may be among them, since a controller may not make them or something may
// change their labels.
import { type Analysis, isMade } from '../../analysis/index.ts'
import { getOrCreate } from '../../base/get-or-create.ts'
import { carriesLabel, labelsOfPod, matchSelector } from '../../model/objects/label-match.ts'
import type { Pod } from '../../model/objects/pod.ts'
import type { PoolLabels } from '../../model/objects/pool-selector.ts'
import { unknownReasonText } from '../../model/unknown-reason.ts'
import { all, atLeast, openOn, YES, type Truth } from '../../model/truth/truth.ts'

/** A pod that may be one of a pool. */
export interface OpenPod {
  readonly pod: Pod
  /** Whether it carries the labels of the pool, if there is such a pod. */
  readonly isOfPool: Truth
}

/** The pods of a pool. */
export interface PodsOfPool {
  readonly certain: readonly Pod[]
  readonly open: readonly OpenPod[]
}

/** The pods of a namespace that carry these labels, or may. */
export function podsOfPool(analysis: Analysis, namespace: string, labels: PoolLabels): PodsOfPool {
  const ofPool = { matchLabels: labels, matchExpressions: [] }
  return {
    certain: analysis.pods().withLabels(namespace, labels),
    open: (openPods(analysis).get(namespace) ?? []).flatMap((pod) => {
      const isOfPool = byLabels(pod, [...labels.keys()], matchSelector(ofPool, labelsOfPod(pod)))
      return all(isMade(pod), isOfPool).value === 'open' ? [{ pod, isOfPool }] : []
    }),
  }
}

/** Whether a namespace has a pod that carries these labels; what a maker of pods makes is a cause by itself (`morePods`). */
export function isAnyOfPool(analysis: Analysis, namespace: string, labels: PoolLabels): Truth {
  const { certain, open } = podsOfPool(analysis, namespace, labels)
  const isAny = certain.length > 0 || open.some(({ pod }) => pod.perhaps !== undefined)
  const perhaps = open.map(({ isOfPool }) => isOfPool)
  return isAny ? YES : atLeast(1, perhaps)
}

/** Whether a pod carries a label with this value. */
export function carries(pod: Pod, key: string, value: string): Truth {
  return byLabels(pod, [key], carriesLabel(pod, key, value))
}

/** What labels decide, with who may set them: one cause for all such pods. */
function byLabels(pod: Pod, keys: readonly string[], truth: Truth): Truth {
  if (truth.value !== 'open') return truth
  if (pod.perhaps !== undefined) return isMade(pod)
  const givers = [...new Set(keys.flatMap((key) => pod.labelGivers?.get(key) ?? []))]
  const what = keys.length === 1 ? `label ${keys[0]}` : `labels ${keys.join(', ')}`
  return openOn(`${what} of pods`, `${givers.join(', ') || 'a controller'} may set ${what}`)
}

const OPEN = new WeakMap<readonly Pod[], ReadonlyMap<string, readonly Pod[]>>()

/** The pods that may not be there or whose labels are not all known, by namespace. */
function openPods({ podsInQuestion }: Analysis): ReadonlyMap<string, readonly Pod[]> {
  return getOrCreate(OPEN, podsInQuestion, () =>
    Map.groupBy(
      podsInQuestion.filter(
        (pod) => pod.perhaps !== undefined || pod.unknownLabels.size > 0 || pod.possibleLabels.size > 0,
      ),
      ({ namespace }) => namespace,
    ),
  )
}

/** Whether the pods of a namespace are those that were read. */
export function areAllPodsRead({ snapshot }: Analysis, namespace: string): Truth {
  const why = snapshot.rest.pods(namespace)
  return why === undefined ? YES : openOn(`which pods ${namespace} has`, unknownReasonText(why))
}
