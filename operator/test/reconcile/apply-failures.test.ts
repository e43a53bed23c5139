// An output that the API server refuses (docs/contract.md §8, `ManagedOutputApplyFailed`).
import { expect, test } from 'vitest'
import { ApiError } from '@kleym/shared/kube/errors.ts'
import { CLUSTER_SPIFFE_IDS } from '@kleym/shared/kube/resources.ts'
import { refOf } from '../simulation/cluster.ts'
import { FakeClock } from '@kleym/testing/fake-clock.ts'
import { ApplyFailures } from '../../src/reconcile/apply-failures.ts'
import { OUTPUT } from '../build/outputs.ts'
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

test('each refusal of the same output doubles the wait, and another output is written at once', () => {
  const clock = new FakeClock()
  const failures = new ApplyFailures({ clock })
  const waits = Array.from({ length: 10 }, () => {
    failures.note('team-a/chat', OUTPUT, 'no')
    return failures.of('team-a/chat', OUTPUT)?.waitMs
  })
  expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 300_000])
  const other = { ...OUTPUT, spec: { ...OUTPUT.spec, hint: 'other' } }
  expect(failures.of('team-a/chat', other)).toBeUndefined()
  clock.advance(300_000)
  expect(failures.of('team-a/chat', OUTPUT)).toEqual({ message: 'no', waitMs: 0 })
  failures.note('team-a/chat', other, 'neither')
  expect(failures.of('team-a/chat', other)?.waitMs).toBe(1_000)
  failures.forget('team-a/chat')
  expect([failures.of('team-a/chat', other), failures.waitMs('team-a/chat')]).toEqual([undefined, 0])
})
