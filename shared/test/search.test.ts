// Whether a text holds others, told by an index: as `includes` tells it.
import * as fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { runs, seedOf } from '@kleym/testing/runs.ts'
import { searchIn } from '../src/core/base/search.ts'

const letters = (maxLength: number): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom('a', 'b'), { maxLength }).map((all) => all.join(''))

test('the index tells what a look at the whole text tells', () => {
  const cases = fc.record({ text: letters(300), other: letters(60), from: fc.nat(200), length: fc.nat(60) })
  fc.assert(
    fc.property(cases, ({ text, other, from, length }) => {
      const isIn = searchIn(text)
      for (const part of [other, text.slice(from, from + length), `${text.slice(from, from + length)}ab`])
        expect(isIn(part)).toBe(text.includes(part))
    }),
    { numRuns: runs(2000), ...seedOf(1) },
  )
})

test('a text that is not there is compared with hardly any place', () => {
  const names = Array.from({ length: 1000 }, (_, at) => at)
  const isIn = searchIn(names.map((at) => `whatcontainer${at}ofmodel${at}holdsisknown`).join(''))
  const looks = [vi.spyOn(String.prototype, 'startsWith'), vi.spyOn(String.prototype, 'includes')]
  for (const look of looks) look.mockClear()
  const found = names.filter((at) => isIn(`whatcontainer${at}ofmodel${at}holdsisnotknown`))
  const looked = looks.reduce((sum, { mock }) => sum + mock.calls.length, 0)
  vi.restoreAllMocks()
  expect(found).toEqual([])
  expect(looked).toBeLessThan(4 * names.length)
})
