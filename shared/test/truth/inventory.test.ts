// Inventories against all worlds: an item is there or not, and the rest holds any of the objects that it may hold.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '@kleym/testing/runs.ts'
import { Inventory, type Rest } from '../../src/core/truth/inventory.ts'
import { known, NO, open, YES, type Truth } from '../../src/core/truth/truth.ts'
import { causeNamed, namesOf } from './causes.ts'

/** Small numbers stand for objects; a set of them is what an abstract element may be. */
type Numbers = ReadonlySet<number>
const DOMAIN = [0, 1, 2, 3]

interface Shape {
  readonly certain: readonly number[]
  readonly perhaps: readonly number[]
  /** What may be there beside the items: none, one or two of these. */
  readonly rest: readonly Numbers[]
}

const shape: fc.Arbitrary<Shape> = fc.record({
  certain: fc.uniqueArray(fc.constantFrom(...DOMAIN), { maxLength: 2 }),
  perhaps: fc.uniqueArray(fc.constantFrom(...DOMAIN), { maxLength: 2 }),
  rest: fc.array(
    fc.uniqueArray(fc.constantFrom(...DOMAIN), { minLength: 1, maxLength: 3 }).map((some) => new Set(some)),
    { maxLength: 1 },
  ),
})

function inventoryOf({ certain, perhaps, rest }: Shape): Inventory<Numbers> {
  const items = [
    ...certain.map((one) => [one, YES] as const),
    ...perhaps.map((one) => [one, open(causeNamed(`item ${one}`))] as const),
  ]
  const there = new Map(items.map(([one, truth]) => [new Set([one]) as Numbers, truth]))
  return Inventory.of<Numbers>(
    [...there.keys()],
    (item) => there.get(item) ?? NO,
    rest.map((some, at): Rest<Numbers> => ({ any: some, cause: causeNamed(`rest ${at}`) })),
  )
}

function worldsOf({ certain, perhaps, rest }: Shape): readonly (readonly number[])[] {
  const withPerhaps = perhaps.reduce<readonly (readonly number[])[]>(
    (worlds, one) => worlds.flatMap((world) => [world, [...world, one]]),
    [certain],
  )
  return rest.reduce<readonly (readonly number[])[]>(
    (worlds, some) =>
      worlds.flatMap((world) => [
        world,
        ...[...some].flatMap((one) => [[...world, one], ...[...some].map((two) => [...world, one, two])]),
      ]),
    withPerhaps,
  )
}

/** Whether an object is one of `wanted`: of an abstract element, as far as all that it may be agree. */
function isOneOf(wanted: Numbers): (some: Numbers) => Truth {
  return (some) => {
    const answers = new Set([...some].map((one) => wanted.has(one)))
    return answers.size > 1 ? open(causeNamed('which')) : known(answers.has(true))
  }
}

const wanted = fc.uniqueArray(fc.constantFrom(...DOMAIN)).map((some): Numbers => new Set(some))

function isNumber(number: number): (item: Numbers) => boolean {
  return (item) => item.has(number)
}

describe('an inventory', () => {
  test('says of counts what all worlds say', () => {
    fc.assert(
      fc.property(shape, wanted, fc.integer({ min: 1, max: 4 }), (one, some, count) => {
        const truth = inventoryOf(one).matching(isOneOf(some)).atLeast(count)
        const answers = new Set(
          worldsOf(one).map((world) => world.filter((item) => some.has(item)).length >= count),
        )
        // A predicate that divides the rest is open by itself; all else is exact.
        const isDivided = one.rest.some((rest) => isOneOf(some)(rest).value === 'open')
        const isExact = !isDivided && count <= 2
        const claimed = { yes: [true], no: [false], open: isExact ? [true, false] : [...answers] }[
          truth.value
        ]
        expect(new Set(claimed)).toEqual(answers)
      }),
      { numRuns: runs(2_000) },
    )
  })

  test('says that there is none only if what was not read cannot hold one', () => {
    const [unread] = [inventoryOf({ certain: [0], perhaps: [], rest: [new Set([1, 2])] })]
    expect(unread.matching(isOneOf(new Set([3]))).none()).toBe(YES)
    expect(namesOf(unread.matching(isOneOf(new Set([1]))).none().causes)).toContain('rest 0')
    expect(unread.matching(isOneOf(new Set([0]))).none()).toBe(NO)
    expect(unread.isClosed).toBe(false)
  })

  test('finds an item by its name, and says that it is absent only if nothing else may have the name', () => {
    const inventory = inventoryOf({ certain: [0], perhaps: [1], rest: [new Set([2])] })
    expect(inventory.named(isNumber(0), isOneOf(new Set([0])))).toMatchObject({ state: 'found', there: YES })
    const perhaps = inventory.named(isNumber(1), isOneOf(new Set([1])))
    expect(perhaps.state === 'found' ? namesOf(perhaps.there.causes) : perhaps).toEqual(['item 1'])
    const unread = inventory.named(isNumber(2), isOneOf(new Set([2])))
    expect(unread.state === 'open' ? namesOf(unread.there.causes) : unread).toEqual(['rest 0'])
    expect(inventory.named(isNumber(3), isOneOf(new Set([3])))).toEqual({ state: 'absent' })
  })

  test('keeps the causes of items beside those of the rest', () => {
    const inventory = inventoryOf({ certain: [0], perhaps: [1], rest: [new Set([2])] })
    expect(namesOf(inventory.atLeast(2).causes).toSorted()).toEqual(['item 1', 'rest 0'])
    expect(inventory.atLeast(1)).toBe(YES)
  })

  test('that is closed is known in every respect', () => {
    const inventory = Inventory.closed([1, 2, 3])
    expect(inventory.isClosed).toBe(true)
    expect(inventory.matching((one) => known(one > 1)).atLeast(2)).toBe(YES)
    expect(inventory.matching((one) => known(one > 1)).atLeast(3)).toBe(NO)
    expect(inventory.matching((one) => known(one > 3)).none()).toBe(YES)
    expect(inventory.shown()).toEqual({ items: [1, 2, 3], isAll: YES })
  })

  test('shows its items, and whether they are all', () => {
    const inventory = inventoryOf({ certain: [], perhaps: [1], rest: [new Set([2])] })
    const { items, isAll } = inventory.shown()
    expect(items).toEqual([new Set([1])])
    expect(namesOf(isAll.causes)).toEqual(['rest 0'])
    expect([...inventory.each()].map(({ there }) => there.value)).toEqual(['open'])
  })
})
