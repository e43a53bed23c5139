// Outputs whose binding is gone, or has another UID (docs/contract.md §8).
import { expect, test } from 'vitest'
import { ANNOTATION_BINDING_UID, FINALIZER } from '@kleym/shared/core/model/names.ts'
import { metadataOf } from '../simulation/cluster.ts'
import { SteeredSimulation } from '../simulation/steered.ts'
import { FOREIGN_FINALIZER } from '../simulation/webhook.ts'

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

/** An operator that has started after its binding was stripped of its finalizer and deleted: its output is an orphan. */
async function withOrphan(): Promise<SteeredSimulation> {
  const sim = await SteeredSimulation.of({ a: 'vllm' })
  await sim.crash(() => true)
  sim.forceDelete('a')
  await sim.start({ leadsFirst: false })
  return sim
}

test.each(['failed', 'forbidden', 'request lost', 'answer lost', 'throttled'] as const)(
  'an orphan whose live read comes to "%s" stays until one is answered',
  async (fate) => {
    const sim = await withOrphan()
    await sim.carryOut(await sim.heldRequest('get'), fate)
    await sim.runUntilQuiet(0, { holds: ({ verb }) => verb === 'get' })
    expect(sim.calls.requests.filter(({ verb }) => verb === 'delete')).toEqual([])
    expect(sim.outputs('a')).toHaveLength(1)
    expect(await sim.problemsOnceQuiet()).toEqual([])
    expect(sim.outputs('a')).toEqual([])
  },
)

test('nothing is deleted for a binding that the cache lacks before a live read is answered', async () => {
  const sim = await withOrphan()
  const read = await sim.heldRequest('get')
  expect(read.resource.kind).toBe('InferenceIdentityBinding')
  expect(sim.outputs('a')).toHaveLength(1)
})

test('an orphan that terminates is not deleted again', async () => {
  const sim = await SteeredSimulation.of({ a: 'vllm' })
  sim.editOutput(sim.output('a') ?? {}, { metadata: { finalizers: [FOREIGN_FINALIZER] } })
  await sim.runUntilQuiet()
  sim.forceDelete('a')
  await sim.runUntilQuiet()
  const deletes = sim.trace.filter((line) => line.includes('sent') && line.includes('delete ClusterSPIFFEID'))
  expect(deletes).toHaveLength(1)
  await sim.runUntilQuiet(600_000)
  await sim.crash(() => true)
  await sim.start({ leadsFirst: false })
  await sim.runUntilQuiet(600_000)
  expect(
    sim.trace.filter((line) => line.includes('sent') && line.includes('delete ClusterSPIFFEID')),
  ).toEqual(deletes)
})

test('a deleted binding whose output a hand has made an orphan stays until that is gone, and a list says so', async () => {
  const sim = await SteeredSimulation.of({ a: 'vllm' })
  const output = sim.output('a') ?? {}
  const annotations = { ...Object(metadataOf(output)['annotations']), [ANNOTATION_BINDING_UID]: 'earlier' }
  sim.editOutput(output, { metadata: { annotations, finalizers: [FOREIGN_FINALIZER] } })
  sim.deleteBinding('a')
  await sim.runUntilQuiet(60_000)
  expect(sim.finalizersOf('a')).toEqual([FINALIZER])
  const [held] = sim.outputs('a')
  sim.editOutput(held ?? {}, { metadata: { finalizers: [] } })
  await sim.runUntilQuiet(60_000, { holds: ({ verb }) => verb === 'list' })
  expect([sim.outputs('a'), sim.finalizersOf('a')]).toEqual([[], [FINALIZER]])
  expect(await sim.problemsOnceQuiet()).toEqual([])
  expect(sim.finalizersOf('a')).toBeUndefined()
})
