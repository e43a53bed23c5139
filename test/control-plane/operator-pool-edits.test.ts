// One tenant edits a pool of 64 labels that many of its bindings name, all the time: the operator keeps its Lease, and a binding
// of another namespace waits for its turn and no longer (docs/reliability.md, "One tenant's many bindings"). Fewer than
// `npm run bench:pool-edits` has, which measures.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stringAt } from '../../shared/src/core/base/json.ts'
import type { ControlPlane } from './control-plane.ts'
import { bindingId, conditionOf, estate, member, objective, outputs, outputsOf, ownerOf } from './objects.ts'
import { startLeading, startOperatorPlane, stopAll } from './operator.ts'
import { createTenants, readyBesideEdits } from './pool-edits.ts'
import { idOf } from './rest.ts'
import { until } from '@kleym/testing/wait.ts'

/** On a machine that the tests share; what is aimed at is a second. */
const READY_MS = 5_000

let cp: ControlPlane
beforeAll(async () => {
  cp = await startOperatorPlane()
})
afterAll(() => stopAll(cp))

test('300 bindings of a pool that is edited 14 times a second hold up no binding of another namespace', async () => {
  const edits = { bindings: 300, editsPerSecond: 14, labels: 64, seconds: 6 }
  await createTenants(cp, edits)
  const operator = await startLeading(cp)
  const times = await readyBesideEdits(cp, edits)
  expect(times.length).toBeGreaterThan(1)
  expect(Math.max(...times)).toBeLessThan(READY_MS)
  // Whoever loses the Lease ends.
  expect(operator.program.ended()).toBeUndefined()
  expect(operator.log().filter(({ level }) => level === 'error')).toEqual([])
  expect(await operator.stop()).toBe('exit code 0')
})

test('a limit on writes is shared by namespace: others are Ready at once, and no withdrawal is held back', async () => {
  const space = 'busy'
  const names = Array.from({ length: 60 }, (_, at) => `b-${at}`)
  await cp.apply([...estate(space), ...estate('quiet')])
  await cp.apply(names.flatMap((name) => member(space, name, { containerName: name })))
  // Three writes for each binding.
  await startLeading(cp, { flags: ['--writes-per-second=12'] })
  const first = await until(async () => {
    const all = await cp.admin.list({ ...bindingId(space, ''), namespace: space })
    const ready = all.find((one) => stringAt(conditionOf(one, 'Ready'), 'status') === 'True')
    return ready && stringAt(ready, 'metadata', 'name')
  }, 'a first binding to be Ready')
  await cp.apply(member('quiet', 'chat'))
  await cp.admin.delete(idOf(objective(space, first, 'llama')))
  await until(
    async () => (await outputsOf(cp, space, first)).length === 0,
    'the output to be withdrawn',
    READY_MS,
  )
  await until(
    async () => (await outputsOf(cp, 'quiet', 'chat')).length === 1,
    'the other namespace to have its output',
    READY_MS,
  )
  const written = (await outputs(cp)).filter((one) => ownerOf(one).startsWith(`${space}/`))
  expect(written.length).toBeLessThan(names.length)
})
