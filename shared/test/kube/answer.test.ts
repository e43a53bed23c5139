// The bound on the values of an answer: it may take too many for what they are not, and never too few.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs, seedOf } from '@kleym/testing/runs.ts'
import { hasMoreValues } from '../../src/kube/answer.ts'

/** How many values a JSON value holds, itself included. */
function count(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  return Object.values(value).reduce((sum: number, one) => sum + count(one), 1)
}

test.each(['1', '[]', '[1,1,1]', '[[],[]]', '[[[]]]', '{"a":1}', '{"":{}}', '[{},{}]', '"a,[{"'])(
  '%s has more values than one less',
  (text) => {
    expect(hasMoreValues(Buffer.from(text), count(JSON.parse(text)) - 1)).toBe(true)
  },
)

test('any JSON has more values than one less, and none that are only said to be there', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: fc.constantFrom('a', 'b') }), (value) => {
      const text = Buffer.from(JSON.stringify(value))
      expect(hasMoreValues(text, count(value) - 1)).toBe(true)
      // An empty list or mapping has a bracket of its own, and nothing in it.
      expect(hasMoreValues(text, 2 * count(value))).toBe(false)
    }),
    { numRuns: runs(500), ...seedOf(45) },
  )
})
