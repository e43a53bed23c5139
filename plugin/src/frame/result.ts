// What becomes of a frame before any format sees it: suppressed findings are taken out, and the exit code is decided. All
// formats read this one result.
import { namesText } from '../text/names.ts'
import {
  compareFindings,
  subjectText,
  type Finding,
  type Subject,
} from '@kleym/shared/core/findings/finding.ts'
import {
  assumptionsThatCount,
  assumptionText,
  type Assumption,
  type PremiseName,
} from '@kleym/shared/core/assumptions/assumptions.ts'
import { objectKey } from '@kleym/shared/core/findings/suppress-annotation.ts'
import { suppress, type SuppressedFinding } from '@kleym/shared/core/findings/suppress.ts'
import { unknownReasonText } from '@kleym/shared/core/unknown-reason.ts'
import type { FindingCode } from '@kleym/shared/core/registry/findings.ts'
import type { ExitCode } from '../io/errors.ts'
import { passes } from '../flags/finding-filter.ts'
import type { OutputOptions } from '../flags/options.ts'
import type { AnswerInput } from '../gather/gather.ts'
import type { InputProblem } from '../sources/problem.ts'
import type { Frame } from './frame.ts'
import { outcomeOf, type Outcome } from './outcome.ts'
import { nothingJudged } from './nothing-judged.ts'
import { assumingText } from './premises.ts'

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
  /** Something could not be read, or nothing was checked. */
  readonly incomplete: boolean
  /** The one thing that is wrong is that nothing was checked. */
  readonly isEmpty: boolean
  /** Something rests on a registration that kleym does not follow. */
  readonly unfollowed: boolean
  /** The settings that were not given, and that the answer depends on. */
  readonly assumptions: readonly Assumption[]
  /** What it takes for granted. */
  readonly premises: readonly PremiseName[]
  /** The same as its first line has it; undefined: nothing. */
  readonly assuming: string | undefined
  readonly exitCode: ExitCode
  /** The mark of the first line, of an answer that would have another by itself. */
  readonly markOver: Outcome['markOver']
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
  const premises: readonly PremiseName[] = [
    ...(input.after.openSettings.areOutputsTakenAsHandled === true ? [OUTPUTS_HANDLED] : []),
    ...(frame.premises ?? []),
  ]
  const agreement = frame.agreement?.(kept)
  const notShown = all.length - findings.length
  const { exitCode, markOver } = outcomeOf(
    {
      incomplete,
      unsettled: assumptions.length > 0,
      assuming: premises.length > 0,
      differs: (frame.differences ?? []).length > 0 || agreement === 'differs',
      undecided: frame.undecided !== undefined || agreement === 'perhaps differs',
      notKnown: unfollowed || (frame.notKnown ?? []).length > 0,
      notShown: notShown > 0,
      findings: all,
    },
    failOn,
  )
  return {
    frame,
    input,
    kept,
    shown: kept.filter(isShown),
    notShown,
    aboutSuppressions: aboutSuppressions.filter(isShown),
    findings,
    suppressed,
    problems,
    incomplete,
    isEmpty: empty !== undefined,
    unfollowed,
    assumptions,
    premises,
    assuming: assumingText(premises, input.after),
    exitCode,
    markOver,
  }
}

const OUTPUTS_HANDLED: PremiseName = 'outputs are handled by an SCM'

/** What both sides of an answer assume, each once. */
function assumptionsOf({ before, after }: Pick<AnswerInput, 'before' | 'after'>): readonly Assumption[] {
  const all = [after, before].flatMap(({ openSettings }) => assumptionsThatCount(openSettings))
  return [...new Map(all.map((one) => [assumptionText(one), one])).values()]
}

/** What is not known, one sentence each, in the order in which every format lists it. */
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
export function unfollowedText({ findings }: Frame): string {
  const names = findings.filter(({ code }) => code === UNFOLLOWED).map(({ subject }) => subjectText(subject))
  const who = names.length === 0 ? 'a ClusterSPIFFEID' : namesText(names)
  return `${who}: template not supported, result unknown (${UNFOLLOWED})`
}

/** The code of a registration that kleym does not follow: it could give any identity to any pod. */
export const UNFOLLOWED: FindingCode = 'KLM413'

function isSubjectOf(findings: readonly Finding[]): (subject: Subject) => boolean {
  const subjects = new Set(findings.map(({ subject }) => objectKey(subject)))
  return (subject) => subjects.has(objectKey(subject))
}
