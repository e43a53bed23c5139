// What `status` tells of an installation, as data.
import {
  countConditions,
  countInForce,
  oldestStuck,
  type ConditionCount,
  type InForceCount,
  type Stuck,
} from '@kleym/shared/core/install/conditions.ts'
import {
  readOperatorDeployment,
  type OperatorDeployment,
} from '@kleym/shared/core/install/operator-deployment.ts'
import { BINDING_GROUP, BINDING_KIND } from '@kleym/shared/core/names.ts'
import { gapOf } from '@kleym/shared/core/snapshot/snapshot.ts'
import type { ObjectHandling } from '@kleym/shared/core/spire/prediction.ts'
import { classHandling } from '@kleym/shared/core/spire/common-fields.ts'
import type { Installation, KindFact, Leader } from '../../cluster/installation.ts'
import type { AnswerInput } from '../../gather/gather.ts'

/** What the view and the JSON show of an installation. */
export interface StatusAnswer {
  readonly kinds: readonly KindFact[]
  /** Undefined: could not be looked for. */
  readonly operators: readonly OperatorDeployment[] | undefined
  readonly leader: (Leader & { readonly isCurrent: boolean }) | undefined
  /** Whether SCM handles kleym's class. */
  readonly scm: ObjectHandling
  /** Undefined: bindings could not be listed. */
  readonly conditions: readonly ConditionCount[] | undefined
  readonly stuck: Stuck | undefined
  /** What statuses say of `InForce`; empty where none says anything. */
  readonly inForce: readonly InForceCount[]
}

/** Works out the answer; `now` tells whether a Lease still counts. */
export function statusAnswer(
  input: AnswerInput,
  { kinds, side, leader }: Installation,
  now: Date,
): StatusAnswer {
  const { after } = input
  const areBindingsKnown = gapOf(after.snapshot, `${BINDING_KIND}.${BINDING_GROUP}`) === undefined
  const { bindings } = after.snapshot
  return {
    kinds,
    operators: side.operatorDeployments?.map(readOperatorDeployment),
    leader: leaderAt(leader, now),
    scm: isClassKnown(input)
      ? classHandling(after.config.className, after.settings, {
          kind: 'ClusterSPIFFEID',
          name: "kleym's output",
        })
      : { state: 'unknown', why: "kleym's class is not known" },
    conditions: areBindingsKnown ? countConditions(bindings) : undefined,
    stuck: oldestStuck(bindings),
    inForce: countInForce(bindings),
  }
}

/** Whether something says which class kleym gives to its outputs. */
export function isClassKnown({ operator }: AnswerInput): boolean {
  return operator.classNameSource !== undefined
}

function leaderAt(leader: Leader | undefined, now: Date): StatusAnswer['leader'] {
  if (leader === undefined) return undefined
  const until = Date.parse(leader.renewed) + leader.durationSeconds * 1000
  return { ...leader, isCurrent: leader.holder !== '' && now.getTime() < until }
}
