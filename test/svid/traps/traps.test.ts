// Every trap (docs/spire-facts.md, "Traps") on the real SCM and the real spire-server: what the server holds is what the trap
// says, and what the prediction says.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Pod } from '../../../shared/src/core/model/objects/pod.ts'
import { startControlPlane, type ControlPlane } from '../../control-plane/control-plane.ts'
import { until } from '@kleym/testing/wait.ts'
import { compare, differenceText, type Comparison } from '../compare.ts'
import { startSpire, type HeldEntry, type Spire } from '../spire.ts'
import { allWaves, expected, spaceOf, TRAPS } from './all.ts'
import { build, node } from '../build-cluster.ts'

let cp: ControlPlane
let spire: Spire
let comparison: Comparison
let podsOf: (space: string) => readonly Pod[]
beforeAll(async () => {
  cp = await startControlPlane({ controllers: [] })
  spire = await startSpire(cp)
  await build(cp, [[{ object: node('n1') }], ...allWaves()])
  comparison = await compare(cp, spire)
  const pods = new Set(comparison.outcomes.flatMap(({ pod }) => (pod === undefined ? [] : [pod])))
  podsOf = (space) => [...pods].filter((one) => one.namespace === space)
})
afterAll(() => cp?.stop())

test.each(TRAPS.map((trap) => [trap.name, trap] as const))('%s', (_, trap) => {
  const space = spaceOf(trap)
  for (const name of Object.keys(trap.holds)) {
    const pod = podsOf(space).find(({ ref }) => ref.name === name)
    expect(pod, `the prediction says something of pod ${name}`).toBeDefined()
    const held = comparison.held.filter(({ selectors }) => selectors.includes(`k8s:pod-uid:${pod?.uid}`))
    expect(held.map(summary).toSorted(), `pod ${name}`).toEqual(expected(trap, name))
  }
  const here = comparison.differences.filter((one) => isIn(one, space))
  expect(here.map(differenceText)).toEqual([])
})

test('nothing else differs, and nothing was left open', () => {
  expect(comparison.differences.map(differenceText)).toEqual([])
  expect(comparison.uncertain.map(({ source, verdict }) => [source, verdict])).toEqual([])
  expect(comparison.agreed).toBe(comparison.held.length)
})

test('SCM v0.6.4 makes the same of all of it', async () => {
  // A class that no object has empties the server first.
  await spire.restart({ className: 'unused' })
  await until(async () => (await spire.entries()).length === 0, 'the server to hold no entry')
  await spire.restart({}, 'spire-controller-manager-0.6.4')
  await until(async () => (await spire.entries()).length === comparison.held.length, 'all entries to be back')
  const again = await compare(cp, spire)
  expect(again.differences.map(differenceText)).toEqual([])
  expect(again.agreed).toBe(comparison.agreed)
})

function isIn({ pod, source }: Comparison['differences'][number], space: string): boolean {
  return pod?.startsWith(`${space}/`) === true || source?.includes(`/${space}-`) === true
}

function summary({ spiffeId, hint }: HeldEntry): string {
  const path = spiffeId.replace(/^spiffe:\/\/[^/]*/, '')
  return hint === '' ? path : `${path} ${hint}`
}
