// Pods that an API server holds and that have no node yet, and pods and templates with one that is not among the Nodes. SCM makes no
// entry for them (docs/spire-facts.md §2), and does as soon as the node is there: what they will hold then is a question of its own.
import { stringAt } from '../../base/json.ts'
import { openOn, YES, type Truth } from '../truth/truth.ts'
import { nodeCopiedLabels, type Node, type Pod } from './pod.ts'
import { answerOf } from './pods-alike.ts'

/** Why SCM makes no entry for a pod without a node. */
export const NOT_SCHEDULED = 'the pod is not scheduled to a node yet'

/** Makes a function that gives a pod as it will be once its node is there: none unless it waits for that. Undefined: no Nodes were read. */
export function onceScheduledOn(
  nodes: readonly Pick<Node, 'name'>[] | undefined,
): (pod: Pod) => readonly Pod[] {
  const names = nodes && new Set(nodes.map(({ name }) => name))
  const waits = (pod: Pod): boolean => {
    const { exists, nodeName } = pod
    return nodeName === undefined ? exists && !getsNoNode(pod) : names?.has(nodeName) === false
  }
  return (pod) => (answerOf(pod, waits) ? [withNode(pod)] : NONE)
}

/**
 * Whether a pod has no node and gets none any more, since it has ended or is being deleted. One that has a node keeps its entries for
 * as long as both are there (docs/spire-facts.md trap 7).
 */
export function getsNoNode({ exists, nodeName, metadata, status }: Pod): boolean {
  if (!exists || nodeName !== undefined) return false
  const phase = stringAt(status, 'phase')
  return stringAt(metadata, 'deletionTimestamp') !== undefined || phase === 'Succeeded' || phase === 'Failed'
}

const NONE: readonly Pod[] = []

function withNode(pod: Pod): Pod {
  const { nodeName, labels, unknownLabels } = pod
  if (nodeName !== undefined) return { ...pod, getsNode: true }
  return { ...pod, getsNode: true, possibleLabels: nodeCopiedLabels(labels, unknownLabels) }
}

/** Why a pod holds nothing before its node is there. */
export function whyNotYet({ nodeName }: Pod): string {
  return nodeName === undefined ? NOT_SCHEDULED : NO_NODE
}

const NO_NODE = 'the Node of the pod is not there'

/** Whether a pod is as it is looked at: one that waits for its node may never get it. */
export function isAsShown(pod: Pod): Truth {
  // Which node it is would tell pods apart that are alike.
  if (pod.getsNode !== true) return YES
  return pod.nodeName === undefined ? GETS_NODE : HAS_NODE
}

const GETS_NODE = openOn('whether pods without a node will be scheduled', NOT_SCHEDULED)
const HAS_NODE = openOn('whether the nodes of pods are there', NO_NODE)
