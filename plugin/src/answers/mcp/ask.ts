// One call of a tool: the command line that it stands for, run in this process, and its report, bounded in size.
import { keysOf } from '@kleym/shared/core/base/json.ts'
import { CommandConfig } from '../../flags/command.ts'
import { asKleymError, EXIT, formatError, KleymError } from '../../io/errors.ts'
import type { CommandContext, CommandResult } from '../../io/context.ts'
import { FLAG_ARGUMENTS, type Tool, type ToolArguments } from './tools.ts'

/** The longest report that is answered whole, in characters: some 25,000 tokens of a model. */
export const ANSWER_MAX = 100_000
/** The longest text beside it. */
const NOTES_MAX = 4_000

/** What a call comes to. */
export interface ToolAnswer {
  readonly texts: readonly string[]
  readonly isError: boolean
}

/** The flags of the server, as they were parsed. */
export type ServerFlags = Readonly<Record<string, unknown>>

/** Runs the command of a tool; never throws. */
export async function ask(
  tool: Tool,
  args: ToolArguments,
  flags: ServerFlags,
  context: CommandContext,
): Promise<ToolAnswer> {
  try {
    const whole = await runCommand(tool, args, [...argumentsOf(tool, args, flags), '-o=json'], context)
    if (whole.answer.length <= ANSWER_MAX) return answerOf(whole, whole.answer)
    const brief = await runCommand(tool, args, [...argumentsOf(tool, args, flags), '--summary'], context)
    const cut = `The report has ${whole.answer.length} characters, and ${ANSWER_MAX} are answered. Name a namespace or an object. Its first lines:`
    return answerOf(whole, `${cut}\n\n${brief.answer.slice(0, ANSWER_MAX)}`)
  } catch (thrown) {
    const error = asKleymError(thrown)
    return { texts: [formatError(error).slice(0, NOTES_MAX)], isError: true }
  }
}

function answerOf({ notes, errors = [], exitCode }: CommandResult, answer: string): ToolAnswer {
  const beside = [...notes.map((note) => `${note}\n`), ...errors].join('').slice(0, NOTES_MAX)
  const incomplete =
    exitCode === EXIT.incomplete
      ? 'This answer is not certain: something could not be read or was not given. The report says what.\n'
      : ''
  return { texts: [answer, `${incomplete}${beside}`].filter((text) => text !== ''), isError: false }
}

function runCommand(
  { command }: Tool,
  { manifests, entries }: ToolArguments,
  argv: string[],
  context: CommandContext,
): Promise<CommandResult> {
  const own: CommandContext = {
    ...context,
    stdin: (async function* () {
      yield Buffer.from(manifests ?? entries ?? '')
    })(),
    // What a command says while it works belongs to no answer.
    stderr: { write: () => {}, isTerminal: false, columns: undefined },
  }
  return new command(argv, new CommandConfig({ root: import.meta.dirname }, own)).run()
}

/** The words of the command line, but for the format. */
function argumentsOf(tool: Tool, args: ToolArguments, flags: ServerFlags): string[] {
  const { target, namespace, manifests, entries } = args
  const words = target === undefined ? [] : [target]
  if (!tool.hasSources) return words
  const { output: _, namespace: own, ...rest } = flags
  const scope = namespace ?? (typeof own === 'string' ? own : undefined)
  return [
    ...words,
    ...(scope === undefined ? ['--all-namespaces'] : [`--namespace=${scope}`]),
    ...keysOf(FLAG_ARGUMENTS).flatMap((name) => {
      const value = args[name]
      return value === undefined ? [] : [`${FLAG_ARGUMENTS[name]}=${value}`]
    }),
    ...(entries === undefined ? [] : ['--entries=-']),
    ...flagWords(manifests === undefined ? rest : withManifests(rest)),
  ]
}

/** The files of the server are what is there; the manifests of a call are the change. */
function withManifests({ filename, ...rest }: ServerFlags): ServerFlags {
  const files = Array.isArray(filename) ? filename : []
  if (rest['offline'] !== true || rest['live'] !== undefined) return { ...rest, filename: [...files, '-'] }
  const [live, ...others] = files
  if (live !== undefined && others.length === 0) return { ...rest, live, filename: ['-'] }
  throw new KleymError('usage', {
    what: 'this server cannot compare manifests with its files',
    why: 'without a cluster, one folder is the present state, and the server was started with another number of -f',
    fix: 'start it with one folder, or with --live DIR: kubectl kleym mcp --offline -R -f DIR',
  })
}

/** Flags as words, each in one: no value can be taken for another flag. */
function flagWords(flags: ServerFlags): string[] {
  return Object.entries(flags).flatMap(([name, value]) => {
    if (value === undefined || value === false) return []
    if (value === true) return [`--${name}`]
    return (Array.isArray(value) ? value : [value]).map((one) => `--${name}=${String(one)}`)
  })
}
