// Writes in flight, writes whose outcome is not known, and writes that another client overtakes (docs/contract.md §6 and §8).
import { expect, test } from 'vitest'
import { listAt, stringAt, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import { BINDINGS, CLUSTER_SPIFFE_IDS } from '@kleym/shared/kube/resources.ts'
import { SteeredSimulation } from '../simulation/steered.ts'

const BINDING_KIND = 'InferenceIdentityBinding.kleym.sonda.red'
const OUTPUT_KIND = 'ClusterSPIFFEID.spire.spiffe.io'
const LAST_OBJECTIVE_KIND = 'InferenceObjective.inference.networking.k8s.io'
/** What `Ready` says where the finalizer does not stay. */
const UNDONE = 'cannot patch InferenceIdentityBinding: undone at admission'

function nameOf(object: JsonRecord): string {
  return stringAt(object, 'metadata', 'name') ?? ''
}

test('a POST in flight keeps its container while two bindings swap', async () => {
  const sim = await SteeredSimulation.of({ b: 'proxy' })
  sim.createBinding('a', 'vllm')
  const post = await sim.heldRequest('create')
  sim.editBinding('a', { containerName: 'proxy' })
  sim.editBinding('b', { containerName: 'vllm' })
  await sim.runUntilQuiet(0, { holds: (call) => call === post })
  expect(sim.reason('b')).toBe('WaitingForPeer')
  await sim.carryOut(post)
  expect(await sim.problemsOnceQuiet()).toEqual([])
})

test.each(['answer lost', 'failed after'] as const)(
  'a POST whose outcome is unknown ("%s") keeps its container until a live read',
  async (fate) => {
    const sim = await SteeredSimulation.of({})
    sim.createBinding('a', 'vllm')
    const post = await sim.heldRequest('create')
    await sim.carryOut(post, fate)
    sim.editBinding('a', { containerName: 'proxy' })
    sim.createBinding('b', 'vllm')
    await sim.runUntilQuiet(0, {
      holds: (call) => call.verb === 'get' && call.resource === CLUSTER_SPIFFE_IDS,
      blocks: OUTPUT_KIND,
    })
    expect(sim.reason('b')).toBe('WaitingForPeer')
    expect(await sim.problemsOnceQuiet()).toEqual([])
  },
)

test('a PUT that another client overtakes is made anew after a live read, whatever the watch shows', async () => {
  const sim = await SteeredSimulation.of({ a: 'vllm' })
  const status = { stats: { entriesToSet: 3 } }
  sim.server.update(CLUSTER_SPIFFE_IDS, { ...sim.output('a'), status }, 'user', { subresource: 'status' })
  sim.editBinding('a', { containerName: 'proxy' })
  await sim.runUntilQuiet(0, { blocks: OUTPUT_KIND })
  const selectors = listAt(sim.output('a'), 'spec', 'workloadSelectorTemplates')
  expect(selectors).toContain('k8s:container-name:proxy')
  expect(await sim.problemsOnceQuiet()).toEqual([])
})

test('a POST whose outcome could not be read is read again at once when the API server is heard of meanwhile', async () => {
  const sim = await SteeredSimulation.of({})
  sim.createBinding('a', 'vllm')
  await sim.carryOut(await sim.heldRequest('create'), 'answer lost')
  const read = await sim.heldRequest('get')
  const watch = sim.life.watches.find(({ kind }) => kind === LAST_OBJECTIVE_KIND)
  watch?.blind()
  watch?.start()
  await sim.runUntilQuiet(0, { holds: (call) => call === read })
  await sim.carryOut(read, 'failed')
  expect(await sim.heldRequest('get')).not.toBe(read)
  expect(await sim.problemsOnceQuiet()).toEqual([])
})

test('a binding that is abandoned while the outcome of its POST is unknown blocks nobody for ever', async () => {
  const sim = await SteeredSimulation.of({})
  sim.createBinding('a', 'vllm')
  await sim.carryOut(await sim.heldRequest('create'), 'request lost')
  await sim.carryOut(await sim.heldRequest('get'), 'failed')
  await sim.runUntilQuiet(0)
  sim.forceDelete('a')
  // The cache sees no more of it than that it is gone.
  sim.life.watches.find(({ kind }) => kind === BINDING_KIND)?.relist()
  sim.createBinding('b', 'vllm')
  expect(await sim.problemsOnceQuiet()).toEqual([])
  expect(sim.reason('b')).toBe('Reconciled')
})

test('five conflicts in a row are reported as not knowing, and overcome', async () => {
  const sim = await SteeredSimulation.of({ a: 'vllm' })
  sim.editBinding('a', { containerName: 'proxy' })
  for (let at = 0; at < 5; at++) await sim.carryOut(await sim.heldRequest('update'), 'conflict')
  await sim.runUntilQuiet(0, { holds: (call) => call.verb === 'update' })
  expect(sim.reason('a')).toBe('Undetermined')
  expect(await sim.problemsOnceQuiet()).toEqual([])
})

test('a foreign object that comes between look and POST is left alone', async () => {
  const sim = await SteeredSimulation.of({})
  sim.createBinding('a', 'vllm')
  const post = await sim.heldRequest('create')
  sim.server.create(CLUSTER_SPIFFE_IDS, { metadata: { name: post.name }, spec: { admin: true } }, 'user')
  await sim.runUntilQuiet(60_000)
  expect(sim.reason('a')).toBe('OutputNotOwned')
  expect(sim.problems()).toEqual([])
  sim.server.delete(CLUSTER_SPIFFE_IDS, { name: post.name }, {}, 'user')
  expect(await sim.problemsOnceQuiet()).toEqual([])
})

test('a finalizer whose patch a webhook undoes is not there: the binding says so, and tries again later', async () => {
  const sim = await SteeredSimulation.of({ a: 'vllm' })
  let tries = 0
  sim.server.admission = (resource, object, by) => {
    if (resource !== BINDINGS || by === 'user') return object
    tries += 1
    return sim.server.get(BINDINGS, { namespace: 'team-a', name: nameOf(object) })
  }
  sim.stripFinalizers('a')
  sim.createBinding('b', 'proxy')
  await sim.runUntilQuiet(0)
  expect(['a', 'b'].map((name) => sim.message(name))).toEqual([UNDONE, UNDONE])
  // One at each look; it is looked at again where something has woken it.
  expect(tries).toBeLessThan(5)
  expect(sim.outputs('b')).toEqual([])
  sim.server.admission = (_, object) => object
  expect(await sim.problemsOnceQuiet()).toEqual([])
  expect(['a', 'b'].map((name) => sim.reason(name))).toEqual(['Reconciled', 'Reconciled'])
})

test('a status that a webhook drops is not written, and is tried again later, without an event', async () => {
  const sim = await SteeredSimulation.of({ a: 'vllm' })
  let tries = 0
  sim.server.statusAdmission = (_, before) => {
    tries += 1
    return before['status']
  }
  sim.editBinding('a', { objectiveRef: { name: 'nowhere' } })
  await sim.runUntilQuiet(0)
  expect(sim.reason('a')).toBe('Reconciled')
  expect(tries).toBeLessThan(5)
  sim.server.statusAdmission = ({ status }) => status
  await sim.runUntilQuiet(60_000)
  expect(sim.reason('a')).toBe('TargetObjectiveNotFound')
  expect(await sim.problemsOnceQuiet()).toEqual([])
})

test('a status that somebody else was faster to write is written again', async () => {
  const sim = await SteeredSimulation.of({ a: 'vllm' })
  sim.editBinding('a', { containerName: 'proxy' })
  await sim.carryOut(await sim.heldRequest('update status'), 'conflict')
  expect(await sim.problemsOnceQuiet()).toEqual([])
})

test('a status whose answer was lost does not stay when the verdict goes back', async () => {
  const sim = await SteeredSimulation.of({})
  sim.createBinding('a', 'vllm', { objectiveRef: { name: 'late' } })
  await sim.runUntilQuiet()
  sim.createObjective('late', 'elsewhere')
  await sim.carryOut(await sim.heldRequest('update status'), 'answer lost')
  sim.deleteObjective('late')
  await sim.runUntilQuiet(60_000, { blocks: BINDING_KIND })
  expect(await sim.problemsOnceQuiet()).toEqual([])
  expect(sim.reason('a')).toBe('TargetObjectiveNotFound')
})
