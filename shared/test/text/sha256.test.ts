// SHA-256, held against Node's own.
import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '@kleym/testing/runs.ts'
import { sha256Hex } from '../../src/core/base/text/sha256.ts'
import { anyText } from './any-text.ts'

describe('sha256Hex', () => {
  test('is what node:crypto says, for any text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(sha256Hex(text)).toBe(nodeHash(text))
      }),
      { numRuns: runs(100) },
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
