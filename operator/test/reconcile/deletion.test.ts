// Bindings that are being deleted (docs/contract.md §8, "Deletion").
import { expect, test } from 'vitest'
import { listAt } from '@kleym/shared/core/base/json.ts'
import { FINALIZER } from '@kleym/shared/core/model/names.ts'
import { BINDINGS, CLUSTER_SPIFFE_IDS } from '@kleym/shared/kube/resources.ts'
import type { SimulatedCall } from '../simulation/calls.ts'
import { metadataOf, refOf } from '../simulation/cluster.ts'
import { SteeredSimulation } from '../simulation/steered.ts'
import { FOREIGN_FINALIZER } from '../simulation/webhook.ts'

const HELD = { finalizers: [FOREIGN_FINALIZER] }
const OUTPUT_KIND = 'ClusterSPIFFEID.spire.spiffe.io'

test('a deleting binding whose output somebody puts back asks anew once that has gone too', async () => {
  const sim = await SteeredSimulation.of({ a: 'vllm' })
  const output = sim.output('a') ?? {}
  const { name, labels, annotations } = metadataOf(output)
  sim.deleteBinding('a')
  const list = await sim.heldRequest('list')
  sim.server.create(
    CLUSTER_SPIFFE_IDS,
    { ...output, metadata: { name, labels, annotations, ...HELD } },
    'user',
  )
  sim.server.delete(CLUSTER_SPIFFE_IDS, refOf(output), {}, 'user')
  // The cache sees no more of it than that it is on its way out.
  sim.life.watches.find(({ kind }) => kind === OUTPUT_KIND)?.relist()
  await sim.runUntilQuiet(0, { holds: (call) => call === list })
  await sim.carryOut(list)
  await sim.runUntilQuiet(10_000)
  sim.server.patch(CLUSTER_SPIFFE_IDS, refOf(output), { metadata: { finalizers: [] } }, 'user')
  await sim.heldRequest('list')
  expect(sim.server.find(BINDINGS, { namespace: 'team-a', name: 'a' })).toBeDefined()
  expect(await sim.problemsOnceQuiet()).toEqual([])
})

test('a deleting binding without our finalizer gets none', async () => {
  const sim = await SteeredSimulation.of({ a: 'vllm' })
  await sim.crash(() => true)
  const foreign = { metadata: { finalizers: [FOREIGN_FINALIZER] } }
  sim.server.patch(BINDINGS, { namespace: 'team-a', name: 'a' }, foreign, 'user')
  sim.deleteBinding('a')
  const from = sim.trace.length
  await sim.start()
  await sim.runUntilQuiet(60_000)
  expect(sim.outputs('a')).toEqual([])
  expect(sim.trace.slice(from).filter((line) => line.includes('sent') && line.includes('patch'))).toEqual([])
})

test('a server that asks for an hour is asked again after half a minute', async () => {
  const sim = await SteeredSimulation.of({ a: 'vllm' })
  sim.deleteBinding('a')
  await sim.carryOut(await sim.heldRequest('delete'), 'put off')
  await sim.runUntilQuiet(29_999)
  expect(sim.outputs('a')).toHaveLength(1)
  await sim.runUntilQuiet(1)
  expect(sim.outputs('a')).toEqual([])
  expect(await sim.problemsOnceQuiet()).toEqual([])
})

test('a binding that is deleted after the server asked for time loses its identity at once', async () => {
  const sim = await SteeredSimulation.of({ a: 'vllm' })
  sim.editBinding('a', { containerName: 'proxy' })
  await sim.carryOut(await sim.heldRequest('update'), 'put off')
  await sim.runUntilQuiet(0)
  sim.deleteBinding('a')
  await sim.runUntilQuiet(0)
  expect(sim.outputs('a')).toEqual([])
  expect(await sim.problemsOnceQuiet()).toEqual([])
})

test('a binding that is deleted while its write is in flight loses its identity at once, whatever the server asks for', async () => {
  const sim = await SteeredSimulation.of({ a: 'vllm' })
  sim.editBinding('a', { containerName: 'proxy' })
  const update = await sim.heldRequest('update')
  sim.deleteBinding('a')
  await sim.runUntilQuiet(0, { holds: (call) => call === update })
  await sim.carryOut(update, 'put off')
  await sim.runUntilQuiet(0)
  expect(sim.outputs('a')).toEqual([])
  expect(await sim.problemsOnceQuiet()).toEqual([])
})

/** Whether a binding is still there. */
function isThere(sim: SteeredSimulation, name: string): boolean {
  return sim.server.find(BINDINGS, { namespace: 'team-a', name }) !== undefined
}

test('the finalizer stays until a live list has come back, however often the binding is looked at', async () => {
  const sim = await SteeredSimulation.of({ a: 'vllm' })
  sim.server.patch(
    BINDINGS,
    { namespace: 'team-a', name: 'a' },
    { metadata: { finalizers: [FINALIZER, FOREIGN_FINALIZER] } },
    'user',
  )
  await sim.runUntilQuiet()
  sim.deleteBinding('a')
  const list = await sim.heldRequest('list')
  sim.server.patch(
    BINDINGS,
    { namespace: 'team-a', name: 'a' },
    { metadata: { finalizers: [FINALIZER] } },
    'user',
  )
  await sim.runUntilQuiet(600_000, { holds: (call) => call === list })
  expect(isThere(sim, 'a')).toBe(true)
  await sim.carryOut(list)
  await sim.runUntilQuiet(0)
  expect(isThere(sim, 'a')).toBe(false)
})

test.each(['failed', 'forbidden', 'request lost', 'answer lost'] as const)(
  'a list that comes to "%s" lets no binding go',
  async (fate) => {
    const sim = await SteeredSimulation.of({ a: 'vllm' })
    sim.deleteBinding('a')
    await sim.carryOut(await sim.heldRequest('list'), fate)
    await sim.runUntilQuiet(600_000, { holds: ({ verb }) => verb === 'list' })
    expect(isThere(sim, 'a')).toBe(true)
    expect(await sim.problemsOnceQuiet()).toEqual([])
    expect(isThere(sim, 'a')).toBe(false)
  },
)

test('no list is asked for while an output is known to be left', async () => {
  const sim = await SteeredSimulation.of({ a: 'vllm' })
  const output = sim.output('a') ?? {}
  sim.editOutput(output, { metadata: HELD })
  await sim.runUntilQuiet()
  const from = sim.trace.length
  sim.deleteBinding('a')
  await sim.runUntilQuiet(60_000)
  expect(isThere(sim, 'a')).toBe(true)
  expect(sim.trace.slice(from).filter((line) => line.includes('sent #1 list'))).toEqual([])
  sim.server.patch(CLUSTER_SPIFFE_IDS, refOf(output), { metadata: { finalizers: [] } }, 'user')
  expect(await sim.problemsOnceQuiet()).toEqual([])
  expect(isThere(sim, 'a')).toBe(false)
})

test('an output that only the live list shows keeps its binding, and goes', async () => {
  const sim = await SteeredSimulation.of({})
  sim.createBinding('a', 'vllm')
  await sim.carryOut(await sim.heldRequest('create'), 'given up')
  const late = sim.calls.requests.find(({ isGivenUp }) => isGivenUp)
  if (late === undefined) throw new Error('nothing was given up')
  sim.deleteBinding('a')
  const holds = (call: SimulatedCall): boolean => call === late || call.verb === 'list'
  await sim.runUntilQuiet(0, { holds, blocks: OUTPUT_KIND })
  await sim.carryOut(late)
  await sim.runUntilQuiet(600_000, { holds: ({ verb }) => verb === 'delete', blocks: OUTPUT_KIND })
  expect(sim.outputs('a')).toHaveLength(1)
  expect(isThere(sim, 'a')).toBe(true)
  expect(await sim.problemsOnceQuiet()).toEqual([])
  expect([isThere(sim, 'a'), sim.outputs('a').length]).toEqual([false, 0])
})

test('a finalizer stays where the last look at a write without an answer shows that it was carried out', async () => {
  const sim = await SteeredSimulation.of({})
  sim.createBinding('a', 'vllm')
  await sim.carryOut(await sim.heldRequest('create'), 'given up')
  const late = sim.calls.requests.find(({ isGivenUp }) => isGivenUp)
  if (late === undefined) throw new Error('the POST is not on its way any more')
  const read = await readBeside(sim, late)
  sim.deleteBinding('a')
  await sim.runUntilQuiet(0, { holds: (call) => call === late || call === read })
  await sim.carryOut(read, 'failed')
  // The live list comes before the POST is carried out, the look at it after that.
  const again = await readBeside(sim, late)
  expect(sim.trace.some((line) => line.includes('answered: #1 list ClusterSPIFFEID'))).toBe(true)
  await sim.carryOut(late)
  await sim.carryOut(again)
  await sim.runUntilQuiet(0, {
    holds: ({ verb }) => verb === 'patch' || verb === 'delete',
    blocks: OUTPUT_KIND,
  })
  expect(sim.calls.requests.map(({ verb }) => verb)).toEqual(['delete'])
  expect(await sim.problemsOnceQuiet()).toEqual([])
  expect(isThere(sim, 'a')).toBe(false)
})

function readsOutput({ verb, resource }: SimulatedCall): boolean {
  return verb === 'get' && resource === CLUSTER_SPIFFE_IDS
}

/** Lets everything happen but a late request and reads of outputs; returns the first of these. */
async function readBeside(sim: SteeredSimulation, late: SimulatedCall): Promise<SimulatedCall> {
  await sim.runUntilQuiet(60_000, { holds: (call) => call === late || readsOutput(call) })
  const read = sim.calls.requests.find(readsOutput)
  if (read === undefined) throw new Error(`no output was read:\n${sim.trace.slice(-20).join('\n')}`)
  return read
}

test("a binding that another's finalizer keeps says that it is being deleted, once its output is gone, and no more is written", async () => {
  const sim = await SteeredSimulation.of({ a: 'vllm' })
  const ref = { namespace: 'team-a', name: 'a' }
  sim.server.patch(BINDINGS, ref, { metadata: { finalizers: [FINALIZER, FOREIGN_FINALIZER] } }, 'user')
  await sim.runUntilQuiet()
  sim.deleteBinding('a')
  await sim.runUntilQuiet(60_000)
  expect(sim.outputs('a')).toEqual([])
  const left = sim.server.get(BINDINGS, ref)
  expect(listAt(left, 'status', 'conditions')).toContainEqual(
    expect.objectContaining({ type: 'Ready', status: 'Unknown', reason: 'Deleting' }),
  )
  expect(left).not.toHaveProperty('status.clusterSPIFFEID')
  await sim.runUntilQuiet(600_000)
  expect(sim.server.get(BINDINGS, ref)).toEqual(left)
  sim.server.patch(BINDINGS, ref, { metadata: { finalizers: [] } }, 'user')
  expect(await sim.problemsOnceQuiet()).toEqual([])
})

test('a binding whose output is held says that it is being deleted, and which output is left', async () => {
  const sim = await SteeredSimulation.of({ a: 'vllm' })
  const output = sim.output('a') ?? {}
  sim.editOutput(output, { metadata: HELD })
  await sim.runUntilQuiet()
  sim.deleteBinding('a')
  await sim.runUntilQuiet(60_000)
  const left = sim.server.get(BINDINGS, { namespace: 'team-a', name: 'a' })
  expect(listAt(left, 'status', 'conditions')).toContainEqual(
    expect.objectContaining({ type: 'Ready', status: 'Unknown', reason: 'Deleting' }),
  )
  expect(left).toHaveProperty('status.clusterSPIFFEID.name', refOf(output).name)
  sim.server.patch(CLUSTER_SPIFFE_IDS, refOf(output), { metadata: { finalizers: [] } }, 'user')
  expect(await sim.problemsOnceQuiet()).toEqual([])
  expect(isThere(sim, 'a')).toBe(false)
})
