// Outputs that a mutating webhook makes others than the ones that were proven (docs/contract.md §8).
import { describe, expect, test } from 'vitest'
import { dig, stringAt, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import { BINDINGS, CLUSTER_SPIFFE_IDS } from '@kleym/shared/kube/resources.ts'
import { isDeleting, refOf } from '../simulation/cluster.ts'
import { SteeredSimulation } from '../simulation/steered.ts'
import {
  denies,
  moveToProxy,
  removeWebhook,
  setFinalizer,
  stripAnnotations,
  stripSelectors,
  switchAdminOn,
  withSpec,
  withMetadata,
  type Alteration,
} from '../simulation/webhook.ts'

/** Moves it, and takes our annotations away. */
const moveUnmarked: Alteration = (output) => stripAnnotations(moveToProxy(output))

/** Puts a webhook in the way of the operator, and counts what it makes the server store. */
function install(sim: SteeredSimulation, webhook: Alteration): { stored: number; asked: number } {
  const counts = { stored: 0, asked: 0 }
  sim.server.admission = (resource, object, by) => {
    if (resource !== CLUSTER_SPIFFE_IDS || by === 'user') return object
    counts.asked += 1
    return webhook(object)
  }
  sim.server.onChange(({ resource, object, by, type }) => {
    const isWritten = resource === CLUSTER_SPIFFE_IDS && by !== 'user' && type !== 'DELETED'
    if (isWritten && !isDeleting(object)) counts.stored += 1
  })
  return counts
}

describe('an output that comes back altered is deleted, and never written again while it would be', () => {
  test.each<[string, Alteration, string]>([
    ['its selectors are stripped', stripSelectors, '.spec.workloadSelectorTemplates'],
    ['admin is switched on', switchAdminOn, '.spec.admin'],
    ['our annotations are stripped', stripAnnotations, '.metadata.annotations'],
  ])('%s when it is created', async (_, webhook, field) => {
    const sim = await SteeredSimulation.of({})
    const counts = install(sim, webhook)
    sim.createBinding('a', 'vllm')
    await sim.runUntilQuiet(1_200_000)
    expect(sim.problems()).toEqual([])
    expect(sim.server.all(CLUSTER_SPIFFE_IDS)).toEqual([])
    expect(sim.reason('a')).toBe('ManagedOutputApplyFailed')
    expect(sim.message('a')).toContain(field)
    // Later tries were dry runs, with backoff.
    expect(counts.stored).toBe(1)
    expect(counts.asked).toBeGreaterThan(8)
    expect(counts.asked).toBeLessThan(16)
    removeWebhook(sim.server)
    expect(await sim.problemsOnceQuiet()).toEqual([])
    expect(sim.reason('a')).toBe('Reconciled')
  })

  test.each<[string, Alteration]>([
    ['its selectors are stripped', stripSelectors],
    ['our annotations are stripped', stripAnnotations],
  ])('%s when it is updated', async (_, webhook) => {
    const sim = await SteeredSimulation.of({ a: 'vllm' })
    const counts = install(sim, webhook)
    sim.editBinding('a', { containerName: 'proxy' })
    await sim.runUntilQuiet(60_000)
    expect(sim.problems()).toEqual([])
    expect(sim.server.all(CLUSTER_SPIFFE_IDS)).toEqual([])
    expect(sim.reason('a')).toBe('ManagedOutputApplyFailed')
    expect(counts.stored).toBe(1)
    removeWebhook(sim.server)
    expect(await sim.problemsOnceQuiet()).toEqual([])
  })

  test('it is altered when a dangerous hand edit is put back', async () => {
    const sim = await SteeredSimulation.of({ a: 'vllm' })
    const counts = install(sim, stripSelectors)
    sim.editOutput(sim.output('a') ?? {}, { spec: { admin: true } })
    await sim.runUntilQuiet(60_000)
    expect(sim.server.all(CLUSTER_SPIFFE_IDS)).toEqual([])
    expect(sim.reason('a')).toBe('ManagedOutputApplyFailed')
    expect(counts.stored).toBe(1)
    removeWebhook(sim.server)
    expect(await sim.problemsOnceQuiet()).toEqual([])
    // It was withdrawn: writing it again puts nothing back.
    expect(sim.life.repairs).toBe(0)
  })

  test('the binding asks for another output meanwhile: that is tried at once, and dry', async () => {
    const sim = await SteeredSimulation.of({})
    const counts = install(sim, stripSelectors)
    sim.createBinding('a', 'vllm')
    await sim.runUntilQuiet(60_000)
    const { asked } = counts
    sim.editBinding('a', { containerName: 'proxy' })
    await sim.runUntilQuiet(0)
    expect(counts.asked).toBe(asked + 1)
    expect(counts.stored).toBe(1)
  })
})

describe('an output that is live as it is proven now stays while an update of the rest is refused', () => {
  test.each<[string, Alteration, JsonRecord]>([
    ['a policy denies it', denies, { hint: 'other' }],
    ['a webhook would alter it', switchAdminOn, { hint: 'other' }],
    ['a policy denies it, of several fields', denies, { hint: 'other', ttl: '1h' }],
  ])('%s', async (_, webhook, spec) => {
    const sim = await SteeredSimulation.of({ a: 'vllm' })
    const before = sim.output('a')
    const counts = install(sim, webhook)
    sim.editOutput(before ?? {}, { spec })
    await sim.runUntilQuiet(1_200_000)
    expect(sim.problems()).toEqual([])
    expect(sim.outputs('a').map((output) => dig(output, 'metadata', 'uid'))).toEqual([
      dig(before, 'metadata', 'uid'),
    ])
    expect(sim.reason('a')).toBe('Undetermined')
    const fields = Object.keys(spec).map((field) => `.spec.${field}`)
    expect(sim.message('a')).toBe(
      `cannot update ${fields.join(', ')} of ClusterSPIFFEID ${stringAt(before, 'metadata', 'name')}: refused`,
    )
    // Each try is a dry run, with backoff.
    expect(counts.stored).toBe(0)
    expect(counts.asked).toBeGreaterThan(8)
    expect(counts.asked).toBeLessThan(16)
    await sim.crash(() => true)
    await sim.start({ leadsFirst: false })
    await sim.runUntilQuiet(60_000)
    expect(counts.stored).toBe(0)
    expect(sim.outputs('a')).toHaveLength(1)
    removeWebhook(sim.server)
    expect(await sim.problemsOnceQuiet()).toEqual([])
    expect(sim.reason('a')).toBe('Reconciled')
    expect(dig(sim.output('a'), 'metadata', 'uid')).toBe(dig(before, 'metadata', 'uid'))
  })

  test('what is live otherwise than it is proven is withdrawn', async () => {
    const sim = await SteeredSimulation.of({ a: 'vllm' })
    install(sim, denies)
    sim.editBinding('a', { containerName: 'proxy' })
    await sim.runUntilQuiet(60_000)
    expect(sim.outputs('a')).toEqual([])
    expect(sim.reason('a')).toBe('ManagedOutputApplyFailed')
  })
})

test('an output of which only the labels come back altered stays, and the log says so', async () => {
  const sim = await SteeredSimulation.of({})
  install(sim, (output) => withMetadata(output, { labels: { 'kleym.sonda.red/binding-name': 'a' } }))
  sim.createBinding('a', 'vllm')
  await sim.runUntilQuiet(60_000)
  expect(sim.problems()).toEqual([])
  expect(sim.outputs('a')).toHaveLength(1)
  expect(sim.reason('a')).toBe('Reconciled')
  const warnings = sim.life.lines.filter(({ level }) => level === 'warn').map(({ message }) => message)
  expect(warnings).toEqual(['an output comes back other than it is written; it is left so until it changes'])
})

test('what the server sets again in every update is not written again, nor after a restart', async () => {
  const sim = await SteeredSimulation.of({})
  const counts = install(sim, (output) => withSpec(output, { ttl: '1h' }))
  sim.createBinding('a', 'vllm')
  await sim.runUntilQuiet(60_000)
  expect(sim.outputs('a')).toHaveLength(1)
  expect(counts.stored).toBe(1)
  await sim.crash(() => true)
  await sim.start({ leadsFirst: false })
  await sim.runUntilQuiet(60_000)
  expect(counts.stored).toBe(1)
  expect(sim.reason('a')).toBe('Reconciled')
})

test('after a restart the status is the memory: nothing altered is stored once more', async () => {
  const sim = await SteeredSimulation.of({})
  const counts = install(sim, stripSelectors)
  sim.createBinding('a', 'vllm')
  await sim.runUntilQuiet(60_000)
  await sim.crash(() => true)
  const { asked } = counts
  await sim.start({ leadsFirst: false })
  await sim.runUntilQuiet(60_000)
  expect(counts.stored).toBe(1)
  expect(counts.asked).toBeGreaterThan(asked)
  expect(sim.reason('a')).toBe('ManagedOutputApplyFailed')
  removeWebhook(sim.server)
  expect(await sim.problemsOnceQuiet()).toEqual([])
})

test('a finalizer that goes during a dry run is put back before the output is written', async () => {
  const sim = await SteeredSimulation.of({})
  install(sim, stripSelectors)
  sim.createBinding('a', 'vllm')
  await sim.runUntilQuiet(60_000)
  removeWebhook(sim.server)
  sim.editBinding('a', { containerName: 'proxy' })
  const rehearsal = await sim.heldRequest('create')
  expect(rehearsal.dryRun).toBe(true)
  sim.stripFinalizers('a')
  await sim.runUntilQuiet(0, { holds: (call) => call === rehearsal })
  await sim.carryOut(rehearsal)
  expect(await sim.problemsOnceQuiet()).toEqual([])
  expect(sim.reason('a')).toBe('Reconciled')
})

test('a dry run that comes back unaltered proves nothing of the write after it', async () => {
  const sim = await SteeredSimulation.of({})
  install(sim, stripSelectors)
  sim.createBinding('a', 'vllm')
  await sim.runUntilQuiet(60_000)
  let asked = 0
  sim.server.admission = (resource, object, by) => {
    if (resource !== CLUSTER_SPIFFE_IDS || by === 'user') return object
    asked += 1
    return asked % 2 === 1 ? object : stripSelectors(object)
  }
  await sim.runUntilQuiet(300_000)
  expect(asked).toBeGreaterThan(1)
  expect(sim.server.all(CLUSTER_SPIFFE_IDS)).toEqual([])
  expect(sim.reason('a')).toBe('ManagedOutputApplyFailed')
})

describe('it claims until it is gone', () => {
  test('what the answer says, though it does not carry our annotations', async () => {
    const sim = await SteeredSimulation.of({})
    install(sim, moveUnmarked)
    sim.createBinding('a', 'vllm')
    const removal = await sim.heldRequest('delete')
    sim.createBinding('b', 'proxy')
    await sim.runUntilQuiet(0, { holds: (call) => call === removal })
    expect(sim.reason('b')).toBe('WaitingForPeer')
    removeWebhook(sim.server)
    expect(await sim.problemsOnceQuiet()).toEqual([])
    expect([sim.reason('a'), sim.reason('b')]).toEqual(['Reconciled', 'Reconciled'])
  })

  test('what the answer says, though its name tells nothing either', async () => {
    const sim = await SteeredSimulation.of({})
    install(sim, (output) => withMetadata(moveUnmarked(output), { name: 'renamed' }))
    sim.createBinding('a', 'vllm')
    const removal = await sim.heldRequest('delete')
    expect(removal.name).toBe('renamed')
    sim.createBinding('b', 'proxy')
    await sim.runUntilQuiet(0, { holds: (call) => call === removal })
    expect(sim.reason('b')).toBe('WaitingForPeer')
    removeWebhook(sim.server)
    expect(await sim.problemsOnceQuiet()).toEqual([])
    expect([sim.reason('a'), sim.reason('b')]).toEqual(['Reconciled', 'Reconciled'])
  })

  test('what was to be written, though the answer claims nothing', async () => {
    const sim = await SteeredSimulation.of({})
    install(sim, stripSelectors)
    sim.createBinding('a', 'vllm')
    const removal = await sim.heldRequest('delete')
    sim.editBinding('a', { containerName: 'proxy' })
    sim.createBinding('b', 'vllm')
    await sim.runUntilQuiet(0, { holds: (call) => call === removal })
    expect(sim.reason('b')).toBe('WaitingForPeer')
    removeWebhook(sim.server)
    expect(await sim.problemsOnceQuiet()).toEqual([])
  })

  test.each(['failed', 'answer lost', 'request lost', 'throttled', 'conflict', 'forbidden'] as const)(
    'a delete that comes to "%s" is made again',
    async (fate) => {
      const sim = await SteeredSimulation.of({})
      install(sim, stripAnnotations)
      sim.createBinding('a', 'vllm')
      await sim.carryOut(await sim.heldRequest('delete'), fate)
      await sim.runUntilQuiet(60_000)
      expect(sim.server.all(CLUSTER_SPIFFE_IDS)).toEqual([])
      expect(sim.reason('a')).toBe('ManagedOutputApplyFailed')
      removeWebhook(sim.server)
      expect(await sim.problemsOnceQuiet()).toEqual([])
    },
  )

  test.each<[string, Alteration]>([
    ['with our annotations', stripSelectors],
    ['without our annotations', stripAnnotations],
  ])('a finalizer keeps it, %s', async (_, webhook) => {
    const sim = await SteeredSimulation.of({})
    install(sim, (output) => setFinalizer(webhook(output)))
    sim.createBinding('a', 'vllm')
    await sim.runUntilQuiet(120_000)
    expect(sim.reason('a')).toBe('Undetermined')
    expect(sim.message('a')).toContain('held by finalizers')
    const [held] = sim.server.all(CLUSTER_SPIFFE_IDS)
    sim.server.update(CLUSTER_SPIFFE_IDS, withMetadata(held ?? {}, { finalizers: [] }), 'user')
    await sim.runUntilQuiet(60_000)
    expect(sim.reason('a')).toBe('ManagedOutputApplyFailed')
    removeWebhook(sim.server)
    expect(await sim.problemsOnceQuiet()).toEqual([])
  })

  test('its binding is deleted, and stays until it is gone', async () => {
    const sim = await SteeredSimulation.of({})
    install(sim, (output) => setFinalizer(stripAnnotations(output)))
    sim.createBinding('a', 'vllm')
    await sim.runUntilQuiet(10_000)
    sim.deleteBinding('a')
    await sim.runUntilQuiet(120_000)
    expect(sim.server.find(BINDINGS, { namespace: 'team-a', name: 'a' })).toBeDefined()
    const [held] = sim.server.all(CLUSTER_SPIFFE_IDS)
    sim.server.update(CLUSTER_SPIFFE_IDS, withMetadata(held ?? {}, { finalizers: [] }), 'user')
    expect(await sim.problemsOnceQuiet()).toEqual([])
    expect(sim.server.find(BINDINGS, { namespace: 'team-a', name: 'a' })).toBeUndefined()
  })
})

/** A binding whose POST a webhook has stripped of our annotations, and whose operator has died before the answer. */
async function leftBehind(alter: Alteration): Promise<SteeredSimulation> {
  const sim = await SteeredSimulation.of({})
  install(sim, alter)
  sim.createBinding('a', 'vllm')
  await sim.carryOut(await sim.heldRequest('create'))
  await sim.crash(() => true)
  removeWebhook(sim.server)
  return sim
}

describe('what nobody was told of', () => {
  test.each<[string, Alteration, string]>([
    ['as it was sent', stripAnnotations, 'vllm'],
    ['with another container', moveUnmarked, 'proxy'],
  ])('claims after a restart, %s, until somebody deletes it', async (_, alter, container) => {
    const sim = await leftBehind(alter)
    sim.editBinding('a', { containerName: 'tuner' })
    sim.createBinding('b', container)
    await sim.start({ leadsFirst: false })
    await sim.runUntilQuiet(120_000)
    const [left] = sim.server.all(CLUSTER_SPIFFE_IDS)
    expect(sim.server.all(CLUSTER_SPIFFE_IDS)).toHaveLength(1)
    expect([sim.reason('a'), sim.reason('b')]).toEqual(['OutputNotOwned', 'WaitingForPeer'])
    const { name } = refOf(left ?? {})
    expect(sim.message('b')).toContain(`${name}, which claims the same container`)
    sim.server.delete(CLUSTER_SPIFFE_IDS, { name }, {}, 'user')
    expect(await sim.problemsOnceQuiet()).toEqual([])
    expect([sim.reason('a'), sim.reason('b')]).toEqual(['Reconciled', 'Reconciled'])
  })

  test('lets its peers go on when it goes, though its binding is gone and names nothing', async () => {
    const sim = await leftBehind(stripAnnotations)
    sim.forceDelete('a')
    sim.createBinding('b', 'vllm')
    await sim.start({ leadsFirst: false })
    await sim.runUntilQuiet(120_000)
    expect(sim.reason('b')).toBe('WaitingForPeer')
    const [left] = sim.server.all(CLUSTER_SPIFFE_IDS)
    sim.server.delete(CLUSTER_SPIFFE_IDS, refOf(left ?? {}), {}, 'user')
    await sim.runUntilQuiet(0)
    expect(sim.reason('b')).toBe('Reconciled')
  })
})
