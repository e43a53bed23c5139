// What changes while a binding converges, and what a new leader finds done (docs/contract.md §6 to §8).
import { expect, test } from 'vitest'
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
