// What changes while a binding converges, and what a new leader finds done (docs/contract.md §6 to §8).
import { expect, test } from 'vitest'
import { FINALIZER } from '@kleym/shared/core/model/names.ts'
import { BINDINGS, CLUSTER_SPIFFE_IDS } from '@kleym/shared/kube/resources.ts'
import { metadataOf, refOf } from '../simulation/cluster.ts'
import { SteeredSimulation } from '../simulation/steered.ts'

test('a binding that is edited while its finalizer is awaited is decided again', async () => {
  const sim = await SteeredSimulation.of({ b: 'proxy' })
  sim.createBinding('a', 'vllm')
  const patch = await sim.heldRequest('patch')
  sim.editBinding('a', { containerName: 'proxy' })
  await sim.runUntilQuiet(0, { holds: (call) => call === patch })
  await sim.carryOut(patch)
  expect(await sim.problemsOnceQuiet()).toEqual([])
  expect([sim.reason('a'), sim.reason('b')]).toEqual(['IdentityCollision', 'IdentityCollision'])
})

test('a verdict that the status holds is repeated after a restart without a live read or a write', async () => {
  const sim = await SteeredSimulation.of({ a: 'vllm' })
  sim.editBinding('a', { objectiveRef: { name: 'nobody' } })
  sim.createBinding('b', 'vllm')
  expect(await sim.problemsOnceQuiet()).toEqual([])
  const { writes } = sim.watchdog
  await sim.crash(() => true)
  const from = sim.trace.length
  await sim.start({ leadsFirst: true })
  expect(await sim.problemsOnceQuiet()).toEqual([])
  expect(sim.watchdog.writes).toBe(writes)
  expect(sim.trace.slice(from).filter((line) => line.includes('sent'))).toEqual([])
})

/** The statuses that were sent since a line of the trace, by the reason of `Ready`. */
function statusesSince(sim: SteeredSimulation, from: number): readonly string[] {
  return sim.trace
    .slice(from)
    .filter((line) => line.includes('sent') && line.includes('update status'))
    .map((line) => line.split(' ').at(-1) ?? '')
}

test.each<[string, (sim: SteeredSimulation) => void]>([
  ['edited', (sim) => sim.editBinding('a', { containerName: 'proxy' })],
  ['made anew', (sim) => sim.recreate('a')],
])('a verdict on a binding that was %s meanwhile is not told', async (_, change) => {
  const sim = await SteeredSimulation.of({})
  sim.createBinding('a', 'vllm')
  const post = await sim.heldRequest('create')
  change(sim)
  await sim.runUntilQuiet(0, { holds: (call) => call === post })
  const from = sim.trace.length
  // It would say that the write of the binding as it was has failed.
  await sim.carryOut(post, 'forbidden')
  await sim.runUntilQuiet(0, { holds: ({ verb }) => verb === 'create' })
  expect(statusesSince(sim, from)).toEqual([])
  expect(await sim.problemsOnceQuiet()).toEqual([])
  expect(sim.reason('a')).toBe('Reconciled')
})

test('a status that says so already is not sent again', async () => {
  const sim = await SteeredSimulation.of({ a: 'vllm' })
  const from = sim.trace.length
  const stats = { stats: { entriesToSet: 0 } }
  sim.server.update(CLUSTER_SPIFFE_IDS, { ...sim.output('a'), status: stats }, 'user', {
    subresource: 'status',
  })
  expect(await sim.problemsOnceQuiet()).toEqual([])
  expect(sim.trace.slice(from).some((line) => line.includes('seen: ClusterSPIFFEID'))).toBe(true)
  expect(statusesSince(sim, from)).toEqual([])
})

test.each([
  { mode: 'PerObjective', spec: {} },
  // It claims nothing, so no peer's wake reaches it.
  { mode: 'PoolOnly', spec: { mode: 'PoolOnly', objectiveRef: undefined, containerName: undefined } },
])('a $mode binding whose name another object holds hears at once that it is gone', async ({ spec }) => {
  const sim = await SteeredSimulation.of({})
  sim.createBinding('a', 'vllm', spec)
  await sim.runUntilQuiet()
  const { name } = refOf(sim.output('a') ?? {})
  sim.editOutput(sim.output('a') ?? {}, { metadata: { annotations: {} } })
  await sim.runUntilQuiet(45_000)
  expect(sim.reason('a')).toBe('OutputNotOwned')
  sim.server.delete(CLUSTER_SPIFFE_IDS, { name }, {}, 'user')
  await sim.runUntilQuiet(0)
  expect(sim.reason('a')).toBe('Reconciled')
})

test('a binding that loses its finalizer gets it back, and nothing else is written', async () => {
  const sim = await SteeredSimulation.of({ a: 'vllm' })
  const { writes } = sim.watchdog
  sim.stripFinalizers('a')
  await sim.runUntilQuiet(0)
  const { finalizers } = metadataOf(sim.server.get(BINDINGS, { namespace: 'team-a', name: 'a' }))
  expect(finalizers).toEqual([FINALIZER])
  expect(sim.watchdog.writes).toBe(writes + 1)
})

test('while outputs may not be listed none is written, and the binding says so', async () => {
  const sim = await SteeredSimulation.of({ a: 'vllm' })
  const before = sim.output('a')
  const watch = sim.life.watches.find(({ kind }) => kind === 'ClusterSPIFFEID.spire.spiffe.io')
  watch?.blind()
  sim.editBinding('a', { containerName: 'proxy' })
  sim.createBinding('b', 'tuner')
  await sim.runUntilQuiet(120_000)
  expect([sim.reason('a'), sim.reason('b')]).toEqual(['Undetermined', 'Undetermined'])
  expect([sim.output('a'), sim.outputs('b')]).toEqual([before, []])
  watch?.start()
  expect(await sim.problemsOnceQuiet()).toEqual([])
})

test('an object that a restore has brought back unnoticed is found by the first live read, and not asked for again and again', async () => {
  const sim = await SteeredSimulation.of({ a: 'vllm' })
  sim.createObjective('back')
  await sim.runUntilQuiet()
  const backup = sim.server.backup()
  sim.deleteObjective('back')
  await sim.runUntilQuiet()
  sim.server.restore(backup, { isRestarted: true })
  sim.watchdog.restored()
  // Others write more than was lost: no version goes back.
  for (let at = 0; at < 10; at++) sim.createObjective(`other-${at}`)
  await sim.runUntilQuiet(0)
  const from = sim.trace.length
  sim.editBinding('a', { objectiveRef: { name: 'back' } })
  await sim.runUntilQuiet(60_000)
  expect([sim.reason('a'), sim.problems()]).toEqual(['Reconciled', []])
  const reads = sim.trace.slice(from).filter((line) => line.includes('sent #1 get InferenceObjective'))
  expect(reads, 'one for each kind of objectives').toHaveLength(3)
})
