// Numbers agree with their nouns in everything that a person reads: the goldens of the answers, and the pages of docs/.
import { expect, test } from 'vitest'
import { textOf, TRACKED } from './files.ts'

const READ = TRACKED.filter(
  (path) => /^test\/e2e\/golden\/.*\.txt$/.test(path) || /^docs\/(?!architecture).*\.md$/.test(path),
)

/** Words in -s that are no plurals. */
const SINGULAR = new Set([
  'class',
  'matches',
  'ms',
  'is',
  'was',
  'has',
  'holds',
  'gets',
  'perhaps',
  'loses',
  'gains',
  'waits',
  'of',
])
const NOUNS =
  'container|binding|pod|rule|error|warning|finding|namespace|assertion|test|node|peer|replica|object|change|kind|file|registration'
/** What may stand behind a noun that is the last of its phrase. */
const BEHIND =
  '(?=[,;.:)\\n]| (?:in|of|with|without|hold|holds|wait|gain|lose|get|gets|and|that|are|named)\\b)'

/** Where a number and its noun disagree, with some of the text. */
function disagreements(text: string): readonly string[] {
  const start = '(?<![\\w.:/#-])'
  const plurals = [...text.matchAll(new RegExp(`${start}1 (?:more |other |such |pod )?([a-z]+s)\\b`, 'gi'))]
    .filter(([, noun = '']) => !SINGULAR.has(noun.toLowerCase()))
    .map(([found]) => found)
  const singulars = [
    ...text.matchAll(
      new RegExp(
        `${start}(?:0|[2-9]|[1-9]\\d+) (?:(?:more|other) )?(?:${NOUNS}|identity|entry|policy)${BEHIND}`,
        'g',
      ),
    ),
  ].map(([found]) => found)
  return [...plurals, ...singulars]
}

test('a number that does not agree with its noun is seen', () => {
  expect(disagreements('1 containers hold it')).toEqual(['1 containers'])
  expect(disagreements('and 1 other kinds')).toEqual(['1 other kinds'])
  expect(disagreements('1 policies, 3 binding in 2 namespaces')).toEqual(['1 policies', '3 binding'])
  expect(disagreements('1 container holds it, v1 names, 3 pod templates, 2 containers')).toEqual([])
})

test('numbers agree with their nouns', () => {
  expect(READ.length).toBeGreaterThan(100)
  expect(READ.flatMap((path) => disagreements(textOf(path)).map((found) => `${path}: ${found}`))).toEqual([])
})
