// How an edited output is put back, and when it is left (docs/contract.md §8).
import { describe, expect, test } from 'vitest'
import { stringAt, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import { CLUSTER_SPIFFE_IDS } from '@kleym/shared/kube/resources.ts'
import { FakeClock } from '@kleym/testing/fake-clock.ts'
import { Repairs } from '../../src/reconcile/repairs.ts'
import { OUTPUT } from '../build/outputs.ts'
import { refOf } from '../simulation/cluster.ts'
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

const TOO_OFTEN = 'changed or deleted too often by another client'

describe('while a repair waits', () => {
  test.each<[string, (sim: SteeredSimulation, output: JsonRecord) => void, string]>([
    [
      'an output that reaches other pods',
      moveToOtherPods,
      `cannot update ClusterSPIFFEID NAME: ${TOO_OFTEN}`,
    ],
    ['an output that is gone', removeOutput, `cannot create ClusterSPIFFEID NAME: ${TOO_OFTEN}`],
    ['an output that only lacks a label', stripLabels, 'compiled into ClusterSPIFFEID NAME'],
  ])('%s', async (_, act, message) => {
    const sim = await SteeredSimulation.of({ a: 'vllm' })
    const name = stringAt(sim.output('a'), 'metadata', 'name') ?? ''
    for (let at = 0; at < 3; at++) {
      act(sim, sim.server.get(CLUSTER_SPIFFE_IDS, { name }))
      await sim.runUntilQuiet(0)
    }
    expect(sim.message('a')).toBe(message.replace('NAME', name))
    expect(await sim.problemsOnceQuiet()).toEqual([])
    expect(sim.reason('a')).toBe('Reconciled')
  })
})

function moveToOtherPods(sim: SteeredSimulation, output: JsonRecord): void {
  sim.editOutput(output, { spec: { podSelector: { matchLabels: { app: 'other' } } } })
}

function removeOutput(sim: SteeredSimulation, output: JsonRecord): void {
  sim.server.delete(CLUSTER_SPIFFE_IDS, refOf(output), {}, 'user')
}

function stripLabels(sim: SteeredSimulation, output: JsonRecord): void {
  sim.editOutput(output, { metadata: { labels: {} } })
}

/** Repairs as soon as the advice allows, so many times; returns the waits in milliseconds. */
function waitsOf(count: number): readonly number[] {
  const clock = new FakeClock()
  const repairs = new Repairs({ clock })
  repairs.written(OUTPUT, undefined, { isRepair: false, isPut: false })
  return Array.from({ length: count }, () => {
    const advice = repairs.advise(OUTPUT, undefined)
    const ms = advice.kind === 'pause' ? advice.ms : 0
    clock.advance(ms)
    expect(repairs.advise(OUTPUT, undefined)).toEqual({ kind: 'write', isRepair: true })
    repairs.written(OUTPUT, undefined, { isRepair: true, isPut: true })
    return ms
  })
}

describe('the waits between repairs of one output', () => {
  test('two are made at once, then they double up to 5 minutes', () => {
    expect(waitsOf(11)).toEqual([
      0, 0, 5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000, 300_000,
    ])
  })

  test('a quiet time of a minute, and of twice the last wait, ends them', () => {
    const clock = new FakeClock()
    const repairs = new Repairs({ clock })
    const repair = (): void => void repairs.written(OUTPUT, undefined, { isRepair: true, isPut: true })
    for (let count = 0; count < 3; count++) repair()
    clock.advance(60_001)
    repair()
    expect(repairs.advise(OUTPUT, undefined)).toEqual({ kind: 'write', isRepair: true })
  })

  test('an output that was withdrawn, or another one under its name, is no repair', () => {
    const repairs = new Repairs({ clock: new FakeClock() })
    repairs.written(OUTPUT, undefined, { isRepair: false, isPut: false })
    const other = { ...OUTPUT, spec: { ...OUTPUT.spec, hint: 'other' } }
    expect(repairs.advise(other, undefined)).toEqual({ kind: 'write', isRepair: false })
    repairs.forget(OUTPUT.metadata.name)
    expect(repairs.advise(OUTPUT, undefined)).toEqual({ kind: 'write', isRepair: false })
  })
})

test('of a binding that is gone without its finalizer nothing is remembered', () => {
  const repairs = new Repairs({ clock: new FakeClock() })
  repairs.written(OUTPUT, undefined, { isRepair: false, isPut: false })
  expect(repairs.advise(OUTPUT, undefined)).toEqual({ kind: 'write', isRepair: true })
  repairs.forgetBinding('team-a/another')
  expect(repairs.size).toBe(1)
  repairs.forgetBinding(OUTPUT.metadata.annotations['kleym.sonda.red/binding'] ?? '')
  expect(repairs.size).toBe(0)
})
