// A set of IDs says of each whether it was there before, as a set of texts does, whatever the IDs are.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '@kleym/testing/runs.ts'
import { UniqueIds } from '../../../src/answers/parts/unique-ids.ts'

/** Which of some IDs are new, one after the other, and how many there are in the end. */
function news(ids: readonly string[]): unknown {
  const all = new UniqueIds()
  return [ids.map((id) => all.add(id)), all.size]
}

function newsOfTexts(ids: readonly string[]): unknown {
  const all = new Set<string>()
  return [ids.map((id) => all.size < all.add(id).size), all.size]
}

const UUID = '0b6f1c2e-7d1a-4c3b-9e55-a1b2c3d4e5f6'

test('two IDs are one if their texts are', () => {
  const nearly = fc.constantFrom(
    UUID,
    UUID.toUpperCase(),
    UUID.replaceAll('-', ''),
    UUID.replaceAll('-', '0'),
    // A digit more, and dashes in other places.
    UUID.replace('-', '0'),
    `${UUID.replace('-', '0').slice(0, -1)}7`,
    UUID.replace('e-', '-e'),
    `-${UUID.slice(1)}`,
    `${UUID.slice(0, -1)}g`,
    `${UUID.slice(0, -1)}é`,
    UUID.slice(1),
    '',
  )
  const prefix = fc.constantFrom('', 'prod.', 'test.', 'prod', '0', '-')
  const id = fc.tuple(prefix, fc.oneof(nearly, fc.uuid())).map((parts) => parts.join(''))
  fc.assert(
    fc.property(fc.array(id), (ids) => {
      expect(news(ids)).toEqual(newsOfTexts(ids))
    }),
    { numRuns: runs(300) },
  )
})

test('many of them, of many prefixes', () => {
  const ids = Array.from(
    { length: 5_000 },
    (_, at) =>
      `${at % 1_500}.${String(at).padStart(8, '0')}-0000-4000-8000-${String(at % 7).padStart(12, '0')}`,
  )
  const alike = Array.from({ length: 5_000 }, (_, at) => `${UUID.slice(0, -5)}${String(at).padStart(5, '0')}`)
  const all = [...ids, ...alike, ...ids, ...alike]
  expect(news(all)).toEqual(newsOfTexts(all))
})

/** What the words before leave is taken back by the last word. */
function placeOf(words: readonly number[]): number {
  return words.reduce((hash, word) => Math.imul(hash ^ word, 0x9e3779b1), 0)
}

function hex(word: number): string {
  return (word >>> 0).toString(16).padStart(8, '0')
}

test('IDs that are chosen to have one place', () => {
  const chosen = Array.from({ length: 600 }, (_, at) => {
    const words = [at, 0x00004000, 0x80000000]
    const digits = [...words, placeOf([1, ...words])].map(hex).join('')
    return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  })
  const others = chosen.map((id) => `prod.${id}`)
  const ids = [...chosen, ...chosen, ...others, ...chosen, ...others]
  expect(news(ids)).toEqual(newsOfTexts(ids))
})
