// The reasons of `Ready`, in their order (docs/contract.md §7).
import { expect, test } from 'vitest'
import { REASON_NAMES } from '../../src/core/decide/reasons/reasons.ts'

test('the registry holds the reasons of the contract, and no other', () => {
  expect(REASON_NAMES).toEqual([
    'Reconciled',
    'Undetermined',
    'WaitingForPeer',
    'NamespaceFull',
    'InvalidPoolRef',
    'TargetPoolNotFound',
    'AmbiguousPoolRef',
    'InferencePoolCRDMissing',
    'InvalidObjectiveRef',
    'TargetObjectiveNotFound',
    'InferenceObjectiveCRDMissing',
    'InvalidPoolSelector',
    'UnsafeSelector',
    'InvalidIdentityBoundary',
    'IdentityCollision',
    'UnsupportedMode',
    'MissingObjectiveRef',
    'InvalidServiceAccountName',
    'InvalidContainerName',
    'UnexpectedContainerName',
    'InvalidSPIFFEID',
    'MissingTrustDomain',
    'ClusterSPIFFEIDCRDMissing',
    'OutputNotOwned',
    'ManagedOutputApplyFailed',
  ])
})
