// What becomes of a frame before any format sees it: suppressed findings are taken out, and the exit code is decided. All
// formats read this one result.
import { namesText } from '../text/names.ts'
import {
  compareFindings,
  isAtLeast,
  subjectText,
  type Finding,
  type Subject,
} from '@kleym/shared/core/findings/finding.ts'
import { assumptionText, type Assumption } from '@kleym/shared/core/assumptions/assumptions.ts'
import { objectKey } from '@kleym/shared/core/findings/suppress-annotation.ts'
import { suppress, type SuppressedFinding } from '@kleym/shared/core/findings/suppress.ts'
import { unknownReasonText } from '@kleym/shared/core/unknown-reason.ts'
import { findingEntry, type FindingCode } from '@kleym/shared/core/registry/findings.ts'
import { EXIT, type ExitCode } from '../io/errors.ts'
import { passes } from '../flags/finding-filter.ts'
import type { FailOn } from '../flags/flags.ts'
import type { OutputOptions } from '../flags/options.ts'
import type { AnswerInput } from '../gather/gather.ts'
import type { InputProblem } from '../sources/problem.ts'
import type { Frame } from './frame.ts'
import { nothingJudged } from './nothing-judged.ts'

/** A frame with what counts of its findings, and the exit code. */
export interface AnswerResult {
  readonly frame: Frame
  readonly input: AnswerInput
  /** The frame's findings without the suppressed ones, in their order. */
  readonly kept: readonly Finding[]
  /** Those of them that are shown. */
  readonly shown: readonly Finding[]
  /** How many findings a flag keeps from being shown; they count for the exit code. */
  readonly notShown: number
  /** What is to be said about the suppressions themselves. */
  readonly aboutSuppressions: readonly Finding[]
  /** What is shown of everything that counts: `shown` and `aboutSuppressions`, in their total order. */
  readonly findings: readonly Finding[]
  readonly suppressed: readonly SuppressedFinding[]
  /** What is wrong with what was read; that it is about nothing among it. */
  readonly problems: readonly InputProblem[]
  /** Something could not be read, or nothing was judged. */
  readonly incomplete: boolean
  /** The one thing that is wrong is that nothing was judged. */
  readonly isEmpty: boolean
  /** Something rests on a registration that kleym does not follow. */
  readonly unfollowed: boolean
  /** The settings that were not given, and that the answer depends on. */
  readonly assumptions: readonly Assumption[]
  readonly exitCode: ExitCode
}

/**
 * Takes the suppressed findings out of a frame and decides the exit code. A suppression never hides that something is not
 * known: that is read from all findings.
 */
export function resultOf(
  frame: Frame,
  input: AnswerInput,
  {
    failOn,
    suppress: flags,
    allowEmpty = false,
    show,
    echo,
  }: Pick<OutputOptions, 'failOn' | 'suppress' | 'allowEmpty' | 'show' | 'echo'>,
): AnswerResult {
  const empty = allowEmpty ? undefined : nothingJudged(frame, input, echo)
  const problems = empty === undefined ? input.problems : [...input.problems, empty]
  const isOpen = frame.missing.length > 0 || (frame.unknownAssertions ?? []).length > 0
  const incomplete = problems.length > 0 || isOpen
  const unfollowed = frame.unfollowed === true || frame.findings.some(({ code }) => code === UNFOLLOWED)
  const {
    kept,
    suppressed,
    problems: aboutSuppressions,
  } = suppress(
    frame.findings,
    { flags, marks: input.marks },
    {
      all: frame.suppressionScope?.all,
      covers: frame.suppressionScope?.covers ?? isSubjectOf(frame.findings),
      incomplete,
    },
  )
  const all =
    aboutSuppressions.length === 0 ? kept : [...kept, ...aboutSuppressions].toSorted(compareFindings)
  const isShown = (one: Finding): boolean =>
    (show === undefined || passes(show, one)) && frame.hides?.(one) !== true
  const findings = all.filter(isShown)
  const assumptions = frame.isSettled === true ? [] : assumptionsOf(input)
  const open = {
    incomplete,
    unfollowed,
    unsettled: assumptions.length > 0,
    differs: (frame.differences ?? []).length > 0,
    undecided: frame.undecided !== undefined,
    notKnown: (frame.notKnown ?? []).length > 0,
  }
  return {
    frame,
    input,
    kept,
    shown: kept.filter(isShown),
    notShown: all.length - findings.length,
    aboutSuppressions: aboutSuppressions.filter(isShown),
    findings,
    suppressed,
    problems,
    incomplete,
    isEmpty: empty !== undefined,
    unfollowed,
    assumptions,
    exitCode: exitCodeOf(all, failOn, open),
  }
}

/** What both sides of an answer assume, each once. */
function assumptionsOf({ before, after }: Pick<AnswerInput, 'before' | 'after'>): readonly Assumption[] {
  const all = [...after.openSettings.assumptions, ...before.openSettings.assumptions]
  return [...new Map(all.map((one) => [assumptionText(one), one])).values()]
}

/**
 * 4 where something that could not be read may hide a finding, whatever else was found: the answer is not complete.
 * Else 1 for findings at the threshold, which rest on no assumption; else 4 where a setting that was not given, or a fact that
 * the objects do not show, could bring one; else 1 for differences; else 4 where it is not known whether anything differs, or where a registration that kleym
 * does not follow, or an entry of which it is not known whether it should be there, may hide a finding; else 0.
 */
export function exitCodeOf(
  findings: readonly Finding[],
  failOn: FailOn,
  {
    incomplete,
    unfollowed,
    unsettled,
    differs,
    undecided,
    notKnown = false,
  }: {
    readonly incomplete: boolean
    readonly unfollowed: boolean
    readonly unsettled: boolean
    readonly differs: boolean
    readonly undecided: boolean
    readonly notKnown?: boolean
  },
): ExitCode {
  if (incomplete) return EXIT.incomplete
  const failing =
    failOn !== 'never' &&
    findings.some(({ severity, dependsOn }) => dependsOn === undefined && isAtLeast(severity, failOn))
  if (failing) return EXIT.findings
  if (failOn !== 'never' && (unsettled || mayFail(findings, failOn))) return EXIT.incomplete
  if (differs) return EXIT.findings
  if (undecided) return EXIT.incomplete
  return failOn !== 'never' && (unfollowed || notKnown) ? EXIT.incomplete : EXIT.ok
}

/** Whether a finding that rests on what is not known would be at the threshold if it were certain. */
function mayFail(findings: readonly Finding[], failOn: Exclude<FailOn, 'never'>): boolean {
  return findings.some(
    ({ code, dependsOn }) => dependsOn !== undefined && isAtLeast(findingEntry(code).severity, failOn),
  )
}

/** What was missing, one sentence each, in the order in which stderr lists it. */
export function unknownsOf({
  frame,
  unfollowed,
  assumptions,
  findings,
}: Pick<AnswerResult, 'frame' | 'unfollowed' | 'assumptions' | 'findings'>): readonly string[] {
  const settings = new Set(assumptions.map(({ what }) => what))
  const facts = findings.flatMap(({ dependsOn = [] }) => dependsOn).filter((what) => !settings.has(what))
  return [
    ...frame.missing.map(unknownReasonText),
    ...(frame.unknownAssertions ?? []),
    ...(frame.undecided === undefined ? [] : [frame.undecided]),
    ...(frame.notKnown ?? []),
    ...assumptions.map(assumptionText),
    ...new Set(facts),
    ...(unfollowed ? [unfollowedText(frame)] : []),
  ]
}

/** The objects whose template is not supported; of a diff, that there is one. */
function unfollowedText({ findings }: Frame): string {
  const names = findings.filter(({ code }) => code === UNFOLLOWED).map(({ subject }) => subjectText(subject))
  const who = names.length === 0 ? 'a ClusterSPIFFEID' : namesText(names)
  return `${who}: template not supported, result unknown (${UNFOLLOWED})`
}

/** The code of a registration that kleym does not follow: it could give any identity to any pod. */
const UNFOLLOWED: FindingCode = 'KLM413'

function isSubjectOf(findings: readonly Finding[]): (subject: Subject) => boolean {
  const subjects = new Set(findings.map(({ subject }) => objectKey(subject)))
  return (subject) => subjects.has(objectKey(subject))
}
