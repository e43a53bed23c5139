// `kubectl kleym status`: flags and words; the answer is in run.ts.
import * as Flags from '@oclif/core/flags'
import { SourceCommand } from '../../flags/command.ts'
import type { CommandResult } from '../../io/context.ts'
import { allNamespacesFlag, entriesFlags } from '../../flags/flags.ts'
import { givenFileFlag, optionsWithoutSources, requireFormat, type FileFlags } from '../../flags/options.ts'
import { wrongUsage } from '../../io/errors.ts'

/** The command line of `status`. */
export class StatusCommand extends SourceCommand {
  static override readonly summary = 'Is the installation sound?'
  static override readonly description =
    'Prints one line for each of these: the kinds that are served, the operator and its leader, its trust ' +
    'domain and class, whether SCM handles that class and runs, whether the server holds its entries ' +
    '(--entries), whether agents are ready, the verdicts of all bindings as the operator wrote them, and the ' +
    'binding that has been stuck for the longest time. Bindings are those of all namespaces, or of -n.'
  static override readonly usage = 'status [flags]'
  static override readonly examples = [
    '<%= config.bin %> status',
    '<%= config.bin %> status -n team-a --scm-namespace spire',
    '<%= config.bin %> status --budgets',
  ]
  static override readonly flags = {
    'all-namespaces': allNamespacesFlag,
    entries: entriesFlags.entries,
    'as-of': entriesFlags['as-of'],
    budgets: Flags.boolean({
      default: false,
      description:
        'Reads all pods, and counts the entries of bindings, nodes and containers against known limits.',
    }),
  }

  async run(): Promise<CommandResult> {
    const { flags } = await this.parse(StatusCommand)
    refuseFiles(flags)
    requireFormat(flags.output, 'status')
    return this.answer(() => import('./run.ts'), {
      ...optionsWithoutSources(flags, this.context.cwd),
      entries: flags.entries ?? [],
      asOf: flags['as-of'],
      budgets: flags.budgets,
    })
  }
}

/** Files hold no installation. */
function refuseFiles(flags: FileFlags): void {
  const given = givenFileFlag(flags)
  if (given === undefined) return
  throw wrongUsage('status', {
    what: 'status asks a cluster',
    where: given,
    why: 'files hold no installation: no served kinds, no leader, no current status',
    fix: `leave ${given} out`,
  })
}
