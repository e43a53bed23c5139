// Pods that an API server holds and that have no node yet. SCM makes no entry for them (docs/spire-facts.md §2), and does as soon as they
// have one: what they will hold then is a question of its own.
import { stringAt } from '../../base/json.ts'
import { openOn, YES, type Truth } from '../truth/truth.ts'
import { nodeCopiedLabels, type Pod } from './pod.ts'
import { answerOf } from './pods-alike.ts'

/** Why SCM makes no entry for such a pod now. */
export const NOT_SCHEDULED = 'the pod is not scheduled to a node yet'

/** A pod as it will be once it has a node, whichever that is; none unless it waits for one. */
export function onceScheduled(pod: Pod): readonly Pod[] {
  if (!answerOf(pod, waitsForNode)) return NONE
  const { labels, unknownLabels } = pod
  return [{ ...pod, getsNode: true, possibleLabels: nodeCopiedLabels(labels, unknownLabels) }]
}

/** One that is being deleted, or has ended, gets no node any more. */
function waitsForNode({ exists, nodeName, metadata, status }: Pod): boolean {
  if (!exists || nodeName !== undefined) return false
  const phase = stringAt(status, 'phase')
  return stringAt(metadata, 'deletionTimestamp') === undefined && phase !== 'Succeeded' && phase !== 'Failed'
}

const NONE: readonly Pod[] = []

/** Whether a pod is as it is looked at: one that waits for a node may never get one. */
export function isAsShown({ getsNode }: Pod): Truth {
  return getsNode === true ? GETS_NODE : YES
}

const GETS_NODE = openOn('whether pods that wait for a node get one', NOT_SCHEDULED)
