// The shrinker, on a difference that is known: no server takes part.
import { expect, test } from 'vitest'
import type { Estate } from './estate.ts'
import { estatesOf } from './generator.ts'
import { shrink } from './shrink.ts'

const hasFallback = ({ ids }: Estate): boolean => ids.some(({ spec }) => spec['fallback'] === true)

test('an estate is shrunk to what makes the difference', async () => {
  const found = estatesOf(1, 200).find((estate) => hasFallback(estate) && estate.pods.length > 2)
  expect(found).toBeDefined()
  if (found === undefined) return
  const smallest = await shrink(found, async (candidates) => candidates.map(hasFallback))
  const { ids, pods, statics } = smallest
  expect([ids.length, pods.length, statics.length]).toEqual([1, 1, 0])
  expect(Object.keys(ids[0]?.spec ?? {}).toSorted()).toEqual(['fallback', 'spiffeIDTemplate'])
})

test('an estate that differs only as it is stays as it is', async () => {
  const [estate] = estatesOf(1, 1)
  expect(estate).toBeDefined()
  if (estate === undefined) return
  expect(await shrink(estate, async (candidates) => candidates.map(() => false))).toBe(estate)
})

test('the estates of a seed are the same, whatever the count', () => {
  expect(estatesOf(3, 20).slice(0, 5)).toEqual(estatesOf(3, 5))
  expect(estatesOf(3, 5)).not.toEqual(estatesOf(4, 5))
})
