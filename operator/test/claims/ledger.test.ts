// Who may claim a container and who waits for whom, whatever the caches have seen (docs/contract.md §6).
import { expect, test } from 'vitest'
import { BINDINGS, CLUSTER_SPIFFE_IDS, POOLS } from '@kleym/shared/kube/resources.ts'
import { poolOnly, pool } from '@kleym/testing/manifests.ts'
import type { SimulatedCall } from '../simulation/calls.ts'
import { isDeleting, refOf } from '../simulation/cluster.ts'
import { SteeredSimulation } from '../simulation/steered.ts'
import { FOREIGN_FINALIZER } from '../simulation/webhook.ts'

/** Members of the large collision. */
const MEMBERS = 300
/** A finalizer, an output, a status, and the word that no SCM has looked at the output. */
const BYSTANDER_WRITES = 4
const HELD = { finalizers: [FOREIGN_FINALIZER] }
const BINDING_KIND = 'InferenceIdentityBinding.kleym.sonda.red'
const OUTPUT_KIND = 'ClusterSPIFFEID.spire.spiffe.io'
const LAST_OBJECTIVE_KIND = 'InferenceObjective.inference.networking.k8s.io'
/** The live read of the objective that is nowhere. */
function looksForNobody({ verb, name }: SimulatedCall): boolean {
  return verb === 'get' && name === 'nobody'
}
/** The status of one of a collision. */
function tellsAMember({ verb, ref }: SimulatedCall): boolean {
  return verb === 'update status' && ref.namespace === 'team-a'
}

test('two bindings that swap their containers in one apply converge', async () => {
  const sim = await SteeredSimulation.of({ a: 'vllm', b: 'proxy' })
  sim.editBinding('a', { containerName: 'proxy' })
  sim.editBinding('b', { containerName: 'vllm' })
  expect(await sim.problemsOnceQuiet()).toEqual([])
  expect([sim.reason('a'), sim.reason('b')]).toEqual(['Reconciled', 'Reconciled'])
})

test('three bindings that rotate their containers in one apply converge', async () => {
  const sim = await SteeredSimulation.of({ a: 'vllm', b: 'proxy', c: 'tuner' })
  sim.editBinding('a', { containerName: 'proxy' })
  sim.editBinding('b', { containerName: 'tuner' })
  sim.editBinding('c', { containerName: 'vllm' })
  expect(await sim.problemsOnceQuiet()).toEqual([])
})

test.each([BINDING_KIND, OUTPUT_KIND])('a stale cache of %s makes no two', async (kind) => {
  const sim = await SteeredSimulation.of({ a: 'vllm', b: 'proxy' })
  sim.editBinding('a', { containerName: 'proxy' })
  sim.editBinding('b', { containerName: 'vllm' })
  await sim.runUntilQuiet(60_000, { blocks: kind })
  expect(sim.problems()).toEqual([])
  expect(await sim.problemsOnceQuiet()).toEqual([])
})

test('an operator that starts decides nothing before the list of outputs is in', async () => {
  const sim = await SteeredSimulation.of({ a: 'vllm' })
  await sim.crash(() => true)
  sim.editBinding('a', { containerName: 'proxy' })
  sim.createBinding('b', 'vllm')
  const from = sim.trace.length
  await sim.start({ leadsFirst: true })
  await sim.runUntilQuiet(0, { blocks: OUTPUT_KIND })
  expect(sim.trace.slice(from).filter((line) => line.includes('sent'))).toEqual([])
  expect(await sim.problemsOnceQuiet()).toEqual([])
  expect([sim.reason('a'), sim.reason('b')]).toEqual(['Reconciled', 'Reconciled'])
})

test('a delete that a foreign finalizer holds blocks the peer, and its binding says why', async () => {
  const sim = await SteeredSimulation.of({ a: 'vllm' })
  const output = sim.output('a') ?? {}
  sim.editOutput(output, { metadata: HELD })
  await sim.runUntilQuiet()
  sim.editBinding('a', { objectiveRef: { name: 'nobody' } })
  sim.createBinding('b', 'vllm')
  await sim.runUntilQuiet(10_000)
  expect([sim.reason('a'), sim.reason('b')]).toEqual(['Undetermined', 'WaitingForPeer'])
  sim.server.patch(CLUSTER_SPIFFE_IDS, refOf(output), { metadata: { finalizers: [] } }, 'user')
  expect(await sim.problemsOnceQuiet()).toEqual([])
  expect([sim.reason('a'), sim.reason('b')]).toEqual(['TargetObjectiveNotFound', 'Reconciled'])
})

test('a terminating output that loses its annotations keeps its peers waiting until it is gone', async () => {
  const sim = await SteeredSimulation.of({ a: 'vllm' })
  sim.editOutput(sim.output('a') ?? {}, { metadata: HELD })
  await sim.runUntilQuiet()
  sim.createObjective('other')
  sim.editBinding('a', { objectiveRef: { name: 'other' }, containerName: 'proxy' })
  sim.createBinding('b', 'vllm')
  await sim.runUntilQuiet(10_000)
  expect([sim.reason('a'), sim.reason('b')]).toEqual(['Reconciled', 'WaitingForPeer'])
  const old = sim.outputs('a').find(isDeleting)
  sim.editOutput(old ?? {}, { metadata: { annotations: {} } })
  await sim.runUntilQuiet()
  expect(sim.reason('b')).toBe('WaitingForPeer')
  sim.editOutput(sim.server.get(CLUSTER_SPIFFE_IDS, refOf(old ?? {})), { metadata: { finalizers: [] } })
  await sim.runUntilQuiet()
  expect(sim.reason('b')).toBe('Reconciled')
})

test('a terminating output that is ours by the status alone keeps its peers waiting once the status names another', async () => {
  const sim = await SteeredSimulation.of({ a: 'vllm' })
  const old = sim.output('a') ?? {}
  sim.editOutput(old, { metadata: HELD })
  await sim.runUntilQuiet()
  sim.createObjective('other')
  sim.editBinding('a', { objectiveRef: { name: 'other' }, containerName: 'proxy' })
  sim.createBinding('b', 'vllm')
  const post = await sim.heldRequest('create')
  sim.editOutput(sim.server.get(CLUSTER_SPIFFE_IDS, refOf(old)), {
    spec: { spiffeIDTemplate: 'spiffe://example.org/somebody' },
  })
  await sim.runUntilQuiet(0, { holds: (call) => call === post })
  await sim.carryOut(post)
  await sim.runUntilQuiet()
  expect([sim.reason('a'), sim.reason('b')]).toEqual(['Reconciled', 'WaitingForPeer'])
  sim.editOutput(sim.server.get(CLUSTER_SPIFFE_IDS, refOf(old)), { metadata: { finalizers: [] } })
  await sim.runUntilQuiet()
  expect([sim.reason('a'), sim.reason('b')]).toEqual(['Reconciled', 'Reconciled'])
  expect(sim.problems()).toEqual([])
})

test('a peer whose objective is being looked for is waited for silently', async () => {
  const sim = await SteeredSimulation.of({})
  sim.createBinding('a', 'vllm', { objectiveRef: { name: 'nobody' } })
  sim.createBinding('b', 'vllm')
  await sim.runUntilQuiet(60_000, { holds: looksForNobody })
  expect([sim.reason('a'), sim.reason('b'), sim.outputs('b')]).toEqual([undefined, undefined, []])
  expect(await sim.problemsOnceQuiet()).toEqual([])
  expect([sim.reason('a'), sim.reason('b')]).toEqual(['TargetObjectiveNotFound', 'Reconciled'])
})

test('a peer whose objective could not be looked for is waited for aloud, until it could be', async () => {
  const sim = await SteeredSimulation.of({})
  sim.createBinding('a', 'vllm', { objectiveRef: { name: 'nobody' } })
  sim.createBinding('b', 'vllm')
  await sim.runUntilQuiet(0, { holds: looksForNobody })
  const [read] = sim.calls.requests
  if (read !== undefined) await sim.carryOut(read, 'failed')
  await sim.runUntilQuiet(0, { holds: looksForNobody })
  expect([sim.reason('a'), sim.reason('b')]).toEqual(['Undetermined', 'WaitingForPeer'])
  expect(sim.outputs('b')).toEqual([])
  expect(await sim.problemsOnceQuiet()).toEqual([])
  expect([sim.reason('a'), sim.reason('b')]).toEqual(['TargetObjectiveNotFound', 'Reconciled'])
})

test.each<[string, (sim: SteeredSimulation) => Promise<void>]>([
  [
    'that names another one, once it could be',
    async (sim) => {
      await sim.runUntilQuiet()
      expect(sim.reason('a')).toBe('TargetObjectiveNotFound')
      sim.editBinding('a', { objectiveRef: { name: 'another' } })
    },
  ],
  [
    'of the same name that is made anew',
    async (sim) => {
      const { metadata: _, ...rest } = sim.server.get(BINDINGS, { namespace: 'team-a', name: 'a' })
      sim.deleteBinding('a')
      await sim.carryOut(await sim.heldRequest('get'), 'failed')
      await sim.runUntilQuiet(0, { holds: looksForNobody })
      expect(sim.reason('b')).toBe('Reconciled')
      sim.server.create(BINDINGS, { ...rest, metadata: { namespace: 'team-a', name: 'a' } }, 'user')
    },
  ],
])('that an objective could not be looked for says nothing of a binding %s', async (_says, renew) => {
  const sim = await SteeredSimulation.of({})
  sim.createBinding('a', 'vllm', { objectiveRef: { name: 'nobody' } })
  sim.createBinding('b', 'vllm')
  await sim.carryOut(await sim.heldRequest('get'), 'failed')
  await sim.runUntilQuiet(0, { holds: looksForNobody })
  expect(sim.reason('b')).toBe('WaitingForPeer')
  await renew(sim)
  const from = sim.trace.length
  await sim.heldRequest('get')
  expect(sim.trace.slice(from).join('\n')).not.toContain('WaitingForPeer')
  expect(await sim.problemsOnceQuiet()).toEqual([])
  expect(sim.reason('b')).toBe('Reconciled')
})

test('a peer that says already that it cannot be looked for is waited for aloud after a restart too', async () => {
  const sim = await SteeredSimulation.of({})
  sim.createBinding('a', 'vllm', { objectiveRef: { name: 'nobody' } })
  await sim.carryOut(await sim.heldRequest('get'), 'failed')
  await sim.runUntilQuiet(0, { holds: looksForNobody })
  await sim.crash(() => true)
  await sim.start({ leadsFirst: true })
  sim.createBinding('b', 'vllm')
  await sim.runUntilQuiet(0, { holds: looksForNobody })
  expect([sim.reason('a'), sim.reason('b')]).toEqual(['Undetermined', undefined])
  const [read] = sim.calls.requests
  if (read !== undefined) await sim.carryOut(read, 'failed')
  await sim.runUntilQuiet(0, { holds: looksForNobody })
  expect(sim.reason('b')).toBe('WaitingForPeer')
  expect(await sim.problemsOnceQuiet()).toEqual([])
})

test('a restart does not make Ready bindings wait while a peer’s cache must still list', async () => {
  const sim = await SteeredSimulation.of({ a: 'vllm' })
  sim.createBinding('b', 'vllm', { objectiveRef: { name: 'nobody' } })
  expect(await sim.problemsOnceQuiet()).toEqual([])
  const { writes } = sim.watchdog
  await sim.crash(() => true)
  await sim.start({ leadsFirst: true })
  // The objective of `a` is in a kind that comes before it; `b` has its last hope in this one.
  await sim.runUntilQuiet(60_000, { blocks: LAST_OBJECTIVE_KIND })
  expect([sim.reason('a'), sim.reason('b')]).toEqual(['Reconciled', 'TargetObjectiveNotFound'])
  expect(await sim.problemsOnceQuiet()).toEqual([])
  expect(sim.watchdog.writes).toBe(writes)
})

test('one member more of a large collision rewrites at most eleven statuses, and holds up nobody else', async () => {
  const members = Array.from(
    { length: MEMBERS },
    (_, at) => [`m${String(at).padStart(4, '0')}`, 'vllm'] as const,
  )
  const sim = await SteeredSimulation.of(Object.fromEntries(members))
  expect(sim.reason('m0000')).toBe('IdentityCollision')
  sim.createObject(POOLS, pool({ namespace: 'team-b' }))
  await sim.runUntilQuiet()
  const { writes } = sim.watchdog
  sim.createBinding('m0500x', 'vllm')
  // Every worker has a member in hand, and the rest are queued.
  await sim.runUntilQuiet(0, { holds: tellsAMember })
  sim.createObject([BINDINGS], poolOnly({ namespace: 'team-b', name: 'bystander' }))
  await sim.runUntilQuiet(0, { holds: tellsAMember })
  // One worker takes the member whose turn it is, the next one the bystander.
  for (const told of sim.calls.requests.slice(0, 2)) {
    await sim.carryOut(told)
    await sim.runUntilQuiet(0, { holds: tellsAMember })
  }
  expect(sim.reason('bystander', 'team-b')).toBe('Reconciled')
  expect(sim.calls.requests.length).toBeGreaterThan(0)
  await sim.runUntilQuiet()
  expect(sim.problems()).toEqual([])
  expect(sim.watchdog.writes - writes).toBeLessThanOrEqual(11 + BYSTANDER_WRITES)
})

test('nothing is decided by bindings of another history, not even to be held back', async () => {
  const sim = await SteeredSimulation.of({ a: 'vllm' })
  await sim.life.renew()
  const backup = sim.server.backup()
  sim.editBinding('a', { objectiveRef: { name: 'nowhere' } })
  await sim.runUntilQuiet()
  expect(sim.reason('a')).toBe('TargetObjectiveNotFound')
  await sim.life.renew()
  sim.server.restore(backup, { isRestarted: true })
  sim.watchdog.restored()
  await sim.life.renew()
  const from = sim.life.lines.length
  await sim.runUntilQuiet(60_000, { blocks: 'InferenceIdentityBinding.kleym.sonda.red' })
  expect(sim.life.lines.slice(from)).toEqual([])
  expect(await sim.problemsOnceQuiet()).toEqual([])
  expect(sim.reason('a')).toBe('Reconciled')
})
