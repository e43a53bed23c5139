// The operator killed at each of its writes, before the write is carried out and after it, and started again: the same
// final state each time (docs/contract.md §8). There is no Lease here: a killed holder's would have to run out first, 15 s
// for each of some hundred kills, and what a restart finds is the same (failover has a suite of its own).
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dig, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import type { ControlPlane } from './control-plane.ts'
import {
  goTo,
  prepare,
  settled,
  stateOf,
  untilState,
  writePoint,
  type ConvergenceSide,
  type State,
} from './convergence.ts'
import { startFaultProxy, type FaultProxy } from './fault-proxy.ts'
import type { Fault, Injection } from './fault-rules.ts'
import { watchNeverTwo, type NeverTwo } from './never-two.ts'
import { outputId, outputs } from './objects.ts'
import { startOperator, startOperatorPlane, stopAll, type RunningOperator } from './operator.ts'
import { until } from '@kleym/testing/wait.ts'
import { judgeWrites } from './write-rules.ts'

const SPACE = 'killed'

/** One side after a run in peace, and the writes that led there. */
interface Peace {
  readonly side: ConvergenceSide
  readonly state: State
  readonly writes: readonly string[]
}

let cp: ControlPlane
let proxy: FaultProxy
let operator: RunningOperator
let neverTwo: NeverTwo
let after: Peace
let before: Peace
let bystanders: readonly JsonRecord[]

beforeAll(async () => {
  cp = await startOperatorPlane()
  proxy = await startFaultProxy(cp)
  neverTwo = await watchNeverTwo(cp)
  operator = await start()
  await prepare(cp, SPACE)
  // Its last events come with its end: none of them is taken for a write of the way that follows.
  await inPeace('before')
  bystanders = await putBystanders()
  after = await inPeace('after')
  before = await inPeace('before')
})
afterAll(() => stopAll(neverTwo, proxy, cp))

function start(): Promise<RunningOperator> {
  return startOperator(cp, { server: proxy.server, flags: ['--leader-elect=false'] })
}

/** Goes to one side with no fault, and notes how that was. Stopping writes the last events. */
async function inPeace(side: ConvergenceSide): Promise<Peace> {
  const began = proxy.requests.length
  await goTo(cp, SPACE, side)
  await settled(cp, SPACE, side)
  expect(await operator.stop()).toBe('exit code 0')
  const points = proxy.requests.slice(began).flatMap((request) => writePoint(request) ?? [])
  const peace = { side, state: await stateOf(cp, SPACE), writes: [...new Set(points)] }
  operator = await start()
  return peace
}

/** Objects that are not kleym's, one of them a copy of an output of ours under a name of its own. */
async function putBystanders(): Promise<readonly JsonRecord[]> {
  const [copied] = await outputs(cp)
  const { apiVersion, kind, spec } = copied ?? {}
  const labels = dig(copied, 'metadata', 'labels')
  const own = { spiffeIDTemplate: 'spiffe://example.org/somebody', podSelector: { matchLabels: { a: 'b' } } }
  return Promise.all([
    cp.admin.create({ apiVersion, kind, metadata: { name: 'copy', labels }, spec }),
    cp.admin.create({ apiVersion, kind, metadata: { name: 'somebody-else' }, spec: own }),
  ])
}

/**
 * Goes to a side; the operator is killed at one write of the way, and started again. Undefined where it never came there,
 * which only a write by chance may be: the others are waited for, as an event can come long after the state it is about.
 */
async function killAt(point: string, fault: Fault, side: ConvergenceSide): Promise<Injection | undefined> {
  const injection = proxy.inject({ when: (request) => writePoint(request) === point, fault })
  await goTo(cp, SPACE, side)
  const wanted = side === 'after' ? after.state : before.state
  const hit = injection.hit().catch((cause: unknown) => {
    throw new Error(`${point}, going to ${side}, never came`, { cause })
  })
  await (isByChance(point) ? Promise.race([hit, untilState(cp, SPACE, wanted)]) : hit)
  injection.remove()
  if (injection.hits.length === 0) return undefined
  // Of an answer that is held, the write has been carried out once it stands there.
  await until(() => injection.hits[0]?.outcome === 'held', `${point} to be held`)
  await operator.kill()
  return injection
}

/**
 * Kills at each such write of both ways in turn, and expects what peace has led to each time. Returns how often it has
 * killed.
 */
async function killAtEach(fault: Fault, isMeant: (point: string) => boolean): Promise<number> {
  const ways = [after, before].map((peace) => ({ ...peace, points: peace.writes.filter(isMeant) }))
  const longest = Math.max(...ways.map(({ points }) => points.length))
  let killed = 0
  for (let at = 0; at < longest; at++) {
    for (const { side, state, points } of ways) {
      const point = points[at] ?? 'nothing'
      const injection = point === 'nothing' ? undefined : await killAt(point, fault, side)
      if (injection !== undefined) {
        killed++
        injection.release('drop')
        operator = await start()
      }
      if (point === 'nothing') await goTo(cp, SPACE, side)
      await untilState(cp, SPACE, state).catch((cause: unknown) => {
        throw new Error(`killed at ${point}, going to ${side}`, { cause })
      })
    }
  }
  return killed
}

/** Of two that swap their containers, either may wait for the other, and be withdrawn or updated: as chance has it. */
function isByChance(point: string): boolean {
  return /first|second/.test(point)
}

test('the scenario has every sort of write that there is', () => {
  const sorts = [...after.writes, ...before.writes].map(
    (point) =>
      /^POST event|^(?:POST|PUT|DELETE) ClusterSPIFFEID|^PUT status|^PATCH finalizer \w+/.exec(point)?.[0],
  )
  expect(new Set(sorts)).toEqual(
    new Set([
      'POST ClusterSPIFFEID',
      'PUT ClusterSPIFFEID',
      'DELETE ClusterSPIFFEID',
      'PUT status',
      'PATCH finalizer onto',
      'PATCH finalizer off',
      'POST event',
    ]),
  )
  // Those of `deleted`, `gone`, `left`, `right`, `renamed` and `role` (their old names) and `withdrawn`.
  const deletes = after.writes.filter((point) => point.startsWith('DELETE') && !isByChance(point))
  expect(deletes).toHaveLength(7)
})

test('killed before any one of its writes is carried out, it comes to the same state', async () => {
  // But for events: nothing waits for them, so to lose one is to be killed after the status.
  const killed = await killAtEach({ kind: 'hold' }, (point) => !point.includes('event'))
  expect(killed).toBeGreaterThan(30)
})

test('killed after any one of its writes, before the answer, it comes to the same state', async () => {
  const killed = await killAtEach({ kind: 'hold answer' }, () => true)
  expect(killed).toBeGreaterThan(40)
})

test('a POST that arrives when its sender is long dead and its binding wants something else is undone', async () => {
  // Those that swap are left out: for a moment there would be two, which no later write can prevent (docs/contract.md §6).
  const late = before.writes.filter((point) => point.startsWith('POST Cluster') && !isByChance(point))
  expect(late).toHaveLength(6)
  for (const point of late) {
    await goTo(cp, SPACE, 'after')
    await untilState(cp, SPACE, after.state)
    const injection = await killAt(point, { kind: 'hold' }, 'before')
    operator = await start()
    await untilState(cp, SPACE, before.state)
    await goTo(cp, SPACE, 'after')
    await untilState(cp, SPACE, after.state)
    injection?.release('forward')
    const status = await until(() => injection?.hits[0]?.status, `${point} to arrive at last`)
    expect(`${point}: ${status}`).toBe(`${point}: 201`)
    await untilState(cp, SPACE, after.state)
  }
})

test('in all of that nothing foreign was touched, and never were there two on one container', async () => {
  for (const bystander of bystanders) {
    expect(await cp.admin.get(outputId(stringAt(bystander, 'metadata', 'name') ?? ''))).toEqual(bystander)
  }
  expect((await judgeWrites(cp)).broken).toEqual([])
  await neverTwo.holds()
})
