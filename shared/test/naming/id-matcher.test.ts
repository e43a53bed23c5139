// Which IDs a name takes in: by a plain regular expression as the other way to say it, and by the index.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs, seedOf } from '@kleym/testing/runs.ts'
import {
  MatcherIndex,
  matchesId,
  mayMatchAny,
  patternMatches,
  patternMatchesRendered,
} from '../../src/core/model/naming/id-matcher.ts'
import type { IdMatcher } from '../../src/core/model/objects/access-rule.ts'
import { entryIdProblem } from '../../src/core/model/spiffe-id.ts'

const piece = fc.constantFrom(
  '',
  'a',
  '/a',
  '/a/',
  'a/b',
  '/ns/',
  '/ns/a',
  'spiffe://',
  'spiffe://a',
  'spiffe://a/ns/',
  '*',
)
const matcher: fc.Arbitrary<IdMatcher> = fc.array(piece, { minLength: 1, maxLength: 4 })
const id = fc
  .array(fc.constantFrom('a', 'b', 'ns', 'ab'), { minLength: 1, maxLength: 5 })
  .map((segments) => `spiffe://${segments.join('/')}`)

function plainly(texts: IdMatcher, text: string): boolean {
  const escaped = texts.map((one) => one.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`))
  return new RegExp(`^${escaped.join('.*')}$`).test(text)
}

test('a matcher is a regular expression with gaps', () => {
  fc.assert(
    fc.property(matcher, id, (one, text) => {
      expect(matchesId(one, text)).toBe(plainly(one, text))
    }),
    { numRuns: runs(2000), ...seedOf(1) },
  )
})

test('a matcher that matches some ID is not called dead', () => {
  fc.assert(
    fc.property(matcher, id, (one, text) => {
      const isMatched = matchesId(one, text) && entryIdProblem(text) === undefined
      expect(mayMatchAny(one) || !isMatched).toBe(true)
    }),
    { numRuns: runs(5000), ...seedOf(2) },
  )
})

test('signs are a regular expression', () => {
  const text = fc
    .array(fc.constantFrom('spiffe://', 'a', 'b', '/', 'ns', '*', '?', '+', 'B'), { maxLength: 9 })
    .map((parts) => parts.join(''))
  const signs: Readonly<Record<string, string>> = { '*': '.*', '?': '.', '+': '[^/]+' }
  fc.assert(
    fc.property(text, id, fc.boolean(), (one, given, ignoresCase) => {
      const expression = one.replaceAll(/[*?+]/g, (sign) => signs[sign] ?? '')
      const like = { text: one, ...(ignoresCase && { ignoresCase }) }
      expect(patternMatches({ all: [], none: [], like }, given)).toBe(
        new RegExp(`^${expression}$`, ignoresCase ? 'i' : '').test(given),
      )
    }),
    { numRuns: runs(5000), ...seedOf(3) },
  )
})

test('a trust domain that is not known holds no slash', () => {
  const rendered = 'spiffe://<trust-domain>/ns/team-a/objective/chat'
  const takes = (...texts: readonly string[]): string =>
    patternMatchesRendered({ all: [[texts]], none: [] }, rendered)
  expect(takes('', '/ns/team-b/', '')).toBe('no')
  expect(takes('spiffe://', 'a/ns/team-b/', '')).toBe('no')
  expect(takes('spiffe://example.org/ns/team-b/', '')).toBe('no')
  expect(takes('spiffe://example.org/ns/team-a/', '')).toBe('perhaps')
  expect(takes('', '/ns/team-a/', '')).toBe('yes')
  expect(takes('spiffe://', '.org/ns/team-a/', '')).toBe('perhaps')
  expect(takes('spiffe://', 'example', '')).toBe('perhaps')
})

test('many signs take time in proportion to the text', () => {
  const like = { text: `${'*a'.repeat(2000)}b` }
  expect(patternMatches({ all: [], none: [], like }, 'a'.repeat(2000))).toBe(false)
})

test('what a pattern with signs takes in of an ID that is known in part is not certain', () => {
  const like = { text: 'spiffe://a/ns/?/web' }
  const rendered = 'spiffe://a/ns/<pod name>/web'
  const pattern = { all: [[['spiffe://a/ns/', '/web']]], none: [], like }
  expect(patternMatchesRendered(pattern, rendered)).toBe('perhaps')
  expect(patternMatchesRendered(pattern, 'spiffe://a/ns/b/web')).toBe('yes')
  expect(patternMatchesRendered(pattern, 'spiffe://a/ns/bc/web')).toBe('no')
})

function mayName(...texts: readonly string[]): boolean {
  return patternMatchesRendered({ all: [[texts]], none: [] }, 'spiffe://a/ns/<pod name>/web') !== 'no'
}

test('what an ID with placeholders may become is found, whatever they stand for', () => {
  const part = fc.constantFrom('a', 'b', 'ab', 'ns')
  fc.assert(
    fc.property(matcher, matcher, id, part, part, (one, not, text, before, after) => {
      const rendered = `${text}-<pod name>/${before}<node name>${after}`
      const become = rendered.replace('<pod name>', after).replace('<node name>', before)
      const pattern = { all: [[one]], none: not.length > 2 ? [[not]] : [] }
      const taken = patternMatchesRendered(pattern, rendered)
      expect(taken === 'perhaps' || (taken === 'yes') === patternMatches(pattern, become)).toBe(true)
      // Without a placeholder it is the ID itself.
      expect(patternMatchesRendered(pattern, text)).toBe(patternMatches(pattern, text) ? 'yes' : 'no')
    }),
    { numRuns: runs(2000), ...seedOf(4) },
  )
  expect(mayName('spiffe://a/ns/', '/web')).toBe(true)
  expect(mayName('spiffe://', '/other/web')).toBe(true)
  expect(mayName('spiffe://', '/api')).toBe(false)
  expect(mayName('spiffe://b/', '')).toBe(false)
  // What stands in a placeholder says nothing of what it becomes.
  const rendered = 'spiffe://a/ns/<pod name>/web'
  expect(patternMatchesRendered({ all: [[['spiffe://a/ns/', '']]], none: [] }, rendered)).toBe('yes')
  expect(patternMatchesRendered({ all: [[['spiffe://', 'pod', '']]], none: [] }, rendered)).toBe('perhaps')
  expect(patternMatchesRendered({ all: [[['', '']]], none: [[['', '/x/web']]] }, rendered)).toBe('perhaps')
})

const byPlace = (a: number, b: number): number => a - b

function indexOf(all: readonly IdMatcher[]): MatcherIndex<number> {
  return new MatcherIndex(all.map((one, item) => ({ matcher: one, item })))
}

test('the index finds what a look at each of them finds', () => {
  fc.assert(
    fc.property(fc.array(matcher, { maxLength: 12 }), id, (all, text) => {
      const found = all.flatMap((one, at) => (matchesId(one, text) ? [at] : []))
      expect([...indexOf(all).of(text)].toSorted(byPlace)).toEqual(found)
      expect([...indexOf(all).mayTake(text)].toSorted(byPlace)).toEqual(found)
    }),
    { numRuns: runs(2000), ...seedOf(3) },
  )
})

test('the index leaves out nothing that may take in an ID which is known in part', () => {
  const holes = fc.constantFrom('<trust-domain>', 'a/<pod name>', 'a/ns/<pod name>/b', '<trust-domain>/<x>')
  fc.assert(
    fc.property(fc.array(matcher, { maxLength: 12 }), id, holes, (all, text, hole) => {
      const rendered = text.replace('//a', `//${hole}`)
      const found = indexOf(all).mayTake(rendered)
      for (const [at, one] of all.entries())
        expect(found.has(at) || patternMatchesRendered({ all: [[one]], none: [] }, rendered) === 'no').toBe(
          true,
        )
    }),
    { numRuns: runs(2000), ...seedOf(5) },
  )
})

const MANY = Array.from({ length: 1000 }, (_, at) => at)

/** How many of some matchers a question looks at. */
function lookedAt(all: readonly IdMatcher[], ask: (index: MatcherIndex<number>) => unknown): number {
  const seen = new Set<number>()
  const index = indexOf(
    all.map((one, at) => new Proxy(one, { get: (texts, key) => (seen.add(at), Reflect.get(texts, key)) })),
  )
  index.of('spiffe://example.org/none')
  seen.clear()
  ask(index)
  return seen.size
}

test.each<[string, (at: number) => IdMatcher]>([
  ['their ends differ', (at) => ['spiffe://example.org/ns/', `/pool/x${at}`]],
  ['what is inside differs', (at) => ['spiffe://example.org/ns/', `/pool/x${at}/`, '']],
  ['their beginnings differ', (at) => [`spiffe://example.org/ns/x${at}/`, '/pool/a']],
])('an ID is compared with few of many matchers that differ in one text: %s', (_, matcherOf) => {
  const text = 'spiffe://example.org/ns/x7/pool/x7/b'
  expect(lookedAt(MANY.map(matcherOf), (index) => index.of(text))).toBeLessThan(3)
})

test.each<[string, (at: number) => IdMatcher]>([
  ['spiffe://<trust-domain>/ns/t/pool/x7', (at) => ['spiffe://example.org/ns/', `/pool/x${at}`]],
  ['spiffe://<trust-domain>/ns/x7/pool/a', (at) => ['spiffe://', `.org/ns/x${at}/`, '']],
  ['spiffe://example.org/ns/x7/<pod name>', (at) => [`spiffe://example.org/ns/x${at}/`, '']],
  ['spiffe://example.org/ns/x7/<pod name>/a', (at) => [`spiffe://example.org/ns/x${at}/b/c`, '']],
])('an ID that is known in part may be in few of many matchers: %s', (rendered, matcherOf) => {
  expect(indexOf(MANY.map(matcherOf)).mayTake(rendered).size).toBe(1)
})

describe('dead by its texts', () => {
  test.each<[boolean, IdMatcher]>([
    [true, ['spiffe://example.org/a']],
    [false, ['spiffe://example.org']],
    [false, ['spiffe://spiffe://example.org/a']],
    [false, ['spiffe://Example.org/a']],
    [true, ['spiffe://example.org/', '']],
    [true, ['spiffe://exam', '']],
    [true, ['spiffe://example.org/a/b', '']],
    [false, ['spiffe://spiffe://', '']],
    [false, ['spiffe://example.org//', '']],
    [true, ['spiffe://', '/sa/x']],
    [false, ['spiffe://', '/sa/x/']],
    [false, ['spiffe://', 'a//b']],
    [false, ['spiffe://', '*']],
    [true, ['', '']],
    [true, ['', '/ns/a/', '']],
  ])('%s: %j', (expected, one) => {
    expect(mayMatchAny(one)).toBe(expected)
  })
})

test('a long list of a pattern takes in what a look at each of its matchers finds', () => {
  fc.assert(
    fc.property(fc.array(matcher, { minLength: 9, maxLength: 20 }), id, (list, text) => {
      const isMatched = list.some((one) => matchesId(one, text))
      expect(patternMatches({ all: [list], none: [] }, text)).toBe(isMatched)
      expect(patternMatches({ all: [[['', '']]], none: [list] }, text)).toBe(!isMatched)
    }),
    { numRuns: runs(2000), ...seedOf(4) },
  )
})

test('a pattern takes in what is in each list of its and in none that it leaves out', () => {
  const pattern = { all: [[['spiffe://a/', '']], [['', '/ns/x/', '']]], none: [[['', 'bad']]] }
  expect(patternMatches(pattern, 'spiffe://a/ns/x/good')).toBe(true)
  expect(patternMatches(pattern, 'spiffe://b/ns/x/good')).toBe(false)
  expect(patternMatches(pattern, 'spiffe://a/ns/y/good')).toBe(false)
  expect(patternMatches(pattern, 'spiffe://a/ns/x/bad')).toBe(false)
})
