// Outputs whose binding is gone, or has another UID (docs/contract.md §8).
import { expect, test } from 'vitest'
import { ANNOTATION_BINDING_UID } from '@kleym/shared/core/names.ts'
import { metadataOf } from '../simulation/cluster.ts'
import { SteeredSimulation } from '../simulation/steered.ts'

test('a binding that is recreated under the same name waits for the orphan that holds its name', async () => {
  const sim = await SteeredSimulation.of({ a: 'vllm' })
  const old = metadataOf(sim.output('a') ?? {})['uid']
  sim.recreate('a')
  expect(await sim.problemsOnceQuiet()).toEqual([])
  expect(metadataOf(sim.output('a') ?? {})['uid']).not.toBe(old)
})

test('an orphan is removed by an operator that leads with its caches filled', async () => {
  const sim = await SteeredSimulation.of({ a: 'vllm' })
  await sim.crash(() => true)
  sim.forceDelete('a')
  await sim.start({ leadsFirst: false })
  expect(await sim.problemsOnceQuiet()).toEqual([])
  expect(sim.outputs('a')).toEqual([])
})

test('an output that becomes an orphan while its binding is written to is removed', async () => {
  const sim = await SteeredSimulation.of({ a: 'vllm' })
  const old = sim.output('a') ?? {}
  sim.createObjective('other')
  sim.editBinding('a', { objectiveRef: { name: 'other' }, containerName: 'proxy' })
  const post = await sim.heldRequest('create')
  const annotations = { ...Object(metadataOf(old)['annotations']), [ANNOTATION_BINDING_UID]: 'earlier' }
  sim.editOutput(old, { metadata: { annotations } })
  await sim.runUntilQuiet(0, { holds: (call) => call === post })
  await sim.carryOut(post)
  expect(await sim.problemsOnceQuiet()).toEqual([])
  expect(sim.outputs('a')).toHaveLength(1)
})
