// The operator's Deployments, as the chart labels them: which image, how many replicas, how many of them work.
import { dig, listAt, stringAt } from '../json.ts'
import type { Subject } from '../findings/finding.ts'
import { readMeta } from '../objects/meta.ts'
import type { RawObject } from '../objects/raw.ts'

/** A Deployment of the operator. */
export interface OperatorDeployment {
  readonly subject: Subject
  /** Replicas that are asked for, and that are available now. */
  readonly wanted: number
  readonly available: number
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
    images: listAt(value, 'spec', 'template', 'spec', 'containers').map(
      (container) => stringAt(container, 'image') ?? '',
    ),
  }
}
