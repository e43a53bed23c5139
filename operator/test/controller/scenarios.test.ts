// The hard moments of contract §6 to §8, one by one, on the simulation.
import { expect, test } from 'vitest'
import { ANNOTATION_BINDING_UID } from '@kleym/shared/core/names.ts'
import { ApiError } from '@kleym/shared/kube/errors.ts'
import { BINDINGS, CLUSTER_SPIFFE_IDS, POOLS } from '@kleym/shared/kube/resources.ts'
import { isDeleting, metadataOf, refOf } from './sim/server.ts'
import { poolOnly, pool } from '../../../shared/test/core/build.ts'
import type { Call } from './sim/calls.ts'
import { Scenario } from './sim/scenario.ts'
import { FOREIGN_FINALIZER } from './sim/users.ts'

/** Members of the large collision. */
const MEMBERS = 300
/** A finalizer, an output and a status. */
const BYSTANDER_WRITES = 3
const HELD = { finalizers: [FOREIGN_FINALIZER] }
const BINDING_KIND = 'InferenceIdentityBinding.kleym.sonda.red'
const OUTPUT_KIND = 'ClusterSPIFFEID.spire.spiffe.io'
const LAST_OBJECTIVE_KIND = 'InferenceObjective.inference.networking.k8s.io'

/** The live read of the objective that is nowhere. */
function looksForNobody({ verb, name }: Call): boolean {
  return verb === 'get' && name === 'nobody'
}

/** The status of one of a collision. */
function tellsAMember({ verb, ref }: Call): boolean {
  return verb === 'update status' && ref.namespace === 'team-a'
}

test('two bindings that swap their containers in one apply converge', async () => {
  const it = await Scenario.of({ a: 'vllm', b: 'proxy' })
  it.edit('a', { containerName: 'proxy' })
  it.edit('b', { containerName: 'vllm' })
  expect(await it.rest()).toEqual([])
  expect([it.reason('a'), it.reason('b')]).toEqual(['Reconciled', 'Reconciled'])
})

test('three bindings that rotate their containers in one apply converge', async () => {
  const it = await Scenario.of({ a: 'vllm', b: 'proxy', c: 'tuner' })
  it.edit('a', { containerName: 'proxy' })
  it.edit('b', { containerName: 'tuner' })
  it.edit('c', { containerName: 'vllm' })
  expect(await it.rest()).toEqual([])
})

test('a POST in flight keeps its container while two bindings swap', async () => {
  const it = await Scenario.of({ b: 'proxy' })
  it.bind('a', 'vllm')
  const post = await it.held('create')
  it.edit('a', { containerName: 'proxy' })
  it.edit('b', { containerName: 'vllm' })
  await it.calm(0, { holds: (call) => call === post })
  expect(it.reason('b')).toBe('WaitingForPeer')
  await it.carryOut(post)
  expect(await it.rest()).toEqual([])
})

test('a POST whose outcome is unknown keeps its container until a live read', async () => {
  const it = await Scenario.of({})
  it.bind('a', 'vllm')
  const post = await it.held('create')
  await it.carryOut(post, 'answer lost')
  it.edit('a', { containerName: 'proxy' })
  it.bind('b', 'vllm')
  await it.calm(0, {
    holds: (call) => call.verb === 'get' && call.resource === CLUSTER_SPIFFE_IDS,
    blocks: OUTPUT_KIND,
  })
  expect(it.reason('b')).toBe('WaitingForPeer')
  expect(await it.rest()).toEqual([])
})

test('a POST whose outcome could not be read is read again at once when the API server is heard of meanwhile', async () => {
  const it = await Scenario.of({})
  it.bind('a', 'vllm')
  await it.carryOut(await it.held('create'), 'answer lost')
  const read = await it.held('get')
  const feed = it.life.feeds.find(({ kind }) => kind === LAST_OBJECTIVE_KIND)
  feed?.blind()
  feed?.start()
  await it.calm(0, { holds: (call) => call === read })
  await it.carryOut(read, 'failed')
  expect(await it.held('get')).not.toBe(read)
  expect(await it.rest()).toEqual([])
})

test('a binding that is abandoned while the outcome of its POST is unknown blocks nobody for ever', async () => {
  const it = await Scenario.of({})
  it.bind('a', 'vllm')
  await it.carryOut(await it.held('create'), 'request lost')
  await it.carryOut(await it.held('get'), 'failed')
  await it.calm(0)
  it.abandon('a')
  // The cache sees no more of it than that it is gone.
  it.life.feeds.find(({ kind }) => kind === BINDING_KIND)?.relist()
  it.bind('b', 'vllm')
  expect(await it.rest()).toEqual([])
  expect(it.reason('b')).toBe('Reconciled')
})

test('a stripped label changes nothing for the peers, and is put back', async () => {
  const it = await Scenario.of({ a: 'vllm', b: 'proxy' })
  const output = it.output('a')
  if (output !== undefined) it.meddle(output, { metadata: { labels: {} } })
  it.edit('a', { containerName: 'proxy' })
  it.edit('b', { containerName: 'vllm' })
  expect(await it.rest()).toEqual([])
})

test('a binding that is edited while its finalizer is awaited is decided again', async () => {
  const it = await Scenario.of({ b: 'proxy' })
  it.bind('a', 'vllm')
  const patch = await it.held('patch')
  it.edit('a', { containerName: 'proxy' })
  await it.calm(0, { holds: (call) => call === patch })
  await it.carryOut(patch)
  expect(await it.rest()).toEqual([])
  expect([it.reason('a'), it.reason('b')]).toEqual(['IdentityCollision', 'IdentityCollision'])
})

test.each([BINDING_KIND, OUTPUT_KIND])('a stale cache of %s makes no two', async (kind) => {
  const it = await Scenario.of({ a: 'vllm', b: 'proxy' })
  it.edit('a', { containerName: 'proxy' })
  it.edit('b', { containerName: 'vllm' })
  await it.calm(60_000, { blocks: kind })
  expect(it.problems()).toEqual([])
  expect(await it.rest()).toEqual([])
})

test('a binding that is recreated under the same name waits for the orphan that holds its name', async () => {
  const it = await Scenario.of({ a: 'vllm' })
  const old = metadataOf(it.output('a') ?? {})['uid']
  it.recreate('a')
  expect(await it.rest()).toEqual([])
  expect(metadataOf(it.output('a') ?? {})['uid']).not.toBe(old)
})

test('an orphan is removed by an operator that leads with its caches filled', async () => {
  const it = await Scenario.of({ a: 'vllm' })
  await it.crash(() => true)
  it.abandon('a')
  await it.start({ leadsFirst: false })
  expect(await it.rest()).toEqual([])
  expect(it.outputs('a')).toEqual([])
})

test('an output that becomes an orphan while its binding is written to is removed', async () => {
  const it = await Scenario.of({ a: 'vllm' })
  const old = it.output('a') ?? {}
  it.intend('other')
  it.edit('a', { objectiveRef: { name: 'other' }, containerName: 'proxy' })
  const post = await it.held('create')
  const annotations = { ...Object(metadataOf(old)['annotations']), [ANNOTATION_BINDING_UID]: 'earlier' }
  it.meddle(old, { metadata: { annotations } })
  await it.calm(0, { holds: (call) => call === post })
  await it.carryOut(post)
  expect(await it.rest()).toEqual([])
  expect(it.outputs('a')).toHaveLength(1)
})

test('a delete that a foreign finalizer holds blocks the peer, and its binding says why', async () => {
  const it = await Scenario.of({ a: 'vllm' })
  const output = it.output('a') ?? {}
  it.meddle(output, { metadata: HELD })
  await it.calm()
  it.edit('a', { objectiveRef: { name: 'nobody' } })
  it.bind('b', 'vllm')
  await it.calm(10_000)
  expect([it.reason('a'), it.reason('b')]).toEqual(['Undetermined', 'WaitingForPeer'])
  it.server.patch(CLUSTER_SPIFFE_IDS, refOf(output), { metadata: { finalizers: [] } }, 'user')
  expect(await it.rest()).toEqual([])
  expect([it.reason('a'), it.reason('b')]).toEqual(['TargetObjectiveNotFound', 'Reconciled'])
})

test('a terminating output that loses its annotations lets the peers go on', async () => {
  const it = await Scenario.of({ a: 'vllm' })
  it.meddle(it.output('a') ?? {}, { metadata: HELD })
  await it.calm()
  it.intend('other')
  it.edit('a', { objectiveRef: { name: 'other' }, containerName: 'proxy' })
  it.bind('b', 'vllm')
  await it.calm(10_000)
  expect([it.reason('a'), it.reason('b')]).toEqual(['Reconciled', 'WaitingForPeer'])
  const old = it.outputs('a').find(isDeleting)
  it.meddle(old ?? {}, { metadata: { annotations: {} } })
  await it.calm()
  expect(it.reason('b')).toBe('Reconciled')
})

test('a terminating output that is ours by the status alone lets the peers go on once the status names another', async () => {
  const it = await Scenario.of({ a: 'vllm' })
  const old = it.output('a') ?? {}
  it.meddle(old, { metadata: HELD })
  await it.calm()
  it.intend('other')
  it.edit('a', { objectiveRef: { name: 'other' }, containerName: 'proxy' })
  it.bind('b', 'vllm')
  const post = await it.held('create')
  it.meddle(it.server.get(CLUSTER_SPIFFE_IDS, refOf(old)), {
    spec: { spiffeIDTemplate: 'spiffe://example.org/somebody' },
  })
  await it.calm(0, { holds: (call) => call === post })
  await it.carryOut(post)
  await it.calm()
  expect([it.reason('a'), it.reason('b')]).toEqual(['Reconciled', 'Reconciled'])
  expect(it.problems()).toEqual([])
})

test('an output that a webhook changes is written once, and the one before it is still withdrawn', async () => {
  const it = await Scenario.of({ a: 'vllm' })
  it.server.admission = (resource, object) =>
    resource === CLUSTER_SPIFFE_IDS ? { ...object, spec: { ...Object(object['spec']), ttl: '1h' } } : object
  it.intend('other')
  it.edit('a', { objectiveRef: { name: 'other' } })
  const writes = it.watchdog.writes
  await it.calm()
  expect(it.problems()).toEqual([])
  expect(it.outputs('a').map((object) => Object(object['spec']).spiffeIDTemplate)).toEqual([
    'spiffe://example.org/ns/team-a/objective/other',
  ])
  expect(it.watchdog.writes - writes).toBeLessThanOrEqual(4)
})

test('an output that the API server refuses is withdrawn, and tried again with backoff', async () => {
  const it = await Scenario.of({ a: 'vllm' })
  let tries = 0
  it.server.admission = (resource, object, by) => {
    if (resource !== CLUSTER_SPIFFE_IDS || by === 'user') return object
    tries += 1
    throw new ApiError({
      status: 422,
      reason: 'Invalid',
      message: 'no',
      details: { name: refOf(object).name },
    })
  }
  it.edit('a', { containerName: 'proxy' })
  await it.calm(120_000)
  expect(it.reason('a')).toBe('ManagedOutputApplyFailed')
  expect(it.outputs('a')).toEqual([])
  expect(tries).toBeLessThan(12)
  it.server.admission = (_, object) => object
  expect(await it.rest()).toEqual([])
})

test('repairs of an output that somebody edits again and again back off', async () => {
  const it = await Scenario.of({ a: 'vllm' })
  for (let at = 0; at < 60; at++) {
    it.meddle(it.output('a') ?? {}, { spec: { admin: true } })
    await it.calm(1_000)
  }
  expect(it.life.repairs).toBeGreaterThan(2)
  expect(it.life.repairs).toBeLessThan(10)
  expect(await it.rest()).toEqual([])
})

test('five conflicts in a row are told as not knowing, and overcome', async () => {
  const it = await Scenario.of({ a: 'vllm' })
  it.edit('a', { containerName: 'proxy' })
  for (let at = 0; at < 5; at++) await it.carryOut(await it.held('update'), 'conflict')
  await it.calm(0, { holds: (call) => call.verb === 'update' })
  expect(it.reason('a')).toBe('Undetermined')
  expect(await it.rest()).toEqual([])
})

test('a foreign object that comes between look and POST is left alone', async () => {
  const it = await Scenario.of({})
  it.bind('a', 'vllm')
  const post = await it.held('create')
  it.server.create(CLUSTER_SPIFFE_IDS, { metadata: { name: post.name }, spec: { admin: true } }, 'user')
  await it.calm(60_000)
  expect(it.reason('a')).toBe('OutputNotOwned')
  expect(it.problems()).toEqual([])
  it.server.delete(CLUSTER_SPIFFE_IDS, { name: post.name }, {}, 'user')
  expect(await it.rest()).toEqual([])
})

test('a status that somebody else was faster to write is written again', async () => {
  const it = await Scenario.of({ a: 'vllm' })
  it.edit('a', { containerName: 'proxy' })
  await it.carryOut(await it.held('update status'), 'conflict')
  expect(await it.rest()).toEqual([])
})

test('a status whose answer was lost does not stay when the verdict goes back', async () => {
  const it = await Scenario.of({})
  it.bind('a', 'vllm', { objectiveRef: { name: 'late' } })
  await it.calm()
  it.intend('late', 'elsewhere')
  await it.carryOut(await it.held('update status'), 'answer lost')
  it.forgo('late')
  await it.calm(60_000, { blocks: BINDING_KIND })
  expect(await it.rest()).toEqual([])
  expect(it.reason('a')).toBe('TargetObjectiveNotFound')
})

test('a verdict that the status holds is repeated after a restart without a live read or a write', async () => {
  const it = await Scenario.of({ a: 'vllm' })
  it.edit('a', { objectiveRef: { name: 'nobody' } })
  it.bind('b', 'vllm')
  expect(await it.rest()).toEqual([])
  const { writes } = it.watchdog
  await it.crash(() => true)
  const from = it.trace.length
  await it.start({ leadsFirst: true })
  expect(await it.rest()).toEqual([])
  expect(it.watchdog.writes).toBe(writes)
  expect(it.trace.slice(from).filter((line) => line.includes('sent'))).toEqual([])
})

test('a peer whose objective is being looked for is waited for silently', async () => {
  const it = await Scenario.of({})
  it.bind('a', 'vllm', { objectiveRef: { name: 'nobody' } })
  it.bind('b', 'vllm')
  await it.calm(60_000, { holds: looksForNobody })
  expect([it.reason('a'), it.reason('b'), it.outputs('b')]).toEqual([undefined, undefined, []])
  expect(await it.rest()).toEqual([])
  expect([it.reason('a'), it.reason('b')]).toEqual(['TargetObjectiveNotFound', 'Reconciled'])
})

test('a peer whose objective could not be looked for is waited for aloud, until it could be', async () => {
  const it = await Scenario.of({})
  it.bind('a', 'vllm', { objectiveRef: { name: 'nobody' } })
  it.bind('b', 'vllm')
  await it.calm(0, { holds: looksForNobody })
  const [read] = it.calls.requests
  if (read !== undefined) await it.carryOut(read, 'failed')
  await it.calm(0, { holds: looksForNobody })
  expect([it.reason('a'), it.reason('b')]).toEqual(['Undetermined', 'WaitingForPeer'])
  expect(it.outputs('b')).toEqual([])
  expect(await it.rest()).toEqual([])
  expect([it.reason('a'), it.reason('b')]).toEqual(['TargetObjectiveNotFound', 'Reconciled'])
})

test.each<[string, (it: Scenario) => Promise<void>]>([
  [
    'that names another one, once it could be',
    async (it) => {
      await it.calm()
      expect(it.reason('a')).toBe('TargetObjectiveNotFound')
      it.edit('a', { objectiveRef: { name: 'another' } })
    },
  ],
  [
    'of the same name that is made anew',
    async (it) => {
      const { metadata: _, ...rest } = it.server.get(BINDINGS, { namespace: 'team-a', name: 'a' })
      it.unbind('a')
      await it.carryOut(await it.held('get'), 'failed')
      await it.calm(0, { holds: looksForNobody })
      expect(it.reason('b')).toBe('Reconciled')
      it.server.create(BINDINGS, { ...rest, metadata: { namespace: 'team-a', name: 'a' } }, 'user')
    },
  ],
])('that an objective could not be looked for says nothing of a binding %s', async (_says, renew) => {
  const it = await Scenario.of({})
  it.bind('a', 'vllm', { objectiveRef: { name: 'nobody' } })
  it.bind('b', 'vllm')
  await it.carryOut(await it.held('get'), 'failed')
  await it.calm(0, { holds: looksForNobody })
  expect(it.reason('b')).toBe('WaitingForPeer')
  await renew(it)
  const from = it.trace.length
  await it.held('get')
  expect(it.trace.slice(from).join('\n')).not.toContain('WaitingForPeer')
  expect(await it.rest()).toEqual([])
  expect(it.reason('b')).toBe('Reconciled')
})

test('a peer that says already that it cannot be looked for is waited for aloud after a restart too', async () => {
  const it = await Scenario.of({})
  it.bind('a', 'vllm', { objectiveRef: { name: 'nobody' } })
  await it.carryOut(await it.held('get'), 'failed')
  await it.calm(0, { holds: looksForNobody })
  await it.crash(() => true)
  await it.start({ leadsFirst: true })
  it.bind('b', 'vllm')
  await it.calm(0, { holds: looksForNobody })
  expect([it.reason('a'), it.reason('b')]).toEqual(['Undetermined', undefined])
  const [read] = it.calls.requests
  if (read !== undefined) await it.carryOut(read, 'failed')
  await it.calm(0, { holds: looksForNobody })
  expect(it.reason('b')).toBe('WaitingForPeer')
  expect(await it.rest()).toEqual([])
})

test('a restart does not make Ready bindings wait while a peer’s cache has yet to list', async () => {
  const it = await Scenario.of({ a: 'vllm' })
  it.bind('b', 'vllm', { objectiveRef: { name: 'nobody' } })
  expect(await it.rest()).toEqual([])
  const { writes } = it.watchdog
  await it.crash(() => true)
  await it.start({ leadsFirst: true })
  // The objective of `a` is in a kind that comes before it; `b` has its last hope in this one.
  await it.calm(60_000, { blocks: LAST_OBJECTIVE_KIND })
  expect([it.reason('a'), it.reason('b')]).toEqual(['Reconciled', 'TargetObjectiveNotFound'])
  expect(await it.rest()).toEqual([])
  expect(it.watchdog.writes).toBe(writes)
})

test('a deleting binding whose output somebody puts back asks anew once that has gone too', async () => {
  const it = await Scenario.of({ a: 'vllm' })
  const output = it.output('a') ?? {}
  const { name, labels, annotations } = metadataOf(output)
  it.unbind('a')
  const list = await it.held('list')
  it.server.create(
    CLUSTER_SPIFFE_IDS,
    { ...output, metadata: { name, labels, annotations, ...HELD } },
    'user',
  )
  it.server.delete(CLUSTER_SPIFFE_IDS, refOf(output), {}, 'user')
  // The cache sees no more of it than that it is on its way out.
  it.life.feeds.find(({ kind }) => kind === OUTPUT_KIND)?.relist()
  await it.calm(0, { holds: (call) => call === list })
  await it.carryOut(list)
  await it.calm(10_000)
  it.server.patch(CLUSTER_SPIFFE_IDS, refOf(output), { metadata: { finalizers: [] } }, 'user')
  await it.held('list')
  expect(it.server.find(BINDINGS, { namespace: 'team-a', name: 'a' })).toBeDefined()
  expect(await it.rest()).toEqual([])
})

test('a deleting binding without our finalizer gets none', async () => {
  const it = await Scenario.of({ a: 'vllm' })
  await it.crash(() => true)
  const foreign = { metadata: { finalizers: [FOREIGN_FINALIZER] } }
  it.server.patch(BINDINGS, { namespace: 'team-a', name: 'a' }, foreign, 'user')
  it.unbind('a')
  const from = it.trace.length
  await it.start()
  await it.calm(60_000)
  expect(it.outputs('a')).toEqual([])
  expect(it.trace.slice(from).filter((line) => line.includes('sent') && line.includes('patch'))).toEqual([])
})

test('one member more of a large collision rewrites at most eleven statuses, and holds up nobody else', async () => {
  const members = Array.from(
    { length: MEMBERS },
    (_, at) => [`m${String(at).padStart(4, '0')}`, 'vllm'] as const,
  )
  const it = await Scenario.of(Object.fromEntries(members))
  expect(it.reason('m0000')).toBe('IdentityCollision')
  it.make(POOLS, pool({ namespace: 'team-b' }))
  await it.calm()
  const { writes } = it.watchdog
  it.bind('m0500x', 'vllm')
  // Every worker has a member in hand, and the rest are queued.
  await it.calm(0, { holds: tellsAMember })
  it.make([BINDINGS], poolOnly({ namespace: 'team-b', name: 'bystander' }))
  await it.calm(0, { holds: tellsAMember })
  // One worker takes the member whose turn it is, the next one the bystander.
  for (const told of it.calls.requests.slice(0, 2)) {
    await it.carryOut(told)
    await it.calm(0, { holds: tellsAMember })
  }
  expect(it.reason('bystander', 'team-b')).toBe('Reconciled')
  expect(it.calls.requests.length).toBeGreaterThan(0)
  await it.calm()
  expect(it.problems()).toEqual([])
  expect(it.watchdog.writes - writes).toBeLessThanOrEqual(11 + BYSTANDER_WRITES)
}, 120_000)

test('a server that asks for an hour is asked again after half a minute', async () => {
  const it = await Scenario.of({ a: 'vllm' })
  it.unbind('a')
  await it.carryOut(await it.held('delete'), 'put off')
  await it.calm(29_999)
  expect(it.outputs('a')).toHaveLength(1)
  await it.calm(1)
  expect(it.outputs('a')).toEqual([])
  expect(await it.rest()).toEqual([])
})

test('a binding that is deleted after the server asked for time loses its identity at once', async () => {
  const it = await Scenario.of({ a: 'vllm' })
  it.edit('a', { containerName: 'proxy' })
  await it.carryOut(await it.held('update'), 'put off')
  await it.calm(0)
  it.unbind('a')
  await it.calm(0)
  expect(it.outputs('a')).toEqual([])
  expect(await it.rest()).toEqual([])
})

test('a binding that is deleted while its write is in flight loses its identity at once, whatever the server asks for', async () => {
  const it = await Scenario.of({ a: 'vllm' })
  it.edit('a', { containerName: 'proxy' })
  await it.carryOut(await it.held('update'), 'put off')
  // The second time the status says already what it has to say: no write of it brings the deletion to light.
  await it.calm(30_000, { holds: ({ verb }) => verb === 'update' })
  const update = await it.held('update')
  it.unbind('a')
  await it.calm(0, { holds: (call) => call === update })
  await it.carryOut(update, 'put off')
  await it.calm(0)
  expect(it.outputs('a')).toEqual([])
  expect(await it.rest()).toEqual([])
})
