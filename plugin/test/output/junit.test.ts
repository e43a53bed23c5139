// `-o junit`: well-formed XML whose counts, failures and skips are those of the result.
import { describe, expect, test } from 'vitest'
import { escapeTerminal } from '../../src/io/escape.ts'
import { toJunit } from '../../src/output/junit.ts'
import { junitProblems } from '../support/junit-schema.ts'
import { parseXml, type Element } from '../support/xml.ts'
import { HOSTILE_TEXTS, UNSAFE_CHARACTERS, resultWith, COMPLETE_RESULT } from '../support/ci-results.ts'

function casesOf(document: string): readonly Element[] {
  const [suite] = parseXml(document).children
  return (suite?.children ?? []).filter(({ name }) => name === 'testcase')
}

describe('-o junit', () => {
  test.each(HOSTILE_TEXTS)('%j is text alone', (text) => {
    const document = toJunit(resultWith(text))
    expect(document).not.toMatch(UNSAFE_CHARACTERS)
    expect(document).not.toMatch(/^\s*::/m)
    expect(document).not.toMatch(/##(?:\[|vso\[)/)
    const cases = casesOf(document)
    expect(cases.map(({ children }) => children.map(({ name }) => name))).toEqual([
      ['error'],
      ['failure'],
      ['failure'],
      ['skipped'],
      ['skipped'],
      ['failure'],
      // What passes has no more than its name.
      [],
    ])
    const [, first] = cases
    expect(first?.attributes['classname']).toContain(
      escapeTerminal(text).replaceAll(/##(?=\[|vso\[)/g, String.raw`#\x23`),
    )
    // GitLab drops the second of two of one name.
    expect(new Set(cases.map(({ attributes }) => JSON.stringify(attributes))).size).toBe(cases.length)
  })

  test('its counts are those of its cases', () => {
    const { attributes, children } = parseXml(toJunit(resultWith('x')))
    expect(attributes).toMatchObject({ tests: '7', failures: '3', errors: '1' })
    expect(children[0]?.attributes).toEqual({ ...attributes, skipped: '2' })
  })

  test('a failure begins with its place', () => {
    const [, one] = casesOf(toJunit(resultWith('x')))
    expect(one?.children[0]?.text).toMatch(/^at x:7\n/)
  })

  test.each(HOSTILE_TEXTS)('is valid with %j', (text) => {
    expect(junitProblems(toJunit(resultWith(text)))).toEqual([])
  })

  test('what is below the threshold is skipped with its words', () => {
    const [, one] = casesOf(toJunit(resultWith('x', { code: 'KLM402' })))
    expect(one?.children[0]).toMatchObject({
      name: 'skipped',
      attributes: { message: 'warning, below --fail-on error: x' },
    })
  })

  test('nothing fails with --fail-on never, and what is not known is an error all the same', () => {
    const names = casesOf(toJunit({ ...resultWith('x'), threshold: undefined, differences: [] })).flatMap(
      ({ children }) => children.map(({ name }) => name),
    )
    expect(names).toEqual(['error', 'skipped', 'skipped', 'skipped', 'skipped'])
  })

  test('a complete answer without findings is one green test: an empty report is an error to Jenkins', () => {
    expect(
      casesOf(toJunit(COMPLETE_RESULT)).map(({ attributes, children }) => [attributes['name'], children]),
    ).toEqual([['the answer is complete', []]])
  })
})
