import { expect, test } from 'vitest'
import { groupsBy, onceBy } from '@kleym/shared/core/base/groups.ts'

const WORDS = ['pool', 'pod', 'node', 'name', 'pod']

test('groups come in the order of their first, and what is in one in its own', () => {
  expect(groupsBy(WORDS, (word) => word[0])).toEqual([
    ['pool', 'pod', 'pod'],
    ['node', 'name'],
  ])
  expect(groupsBy([], () => '')).toEqual([])
})

test('of several with one key the last is kept, in the place of the first', () => {
  expect(onceBy(WORDS, (word) => word[0])).toEqual(['pod', 'name'])
})
