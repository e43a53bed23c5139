// Label sets that may overlap, held against a comparison of every set with every other.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { leastSeen, runs } from '@kleym/testing/runs.ts'
import { relationOf, type ClaimGroup } from '../../src/core/decide/collide/claim-index.ts'
import { overlappingSets, type OverlappingSets } from '../../src/core/decide/collide/overlapping-sets.ts'
import type { PoolLabels } from '../../src/core/model/objects/pool-selector.ts'
import { driveAtOnce } from '../../src/core/base/steps.ts'

/** Enough label sets, and enough values of a key, for a division by that key and by the next one. */
const crowd = fc
  .array(
    fc.record(
      {
        app: fc.integer({ min: 0, max: 9 }).map(String),
        model: fc.integer({ min: 0, max: 9 }).map(String),
        size: fc.constantFrom('s', 'l'),
        zone: fc.constantFrom('a', 'b', 'c'),
      },
      { requiredKeys: [] },
    ),
    { minLength: 70, maxLength: 250, size: 'max' },
  )
  .map(groupsOf)

function groupsOf(labelSets: readonly Readonly<Record<string, string>>[]): readonly ClaimGroup[] {
  const distinct = new Map(labelSets.map((labels) => [JSON.stringify(labels), labels]))
  return [...distinct.values()].map((labels) => ({
    labels: new Map(Object.entries(labels)),
    claims: [],
    declared: [],
  }))
}

function excludes(one: PoolLabels, other: PoolLabels): boolean {
  return [...one].some(([key, value]) => (other.get(key) ?? value) !== value)
}

function pairsOf(groups: readonly ClaimGroup[]): readonly (readonly [ClaimGroup, ClaimGroup])[] {
  return groups.flatMap((one, at) =>
    groups
      .slice(at + 1)
      .filter(
        ({ labels }) =>
          !excludes(one.labels, labels) &&
          relationOf(one.labels, labels) === undefined &&
          relationOf(labels, one.labels) === undefined,
      )
      .map((other) => [one, other] as const),
  )
}

function found(groups: readonly ClaimGroup[], pairsMax = Infinity): OverlappingSets {
  return driveAtOnce(overlappingSets(groups, pairsMax))
}

/** Each pair as a text, whichever of both comes first. */
function texts(groups: readonly ClaimGroup[], pairs: OverlappingSets['pairs']): readonly string[] {
  const numbers = new Map(groups.map((group, at) => [group, at]))
  return (pairs ?? [])
    .map((pair) =>
      pair
        .map((group) => String(numbers.get(group)).padStart(4, '0'))
        .toSorted()
        .join(' '),
    )
    .toSorted()
}

test('they are those of a comparison of all with all', () => {
  let most = 0
  fc.assert(
    fc.property(crowd, (groups) => {
      most = Math.max(most, groups.length)
      expect(texts(groups, found(groups).pairs)).toEqual(texts(groups, pairsOf(groups)))
    }),
    { numRuns: runs(60) },
  )
  expect(most).toBeGreaterThan(leastSeen(100))
})

test('where they are more than are asked for, each label set has one that it may overlap, if there is any', () => {
  fc.assert(
    fc.property(crowd, fc.integer({ min: 0, max: 20 }), (groups, pairsMax) => {
      const pairs = pairsOf(groups)
      const { pairs: told, peers } = found(groups, pairsMax)
      expect(told === undefined).toBe(pairs.length > pairsMax)
      expect(new Set(peers.keys())).toEqual(new Set(pairs.flat()))
      const allowed = new Set(texts(groups, pairs))
      expect(texts(groups, [...peers]).filter((text) => !allowed.has(text))).toEqual([])
    }),
    { numRuns: runs(60) },
  )
})

test('label sets that one key keeps apart are not compared pair by pair', () => {
  let reads = 0
  class CountingLabels extends Map<string, string> {
    override get(key: string): string | undefined {
      reads++
      return super.get(key)
    }
  }
  const count = 2_000
  const labels = Array.from(
    { length: count },
    (_, at) =>
      new CountingLabels([
        ['app', 'llama'],
        ['model', String(at)],
        [`of-${at}`, 'yes'],
      ]),
  )
  const groups = [new CountingLabels([['app', 'llama']]), ...labels].map((own) => ({
    labels: own,
    claims: [],
    declared: [],
  }))
  expect(found(groups, 200).pairs).toEqual([])
  expect(reads).toBeLessThan(20 * count)
})

test('sets that have no key in common may all overlap', () => {
  const groups = groupsOf([...eightyOf('app'), ...eightyOf('model')])
  expect(texts(groups, found(groups).pairs)).toEqual(texts(groups, pairsOf(groups)))
})

function eightyOf(key: string): readonly Readonly<Record<string, string>>[] {
  return Array.from({ length: 80 }, (_, at) => ({ [key]: String(at) }))
}
