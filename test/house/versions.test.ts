// Every version that is named is a version that is run: the minors of Kubernetes, the suites that run on each of them, the
// chart's `kubeVersion` and the table of docs/compatibility.md.
import { basename } from 'node:path'
import { expect, test } from 'vitest'
import { allPassed, countTests, tableRow } from '../../scripts/versions/row.ts'
import { OF_NO_VERSION, pathOf, QUICK, SUITES, TOPICS } from '../../scripts/versions/suites.ts'
import { NEWEST_MINOR, OLDER_MINORS, versionOf } from '../control-plane/older-kubernetes.ts'
import { BUILD } from '../control-plane/tools.ts'
import { textOf, TRACKED } from './files.ts'

const ALL = TOPICS.flatMap((topic) => SUITES[topic])

test('each suite on a control plane runs on every minor, or is named among those that need not', () => {
  const found = TRACKED.filter((path) => /^test\/control-plane\/[^/]+\.test\.ts$/.test(path))
  const named = [...ALL, ...OF_NO_VERSION]
  expect(named.toSorted()).toEqual(found.map((path) => basename(path, '.test.ts')).toSorted())
})

test('what runs in `npm test` on the oldest minor is of every topic', () => {
  expect(QUICK.filter((suite) => !ALL.includes(suite))).toEqual([])
  for (const topic of TOPICS) expect(SUITES[topic].some((suite) => QUICK.includes(suite))).toBe(true)
})

test('each minor is built from a module of its own', () => {
  const folders = TRACKED.flatMap((path) => /\/go\/kubernetes-([\d.]+)\/go\.sum$/.exec(path)?.[1] ?? [])
  expect(folders).toEqual(OLDER_MINORS)
  for (const minor of OLDER_MINORS) expect(versionOf(minor)).toMatch(new RegExp(`^v${minor}\\.\\d+$`))
})

test('the chart takes the oldest minor that is run, and no older one', () => {
  const asked = /^kubeVersion: '>=(\d+\.\d+)\.0-0'$/m.exec(textOf('charts/kleym/Chart.yaml'))?.[1]
  expect(asked).toBe(OLDER_MINORS[0])
})

test('docs/compatibility.md has a row for each version that can be run, and none for another', () => {
  const rows = [...textOf('docs/compatibility.md').matchAll(/^\| (v1\.\d+\.\d+) \|/gm)].map(([, row]) => row)
  expect(rows).toEqual([...OLDER_MINORS.map(versionOf), BUILD.version])
  expect(BUILD.version).toContain(`v${NEWEST_MINOR}.`)
})

/** A report of one suite whose tests ended so. */
function reportOf(suite: string, ...statuses: readonly string[]): unknown {
  const assertionResults = statuses.map((status) => ({ status }))
  return { testResults: [{ name: `/somewhere/${pathOf(suite)}`, assertionResults }] }
}

test.each<[what: string, report: unknown, cell: string, passed: boolean]>([
  ['all passed', reportOf('chart-policies', 'passed', 'passed'), '2 passed', true],
  ['one failed', reportOf('chart-policies', 'passed', 'failed'), '1 of 2 failed', false],
  ['one was skipped', reportOf('chart-policies', 'passed', 'skipped'), '1 of 2 failed', false],
  ['the suite is not in the report', reportOf('chart-rbac', 'passed'), '1 of 1 failed', false],
  ['the suite has no test', reportOf('chart-policies'), '1 of 1 failed', false],
])('a row where %s', (_what, report, cell, passed) => {
  const result = countTests(report, ['chart-policies'])
  const others = TOPICS.map((topic) => (topic === 'policies' ? cell : 'not run'))
  expect(tableRow('v1.30.14', result)).toBe(`| v1.30.14 | ${others.join(' | ')} |`)
  expect(allPassed(result)).toBe(passed)
})
