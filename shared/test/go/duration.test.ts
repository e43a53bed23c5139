import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '@kleym/testing/runs.ts'
import { parseGoDuration, wireSeconds } from '../../src/core/base/go/duration.ts'
import { disagreements, textAt } from './vectors.ts'

test('durations are read as time.ParseDuration reads them, and sent as SCM sends them', () => {
  const differing = disagreements('durations.jsonl', (row) => {
    const duration = parseGoDuration(textAt(row, 0))
    if (!duration.ok) return [row[0]]
    return [row[0], String(duration.nanoseconds), wireSeconds(duration.nanoseconds)]
  })
  expect(differing).toEqual([])
})

describe('a refused duration says why', () => {
  test.each([
    ['', 'is empty'],
    ['-', 'is a sign without a number'],
    ['1d', 'has the unknown unit "d" after "1"; Go knows h, m, s, ms, us and ns'],
    ['1h30', 'has no unit after "30"; Go knows h, m, s, ms, us and ns'],
    ['h', 'has no number at "h"'],
    ['2562048h', 'is over 2562047 hours, the most that Go can hold'],
  ])('%j %s', (text, message) => {
    expect(parseGoDuration(text)).toEqual({ ok: false, message })
  })
})

describe('seconds on the wire', () => {
  test.each([
    ['-500ms', 0],
    ['596524h', -2147480896],
    ['1193046h28m16s', 0],
    ['1193047h', 1904],
  ])('%s is sent as %i', (text, seconds) => {
    const duration = parseGoDuration(text)
    expect(duration.ok && wireSeconds(duration.nanoseconds)).toBe(seconds)
  })
})

test('a number of nanoseconds comes back from its text', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(1n << 63n), max: (1n << 63n) - 1n }), (nanoseconds) => {
      expect(parseGoDuration(`${nanoseconds}ns`)).toEqual({ ok: true, nanoseconds })
    }),
    { numRuns: runs(100) },
  )
})
