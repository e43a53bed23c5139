// The operator's Deployments, as the chart labels them: which image, how many replicas, how many of them work.
import { dig, listAt, stringAt } from '../../base/json.ts'
import { counted } from '../../base/text/counted.ts'
import type { Subject } from '../../model/objects/subject.ts'
import { readMeta } from '../../model/objects/meta.ts'
import { objectKey } from '../../model/objects/object-key.ts'
import type { RawObject } from '../../model/objects/raw.ts'
import { deploymentSettings } from './operator-settings.ts'

/** A Deployment of the operator. */
export interface OperatorDeployment {
  readonly subject: Subject
  /** Replicas that are asked for, and that are available now. */
  readonly wanted: number
  readonly available: number
  /** Whether the cluster says of it what runs: without a status nothing tells, and while it is paused the operator may run otherwise. */
  readonly isSeen: boolean
  /** The image of each container. */
  readonly images: readonly string[]
}

/** Reads a Deployment; numbers that are missing or no numbers are as the API server defaults them. */
export function readOperatorDeployment({ value }: RawObject): OperatorDeployment {
  const { namespace, name } = readMeta(value)
  const replicas = dig(value, 'spec', 'replicas')
  const available = dig(value, 'status', 'availableReplicas')
  return {
    subject: { kind: 'Deployment', namespace, name },
    wanted: typeof replicas === 'number' ? replicas : 1,
    available: typeof available === 'number' ? available : 0,
    isSeen:
      typeof dig(value, 'status', 'observedGeneration') === 'number' && dig(value, 'spec', 'paused') !== true,
    images: listAt(value, 'spec', 'template', 'spec', 'containers').map(
      (container) => stringAt(container, 'image') ?? '',
    ),
  }
}

/** The operator's Deployments among some objects, each once, known by how they are started. */
export function operatorsIn(objects: readonly RawObject[]): readonly OperatorDeployment[] {
  const found = objects.filter((one) => deploymentSettings([one]).length > 0)
  return [...new Map(found.map((one) => [objectKey(one.value), readOperatorDeployment(one)])).values()]
}

/**
 * Why the operator is down; undefined: a replica is available, or it is not known whether one is. A Deployment that is not there,
 * paused, or without a status, shows it only if something waits for the operator.
 */
export function whyOperatorDown(
  operators: readonly OperatorDeployment[] | undefined,
  isAnythingWaiting: boolean,
): string | undefined {
  if (operators === undefined || operators.some(({ available }) => available > 0)) return undefined
  const [first] = operators
  if (!isAnythingWaiting && (first === undefined || operators.some(({ isSeen }) => !isSeen))) return undefined
  return first === undefined
    ? 'no Deployment of the operator is there'
    : `none of its ${counted(first.wanted, 'replica')} is available`
}

/** The Deployment without which no operator is left once a change is made, and what the change does to it. */
export interface LostOperator {
  readonly subject: Subject
  readonly why: string
}

/**
 * That the objects leave no operator, where they tell it: each Deployment of it asks for no replica, or the only ones of before are not
 * there any more.
 */
export function lostOperator(
  after: readonly OperatorDeployment[],
  before: readonly OperatorDeployment[],
): LostOperator | undefined {
  const [first] = after
  if (after.some(({ wanted }) => wanted > 0)) return undefined
  if (first !== undefined) return { subject: first.subject, why: 'its Deployment asks for 0 replicas' }
  const gone = before.find(({ wanted }) => wanted > 0)
  return gone && { subject: gone.subject, why: 'its Deployment is not there any more' }
}
