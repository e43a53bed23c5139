// What a run on one minor came to, out of vitest's JSON report, as a row of the table in docs/compatibility.md.
import { basename } from 'node:path'
import { listAt, stringAt } from '../../shared/src/core/json.ts'
import { SUITES, TOPICS, type Topic } from './suites.ts'

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
  const files = new Map(
    listAt(report, 'testResults').map((file) => [
      basename(stringAt(file, 'name') ?? '', '.test.ts'),
      listAt(file, 'assertionResults').map((one) => stringAt(one, 'status') === 'passed'),
    ]),
  )
  return new Map(
    TOPICS.map((topic) => {
      const tests = SUITES[topic]
        .filter((suite) => suites.includes(suite))
        .flatMap((suite) => {
          const found = files.get(suite) ?? []
          return found.length === 0 ? [false] : found
        })
      const passed = tests.filter(Boolean).length
      return [topic, { passed, failed: tests.length - passed }]
    }),
  )
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
  const cells = [...result.values()].map(({ passed, failed }) => {
    if (failed > 0) return `${failed} of ${passed + failed} failed`
    return passed === 0 ? 'not run' : `${passed} passed`
  })
  return `| ${[version, ...cells].join(' | ')} |`
}
