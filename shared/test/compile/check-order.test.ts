// docs/contract.md §7: the first failing check decides. Each check has a flaw that violates it alone; every two flaws that can
// occur together are put into one cluster, and the earlier check must decide.
import { describe, expect, test } from 'vitest'
import { CHECKS } from '../../src/core/decide/compile/checks.ts'
import { FLAWS, objectsOfFlaw, type Flaw } from '@kleym/testing/flaws.ts'
import { binding, judgementOf, settledCluster, type SettledCluster } from '@kleym/testing/manifests.ts'

const CHECK_NAMES = CHECKS.map(({ name }) => name)

/** Pairs that touch one field and so cannot both be there, or of which one takes the ground from the other. */
const EXCLUSIVE = new Set([
  'pool found, pool unambiguous',
  'objectiveRef form, objective required',
  'objective required, objective found',
  'objective found, objective leads to the pool',
  // Without a mode it is not known whether an objective is required.
  'objective required, mode',
])

const PAIRS = CHECK_NAMES.flatMap((earlier, at) =>
  CHECK_NAMES.slice(at + 1)
    .filter((later) => !EXCLUSIVE.has(`${earlier}, ${later}`) && sideBySide(FLAWS[earlier], FLAWS[later]))
    .map((later) => [earlier, later] as const),
)

describe('a single flaw', () => {
  test.each(CHECK_NAMES.map((name) => [name] as const))('%s', (name) => {
    expect(judgementOf(flawed(FLAWS[name]))).toMatchObject({ check: name, reason: FLAWS[name].reason })
  })
})

describe('two flaws', () => {
  test.each(PAIRS)('%s decides before %s', (earlier, later) => {
    const both = flawed({
      ...FLAWS[later],
      ...FLAWS[earlier],
      spec: { ...FLAWS[later].spec, ...FLAWS[earlier].spec },
    })
    expect(judgementOf(both)).toMatchObject({ check: earlier, reason: FLAWS[earlier].reason })
  })

  test('every adjacent pair that can be there at once is tried', () => {
    const tried = new Set(PAIRS.map(([earlier, later]) => `${earlier}, ${later}`))
    const adjacent = CHECK_NAMES.slice(1).map((later, at) => `${CHECK_NAMES[at] ?? ''}, ${later}`)
    expect(adjacent.filter((pair) => !tried.has(pair) && !EXCLUSIVE.has(pair))).toEqual([])
  })
})

describe('an unknown step ends the checks', () => {
  const gaps = {
    'InferencePool.inference.networking.k8s.io': { verb: 'list', what: 'pools', cause: 'forbidden' },
  } as const

  test('later flaws are not judged', () => {
    const spec = { objectiveRef: { name: 'No' }, mode: 'Both', serviceAccountName: 'No' }
    const one = settledCluster([binding({ spec })], { gaps })
    expect(judgementOf(one)).toMatchObject({ state: 'undetermined', check: 'pool found' })
  })

  test('an earlier flaw is', () => {
    const one = settledCluster([binding({ spec: { poolRef: { name: 'No' } } })], { gaps })
    expect(judgementOf(one)).toMatchObject({ state: 'refused', check: 'poolRef form' })
  })
})

function sideBySide(one: Flaw, other: Flaw): boolean {
  const parts = ['pools', 'objectives', 'rivals', 'holders'] as const
  const specs = Object.keys(one.spec ?? {}).filter((field) => Object.hasOwn(other.spec ?? {}, field))
  return specs.length === 0 && parts.every((part) => one[part] === undefined || other[part] === undefined)
}

function flawed(flaw: Omit<Flaw, 'reason'>): SettledCluster {
  return settledCluster(objectsOfFlaw(flaw))
}
