// How much a value takes, roughly: the same for the same value, and no work for what is beyond a limit.
import { expect, test } from 'vitest'
import { sizeOf } from '../src/core/base/value-size.ts'

test.each([
  [null, 16],
  [7, 16],
  ['', 16],
  ['seven', 21],
  [[], 16],
  [['a', 'b'], 50],
  [{}, 16],
  [{ key: 'a' }, 36],
  [[undefined, 'text', undefined], 16 + 48 + 4],
  [{ list: [{ a: true }, null], text: 'x' }, 16 + 20 + 32 + 17 + 21],
])('%j counts %d', (value, size) => {
  expect(sizeOf(value)).toBe(size)
})

test('a value of exactly the limit is within it', () => {
  expect(sizeOf(['a', 'b'], 50)).toBe(50)
  expect(sizeOf(['a', 'b', ''], 50)).toBeGreaterThan(50)
})

test('what is beyond the limit is not looked at', () => {
  const read: string[] = []
  const traps = Array.from({ length: 1_000 }, (_, at) => ({
    get text() {
      read.push(`${at}`)
      return ''
    },
  }))
  expect(sizeOf(traps, 1_000)).toBeGreaterThan(1_000)
  expect(sizeOf(Object.fromEntries(traps.map((trap, at) => [`${at}`, trap])), 1_000)).toBeGreaterThan(1_000)
  expect(read).toEqual([])
})

test('what was measured before is not looked at again', () => {
  const measured = ['a', 'b']
  const sizes = new WeakMap([[measured, 1_016]])
  expect(sizeOf({ a: measured, b: measured }, Infinity, sizes)).toBe(16 + 2 * (17 + 1_000))
})
