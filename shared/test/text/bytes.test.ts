// Byte-wise text, held against Node's own.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '@kleym/testing/runs.ts'
import { byteLength, compareBytes, cutToBytes, utf8 } from '../../src/core/base/text/bytes.ts'
import { anyText } from './any-text.ts'

const wholeText = fc.string({ unit: 'binary', maxLength: 200 })

describe('bytes', () => {
  test('byteLength is Buffer.byteLength, unpaired surrogates included', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(byteLength(text)).toBe(Buffer.byteLength(text))
        expect(utf8(text)).toHaveLength(byteLength(text))
      }),
      { numRuns: runs(100) },
    )
  })

  test('compareBytes orders as Buffer.compare does', () => {
    fc.assert(
      fc.property(wholeText, wholeText, (left, right) => {
        const expected = Buffer.compare(Buffer.from(left), Buffer.from(right))
        expect(Math.sign(compareBytes(left, right))).toBe(expected)
      }),
      { numRuns: runs(100) },
    )
  })

  test.each([
    ['a surrogate pair follows U+FFFF, though its units are smaller', '\u{10000}', '\uffff', 1],
    ['a surrogate pair follows U+E000', '\u{1f600}', '\ue000', 1],
    ['U+D7FF comes before a surrogate pair', '\ud7ff', '\u{10000}', -1],
    ['two pairs are ordered by their first units', '\u{10000}', '\u{1f600}', -1],
    ['a prefix comes first', 'a', 'aa', -1],
    ['equal texts are equal', 'é', 'é', 0],
  ])('%s', (_name, left, right, sign) => {
    expect(Math.sign(compareBytes(left, right))).toBe(sign)
    expect(Math.sign(Buffer.compare(Buffer.from(left), Buffer.from(right)))).toBe(sign)
  })

  test('compareBytes agrees with Buffer.compare around surrogates', () => {
    const edge = fc.string({
      unit: fc.constantFrom('a', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{1f600}', '\u{10ffff}'),
      maxLength: 4,
    })
    fc.assert(
      fc.property(edge, edge, (left, right) => {
        const expected = Buffer.compare(Buffer.from(left), Buffer.from(right))
        expect(Math.sign(compareBytes(left, right))).toBe(expected)
      }),
      { numRuns: runs(100) },
    )
  })

  test('cutToBytes gives the longest whole-character prefix within the limit', () => {
    fc.assert(
      fc.property(wholeText, fc.nat({ max: 64 }), (text, limit) => {
        const cut = cutToBytes(text, limit)
        expect(text.startsWith(cut)).toBe(true)
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(limit)
        const [next = ''] = Array.from(text.slice(cut.length))
        expect(next === '' || Buffer.byteLength(cut + next) > limit).toBe(true)
        expect(Buffer.from(cut).toString()).toBe(cut)
      }),
      { numRuns: runs(100) },
    )
  })
})
