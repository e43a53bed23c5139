// The operator's main promise on a real API server: a binding becomes a ClusterSPIFFEID, and stays one with no more work.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dig, stringAt } from '../../shared/src/core/json.ts'
import { WRITE_VERBS } from './audit.ts'
import type { ControlPlane } from './control-plane.ts'
import { binding, namespace, objective, outputs, pool, untilReason } from './objects.ts'
import { OPERATOR } from './operator-access.ts'
import { startOperator, startOperatorPlane, type RunningOperator } from './operator.ts'

let cp: ControlPlane
let operator: RunningOperator
beforeAll(async () => {
  cp = await startOperatorPlane()
  operator = await startOperator(cp)
  await operator.leads()
})
afterAll(() => cp?.stop())

test('a binding with its pool and objective becomes one ClusterSPIFFEID, and its status says so', async () => {
  await cp.apply([
    namespace('team-a'),
    pool('team-a', 'llama', { app: 'llama' }),
    objective('team-a', 'chat', 'llama'),
    binding('team-a', 'chat'),
  ])
  const ready = await untilReason(cp, 'team-a', 'chat', 'Reconciled')
  const [output, ...others] = await outputs(cp)
  expect(others).toEqual([])
  expect(stringAt(output, 'spec', 'spiffeIDTemplate')).toBe('spiffe://example.org/ns/team-a/objective/chat')
  expect(dig(ready, 'status', 'clusterSPIFFEID')).toEqual({
    name: stringAt(output, 'metadata', 'name'),
    uid: stringAt(output, 'metadata', 'uid'),
  })
  const writes = await cp.audit({ user: OPERATOR, verbs: WRITE_VERBS })
  expect(
    new Set(writes.map(({ verb, resource, subresource }) => `${verb} ${resource} ${subresource}`.trim())),
  ).toEqual(
    new Set([
      'create leases',
      'update leases',
      'patch inferenceidentitybindings',
      'create clusterspiffeids',
      'update inferenceidentitybindings status',
      'create events',
    ]),
  )
})
