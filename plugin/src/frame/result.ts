// What becomes of a frame before any format sees it: suppressed findings are taken out, and the exit code is decided. All
// formats read this one result.
import {
  compareFindings,
  type Finding,
  objectKey,
  type Severity,
  suppress,
  type SuppressedFinding,
  WORST,
  worstOfUnread,
} from '@kleym/shared/core/findings/index.ts'
import { type Subject } from '@kleym/shared/core/model/objects/subject.ts'
import type { Assumption, PremiseName } from '@kleym/shared/core/analysis/index.ts'
import { any, known, NO } from '@kleym/shared/core/model/truth/truth.ts'
import type { ExitCode } from '../io/errors.ts'
import { passes } from '../flags/finding-filter.ts'
import type { OutputOptions } from '../flags/options.ts'
import type { AnswerInput } from '../gather/gather.ts'
import type { InputProblem } from '../sources/problem.ts'
import { assumptionsOf, causesWith, causeText, leavesOpen, type Cause } from './causes.ts'
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
  /** What keeps the answer from being certain. */
  readonly causes: readonly Cause[]
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
  const causes = causesWith(frame.causes, frame.findings)
  const incomplete = problems.length > 0 || leavesOpen(causes, 'anything', 'a statement')
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
  const premises: readonly PremiseName[] = [
    ...(input.after.openSettings.areOutputsTakenAsHandled === true ? [OUTPUTS_HANDLED] : []),
    ...(frame.premises ?? []),
  ]
  const notShown = all.length - findings.length
  const { given, others } = worstUnread(frame, { problems, causes })
  const unread = [...given, ...others]
  const { exitCode, markOver } = outcomeOf(
    {
      // A file that is lost leaves the answer incomplete, with `--fail-on never` too.
      incomplete: given.includes(WORST) || (frame.isOfFindings !== true && unread.includes(WORST)),
      unread,
      causes,
      assuming: premises.length > 0,
      differs: any(known((frame.differences ?? []).length > 0), frame.differs?.(kept) ?? NO),
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
    causes,
    assumptions: assumptionsOf(causes),
    premises,
    assuming: assumingText(premises, input.after),
    exitCode,
    markOver,
  }
}

/**
 * How bad a finding is at worst that each thing may bring or hide which could not be read. An answer that is more than findings lists
 * what is there: it counts as the worst.
 */
function worstUnread(
  { isOfFindings }: Frame,
  { problems, causes }: Pick<AnswerResult, 'problems' | 'causes'>,
): { readonly given: readonly Severity[]; readonly others: readonly Severity[] } {
  const worst = (kinds: readonly string[] | undefined): Severity =>
    isOfFindings === true ? worstOfUnread(kinds) : WORST
  return {
    given: problems.map(({ reach }) => worst(reach?.map(({ kind }) => kind))),
    others: causes.flatMap((cause) =>
      cause.leaves === 'anything'
        ? (cause.worst ?? worst(cause.kind === undefined ? undefined : [cause.kind]))
        : [],
    ),
  }
}

const OUTPUTS_HANDLED: PremiseName = 'outputs are handled by an SCM'

/** What is not known, one sentence each, in the order in which every format lists it. */
export function unknownsOf({
  causes,
  assumptions,
  findings,
}: Pick<AnswerResult, 'causes' | 'assumptions' | 'findings'>): readonly string[] {
  const settings = new Set(assumptions.map(({ what }) => what))
  const facts = findings.flatMap(({ dependsOn = [] }) => dependsOn).filter((what) => !settings.has(what))
  return [...causes.map(causeText), ...new Set(facts)]
}

function isSubjectOf(findings: readonly Finding[]): (subject: Subject) => boolean {
  const subjects = new Set(findings.map(({ subject }) => objectKey(subject)))
  return (subject) => subjects.has(objectKey(subject))
}
