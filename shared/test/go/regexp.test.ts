import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { buildProgram, search } from '../../src/core/spire/go-regexp-program.ts'
import { parseGoRegexp, SIZE_MAX, SOURCE_MAX } from '../../src/core/spire/go-regexp-syntax.ts'
import { compileGoRegexp } from '../../src/core/spire/go-regexp.ts'
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

test('what Go reads is unsupported only for the constructs that are named', () => {
  const constructs = readVectors('regexps.jsonl')
    .slice(1)
    .map((row) => compileGoRegexp(textAt(row, 0)))
    .flatMap((compiled) => (compiled.kind === 'unsupported' ? [compiled.construct] : []))
  expect(
    constructs.filter((what) => !/^\\[pP]/.test(what) && what !== '(?i) with a character beyond ASCII'),
  ).toEqual([])
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
    { numRuns: 500 },
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

describe('what Go refuses is said', () => {
  test.each([
    ['a**', 'repeats a repeat with *'],
    ['*a', 'has nothing to repeat before *'],
    ['(a', 'has a "(" that nothing closes'],
    ['a)', 'has a ")" that nothing opens'],
    ['[a', 'has a "[" that nothing closes'],
    ['[b-a]', 'has a range whose ends are the wrong way round'],
    ['[[:foo:]]', 'has the unknown class "[:foo:]"'],
    ['a{1001}', 'has the bad repeat {1001}'],
    ['(a{2}){501}', 'repeats more than 1000 times with {501}'],
    ['(?=a)', 'has the unknown group "(?="'],
    ['(?<=a)b', 'has a bad group name, or looks around'],
    ['(a)\\1', 'has the bad escape "\\\\1"'],
    ['a\\', 'has the bad escape "\\\\"'],
  ])('%j %s', (source, message) => {
    expect(compileGoRegexp(source)).toEqual({ kind: 'invalid', message })
  })
})

describe('what is not followed is named', () => {
  test.each([
    ['\\p{Greek}', '\\p{Greek}'],
    ['[\\pL]', '\\pL'],
    ['(?i)é', '(?i) with a character beyond ASCII'],
    ['[[:word:]]{1000}'.repeat(4), 'an expression of this size'],
    ['('.repeat(300) + ')'.repeat(300), 'groups and repeats nested this deep'],
    ['a'.repeat(SOURCE_MAX + 1), `an expression over ${SOURCE_MAX} characters`],
  ])('%j', (source, construct) => {
    expect(compileGoRegexp(source)).toEqual({ kind: 'unsupported', construct })
  })
})

describe('no expression makes a search slow', () => {
  test.each(['(a+)+$', '((a*)*)*b', '(a|aa)+$', '(a?){500}a{400}$', '(.*)*x', '((?:a|a)*){30}b'])(
    '%s visits each instruction at most once per character',
    (source) => {
      const syntax = parseGoRegexp(source)
      if (syntax.kind !== 'parsed') throw new Error(syntax.kind)
      const program = buildProgram(syntax.root)
      expect(program.instructions.length).toBeLessThanOrEqual(SIZE_MAX)
      const text = `${'a'.repeat(252)}!`
      const { matched, steps } = search(program, text)
      expect(matched).toBe(false)
      expect(steps).toBeLessThanOrEqual((text.length + 1) * program.instructions.length)
    },
  )

  test('a program is never larger than the size that was checked', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...Array.from('ab(|)*+?{2,}[]^$.')) }), (source) => {
        const syntax = parseGoRegexp(source)
        if (syntax.kind !== 'parsed') return
        expect(buildProgram(syntax.root).instructions.length).toBeLessThanOrEqual(syntax.root.size + 1)
      }),
    )
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
    { numRuns: 500 },
  )
})

test('no text at all makes the parser throw', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.nat(0x7f), fc.nat(0xffff))), (units) => {
      const source = String.fromCharCode(...units)
      expect(['regexp', 'invalid', 'unsupported']).toContain(compileGoRegexp(source).kind)
    }),
  )
})
