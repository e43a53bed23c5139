// The gate runs every test file of the repository once: each belongs to one project of vitest.config.ts, and each project to one part.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, matchesGlob } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { PARTS } from '../../scripts/gate/parts.ts'
import { readReport, ROOT, Tally } from '../../scripts/gate/run.ts'
import { listAt, stringAt } from '../../shared/src/core/base/json.ts'
import config from '../../vitest.config.ts'
import { TRACKED } from './files.ts'

/** The projects, with what they take and leave. */
const PROJECTS = listAt(config, 'test', 'projects').map((project) => ({
  name: stringAt(project, 'test', 'name') ?? '',
  include: listAt(project, 'test', 'include').map(String),
  exclude: listAt(project, 'test', 'exclude').map(String),
}))

test('each test file belongs to one project', () => {
  const files = TRACKED.filter((path) => path.endsWith('.test.ts'))
  expect(files.length).toBeGreaterThan(300)
  expect(files.filter((path) => projectsOf(path).length !== 1)).toEqual([])
})

function projectsOf(path: string): readonly string[] {
  return PROJECTS.filter(
    ({ include, exclude }) =>
      include.some((glob) => matchesGlob(path, glob)) && !exclude.some((glob) => matchesGlob(path, glob)),
  ).map(({ name }) => name)
}

test('each project is run by npm test, by one part of the gate or by npm run test:versions', () => {
  const run = ['anywhere', 'makers', ...PARTS.flatMap(({ project }) => project ?? [])]
  expect(run.toSorted()).toEqual(PROJECTS.map(({ name }) => name).toSorted())
})

test('the end names each failure, and the last line counts what passed and what failed', () => {
  const tally = new Tally()
  tally.passed += 2
  tally.fail('lint: FAILED')
  tally.merge({ passed: 3, failed: 1, failures: ['a.test.ts > b: c'], took: [] })
  expect(tally.failures).toEqual(['lint: FAILED', 'a.test.ts > b: c'])
  expect(tally.line).toBe('5 passed, 2 failed')
})

/** A file as vitest's JSON reporter writes it: it took two seconds. */
function suite(name: string, status: string, assertionResults: readonly object[], message = ''): object {
  return { name: join(ROOT, name), status, message, startTime: 1000, endTime: 3000, assertionResults }
}

test('a report names each test that failed or was skipped, and each file that could not be loaded', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kleym-report-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'report.json')
  const report = {
    numPassedTests: 1,
    testResults: [
      suite('a.test.ts', 'failed', [
        { fullName: 'holds', status: 'passed', failureMessages: [] },
        { fullName: 'breaks', status: 'failed', failureMessages: ['expected 1 to be 2\n  at a.test.ts:3'] },
        { fullName: 'waits', status: 'skipped', failureMessages: [] },
      ]),
      suite('b.test.ts', 'failed', [], 'no such module\n  at b.test.ts:1'),
    ],
  }
  writeFileSync(file, JSON.stringify(report))
  expect(readReport(file)).toEqual({
    passed: 1,
    failed: 3,
    failures: [
      'a.test.ts > breaks: expected 1 to be 2',
      'a.test.ts > waits: it was not run (skipped)',
      'b.test.ts: no such module',
    ],
    took: [
      { name: 'a.test.ts', tests: 3, seconds: 2 },
      { name: 'b.test.ts', tests: 0, seconds: 2 },
    ],
  })
  writeFileSync(file, '{}')
  expect(readReport(file)).toBeUndefined()
})
