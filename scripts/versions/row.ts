// What a run on one minor, or with one release, came to, out of vitest's JSON report, as a row of docs/compatibility.md.
import { basename } from 'node:path'
import { listAt, stringAt } from '../../shared/src/core/base/json.ts'
import { pathOf, SUITES, TOPICS, type Topic } from './suites.ts'

/** Tests of a topic. */
interface Counts {
  readonly passed: number
  readonly failed: number
}

/** What a run came to. */
export type VersionResult = ReadonlyMap<Topic, Counts>

/**
 * Counts the tests of the suites that were to run. A suite that the report does not name counts as one failed test, and so
 * does every test that did not pass.
 */
export function countTests(report: unknown, suites: readonly string[]): VersionResult {
  return new Map(
    TOPICS.map((topic) => {
      const ofTopic = SUITES[topic].filter((suite) => suites.includes(suite))
      return [topic, countFiles(report, ofTopic.map(pathOf))]
    }),
  )
}

/**
 * Counts the tests of files, named from the root of the project. A file that the report does not name counts as one failed
 * test, and so does every test that did not pass.
 */
export function countFiles(report: unknown, files: readonly string[]): Counts {
  const results = listAt(report, 'testResults')
  const tests = files.flatMap((path) => {
    const found = results
      .filter((file) => stringAt(file, 'name')?.endsWith(`/${path}`) === true)
      .flatMap((file) => listAt(file, 'assertionResults'))
      .map((one) => stringAt(one, 'status') === 'passed')
    return found.length === 0 ? [false] : found
  })
  const passed = tests.filter(Boolean).length
  return { passed, failed: tests.length - passed }
}

/** Whether every test passed. */
export function allPassed(result: VersionResult): boolean {
  return [...result.values()].every(({ failed }) => failed === 0)
}

/** The two lines above the rows. */
export function tableHead(): string {
  return `| Kubernetes | ${TOPICS.join(' | ')} |\n|---${'|---'.repeat(TOPICS.length)}|`
}

/** The row of a version. */
export function tableRow(version: string, result: VersionResult): string {
  return `| ${[version, ...[...result.values()].map(cell)].join(' | ')} |`
}

/** The two lines above the rows of what stands beside Kubernetes. */
export const PEER_TABLE_HEAD = '| release | suites | tests |\n|---|---|---|'

/** The row of a release, e.g. of `Helm v3.17.4`. */
export function peerRow(name: string, files: readonly string[], counts: Counts): string {
  const suites = files.map((path) => `\`${basename(path, '.test.ts')}\``)
  return `| ${[name, suites.join(', '), cell(counts)].join(' | ')} |`
}

function cell({ passed, failed }: Counts): string {
  if (failed > 0) return `${failed} of ${passed + failed} failed`
  return passed === 0 ? 'not run' : `${passed} passed`
}
