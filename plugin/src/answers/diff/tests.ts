// `diff --tests`: which identity tests the change breaks. Each assertion is run on what was there before it and on what is there
// after it: a test that fails on both sides is not listed.
import { type Finding, objectKey } from '@kleym/shared/core/findings/index.ts'
import type { Subject } from '@kleym/shared/core/model/objects/subject.ts'
import { counted } from '@kleym/shared/core/base/text/counted.ts'
import type { CommandContext } from '../../io/context.ts'
import type { Cause } from '../../frame/causes.ts'
import type { FilePlace } from '../../output/ci.ts'
import type { InputProblem } from '../../sources/problem.ts'
import type { Layout } from '../../text/layout.ts'
import { BLANK, line, MARKS, span, type Block } from '../../text/line.ts'
import { findingOf, subjectOf, unknownOf } from '../parts/assertion-findings.ts'
import { assertionName, type AssertionResult } from '../parts/assertions.ts'
import { loadIdentityTests, resultsOf } from '../parts/assertion-results.ts'
import { viewResult } from '../parts/assertion-view.ts'
import type { DiffInput } from '../parts/base.ts'

/** How many assertions there are of each kind. */
export type DiffTestCounts = Readonly<
  Record<'broken' | 'failingAlready' | 'unknown' | 'mended' | 'passed', number>
>

/** What a change does to identity tests, as a diff tells it. */
export interface DiffTests {
  /** One for each assertion that the change breaks. */
  readonly findings: readonly Finding[]
  /** The assertions with an unknown result after the change. */
  readonly unknown: readonly Cause[]
  readonly placeOf: (subject: Subject) => FilePlace | undefined
  readonly counts: DiffTestCounts
  readonly brokenAssertions: readonly AssertionResult[]
  /** `shown` are the findings that are not suppressed. */
  readonly view: (shown: readonly Finding[], layout: Layout) => Block
}

/** Runs the tests of some files on both sides, and what is wrong with the files. */
export async function testsOfChange(
  paths: readonly string[],
  input: DiffInput,
  context: CommandContext,
): Promise<{ readonly tests: DiffTests; readonly problems: readonly InputProblem[] }> {
  const loaded = await loadIdentityTests({ paths, areNamed: true }, input, context)
  const after = resultsOf(loaded, input)
  // Without a state that the change starts from, whatever fails is reported.
  const isStart = input.base === undefined && input.before === input.after
  const before = isStart ? undefined : resultsOf(loaded, input.base ?? { ...input, after: input.before })
  return { tests: diffTests(after, before), problems: loaded.problems }
}

function diffTests(
  after: readonly AssertionResult[],
  before: readonly AssertionResult[] | undefined,
): DiffTests {
  const stateBefore = (at: number): string => before?.[at]?.outcome.state ?? 'passed'
  const failed = after
    .map((one, at) => ({ one, was: stateBefore(at) }))
    .filter(({ one }) => one.outcome.state === 'failed')
  const broken = failed.filter(({ was }) => was !== 'failed').map(({ one }) => one)
  const unknown = after.filter(({ outcome }) => outcome.state === 'unknown')
  const mended = after.filter(({ outcome }, at) => outcome.state === 'passed' && stateBefore(at) === 'failed')
  const counts = {
    broken: broken.length,
    failingAlready: failed.length - broken.length,
    unknown: unknown.length,
    mended: mended.length,
    passed: after.filter(({ outcome }) => outcome.state === 'passed').length,
  }
  const places = new Map(after.map((one) => [objectKey(subjectOf(one)), one.place]))
  return {
    findings: broken.map(findingOf),
    unknown: unknownOf(after),
    placeOf: (subject) => places.get(objectKey(subject))?.(),
    counts,
    brokenAssertions: broken,
    view: (shown, layout) => {
      const counting = new Set(shown.map(({ subject }) => subject.name))
      const told = broken.filter((one) => counting.has(assertionName(one)))
      return [BLANK, headline(counts), ...[...told, ...unknown].flatMap((one) => viewResult(one, layout))]
    },
  }
}

function headline({ broken, failingAlready, unknown, mended, passed }: DiffTestCounts): Block[number] {
  const mark = broken > 0 ? MARKS.bad : unknown > 0 ? MARKS.warn : failingAlready > 0 ? MARKS.note : MARKS.ok
  const parts = [
    broken === 0
      ? 'the change breaks no identity test'
      : `the change breaks ${counted(broken, 'assertion')} of identity tests`,
    ...(unknown === 0 ? [] : [`${unknown} not known`]),
    ...(failingAlready === 0 ? [] : [`${failingAlready} failing before it too`]),
    ...(mended === 0 ? [] : [`${mended} mended`]),
    `${passed} passing`,
  ]
  return line(mark, ' ', span(parts.join(', '), 'bold'))
}
