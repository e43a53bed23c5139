import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '@kleym/testing/runs.ts'
import { readLabelSelector, type LabelSelector } from '../../src/core/model/objects/label-selector.ts'
import { YES } from '../../src/core/model/truth/truth.ts'
import { matchSelector, selectorProblem, type LabelView } from '../../src/core/model/objects/label-match.ts'
import { disagreements } from '../go/vectors.ts'

/** A selector as a manifest writes it. */
function selectorOf(value: unknown): LabelSelector | undefined {
  return readLabelSelector(value, 'selector', (problem) => {
    throw new Error(problem)
  })
}

function labelsOf(value: unknown): ReadonlyMap<string, string> {
  const labels = new Map<string, string>()
  for (const [key, label] of Object.entries(value ?? {})) labels.set(key, String(label))
  return labels
}

describe('selectors as apimachinery has them', () => {
  test('the same are refused, and the same objects are selected', () => {
    const differing = disagreements('selectors.jsonl', (row) => {
      const [written, text, objects] = row
      const selector = selectorOf(written)
      if (selectorProblem(selector) !== undefined) return [written, 'refused']
      const asked = Array.isArray(objects) ? objects : []
      return [
        written,
        text,
        asked.map(([object]: unknown[]) => [
          object,
          matchSelector(selector, { labels: labelsOf(object) }) === YES,
        ]),
      ]
    })
    expect(differing).toEqual([])
  })
})

describe('a refused selector says where and why', () => {
  test.each([
    [{ matchLabels: { 'a b': 'x' } }, 'matchLabels["a b"]: the key "a b" has " " at character 2;'],
    [{ matchLabels: { a: '-' } }, 'matchLabels["a"]: the value "-" does not start with a letter or digit'],
    [{ matchLabels: { z: '-', b: '-' } }, 'matchLabels["b"]:'],
    [
      { matchExpressions: [{ key: 'a', operator: 'in', values: ['x'] }] },
      'matchExpressions[0]: "in" is no operator;',
    ],
    [
      { matchExpressions: [{ key: 'a', operator: 'In' }] },
      'matchExpressions[0]: In needs at least one value',
    ],
    [
      {
        matchExpressions: [
          { key: 'b', operator: 'Exists' },
          { key: 'a', operator: 'Exists', values: ['x'] },
        ],
      },
      'matchExpressions[1]: Exists takes no values',
    ],
  ])('%j: %s', (written, problem) => {
    expect(selectorProblem(selectorOf(written))?.slice(0, problem.length)).toBe(problem)
  })

  test('a hostile key is quoted in part', () => {
    const problem = selectorProblem(selectorOf({ matchLabels: { ['k'.repeat(1_000_000)]: 'x' } }))
    expect(problem?.length).toBeLessThan(1000)
    expect(problem).toMatch(/"\.\.\. has a name over 63 characters$/)
  })

  test('no selector, and an empty one, are fine and select everything', () => {
    for (const selector of [undefined, selectorOf({})]) {
      expect(selectorProblem(selector)).toBeUndefined()
      expect(matchSelector(selector, { labels: new Map(), complete: false })).toBe(YES)
    }
  })
})

describe('labels that are only partly known', () => {
  const known = new Map([['a', 'x']])
  const views: readonly (readonly [string, LabelView])[] = [
    ['known', { labels: known }],
    ['absent', { labels: new Map() }],
    ['open', { labels: new Map(), unknownValues: new Set(['a']) }],
    ['possible', { labels: new Map(), possible: new Set(['a']) }],
    ['incomplete', { labels: new Map(), complete: false }],
    ['open, incomplete', { labels: new Map(), unknownValues: new Set(['a']), complete: false }],
    ['known, incomplete', { labels: known, complete: false }],
    ['known, but perhaps another', { labels: known, unknownValues: new Set(['a']) }],
    ['known, but perhaps gone', { labels: known, possible: new Set(['a']) }],
  ]
  const table: readonly (readonly [unknown, readonly string[]])[] = [
    [{ matchLabels: { a: 'x' } }, ['yes', 'no', 'open', 'open', 'open', 'open', 'yes', 'open', 'open']],
    [{ matchLabels: { a: 'y' } }, ['no', 'no', 'open', 'open', 'open', 'open', 'no', 'open', 'open']],
    [
      { matchExpressions: [{ key: 'a', operator: 'In', values: ['y', 'x'] }] },
      ['yes', 'no', 'open', 'open', 'open', 'open', 'yes', 'open', 'open'],
    ],
    [
      { matchExpressions: [{ key: 'a', operator: 'NotIn', values: ['y'] }] },
      ['yes', 'yes', 'open', 'open', 'open', 'open', 'yes', 'open', 'open'],
    ],
    [
      { matchExpressions: [{ key: 'a', operator: 'Exists' }] },
      ['yes', 'no', 'yes', 'open', 'open', 'yes', 'yes', 'yes', 'open'],
    ],
    [
      { matchExpressions: [{ key: 'a', operator: 'DoesNotExist' }] },
      ['no', 'yes', 'no', 'open', 'open', 'no', 'no', 'no', 'open'],
    ],
  ]
  const cases = table.flatMap(([written, answers]) =>
    views.map(([name, view], at) => ({ name, written, view, answer: answers[at] })),
  )
  test.each(cases)('$written on a label that is $name: $answer', ({ written, view, answer }) => {
    expect(matchSelector(selectorOf(written), view).value).toBe(answer)
  })

  test('one requirement that is certainly false decides, whatever is unknown', () => {
    const selector = selectorOf({ matchLabels: { a: 'x', b: 'y' } })
    expect(
      matchSelector(selector, { labels: new Map([['b', 'z']]), unknownValues: new Set(['a']) }).value,
    ).toBe('no')
    expect(
      matchSelector(selector, { labels: new Map([['b', 'y']]), unknownValues: new Set(['a']) }).value,
    ).toBe('open')
  })
})

/** A value of the label, `undefined` for an object without it. */
const VALUES = [undefined, 'x', 'y'] as const
const KEYS = ['a', 'b'] as const

test('a certain answer holds for every object that the view allows', () => {
  const requirement = fc.record({
    key: fc.constantFrom(...KEYS),
    operator: fc.constantFrom('In', 'NotIn', 'Exists', 'DoesNotExist'),
    values: fc.subarray(['x', 'y', 'z'], { minLength: 1 }),
  })
  const selectors = fc.record({
    matchLabels: fc.dictionary(fc.constantFrom(...KEYS), fc.constantFrom('x', 'z'), { maxKeys: 1 }),
    matchExpressions: fc.array(requirement, { maxLength: 3 }),
  })
  const fact = fc.constantFrom('x', 'open', 'possible', 'absent')
  fc.assert(
    fc.property(selectors, fc.tuple(fact, fact), fc.boolean(), (written, facts, complete) => {
      const selector = selectorOf(written)
      const labels = new Map<string, string>()
      const open = new Set<string>()
      const possible = new Set<string>()
      KEYS.forEach((key, at) => {
        if (facts[at] === 'x') labels.set(key, 'x')
        if (facts[at] === 'open') open.add(key)
        if (facts[at] === 'possible') possible.add(key)
      })
      const verdict = matchSelector(selector, { labels, unknownValues: open, possible, complete })
      if (verdict.value === 'open') return
      for (const object of objectsAllowed(facts, complete))
        expect(matchSelector(selector, { labels: object })).toBe(verdict)
    }),
    { numRuns: runs(1000) },
  )
})

/** Every object of the two keys that fits what is known. */
function objectsAllowed(facts: readonly string[], complete: boolean): readonly ReadonlyMap<string, string>[] {
  return VALUES.flatMap((first) => VALUES.map((second) => [first, second] as const))
    .filter((values) => values.every((value, at) => allows(facts[at] ?? 'absent', value, complete)))
    .map((values) => {
      const object = new Map<string, string>()
      values.forEach((value, at) => {
        if (value !== undefined) object.set(KEYS[at] ?? '', value)
      })
      return object
    })
}

function allows(fact: string, value: string | undefined, complete: boolean): boolean {
  if (fact === 'x') return value === 'x'
  if (fact === 'open') return value !== undefined
  return fact === 'possible' || !complete || value === undefined
}
