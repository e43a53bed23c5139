import { describe, expect, test } from 'vitest'
import { didYouMean, editDistance, nearest } from '../../src/core/base/text/suggest.ts'

describe('editDistance', () => {
  test.each([
    ['the same', 'diff', 'diff', 0],
    ['a letter too many', 'difff', 'diff', 1],
    ['a letter missing', 'dif', 'diff', 1],
    ['another letter', 'daff', 'diff', 1],
    ['two neighbours swapped', 'dfif', 'diff', 1],
    ['nothing in common', 'abc', 'xyz', 3],
    ['one is empty', '', 'xyz', 3],
    ['absurdly long words', 'a'.repeat(65), 'a', Number.POSITIVE_INFINITY],
  ])('%s', (_, left, right, expected) => {
    expect(editDistance(left, right)).toBe(expected)
    expect(editDistance(right, left)).toBe(expected)
  })
})

const COMMANDS = ['explain', 'diff', 'who-selects', 'conflicts']

describe('nearest', () => {
  test.each([
    ['a slip', 'exlpain', ['explain']],
    ['another case', 'EXPLAIN', ['explain']],
    ['the beginning of a word', 'who', ['who-selects']],
    ['a part of a word', 'selects', ['who-selects']],
    ['a short part', 'sel', []],
    ['something else', 'status', []],
    ['one letter', 'x', []],
  ])('%s', (_, written, expected) => {
    expect(nearest(written, COMMANDS)).toEqual(expected)
  })

  test('the best one comes first', () => {
    expect(nearest('conflict', ['convict', 'conflicts', 'conflux'])[0]).toBe('conflicts')
  })
})

test('didYouMean asks about one, several or none', () => {
  expect(didYouMean('jsn', ['json', 'yaml'])).toBe('did you mean json?')
  expect(didYouMean('na', ['namespace', 'name', 'x'])).toBe('did you mean name or namespace?')
  expect(didYouMean('zzz', ['json'])).toBeUndefined()
})
