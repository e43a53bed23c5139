// A flaw for each check of a binding, which violates that check alone (docs/contract.md §7).
import type { CheckName } from '@kleym/shared/core/decide/compile/checks.ts'
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import type { RefusalReason } from '@kleym/shared/core/decide/reasons/reasons.ts'
import { X_GROUP, binding, estate, live, objective, outputOf, pool } from './manifests.ts'

/** What is wrong with the estate of `binding()`. */
export interface Flaw {
  readonly reason: RefusalReason
  readonly spec?: JsonRecord
  readonly pools?: readonly JsonRecord[]
  readonly objectives?: readonly JsonRecord[]
  readonly rivals?: readonly JsonRecord[]
  readonly holders?: readonly JsonRecord[]
}

const LONG = 'a'.repeat(253)
/** A legal label whose selector is longer than SPIRE can keep. */
const LONG_LABEL = { [`${'p'.repeat(200)}/name`]: 'v'.repeat(60) }
const OUTPUT = outputOf(estate(binding()))
const FOREIGN = live(OUTPUT, { annotations: { 'kleym.sonda.red/binding': undefined } })

/** One for each check. */
export const FLAWS: Readonly<Record<CheckName, Flaw>> = {
  'poolRef form': { reason: 'InvalidPoolRef', spec: { poolRef: { name: 'No' } } },
  'pool found': { reason: 'TargetPoolNotFound', pools: [] },
  'pool unambiguous': {
    reason: 'AmbiguousPoolRef',
    pools: [pool(), pool({ group: X_GROUP, labels: { b: 'c' } })],
  },
  'objectiveRef form': { reason: 'InvalidObjectiveRef', spec: { objectiveRef: { name: 'No' } } },
  'objective required': { reason: 'MissingObjectiveRef', spec: { objectiveRef: undefined } },
  'objective found': { reason: 'TargetObjectiveNotFound', objectives: [] },
  'objective leads to the pool': {
    reason: 'InvalidObjectiveRef',
    objectives: [objective({ poolRef: { name: 'b' } })],
  },
  'pool selector': { reason: 'InvalidPoolSelector', pools: [pool({ labels: { app: '' } })] },
  mode: { reason: 'UnsupportedMode', spec: { mode: 'Both' } },
  'service account': { reason: 'InvalidServiceAccountName', spec: { serviceAccountName: 'No' } },
  container: { reason: 'InvalidContainerName', spec: { containerName: '' } },
  'identity boundary': {
    reason: 'InvalidIdentityBoundary',
    spec: { identityBoundary: { variant: 'prefill' } },
  },
  'safety proof': { reason: 'UnsafeSelector', pools: [pool({ labels: LONG_LABEL })] },
  'SPIFFE ID': {
    reason: 'InvalidSPIFFEID',
    spec: { objectiveRef: { name: LONG } },
    objectives: [objective({ name: LONG })],
  },
  collision: {
    reason: 'IdentityCollision',
    rivals: [binding({ name: 'rival', spec: { objectiveRef: { name: 'rival' } } })],
  },
  output: { reason: 'OutputNotOwned', holders: [FOREIGN] },
}

/** The estate with a flaw. */
export function objectsOfFlaw(flaw: Omit<Flaw, 'reason'>): readonly JsonRecord[] {
  return [
    ...(flaw.pools ?? [pool()]),
    ...(flaw.objectives ?? [objective()]),
    objective({ name: 'rival' }),
    binding({ spec: flaw.spec ?? {} }),
    ...(flaw.rivals ?? []),
    ...(flaw.holders ?? []),
  ]
}
