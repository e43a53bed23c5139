// The operator's Deployments, as the chart labels them: which image, how many replicas, how many of them work.
import { dig, listAt, stringAt } from '../../base/json.ts'
import { counted } from '../../base/text/counted.ts'
import type { Subject } from '../../model/objects/subject.ts'
import { readMeta } from '../../model/objects/meta.ts'
import type { RawObject } from '../../model/objects/raw.ts'

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
