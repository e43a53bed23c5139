// Truths against all worlds: each cause is a variable that a world sets to true or false.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '@kleym/testing/runs.ts'
import { CAUSES_MAX, CauseSet } from '../../src/core/model/truth/causes.ts'
import {
  all,
  any,
  atLeast,
  known,
  NO,
  not,
  open,
  TruthCount,
  YES,
  type Truth,
} from '../../src/core/model/truth/truth.ts'
import { causeNamed, namesOf } from './causes.ts'

const VARIABLES = ['a', 'b', 'c'] as const
type World = ReadonlySet<string>
const WORLDS: readonly World[] = [0, 1, 2, 3, 4, 5, 6, 7].map(
  (bits) => new Set(VARIABLES.filter((_, at) => (bits & (1 << at)) !== 0)),
)

/** A formula, as it is in one world, and as a truth says it of all. */
interface Formula {
  readonly truth: Truth
  readonly isTrueIn: (world: World) => boolean
  readonly variables: ReadonlySet<string>
}

const { formula } = fc.letrec<{ formula: Formula }>((tie) => ({
  formula: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(...VARIABLES).map((name) => ({
      truth: open(causeNamed(name)),
      isTrueIn: (world: World) => world.has(name),
      variables: new Set([name]),
    })),
    fc
      .boolean()
      .map((holds) => ({ truth: known(holds), isTrueIn: () => holds, variables: new Set<string>() })),
    tie('formula').map((one) => ({
      ...one,
      truth: not(one.truth),
      isTrueIn: (world: World) => !one.isTrueIn(world),
    })),
    fc.array(tie('formula'), { maxLength: 4 }).map((some) => ({
      truth: all(...some.map(({ truth }) => truth)),
      isTrueIn: (world: World) => some.every((one) => one.isTrueIn(world)),
      variables: new Set(some.flatMap(({ variables }) => [...variables])),
    })),
    fc.array(tie('formula'), { maxLength: 4 }).map((some) => ({
      truth: any(...some.map(({ truth }) => truth)),
      isTrueIn: (world: World) => some.some((one) => one.isTrueIn(world)),
      variables: new Set(some.flatMap(({ variables }) => [...variables])),
    })),
    fc.tuple(fc.nat({ max: 5 }), fc.array(tie('formula'), { maxLength: 4 })).map(([count, some]) => ({
      truth: atLeast(
        count,
        some.map(({ truth }) => truth),
      ),
      isTrueIn: (world: World) => some.filter((one) => one.isTrueIn(world)).length >= count,
      variables: new Set(some.flatMap(({ variables }) => [...variables])),
    })),
  ),
}))

function united(some: readonly CauseSet[]): CauseSet {
  return some.reduce((one, other) => one.union(other), CauseSet.EMPTY)
}

describe('a truth', () => {
  test('is yes only if it holds in all worlds, and no only if it holds in none', () => {
    fc.assert(
      fc.property(formula, ({ truth, isTrueIn }) => {
        const answers = new Set(WORLDS.map(isTrueIn))
        const claimed = { yes: [true], no: [false], open: [...answers] }[truth.value]
        expect(new Set(claimed)).toEqual(answers)
      }),
      { numRuns: runs(2_000) },
    )
  })

  test('names every variable on which it depends, and none that it does not mention', () => {
    fc.assert(
      fc.property(formula, ({ truth, isTrueIn, variables }) => {
        const named = namesOf(truth.causes)
        const deciding = VARIABLES.filter((name) =>
          WORLDS.some((world) => isTrueIn(world) !== isTrueIn(world.symmetricDifference(new Set([name])))),
        )
        expect(deciding.filter((name) => !named.includes(name))).toEqual([])
        expect([...new Set(named)].filter((name) => !variables.has(name))).toEqual([])
      }),
      { numRuns: runs(2_000) },
    )
  })

  test('is open exactly if it has causes', () => {
    fc.assert(
      fc.property(formula, ({ truth }) => {
        expect(truth.causes.size > 0).toBe(truth.value === 'open')
      }),
      { numRuns: runs(100) },
    )
  })

  test('is exact if each variable occurs once', () => {
    const [a, b, c] = VARIABLES.map((name) => open(causeNamed(name)))
    if (a === undefined || b === undefined || c === undefined) throw new TypeError('three variables')
    expect(all(a, NO)).toBe(NO)
    expect(any(a, YES)).toBe(YES)
    expect(namesOf(all(a, any(b, NO), YES).causes)).toEqual(['a', 'b'])
    expect(namesOf(any(all(b, c), a).causes)).toEqual(['a', 'b', 'c'])
    expect(atLeast(2, [YES, YES, a])).toBe(YES)
    expect(atLeast(3, [YES, a])).toBe(NO)
    expect(namesOf(atLeast(2, [YES, a, NO]).causes)).toEqual(['a'])
  })
})

describe('many truths', () => {
  const cases = fc.array(fc.constantFrom(YES, NO, ...VARIABLES.map((name) => open(causeNamed(name)))))

  test('a tally says what the functions over all of them say', () => {
    fc.assert(
      fc.property(cases, fc.nat({ max: 6 }), (truths, count) => {
        const tally = new TruthCount()
        for (const truth of truths) tally.add(truth)
        const pairs = [
          [tally.all(), all(...truths)],
          [tally.any(), any(...truths)],
          [tally.atLeast(count), atLeast(count, truths)],
        ] as const
        for (const [one, other] of pairs) {
          expect(one.value).toBe(other.value)
          expect(namesOf(other.causes)).toEqual(namesOf(one.causes))
        }
        expect(tally.count).toEqual({
          certain: truths.filter((one) => one === YES).length,
          most: truths.filter((one) => one !== NO).length,
        })
      }),
      { numRuns: runs(100) },
    )
  })

  test('a hundred thousand truths with one cause keep one set', () => {
    const tally = new TruthCount()
    const truth = open(causeNamed('one'))
    for (let count = 0; count < 100_000; count++) tally.add(truth)
    expect(tally.causes).toBe(truth.causes)
  })
})

describe('a set of causes', () => {
  const sets = fc
    .array(fc.nat({ max: 150 }), { maxLength: 100 })
    .map((numbers) => numbers.map((one) => CauseSet.of(causeNamed(`n${one}`))))

  test('is the same whatever the order in which it was united', () => {
    fc.assert(
      fc.property(sets, fc.nat(), (some, at) => {
        const turned = [
          ...some.slice(at % (some.length + 1)),
          ...some.slice(0, at % (some.length + 1)),
        ].toReversed()
        const [one, other] = [united(some), united(turned)]
        expect(namesOf(other)).toEqual(namesOf(one))
        expect(other.isCut).toBe(one.isCut)
        const names = new Set(some.flatMap((set) => namesOf(set)))
        expect(one.size).toBe(Math.min(names.size, CAUSES_MAX))
        expect(one.isCut).toBe(names.size > CAUSES_MAX)
      }),
      { numRuns: runs(100) },
    )
  })

  test('with a cause that it holds is itself', () => {
    const set = united(['a', 'b', 'c'].map((name) => CauseSet.of(causeNamed(name))))
    expect(set.union(CauseSet.of(causeNamed('b')))).toBe(set)
    expect(CauseSet.of(causeNamed('b')).union(set)).toBe(set)
    expect(set.union(CauseSet.EMPTY)).toBe(set)
  })

  test('tells causes apart by what they say, not by the order of their fields', () => {
    const one = CauseSet.of({
      kind: 'webhook',
      of: { namespace: 'a', kind: 'Pod' },
      injector: 'i',
      adds: 'c',
    })
    const same = CauseSet.of({
      adds: 'c',
      injector: 'i',
      of: { kind: 'Pod', namespace: 'a' },
      kind: 'webhook',
    })
    const other = CauseSet.of({
      kind: 'webhook',
      of: { namespace: 'b', kind: 'Pod' },
      injector: 'i',
      adds: 'c',
    })
    expect(one.union(same).size).toBe(1)
    expect(one.union(other).size).toBe(2)
  })
})
