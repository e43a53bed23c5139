// The report of `test`: a finding for each assertion that fails, at its line; an assertion that is not known makes the answer
// incomplete.
import { IDENTITY_TEST_GROUP, IDENTITY_TEST_KIND } from '@kleym/shared/core/model/names.ts'
import { objectKey } from '@kleym/shared/core/findings/index.ts'
import { reported, type Frame } from '../../frame/frame.ts'
import type { InputProblem } from '../../sources/problem.ts'
import { causesOf } from '../../frame/causes.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import { assertionName, countOutcomes, type AssertionResult } from '../parts/assertions.ts'
import { askedByTests } from '../parts/assertion-results.ts'
import { testsAnswer, viewTests } from './view.ts'
import { findingOf, subjectOf, unknownOf } from '../parts/assertion-findings.ts'

/** What else a run of tests tells. */
export interface TestRunFacts {
  /** How many objects assertions could be about. */
  readonly subjects: number
  /** What is wrong with the files of the tests; a test with a fault is not run. */
  readonly faults: readonly InputProblem[]
}

/** Makes the report. */
export function testFrame(
  results: readonly AssertionResult[],
  input: AnswerInput,
  { subjects, faults }: TestRunFacts,
): Frame {
  const failed = results.filter(({ outcome }) => outcome.state === 'failed')
  const places = new Map(results.map((one) => [objectKey(subjectOf(one)), one.place]))
  return {
    kind: 'TestReport',
    ...reported(
      async () => (await import('./schema.ts')).testReportSchema,
      () => ({ counts: countOutcomes(results), assertions: results }),
    ),
    findings: failed.map(findingOf),
    judged: { count: subjects, what: 'binding, pod or registration' },
    causes: causesOf(input, { ...askedByTests(input), further: unknownOf(results) }),
    passed: results.flatMap((one) =>
      one.outcome.state === 'passed' ? [{ subject: subjectOf(one), text: one.outcome.claim }] : [],
    ),
    placeOf: (subject) => places.get(objectKey(subject))?.(),
    names: () =>
      failed.map((one) => ({
        kind: IDENTITY_TEST_KIND,
        group: IDENTITY_TEST_GROUP,
        namespace: '',
        name: assertionName(one),
      })),
    answer: (layout, kept) => testsAnswer(results, kept, { ...layout, faults }),
    view: (layout, shown) => viewTests(results, shown, layout),
  }
}
