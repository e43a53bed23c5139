// Every property test takes its number of cases from `KLEYM_RUNS` (test/testing/src/runs.ts), so that one factor makes all of
// them quick, or a campaign.
import { expect, test } from 'vitest'
import { textOf, TRACKED } from './files.ts'

/** The properties of a test that say no number of cases, and the numbers that do not follow the factor. */
function fixedNumbers(text: string): readonly string[] {
  const scaled = new Set([...text.matchAll(/const (\w+) = [^\n]*\bruns\(/g)].map(([, name = '']) => name))
  const asked = [...text.matchAll(/numRuns: ([^\n]*)/g)].map(([, value = '']) => value)
  const fixed = asked.filter(
    (value) => !value.includes('runs(') && (value.match(/\w+/g) ?? []).every((word) => !scaled.has(word)),
  )
  const properties = [...text.matchAll(/\bfc\.assert\(|\bassert\(\s*(?:property|asyncProperty)\b/g)]
  return [...fixed, ...Array.from({ length: Math.max(0, properties.length - asked.length) }, () => 'none')]
}

test('a number of cases of its own is seen', () => {
  expect(fixedNumbers('fc.assert(fc.property(x), { numRuns: 500 })')).toEqual(['500 })'])
  expect(fixedNumbers('const RUNS = 500\nfc.assert(p, { numRuns: 2 * RUNS })')).toEqual(['2 * RUNS })'])
  expect(fixedNumbers('fc.assert(fc.property(x))')).toEqual(['none'])
  expect(fixedNumbers('fc.assert(p, { numRuns: runs(500) })')).toEqual([])
  expect(fixedNumbers('const RUNS = runs(500)\nfc.assert(p, { numRuns: 2 * RUNS })')).toEqual([])
})

test('no property test has a number of cases of its own', () => {
  const tests = TRACKED.filter((path) => /(?<!house\/campaigns)\.test\.tsx?$/.test(path))
  expect(tests.length).toBeGreaterThan(300)
  expect(tests.flatMap((path) => fixedNumbers(textOf(path)).map((found) => `${path}: ${found}`))).toEqual([])
})
