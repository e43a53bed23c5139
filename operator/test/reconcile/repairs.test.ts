// How an edited output is put back, and when it is left (docs/contract.md §8).
import { expect, test } from 'vitest'
import { CLUSTER_SPIFFE_IDS } from '@kleym/shared/kube/resources.ts'
import { SteeredSimulation } from '../simulation/steered.ts'

test('a stripped label changes nothing for the peers, and is put back', async () => {
  const sim = await SteeredSimulation.of({ a: 'vllm', b: 'proxy' })
  const output = sim.output('a')
  if (output !== undefined) sim.editOutput(output, { metadata: { labels: {} } })
  sim.editBinding('a', { containerName: 'proxy' })
  sim.editBinding('b', { containerName: 'vllm' })
  expect(await sim.problemsOnceQuiet()).toEqual([])
})

test('an output that a webhook changes is written once, and the one before it is still withdrawn', async () => {
  const sim = await SteeredSimulation.of({ a: 'vllm' })
  sim.server.admission = (resource, object) =>
    resource === CLUSTER_SPIFFE_IDS ? { ...object, spec: { ...Object(object['spec']), ttl: '1h' } } : object
  sim.createObjective('other')
  sim.editBinding('a', { objectiveRef: { name: 'other' } })
  const writes = sim.watchdog.writes
  await sim.runUntilQuiet()
  expect(sim.problems()).toEqual([])
  expect(sim.outputs('a').map((object) => Object(object['spec']).spiffeIDTemplate)).toEqual([
    'spiffe://example.org/ns/team-a/objective/other',
  ])
  expect(sim.watchdog.writes - writes).toBeLessThanOrEqual(4)
})

test('repairs of an output that somebody edits again and again back off', async () => {
  const sim = await SteeredSimulation.of({ a: 'vllm' })
  for (let at = 0; at < 60; at++) {
    sim.editOutput(sim.output('a') ?? {}, { spec: { admin: true } })
    await sim.runUntilQuiet(1_000)
  }
  expect(sim.life.repairs).toBeGreaterThan(2)
  expect(sim.life.repairs).toBeLessThan(10)
  expect(await sim.problemsOnceQuiet()).toEqual([])
})
