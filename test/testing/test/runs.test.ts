import { describe, expect, test } from 'vitest'
import { factorOf, leastSeen, mustSee, runs, runsMs, seedOf } from '../src/runs.ts'

describe('KLEYM_RUNS', () => {
  test('without it, and with 1, the gate runs as many cases as the test says', () => {
    expect([undefined, '', '1'].map((value) => runs(150, factorOf(value)))).toEqual([150, 150, 150])
    expect([leastSeen(20, 1), mustSee(['a'], 1), runsMs(300, 1)]).toEqual([20, ['a'], 300])
  })

  test('a fifth tries a fifth, at least one case, and holds nothing about what came up', () => {
    expect([150, 12, 2, 1].map((count) => runs(count, 0.2))).toEqual([30, 2, 1, 1])
    expect([leastSeen(0, 0.2), mustSee(['a'], 0.2), runsMs(300, 0.2)]).toEqual([-1, [], 300])
  })

  test('a campaign tries more for longer, and expects no more to have been seen', () => {
    expect([runs(150, 50), leastSeen(20, 50), runsMs(300, 50)]).toEqual([7_500, 20, 15_000])
  })

  test('the gate tries the same cases each time, a campaign new ones', () => {
    expect([seedOf(7, 0.2), seedOf(7, 1, '9'), seedOf(7, 50)]).toEqual([{ seed: 7 }, { seed: 7 }, {}])
    expect(seedOf(7, 50, '9')).toEqual({ seed: 9 })
  })

  test.each(['0', '-1', 'many', 'Infinity'])('KLEYM_RUNS=%s is an error that names it', (value) => {
    expect(() => factorOf(value)).toThrow(`KLEYM_RUNS=${value} is no number above 0`)
  })
})
