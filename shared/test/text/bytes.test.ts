// Byte-wise text and SHA-256, held against Node's own.
import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { byteLength, compareBytes, cutToBytes, utf8 } from '../../src/core/text/bytes.ts'
import { sha256Hex } from '../../src/core/text/sha256.ts'

/** Any UTF-16 string, unpaired surrogates included, short enough that blocks and boundaries are met often. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.string({
    unit: fc.constantFrom('a', 'é', '€', '😀', '\ud83d', '\ude00', '\uffff', '\0'),
    maxLength: 200,
  }),
)
const wholeText = fc.string({ unit: 'binary', maxLength: 200 })

describe('bytes', () => {
  test('byteLength is Buffer.byteLength, unpaired surrogates included', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(byteLength(text)).toBe(Buffer.byteLength(text))
        expect(utf8(text)).toHaveLength(byteLength(text))
      }),
    )
  })

  test('compareBytes orders as Buffer.compare does', () => {
    fc.assert(
      fc.property(wholeText, wholeText, (left, right) => {
        const expected = Buffer.compare(Buffer.from(left), Buffer.from(right))
        expect(Math.sign(compareBytes(left, right))).toBe(expected)
      }),
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
    )
  })
})

describe('sha256Hex', () => {
  test('is what node:crypto says, for any text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(sha256Hex(text)).toBe(nodeHash(text))
      }),
    )
  })

  test('is what node:crypto says at every length around the block boundaries', () => {
    for (let length = 0; length <= 130; length++) {
      expect(sha256Hex('x'.repeat(length)), `length ${length}`).toBe(nodeHash('x'.repeat(length)))
    }
  })

  test('is what node:crypto says of a megabyte', () => {
    const text = 'é€😀x'.repeat(100_000)
    expect(sha256Hex(text)).toBe(nodeHash(text))
  })
})

function nodeHash(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex')
}
