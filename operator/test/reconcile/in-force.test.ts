// When the status says whether SCM acts on an output (docs/contract.md §7, `InForce`).
import { expect, test } from 'vitest'
import { ApiError } from '@kleym/shared/kube/errors.ts'
import { listAt, stringAt, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import { BINDINGS, CLUSTER_SPIFFE_IDS } from '@kleym/shared/kube/resources.ts'
import { metadataOf } from '../simulation/cluster.ts'
import { SteeredSimulation } from '../simulation/steered.ts'

const MINUTE_MS = 60_000

/** The reason of `InForce` of a binding. */
function inForce(sim: SteeredSimulation, name: string): string | undefined {
  const object = sim.server.get(BINDINGS, { namespace: 'team-a', name })
  const found = listAt(object, 'status', 'conditions').find(
    (condition) => stringAt(condition, 'type') === 'InForce',
  )
  return stringAt(found, 'reason')
}

/** What SCM writes into the status of an output. */
function count(sim: SteeredSimulation, name: string, stats: JsonRecord): void {
  const output = sim.output(name)
  if (output === undefined) throw new Error(`${name} has no output`)
  sim.server.update(
    CLUSTER_SPIFFE_IDS,
    { ...output, metadata: metadataOf(output), status: { stats } },
    'user',
    { subresource: 'status' },
  )
}

const SERVED = { namespacesSelected: 1, podsSelected: 2, entriesToSet: 2 }
const EMPTY = { namespacesSelected: 1 }

test('SCM has a minute, and what it says is reported at once', async () => {
  const sim = await SteeredSimulation.of({})
  sim.createBinding('a', 'vllm')
  await sim.runUntilQuiet(0)
  expect(inForce(sim, 'a')).toBe('Pending')
  count(sim, 'a', SERVED)
  await sim.runUntilQuiet(0)
  expect(inForce(sim, 'a')).toBe('Registered')
})

test('an SCM that never looks is reported after a minute', async () => {
  const sim = await SteeredSimulation.of({})
  sim.createBinding('a', 'vllm')
  await sim.runUntilQuiet(0)
  await sim.advance(MINUTE_MS)
  await sim.runUntilQuiet(0)
  expect(inForce(sim, 'a')).toBe('NotHandled')
})

test('once SCM has spoken, the end of its minute needs no look', async () => {
  const sim = await SteeredSimulation.of({})
  sim.createBinding('a', 'vllm')
  await sim.runUntilQuiet(0)
  count(sim, 'a', SERVED)
  await sim.runUntilQuiet(0)
  const { looks } = sim.life
  await sim.advance(2 * MINUTE_MS)
  await sim.runUntilQuiet(0)
  expect(sim.life.looks).toBe(looks)
})

test('pods that go are reported after a minute, with one write', async () => {
  const sim = await SteeredSimulation.of({ a: 'vllm' })
  count(sim, 'a', SERVED)
  await sim.runUntilQuiet(0)
  const { writes } = sim.watchdog
  count(sim, 'a', EMPTY)
  await sim.runUntilQuiet(0)
  expect(inForce(sim, 'a')).toBe('Registered')
  await sim.advance(MINUTE_MS)
  await sim.runUntilQuiet(0)
  expect(inForce(sim, 'a')).toBe('NoPods')
  expect(sim.watchdog.writes - writes).toBe(1)
})

test('an output that is made again by the operator is pending again, and not without output', async () => {
  const sim = await SteeredSimulation.of({ a: 'vllm' })
  count(sim, 'a', SERVED)
  await sim.runUntilQuiet(0)
  const { name } = metadataOf(sim.output('a') ?? {})
  sim.server.delete(CLUSTER_SPIFFE_IDS, { name: String(name) }, {}, 'user')
  await sim.runUntilQuiet(0)
  expect(sim.reason('a')).toBe('Reconciled')
  expect(inForce(sim, 'a')).toBe('Pending')
})

test('a repair starts nothing: what SCM has said stays', async () => {
  const sim = await SteeredSimulation.of({ a: 'vllm' })
  count(sim, 'a', SERVED)
  await sim.runUntilQuiet(0)
  const output = sim.output('a')
  if (output !== undefined) sim.editOutput(output, { spec: { hint: 'mine' } })
  await sim.runUntilQuiet(0)
  expect(inForce(sim, 'a')).toBe('Registered')
})

/** The operator is killed, and a new one starts. */
async function restart(sim: SteeredSimulation): Promise<void> {
  await sim.crash(() => false)
  await sim.start({ leadsFirst: false, workers: 4 })
  await sim.runUntilQuiet(0)
}

test('who takes over gives SCM its minute again: counters of before the write are no word about it', async () => {
  const sim = await SteeredSimulation.of({ a: 'vllm' })
  count(sim, 'a', SERVED)
  await sim.runUntilQuiet(0)
  sim.editBinding('a', { containerName: 'proxy' })
  await sim.runUntilQuiet(0)
  expect(inForce(sim, 'a')).toBe('Pending')
  await restart(sim)
  expect(inForce(sim, 'a')).toBe('Pending')
  await sim.advance(MINUTE_MS)
  await sim.runUntilQuiet(0)
  expect(inForce(sim, 'a')).toBe('Registered')
})

test('after a take-over what SCM says anew is reported at once', async () => {
  const sim = await SteeredSimulation.of({})
  sim.createBinding('a', 'vllm')
  await sim.runUntilQuiet(0)
  expect(inForce(sim, 'a')).toBe('Pending')
  await restart(sim)
  count(sim, 'a', SERVED)
  await sim.runUntilQuiet(0)
  expect(inForce(sim, 'a')).toBe('Registered')
})

test('a reference that a live read has to confirm does not end the minute of SCM', async () => {
  const sim = await SteeredSimulation.of({ a: 'vllm' })
  count(sim, 'a', SERVED)
  await sim.runUntilQuiet(0)
  sim.editBinding('a', { containerName: 'proxy' })
  await sim.runUntilQuiet(0)
  expect(inForce(sim, 'a')).toBe('Pending')
  sim.deleteObjective('chat-a')
  await sim.heldRequest('get')
  sim.createObjective('chat-a')
  await sim.runUntilQuiet(0)
  expect([sim.reason('a'), inForce(sim, 'a')]).toEqual(['Reconciled', 'Pending'])
})

test('a refused binding has no output', async () => {
  const sim = await SteeredSimulation.of({ a: 'vllm' })
  sim.createBinding('b', 'vllm')
  await sim.runUntilQuiet(0)
  expect([inForce(sim, 'a'), inForce(sim, 'b')]).toEqual(['NoOutput', 'NoOutput'])
})

/** Refuses a status as an API server does whose CRD does not know it. */
function refuse(): never {
  throw new ApiError({ status: 422, reason: 'Invalid', message: 'not a status of this CRD' })
}

function hasInForce(object: JsonRecord): boolean {
  return listAt(object, 'status', 'conditions').some((condition) => stringAt(condition, 'type') === 'InForce')
}

test('a CRD that does not know InForce gets statuses without it', async () => {
  const sim = await SteeredSimulation.of({})
  sim.server.statusAdmission = (object) => {
    if (hasInForce(object)) refuse()
    return object['status']
  }
  sim.createBinding('a', 'vllm')
  await sim.runUntilQuiet(0)
  expect([sim.reason('a'), inForce(sim, 'a')]).toEqual(['Reconciled', undefined])
})

test('a status that is refused with and without InForce takes the condition from no other binding', async () => {
  const sim = await SteeredSimulation.of({})
  sim.server.statusAdmission = (object) => {
    if (metadataOf(object)['name'] === 'large') refuse()
    return object['status']
  }
  sim.createBinding('large', 'vllm')
  await sim.runUntilQuiet(0)
  sim.createBinding('a', 'proxy')
  await sim.runUntilQuiet(0)
  expect([sim.reason('a'), inForce(sim, 'a')]).toEqual(['Reconciled', 'Pending'])
})
