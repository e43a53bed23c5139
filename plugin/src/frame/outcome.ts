// What an answer comes to: its mark, which follows the answer, and its exit code, which follows the threshold. Both are read from one
// table, which docs/reference/output.md prints.
import {
  isAtLeast,
  type Finding,
  findingEntry,
  type Severity,
  WORST,
  WORST_OF_PODS,
} from '@kleym/shared/core/findings/index.ts'
import type { FailOn } from '../flags/flags.ts'
import { NO, YES, type Truth } from '@kleym/shared/core/model/truth/truth.ts'
import { EXIT, type ExitCode } from '../io/errors.ts'
import { worstMark, type Mark } from '../text/line.ts'
import { leavesOpen, type Cause } from './causes.ts'

/** What may be true of an answer. Several may be at once. */
export interface OutcomeFacts {
  /** Something that was given could not be read, and the answer is more than findings; or nothing was checked. */
  readonly incomplete: boolean
  /** How bad a finding is at worst that each thing may bring or hide which could not be read. */
  readonly unread: readonly Severity[]
  /** What keeps it from being certain. */
  readonly causes: readonly Cause[]
  /** It takes something for granted. */
  readonly assuming: boolean
  /** Whether what was compared differs. */
  readonly differs: Truth
  /** A flag keeps a finding from being shown. */
  readonly notShown: boolean
  /** The findings that count, shown or not. */
  readonly findings: readonly Finding[]
}

/** One line of the table. */
export interface OutcomeRow {
  /** What is true of the answer, as docs/reference/output.md says it. */
  readonly what: string
  /** The mark that it has at least; undefined: that of the answer itself. */
  readonly mark: Mark | undefined
  /** The exit code if the row decides, for each threshold. */
  readonly codes: Readonly<Record<FailOn, ExitCode>>
  readonly applies: (facts: OutcomeFacts) => boolean
}

const ALWAYS = (code: ExitCode): OutcomeRow['codes'] => ({
  error: code,
  warning: code,
  info: code,
  never: code,
})

/** A code for the thresholds that a severity reaches. */
function from(severity: Severity, code: ExitCode): OutcomeRow['codes'] {
  const at = (failOn: Severity): ExitCode => (isAtLeast(severity, failOn) ? code : EXIT.ok)
  return { error: at('error'), warning: at('warning'), info: at('info'), never: EXIT.ok }
}

function found(severity: Severity, mark: Mark | undefined): OutcomeRow {
  return {
    what: `a finding: ${severity}`,
    mark,
    codes: from(severity, EXIT.findings),
    applies: ({ findings }) =>
      findings.some((one) => one.dependsOn === undefined && one.severity === severity),
  }
}

/** A finding that rests on what is not known has the severity of its code if that turns out to be so. */
function foundPerhaps(severity: Severity, what: string, mark: Mark | undefined): OutcomeRow {
  return {
    what: `a finding that depends, else ${what}`,
    mark,
    codes: from(severity, EXIT.incomplete),
    applies: ({ findings }) =>
      findings.some(
        ({ code, dependsOn }) => dependsOn !== undefined && findingEntry(code).severity === severity,
      ),
  }
}

/** Something that could not be read may bring or hide a finding of that severity, and none that is worse. */
function mayBring(severity: Severity, what: string): OutcomeRow {
  return {
    what: `something could not be read that may bring ${what} at most`,
    mark: 'warn',
    codes: from(severity, EXIT.incomplete),
    applies: ({ unread }) => unread.includes(severity),
  }
}

/** The table, in the order in which a row decides the exit code. */
export const OUTCOMES: readonly OutcomeRow[] = [
  {
    what: 'something that it lists, or a file that may bring an error, could not be read; or nothing was checked',
    mark: 'warn',
    codes: ALWAYS(EXIT.incomplete),
    applies: ({ incomplete, causes }) => incomplete || leavesOpen(causes, 'a statement'),
  },
  mayBring('error', 'an error'),
  mayBring('warning', 'a warning'),
  mayBring('info', 'info'),
  found('error', 'bad'),
  found('warning', 'warn'),
  found('info', undefined),
  foundPerhaps('error', 'an error', 'warn'),
  foundPerhaps('warning', 'a warning', 'warn'),
  foundPerhaps('info', 'info', undefined),
  {
    what: 'some settings are unknown',
    mark: 'warn',
    codes: from(WORST, EXIT.incomplete),
    applies: ({ causes }) => leavesOpen(causes, 'what depends on a setting'),
  },
  {
    what: 'a difference (`diff`, `verify`), a broken hop (`why`)',
    mark: undefined,
    codes: ALWAYS(EXIT.findings),
    applies: ({ differs }) => differs === YES,
  },
  {
    what: 'perhaps a difference, or only a matter of time (`diff`, `map --compare`, `verify`)',
    mark: 'warn',
    codes: ALWAYS(EXIT.incomplete),
    applies: ({ differs, causes }) => differs.value === 'open' || leavesOpen(causes, 'a difference'),
  },
  {
    what: 'a registration or an entry that is not known',
    mark: 'warn',
    codes: from(WORST_OF_PODS, EXIT.incomplete),
    applies: ({ causes }) => leavesOpen(causes, 'a finding', 'a registration'),
  },
  {
    what: 'it takes something for granted (`premises`)',
    mark: 'note',
    codes: ALWAYS(EXIT.ok),
    applies: ({ assuming }) => assuming,
  },
  {
    what: 'a finding is not shown',
    mark: 'warn',
    codes: ALWAYS(EXIT.ok),
    applies: ({ notShown }) => notShown,
  },
]

/** The rows that apply to an answer: of all of them the worst mark, of the first that has one its exit code. */
export interface Outcome {
  readonly exitCode: ExitCode
  /** The mark of an answer that would have another by itself. */
  readonly markOver: (own: Mark) => Mark
}

/** What an answer comes to. */
export function outcomeOf(facts: OutcomeFacts, failOn: FailOn): Outcome {
  const rows = OUTCOMES.filter(({ applies }) => applies(facts))
  const exitCode = rows.map(({ codes }) => codes[failOn]).find((code) => code !== EXIT.ok) ?? EXIT.ok
  const marks = rows.flatMap(({ mark }) => mark ?? [])
  return { exitCode, markOver: (own) => worstMark(own, ...marks) }
}

/** The mark of a part of an answer: its own, or what is found about it. */
export function markUnder(findings: readonly Finding[], own: Mark): Mark {
  return outcomeOf({ ...NOTHING, findings }, 'never').markOver(own)
}

/** What is true of an answer about which nothing is. */
export const NOTHING: OutcomeFacts = {
  incomplete: false,
  unread: [],
  causes: [],
  assuming: false,
  differs: NO,
  notShown: false,
  findings: [],
}
