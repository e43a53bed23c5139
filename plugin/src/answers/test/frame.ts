// The report of `test`: a finding for each assertion that fails, at the line where it stands; what is not known makes the
// answer incomplete.
import { IDENTITY_TEST_GROUP, IDENTITY_TEST_KIND } from '@kleym/shared/core/names.ts'
import { finding, type Finding } from '@kleym/shared/core/findings/finding.ts'
import { type Subject } from '@kleym/shared/core/objects/subject.ts'
import { objectKey } from '@kleym/shared/core/findings/suppress-annotation.ts'
import { reported, type Frame } from '../../frame/frame.ts'
import type { InputProblem } from '../../sources/problem.ts'
import { causesOf, type Cause } from '../../frame/causes.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import { assertionName, countOutcomes, FAILED, type AssertionResult } from './model.ts'
import { askedByTests } from './results.ts'
import { testsAnswer, viewTests } from './view.ts'

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

/** An assertion as the subject of a finding: it is no object of a cluster. */
export function subjectOf(one: AssertionResult): Subject {
  return { kind: IDENTITY_TEST_KIND, namespace: '', name: assertionName(one) }
}

/** The finding of an assertion that fails. */
export function findingOf(one: AssertionResult): Finding {
  const { outcome, assertion } = one
  const description = assertion.description === undefined ? '' : ` (${assertion.description})`
  return finding(FAILED, {
    subject: subjectOf(one),
    summary: `not true: ${outcome.claim}${description}: ${outcome.why}`,
    evidence: outcome.evidence,
    ...(outcome.fix === undefined ? {} : { fix: outcome.fix }),
  })
}

/** The assertions that can be decided neither way. */
export function unknownOf(results: readonly AssertionResult[]): readonly Cause[] {
  return results
    .filter(({ outcome }) => outcome.state === 'unknown')
    .map(({ outcome }) => ({ leaves: 'a statement', text: `whether ${outcome.claim}: ${outcome.why}` }))
}
