// An output that the API server refuses (docs/contract.md §8, `ManagedOutputApplyFailed`).
import { expect, test } from 'vitest'
import { ApiError } from '@kleym/shared/kube/errors.ts'
import { CLUSTER_SPIFFE_IDS } from '@kleym/shared/kube/resources.ts'
import { refOf } from '../simulation/cluster.ts'
import { SteeredSimulation } from '../simulation/steered.ts'

test('an output that the API server refuses is withdrawn, and tried again with backoff', async () => {
  const sim = await SteeredSimulation.of({ a: 'vllm' })
  let tries = 0
  sim.server.admission = (resource, object, by) => {
    if (resource !== CLUSTER_SPIFFE_IDS || by === 'user') return object
    tries += 1
    throw new ApiError({
      status: 422,
      reason: 'Invalid',
      message: 'no',
      details: { name: refOf(object).name },
    })
  }
  sim.editBinding('a', { containerName: 'proxy' })
  await sim.runUntilQuiet(120_000)
  expect(sim.reason('a')).toBe('ManagedOutputApplyFailed')
  expect(sim.outputs('a')).toEqual([])
  expect(tries).toBeLessThan(12)
  sim.server.admission = (_, object) => object
  expect(await sim.problemsOnceQuiet()).toEqual([])
})
