// `kubectl kleym completion`: flags and words; the answer is in run.ts. What kubectl runs when a person
// presses Tab is not this command but `__complete`, in plugin/src/completion.
import * as Args from '@oclif/core/args'
import { KleymCommand } from '../../flags/command.ts'
import type { CommandResult } from '../../io/context.ts'
import { ACTION_NAMES } from './actions.ts'

/** The command line of `completion`. */
export class CompletionCommand extends KleymCommand {
  static override readonly summary = 'How does the shell complete this?'
  static override readonly description =
    'kubectl completes the words of a plugin by running an executable beside it, which krew does not install.' +
    ' Without an argument, says whether that executable is there and what to do. install puts it into a ' +
    'folder on PATH, by default the one that holds kubectl-kleym. script prints it.'
  static override readonly usage = 'completion [install [DIR]|script]'
  static override readonly examples = [
    '<%= config.bin %> completion',
    '$ <%= config.bin %> completion install ~/.local/bin',
    '<%= config.bin %> completion script',
  ]
  static override readonly args = {
    action: Args.option({ options: ACTION_NAMES })({
      ignoreStdin: true,
      description: 'Install the executable, or print it.',
    }),
    folder: Args.string({ ignoreStdin: true, description: 'Where to install it: a folder on PATH.' }),
  }

  async run(): Promise<CommandResult> {
    const { args } = await this.parse(CompletionCommand)
    const { run } = await import('./run.ts')
    return run(args, this.context)
  }
}
