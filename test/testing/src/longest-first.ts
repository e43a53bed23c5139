// The order in which vitest runs the suites of a group, whatever project they are of: the longest first, so that none begins last
// and all wait for it.
import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { longestFirst, readSuiteSeconds, SUITE_SECONDS_FILE } from './suite-seconds.ts'

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = longestFirst(
      await super.sort(files),
      ({ moduleId }) => relative(this.ctx.config.root, moduleId),
      readSuiteSeconds(SUITE_SECONDS_FILE),
    )
    const group = ({ project }: TestSpecification): number => project.config.sequence.groupOrder
    return sorted.toSorted((a, b) => group(a) - group(b))
  }
}
