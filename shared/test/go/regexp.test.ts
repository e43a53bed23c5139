import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '@kleym/testing/runs.ts'
import { compileGoRegexp, SIZE_MAX, SOURCE_MAX } from '../../src/core/base/go/regexp.ts'
import { disagreements, readVectors, textAt } from './vectors.ts'

const texts = readVectors('regexps.jsonl')[0]?.[0]
const namespaces = Array.isArray(texts) ? texts.map(String) : []

/** A row of the oracle's table, as kleym would write it. */
function answer(source: string): readonly unknown[] {
  const compiled = compileGoRegexp(source)
  if (compiled.kind !== 'regexp') return [source]
  return [source, namespaces.map((text) => (compiled.matches(text) ? '1' : '0')).join('')]
}

test('expressions match what Go matches, and fail where Go fails', () => {
  expect(namespaces.length).toBeGreaterThan(20)
  const differing = disagreements('regexps.jsonl', (row) => {
    if (typeof row[0] !== 'string' || compileGoRegexp(row[0]).kind === 'unsupported') return row
    return answer(row[0])
  })
  expect(differing).toEqual([])
})

/** The vectors that nobody here answers: Go takes all but those that are marked. */
const UNANSWERED: readonly (readonly [source: string, construct: string])[] = [
  ['(?P<n>a)(?P<n>b)', 'an expression with "duplicate capture group name"'],
  // Go refuses these two.
  ['\\p', '\\p'],
  ['\\p{L', '\\p{L'],
  ['\\p{Greek}', '\\p{Greek}'],
]

test('the vectors that are unsupported are those that are named', () => {
  const unsupported = readVectors('regexps.jsonl')
    .slice(1)
    .map((row) => textAt(row, 0))
    .flatMap((source) => {
      const compiled = compileGoRegexp(source)
      return compiled.kind === 'unsupported' ? [[source, compiled.construct]] : []
    })
  expect(unsupported).toEqual(UNANSWERED)
})

test('a name alone, and how names begin, are what they are among other things', () => {
  const name = fc.string({ unit: fc.constantFrom('a', 'b', '-', '_', '1', 'A'), maxLength: 4 })
  fc.assert(
    fc.property(name, fc.constantFrom('', '.*'), fc.array(name, { maxLength: 3 }), (source, tail, parts) => {
      const [alone, grouped] = [`${source}${tail}`, `(?:${source}${tail})`].map(compileGoRegexp)
      if (alone?.kind !== 'regexp' || grouped?.kind !== 'regexp') throw new TypeError('not compiled')
      for (const text of [parts.join(''), parts.join('\n'), parts.join(source)])
        expect(alone.matches(text)).toBe(grouped.matches(text))
    }),
    { numRuns: runs(500) },
  )
})

describe('ignoreNamespaces', () => {
  test.each([
    ['default', 'my-default-ns', true],
    ['^default$', 'my-default-ns', false],
    ['openshift-.*', 'my-openshift-x', true],
    ['kube-system', 'kube-systems', true],
    ['', 'anything', true],
  ])('%j on %s: %j', (source, namespace, ignored) => {
    const compiled = compileGoRegexp(source)
    expect(compiled.kind === 'regexp' && compiled.matches(namespace)).toBe(ignored)
  })
})

describe("what Go refuses is said in Go's words", () => {
  test.each([
    ['a**', 'invalid nested repetition operator: `**`'],
    ['*a', 'missing argument to repetition operator: `*`'],
    ['(a', 'missing closing ): `(a`'],
    ['a)', 'unexpected ): `a)`'],
    ['[a', 'missing closing ]: `[a`'],
    ['[b-a]', 'invalid character class range: `b-a`'],
    ['[[:foo:]]', 'invalid character class range: `[:foo:]`'],
    ['a{1001}', 'invalid repeat count: `{1001}`'],
    ['(a{2}){501}', 'invalid repeat count: `{501}`'],
    ['(((a{1000}){1000}))', 'invalid repeat count: `{1000}`'],
    ['(?=a)', 'invalid or unsupported Perl syntax: `(?=`'],
    ['(?P<é>a)', 'invalid named capture: `(?P<é>`'],
    ['(a)\\1', 'invalid escape sequence: `\\1`'],
    ['a\\', 'trailing backslash at end of expression'],
  ])('%j %s', (source, message) => {
    expect(compileGoRegexp(source)).toEqual({ kind: 'invalid', message: `error parsing regexp: ${message}` })
  })
})

describe('what is not followed is named', () => {
  test.each([
    ['a script, which versions of Go know others of', '\\p{Garay}', '\\p{Garay}'],
    ['a property, which Go knows none of', '[\\p{Emoji}]', '\\p{Emoji}'],
    ['a category of new versions of Go', 'a\\P{Lc}', '\\P{Lc}'],
    ['a class that Go reads as "[" and ":"', '[a[:]', '"[:]" in a class'],
    ['an expression that becomes too large', '[[:word:]]{1000}'.repeat(11), 'an expression of this size'],
    ['an expression that would take long to compile', 'a{1000}'.repeat(580), 'an expression of this size'],
    [
      'groups in groups',
      '('.repeat(2000) + ')'.repeat(2000),
      'an expression with "expression nests too deeply"',
    ],
    ['a long expression', 'a'.repeat(SOURCE_MAX + 1), `an expression over ${SOURCE_MAX} characters`],
  ])('%s', (_, source, construct) => {
    expect(compileGoRegexp(source)).toEqual({ kind: 'unsupported', construct })
  })

  test.each(['\\pL', '[\\p{Lu}0-9]', '\\P{^N}', '\\\\p', '[\\\\pq]', '(?i)é', '(?i)ſ'])(
    '%j is followed',
    (source) => {
      expect(compileGoRegexp(source).kind).toBe('regexp')
    },
  )
})

describe('no expression makes a search slow', () => {
  /** One that backtracks would need years, and this takes milliseconds: a bound that no busy machine exceeds. */
  const BOUND_MS = 5000

  test.each([
    ['a repeat in a repeat', '(a+)+$'],
    ['three of them', '((a*)*)*b'],
    ['two ways to match the same', '(a|aa)+$'],
    ['many optional parts', '(a?){500}a{400}$'],
    ['anything, as often as you like', '(.*)*x'],
    ['alternatives that are the same', '((?:a|a)*){30}b'],
    ['large classes', `(?:${'\\pL{1000}'.repeat(9)})[!#]`],
    ['large classes beside many optional parts', '\\pL{900}|(\\w*-?){900}[!#]'],
    ['as many states as subsets of 900', '(a|b)*a(a|b){900}$'],
    ['a deep tree', '('.repeat(900) + 'a?' + ')*'.repeat(900)],
    ['nothing but counts', '{1000}'.repeat(SOURCE_MAX / 6)],
    ['many large classes that fold', `(?i)${'[^\\pL]'.repeat(580)}`],
  ])('%s', (_, source) => {
    const began = performance.now()
    const compiled = compileGoRegexp(source)
    for (let at = 0; at < 50; at++) {
      const text = `${'a'.repeat(100 + at)}-${'ab'.repeat(75 - at)}`
      if (compiled.kind === 'regexp') compiled.matches(text)
    }
    expect(performance.now() - began).toBeLessThan(BOUND_MS)
  })

  test('what would be large is refused before it is compiled', () => {
    const began = performance.now()
    // Compiling one takes a second.
    for (let count = 560; count < 580; count++)
      expect(compileGoRegexp('a{1000}'.repeat(count)).kind).toBe('unsupported')
    expect(performance.now() - began).toBeLessThan(BOUND_MS)
  })

  test('what is refused for its size is near to the bound', () => {
    const thousand = '(?:ab){500}'
    expect(compileGoRegexp(thousand.repeat(SIZE_MAX / 1000 - 1)).kind).toBe('regexp')
    expect(compileGoRegexp(thousand.repeat(SIZE_MAX / 1000 + 1)).kind).toBe('unsupported')
  })
})

/** Expressions that Go and JavaScript read alike. */
const { shared } = fc.letrec<{ shared: string; atom: string }>((tie) => ({
  atom: fc.oneof(
    fc.constantFrom('a', 'b', '-', '.', '[ab]', '[^a]', '\\w', '\\W', '\\d', '^', '$', '\\b', '\\B', '\\x61'),
    tie('shared').map((inside) => `(?:${inside})`),
  ),
  shared: fc.oneof(
    { maxDepth: 5 },
    tie('atom'),
    fc.tuple(tie('shared'), tie('shared')).map(([left, right]) => left + right),
    fc.tuple(tie('shared'), tie('shared')).map(([left, right]) => `${left}|${right}`),
    fc
      .tuple(tie('shared'), fc.constantFrom('*', '+', '?', '{2}', '{0,2}'))
      .map(([of, op]) => `(?:${of})${op}`),
  ),
}))

test('expressions that Go and JavaScript read alike match alike', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '-', '1'), maxLength: 8 })
  fc.assert(
    fc.property(shared, text, (source, namespace) => {
      const compiled = compileGoRegexp(source)
      expect(compiled.kind === 'regexp' && compiled.matches(namespace)).toBe(
        new RegExp(source).test(namespace),
      )
    }),
    { numRuns: runs(500) },
  )
})

test('no text at all makes the parser throw', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.nat(0x7f), fc.nat(0xffff))), (units) => {
      const source = String.fromCharCode(...units)
      expect(['regexp', 'invalid', 'unsupported']).toContain(compileGoRegexp(source).kind)
    }),
    { numRuns: runs(100) },
  )
})
