// The limit on writes per second (docs/contract.md §8, "Quiet and fair").
import { expect, test } from 'vitest'
import * as fc from 'fast-check'
import { namespaceWritten } from '@kleym/shared/core/model/namespaced-name.ts'
import { FakeClock } from '@kleym/testing/fake-clock.ts'
import { runs } from '@kleym/testing/runs.ts'
import { WriteBudget } from '../../src/write/write-budget.ts'

function budgetOf(perSecond: number | undefined) {
  const clock = new FakeClock()
  const woken: string[] = []
  const budget = new WriteBudget({
    clock,
    perSecond,
    groupOf: namespaceWritten,
    wake: (key) => void woken.push(key),
  })
  return { clock, woken, budget }
}

test('without a limit every write may be made', () => {
  const { budget } = budgetOf(undefined)
  for (let at = 0; at < 1_000; at++) expect(budget.take(`a/${at}`)).toBe(true)
})

test('a second of writes may be made at once, and a key that may not is woken with its turn, once', () => {
  const { budget, clock, woken } = budgetOf(2)
  expect(['a/0', 'a/1', 'a/2', 'a/2'].map((key) => budget.take(key))).toEqual([true, true, false, false])
  clock.advance(499)
  expect(woken).toEqual([])
  clock.advance(1)
  expect(woken).toEqual(['a/2'])
  expect(budget.take('a/2')).toBe(true)
  expect(budget.waiting).toBe(0)
})

test('a look that has begun to write goes on, and what it writes is counted', () => {
  const { budget, clock, woken } = budgetOf(1)
  expect(['a/0', 'a/0', 'a/0', 'a/1'].map((key) => budget.take(key))).toEqual([true, true, true, false])
  budget.ended('a/0')
  expect(budget.take('a/0')).toBe(false)
  clock.advance(2_999)
  expect(woken).toEqual([])
  clock.advance(1)
  expect(woken).toEqual(['a/1'])
})

test("a write that a look did not need is another key's", () => {
  const { budget, clock, woken } = budgetOf(1)
  for (const key of ['a/0', 'a/1', 'a/2']) budget.take(key)
  clock.advance(1_000)
  expect(woken).toEqual(['a/1'])
  budget.ended('a/1')
  expect(woken).toEqual(['a/1', 'a/2'])
})

test('never more than the limit and one second of saved writes, and each namespace waits for one write of each other', () => {
  const wishes = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 5 })
  fc.assert(
    fc.property(wishes, fc.integer({ min: 1, max: 20 }), (counts, perSecond) => {
      const { budget, clock, woken } = budgetOf(perSecond)
      for (let at = 0; at < perSecond; at++) budget.take(`used/${at}`)
      counts.forEach((count, namespace) => {
        for (let at = 0; at < count; at++) budget.take(`n${namespace}/${at}`)
      })
      let written = 0
      const firsts = new Map<string, number>()
      for (let second = 1; budget.waiting > 0; second++) {
        clock.advance(1_000)
        for (const key of woken.splice(0)) {
          expect(budget.take(key)).toBe(true)
          budget.ended(key)
          written += 1
          const namespace = namespaceWritten(key)
          if (!firsts.has(namespace)) firsts.set(namespace, written)
        }
        expect(written).toBeLessThanOrEqual(second * perSecond)
      }
      expect(written).toBe(counts.reduce((sum, count) => sum + count, 0))
      for (const first of firsts.values()) expect(first).toBeLessThanOrEqual(counts.length)
    }),
    { numRuns: runs(100) },
  )
})
