import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keepSuiteSeconds, longestFirst, readSuiteSeconds } from '../src/suite-seconds.ts'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'kleym-suite-seconds-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

test('the longest suite comes first, and those that nobody knows before it, in the order given', () => {
  const known = { short: 2, long: 90, middle: 30 }
  const all = ['middle', 'new', 'short', 'newer', 'long']
  expect(longestFirst(all, (path) => path, known)).toEqual(['new', 'newer', 'long', 'middle', 'short'])
})

test('what is known of a suite stays until it runs again', () => {
  const file = join(folder, 'cache', 'kept.json')
  keepSuiteSeconds(file, [
    { name: 'a', seconds: 1.6 },
    { name: 'b', seconds: 8 },
  ])
  keepSuiteSeconds(file, [{ name: 'b', seconds: 9 }])
  expect(readSuiteSeconds(file)).toEqual({ a: 2, b: 9 })
})

test('of a file that is not there, nothing is known', () => {
  expect(readSuiteSeconds(join(folder, 'absent.json'))).toEqual({})
})

test.each(['{', 'null', '{"a": "long"}'])('of a file that holds %s, nothing is known', (text) => {
  const file = join(folder, 'broken.json')
  writeFileSync(file, text)
  expect(readSuiteSeconds(file)).toEqual({})
})
