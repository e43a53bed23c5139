// Every version that is named is a version that is run: the minors of Kubernetes, the suites that run on each of them, the
// chart's `kubeVersion` and the table of docs/compatibility.md.
import { basename } from 'node:path'
import { expect, test } from 'vitest'
import { allPassed, countFiles, countTests, peerRow, tableRow } from '../../scripts/versions/row.ts'
import {
  MAKER_SUITES,
  OF_NO_VERSION,
  pathOf,
  PEER_SUITES,
  QUICK,
  SUITES,
  TOPICS,
} from '../../scripts/versions/suites.ts'
import { NEWEST_MINOR, OLDER_MINORS, versionOf } from '../control-plane/older-kubernetes.ts'
import { chosenRelease, moduleOfRelease, OTHER_RELEASES, PEERS } from '../control-plane/other-releases.ts'
import {
  BUILD,
  chosenHelm,
  chosenServer,
  crdFolder,
  crdSources,
  goModule,
  requirement,
} from '../control-plane/tools.ts'
import { textOf, TRACKED } from './files.ts'

const ALL = TOPICS.flatMap((topic) => SUITES[topic])

test('each suite on a control plane runs on every minor, or is named among those that need not', () => {
  const found = TRACKED.filter((path) => /^test\/control-plane\/[^/]+\.test\.ts$/.test(path))
  const named = [...ALL, ...OF_NO_VERSION]
  expect(named.toSorted()).toEqual(found.map((path) => basename(path, '.test.ts')).toSorted())
})

test('the quick part of the suites is of every topic', () => {
  expect(QUICK.filter((suite) => !ALL.includes(suite))).toEqual([])
  for (const topic of TOPICS) expect(SUITES[topic].some((suite) => QUICK.includes(suite))).toBe(true)
})

test('each minor is built from a module of its own', () => {
  const folders = TRACKED.flatMap((path) => /\/go\/kubernetes-([\d.]+)\/go\.sum$/.exec(path)?.[1] ?? [])
  expect(folders).toEqual(OLDER_MINORS)
  for (const minor of OLDER_MINORS) expect(versionOf(minor)).toMatch(new RegExp(`^v${minor}\\.\\d+$`))
})

test('each other release is built from a module of its own, and each such module is a release that can be asked for', () => {
  for (const peer of PEERS) {
    const { module, releases } = OTHER_RELEASES[peer]
    const found = TRACKED.flatMap((path) => {
      const folder = /\/go\/([^/]+)\/go\.sum$/.exec(path)?.[1] ?? ''
      return folder.startsWith(`${module}-`) && /^\d/.test(folder.slice(module.length + 1)) ? [folder] : []
    })
    expect(found).toEqual(releases.map((release) => moduleOfRelease(peer, release)))
  }
})

test('a release that is asked for by its variable is what is built and served', () => {
  expect(chosenServer({})).toBeUndefined()
  expect(chosenServer({ KLEYM_SPIRE: '1.13' })?.program.folder).toMatch(/\/spire-server-1\.13$/)
  expect(chosenHelm({})).toBeUndefined()
  const helm = chosenHelm({ KLEYM_HELM: '3.17' })?.program.args.join(' ')
  expect(helm).toContain('-X helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor=32')
  const versions = crdSources({ KLEYM_GAIE: '1.1', KLEYM_SCM: '0.6.4' }).map(({ version }) => version)
  expect(versions).toEqual(['v1.1.0', 'v0.6.4'])
  const latest = crdSources({ KLEYM_GAIE: '1.6' }).map(({ version, files }) => `${version}: ${files.length}`)
  expect(latest).toEqual(['v1.6.0: 1', 'v1.4.0: 2', 'v0.7.0: 3'])
  expect(crdFolder({})).toBe('crds')
  expect(crdFolder({ KLEYM_GAIE: '1.1' })).toMatch(/^crds-gaie-1\.1-[0-9a-f]{20}$/)
  expect(() => chosenRelease('gaie', { KLEYM_GAIE: '0.9' })).toThrow(/KLEYM_GAIE asks for GAIE 0\.9/)
})

test('the suites of other releases are there', () => {
  for (const peer of PEERS) expect(TRACKED).toEqual(expect.arrayContaining([...PEER_SUITES[peer].files]))
})

test('each suite that runs the controller of a serving stack is run for it', () => {
  const found = TRACKED.filter((path) => /^test\/control-plane\/makers\/[^/]+\.test\.ts$/.test(path))
  expect(
    Object.values(MAKER_SUITES)
      .map(({ file }) => file)
      .toSorted(),
  ).toEqual(found)
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

test('docs/compatibility.md has a row for each other release that can be run, and none for another', () => {
  const page = textOf('docs/compatibility.md')
  for (const peer of PEERS) {
    const { title, path, releases } = OTHER_RELEASES[peer]
    const rows = [...page.matchAll(new RegExp(`^\\| (${title} v[\\d.]+)(?:,[^|]*)? \\|`, 'gm'))].map(
      ([, row]) => row,
    )
    const versions = releases.map((one) => requirement(goModule(moduleOfRelease(peer, one)), path))
    expect(rows).toEqual(versions.map((version) => `${title} ${version}`))
  }
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

test('a row of another release counts what was not run as failed', () => {
  const files = [pathOf('chart-policies'), pathOf('chart-rbac')]
  const report = reportOf('chart-policies', 'passed', 'passed')
  expect(countFiles(report, files)).toEqual({ passed: 2, failed: 1 })
  expect(peerRow('Helm v3.17.4', files, countFiles(report, files))).toBe(
    '| Helm v3.17.4 | `chart-policies`, `chart-rbac` | 1 of 3 failed |',
  )
})
