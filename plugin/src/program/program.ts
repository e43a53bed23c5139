// One run of the program, from the command line to the exit code. Everything that can go wrong ends here.
import type { CommandConfig } from '../flags/command.ts'
import { COMPLETE } from '../io/completion-request.ts'
import { escapeTerminal, neutraliseCommands } from '../io/escape.ts'
import { COMMAND_IDS, commandClass, isCommand } from '../answers/commands.ts'
import { type CommandContext, type CommandResult, paletteFor } from '../io/context.ts'
import { asKleymError, EXIT, formatError, formatStack, type ExitCode, KleymError } from '../io/errors.ts'
import { asksForHelp, helpText } from './help.ts'
import { viewWidth } from '../text/layout.ts'
import { unknownCommand } from './unknown-command.ts'

/** The verbosity from which errors come with their stack, as kubectl's `-v`. */
const STACK_VERBOSITY = 6

/** Runs one command line and prints what comes of it; never throws. */
export async function runProgram(argv: readonly string[], context: CommandContext): Promise<ExitCode> {
  try {
    if (argv[0] === '--version' || argv[0] === 'version') {
      context.stdout.write(`kubectl-kleym ${context.version}\n`)
      return EXIT.ok
    }
    if (argv[0] === COMPLETE) {
      const { completionFor } = await import('../completion/complete.ts')
      context.stdout.write(await completionFor(argv.slice(1), context))
      return EXIT.ok
    }
    if (asksForHelp(argv)) {
      context.stdout.write(await helpText(argv, () => configOfAll(context), viewWidth(context)))
      return EXIT.ok
    }
    const [id = '', ...rest] = argv
    if (!isCommand(id)) throw unknownCommand(id, COMMAND_IDS)
    const [Command, { configToRun }] = await Promise.all([commandClass(id), import('./embedded.ts')])
    const outcome = await new Command(rest, configToRun(context)).run()
    print(outcome, context)
    return outcome.exitCode
  } catch (thrown) {
    const error = (await asUsageError(thrown, argv, context)) ?? asKleymError(thrown)
    printError(formatError(error), context)
    if (verbosity(argv) >= STACK_VERBOSITY) context.stderr.write(formatStack(error))
    return error.exitCode
  }
}

/** What help and errors tell of: the flags of every command. */
async function configOfAll(context: CommandContext): Promise<CommandConfig> {
  const [{ COMMANDS }, { loadConfig }] = await Promise.all([
    import('../answers/all-commands.ts'),
    import('./embedded.ts'),
  ])
  return loadConfig(COMMANDS, context)
}

/** What oclif says of the command line, in our words; undefined for any other error. */
async function asUsageError(
  thrown: unknown,
  [id = '']: readonly string[],
  context: CommandContext,
): Promise<KleymError | undefined> {
  if (thrown instanceof KleymError) return undefined
  const { isUsageError, usageError } = await import('./usage-errors.ts')
  return isUsageError(thrown) ? usageError(thrown, (await configOfAll(context)).findCommand(id)) : undefined
}

/** Prints what a command has to say: the answer first, then what a person should know about it. */
function print({ answer, notes, errors = [] }: CommandResult, context: CommandContext): void {
  const { stdout, stderr } = context
  if (answer !== '') stdout.write(answer)
  for (const note of notes) stderr.write(`${neutraliseCommands(escapeTerminal(note))}\n`)
  for (const error of errors) printError(error, context)
}

function printError(text: string, context: CommandContext): void {
  context.stderr.write(paletteFor('auto', context, context.stderr).paint(undefined, text))
}

/** The level of `-v`, `-v=6`, `-v6` or `--v=6`, also on a command line that does not parse. */
function verbosity(argv: readonly string[]): number {
  const joined = argv.join('\n')
  const level = /(?:^|\n)--?v[=\n]?(\d+)(?:\n|$)/.exec(joined)?.[1]
  return level === undefined ? 0 : Number(level)
}
