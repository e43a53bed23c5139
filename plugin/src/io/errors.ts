// What can go wrong, in the four parts that every error of kleym has (docs/reference/output.md): what, why, fix, docs page. Inner
// code throws a KleymError; the program prints it on stderr and turns its code into the exit code.
import { withPageUrls } from './docs-url.ts'
import { escapeTerminal, neutraliseCommands } from './escape.ts'

/** The exit codes, each with one meaning; they never depend on the output format. */
export const EXIT = {
  /** A complete answer with nothing at or above the threshold; no difference. */
  ok: 0,
  /** Findings at or above the threshold; differences. */
  findings: 1,
  /** Wrong usage. */
  usage: 2,
  /** A named object does not exist. */
  notFound: 3,
  /** The answer is missing or incomplete: something could not be read. */
  incomplete: 4,
  /** A bug in kleym. */
  internal: 5,
  timedOut: 124,
  interrupted: 130,
} as const
/** One of them. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** The classes of errors, each with its exit code. */
export const ERROR_EXIT = {
  /** A wrong command, flag, argument, or a path on the command line that cannot be used. */
  usage: EXIT.usage,
  /** An object that the command line names is in none of the sources. */
  'not-found': EXIT.notFound,
  /** A cluster or a program that is needed did not answer. */
  unreachable: EXIT.incomplete,
  /** A source was there, and could not be read or understood. */
  input: EXIT.incomplete,
  /** The answer could not be written. */
  output: EXIT.incomplete,
  'timed-out': EXIT.timedOut,
  interrupted: EXIT.interrupted,
  internal: EXIT.internal,
} as const satisfies Record<string, ExitCode>
/** One of the classes. */
export type ErrorCode = keyof typeof ERROR_EXIT

/** The parts of an error. */
export interface ErrorParts {
  /** One sentence without a full stop: what went wrong. */
  readonly what: string
  /** The place: `pools.yaml:12`, `team-a/chat`. */
  readonly where?: string | undefined
  /** What stands there, a line each. */
  readonly excerpt?: readonly string[] | undefined
  /** The reason. */
  readonly why: string
  /** What to do about it; if possible, a command that can be pasted. */
  readonly fix: string
  /** Where to read more: a page, or a command that prints it. */
  readonly docs?: string | undefined
  /** What was thrown before it; absent: nothing. */
  readonly cause?: unknown
}

/** An error that a person can act on. Its parts may hold text from files: they are escaped when they are printed. */
export class KleymError extends Error {
  readonly code: ErrorCode
  readonly what: string
  readonly where: string | undefined
  readonly excerpt: readonly string[]
  readonly why: string
  readonly fix: string
  readonly docs: string | undefined

  constructor(code: ErrorCode, parts: ErrorParts) {
    super(parts.what, parts)
    this.name = 'KleymError'
    this.code = code
    this.what = parts.what
    this.where = parts.where
    this.excerpt = parts.excerpt ?? []
    this.why = parts.why
    this.fix = parts.fix
    this.docs = parts.docs
  }

  get exitCode(): ExitCode {
    return ERROR_EXIT[this.code]
  }
}

/** An error in how a command is used, which the help of the command says more about. */
export function wrongUsage(command: string, parts: Omit<ErrorParts, 'docs'>): KleymError {
  return new KleymError('usage', { ...parts, docs: `kubectl kleym ${command} --help` })
}

/** Where bugs are reported. */
export const BUG_REPORTS = "the project's issue tracker"

/** Any thrown thing as a KleymError: what is not one already is a bug in kleym. */
export function asKleymError(thrown: unknown): KleymError {
  if (thrown instanceof KleymError) return thrown
  return new KleymError('internal', {
    what: 'kleym has a bug and cannot answer',
    why: thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown),
    fix: `run it again with -v=6 and report what it prints on ${BUG_REPORTS}`,
    cause: thrown,
  })
}

/** The error as it is printed: one line for each part, escaped for a terminal and for CI logs. */
export function formatError(error: KleymError): string {
  // What the first words have said already is not said again.
  const place = (error.where ?? '').split(', ').filter((part) => !` ${error.what} `.includes(` ${part} `))
  const where = place.join(', ') === '' ? '' : ` (${place.join(', ')})`
  const lines = [
    `error: ${error.what}${where}`,
    ...error.excerpt.map((text) => `  ${text}`),
    `  why:  ${error.why}`,
    `  fix:  ${withPageUrls(error.fix)}`,
  ]
  if (error.docs !== undefined) lines.push(`  docs: ${withPageUrls(error.docs)}`)
  return lines.map((text) => `${printable(text)}\n`).join('')
}

/** The stack of an error and of its causes, for `-v=6`. */
export function formatStack(error: unknown): string {
  const stacks: string[] = []
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++)
    stacks.push((at.stack ?? at.message).split('\n').map(printable).join('\n'))
  return stacks.map((stack) => `${stack}\n`).join('caused by ')
}

/** A text without what a terminal or a CI log would take for a command. */
export function printable(text: string): string {
  return neutraliseCommands(escapeTerminal(text))
}
