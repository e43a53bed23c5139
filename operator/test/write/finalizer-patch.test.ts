// Adding and removing kleym's finalizer in a list that others edit: what is sent, and what becomes of it where somebody else
// was faster (docs/contract.md §8).
import { describe, expect, test } from 'vitest'
import { FINALIZER } from '@kleym/shared/core/model/names.ts'
import { patchesFinalizerAlone } from '@kleym/testing/finalizer-patch-rule.ts'
import { binding } from '@kleym/testing/manifests.ts'
import { cachedBinding } from '../../src/caches/cached-binding.ts'
import { finalizerPatch } from '../../src/write/finalizer-patch.ts'
import { SteeredSimulation } from '../simulation/steered.ts'

const OTHER = 'example.com/hold'
const ANOTHER = 'example.com/audit'

/** What the patch does after its tests of UID and version. */
const cases: readonly { has: readonly string[]; wanted: boolean; steps: readonly unknown[] }[] = [
  { has: [], wanted: true, steps: [{ op: 'add', path: '/metadata/finalizers', value: [FINALIZER] }] },
  { has: [OTHER], wanted: true, steps: [{ op: 'add', path: '/metadata/finalizers/-', value: FINALIZER }] },
  { has: [FINALIZER], wanted: false, steps: removalOf(0) },
  { has: [OTHER, FINALIZER, ANOTHER], wanted: false, steps: removalOf(1) },
  { has: [FINALIZER, OTHER, FINALIZER], wanted: false, steps: [...removalOf(2), ...removalOf(0)] },
]

function removalOf(at: number): readonly unknown[] {
  const path = `/metadata/finalizers/${at}`
  return [
    { op: 'test', path, value: FINALIZER },
    { op: 'remove', path },
  ]
}

test.each(cases)('$has, wanted: $wanted', ({ has, wanted, steps }) => {
  const raw = binding({ name: 'chat' })
  const metadata = { ...Object(raw['metadata']), uid: 'u1', resourceVersion: '7', finalizers: has }
  const patch = finalizerPatch(cachedBinding({ ...raw, metadata }), wanted)
  expect(patch).toEqual([
    { op: 'test', path: '/metadata/uid', value: 'u1' },
    { op: 'test', path: '/metadata/resourceVersion', value: '7' },
    ...steps,
  ])
  expect(patchesFinalizerAlone(patch)).toBe(true)
})

test.each([
  ['a merge patch', { metadata: { finalizers: [FINALIZER] } }],
  ['nothing at all', []],
  ['a removal without a test', [{ op: 'remove', path: '/metadata/finalizers/0' }]],
  [
    'a removal of another place than was tested',
    [
      { op: 'test', path: '/metadata/finalizers/0', value: FINALIZER },
      { op: 'remove', path: '/metadata/finalizers/1' },
    ],
  ],
  ['all finalizers', [{ op: 'remove', path: '/metadata/finalizers' }]],
  ['a list with others', [{ op: 'add', path: '/metadata/finalizers', value: [FINALIZER, OTHER] }]],
  ["somebody else's", [{ op: 'add', path: '/metadata/finalizers/-', value: OTHER }]],
  ['a label', [{ op: 'add', path: '/metadata/labels/a', value: 'b' }]],
])('the rule for such patches does not take %s', (_what, patch) => {
  expect(patchesFinalizerAlone(patch)).toBe(false)
})

describe('somebody edits the list between look and patch', () => {
  const edits: readonly { name: string; before: readonly string[]; meanwhile: readonly string[] }[] = [
    { name: 'puts the other one first', before: [FINALIZER, OTHER], meanwhile: [OTHER, FINALIZER] },
    { name: 'reorders the rest', before: [OTHER, ANOTHER, FINALIZER], meanwhile: [FINALIZER, ANOTHER] },
    { name: 'takes the other away', before: [OTHER, FINALIZER], meanwhile: [FINALIZER] },
    { name: 'takes ours away', before: [OTHER, FINALIZER], meanwhile: [OTHER] },
  ]
  test.each(edits)('a deleted binding is let go although somebody $name', async ({ before, meanwhile }) => {
    const sim = await SteeredSimulation.of({ a: 'vllm' })
    sim.setFinalizers('a', before)
    await sim.runUntilQuiet()
    sim.deleteBinding('a')
    const patch = await sim.heldRequest('patch')
    sim.setFinalizers('a', meanwhile)
    await sim.carryOut(patch)
    await sim.runUntilQuiet(60_000)
    const left = meanwhile.filter((finalizer) => finalizer !== FINALIZER)
    expect(sim.finalizersOf('a')).toEqual(left.length === 0 ? undefined : left)
    if (left.length > 0) sim.setFinalizers('a', [])
    expect(await sim.problemsOnceQuiet()).toEqual([])
  })

  test('a binding gets the finalizer beside one that came meanwhile', async () => {
    const sim = await SteeredSimulation.of({})
    sim.createBinding('a', 'vllm')
    const patch = await sim.heldRequest('patch')
    sim.setFinalizers('a', [OTHER])
    await sim.carryOut(patch)
    expect(await sim.problemsOnceQuiet()).toEqual([])
    expect(sim.finalizersOf('a')).toEqual([OTHER, FINALIZER])
  })
})

test('a binding with thousands of copies of our finalizer is let go', async () => {
  const sim = await SteeredSimulation.of({ a: 'vllm' })
  sim.setFinalizers(
    'a',
    Array.from({ length: 2500 }, () => FINALIZER),
  )
  await sim.runUntilQuiet()
  sim.deleteBinding('a')
  expect(await sim.problemsOnceQuiet()).toEqual([])
  expect(sim.finalizersOf('a')).toBeUndefined()
})
