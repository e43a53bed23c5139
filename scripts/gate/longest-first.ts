// The order in which vitest runs the suites of a group, whatever project they are of: the longest first, so that none begins last
// and all wait for it.
import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { longestFirst, readSuiteSeconds, SUITE_SECONDS_FILE } from '../../test/testing/src/suite-seconds.ts'

export class LongestFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const known = readSuiteSeconds(SUITE_SECONDS_FILE)
    const sorted = longestFirst(files, ({ moduleId }) => relative(this.ctx.config.root, moduleId), known)
    return Promise.resolve(sorted.toSorted((a, b) => groupOf(a) - groupOf(b)))
  }
}

function groupOf({ project }: TestSpecification): number {
  return project.config.sequence.groupOrder
}
