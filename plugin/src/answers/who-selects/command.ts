// `kubectl kleym who-selects`: flags and words; the answer is in run.ts.
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { SourceCommand } from '../../flags/command.ts'
import type { CommandResult } from '../../io/context.ts'
import { allNamespacesFlag, selectorFlag } from '../../flags/flags.ts'
import { commonOptions } from '../../flags/options.ts'
import type { WhoSelectsOptions } from './run.ts'
import { parseTarget } from './target.ts'

/** The command line of `who-selects`. */
export class WhoSelectsCommand extends SourceCommand {
  static override readonly summary = 'Who gets which identity here?'
  static override readonly description =
    'Lists, for each container, every registration that would select it, with its SPIFFE ID, where it ' +
    'comes from, and its verdict: issued, masked, displaced, ignored, dead, refused, or what it ' +
    'depends on. Works on pods and on the pod templates of workloads, where there is no pod yet; ' +
    'and who names the identities in access policies.'
  static override readonly usage = 'who-selects [KIND/NAME] [flags]'
  static override readonly examples = [
    '<%= config.bin %> who-selects --offline -R -f examples/estate -A',
    '<%= config.bin %> who-selects deploy/team-a/llama --offline -Rf examples/estate',
    '<%= config.bin %> who-selects -A --entries --offline -R -f examples/estate',
  ]
  static override readonly args = {
    target: Args.string({
      ignoreStdin: true,
      description: 'A pod or a workload, such as pod/llama-0 or deployment/llama.',
    }),
  }
  static override readonly flags = {
    'all-namespaces': allNamespacesFlag,
    selector: selectorFlag,
    container: Flags.string({ char: 'c', helpValue: 'NAME', description: 'Only this container.' }),
    'spiffe-id': Flags.string({ helpValue: 'ID', description: 'Which containers would hold this ID?' }),
    entries: Flags.boolean({ description: 'Print the registration entries that SPIRE would hold.' }),
  }

  async run(): Promise<CommandResult> {
    const { flags, args } = await this.parse(WhoSelectsCommand)
    const options: WhoSelectsOptions = {
      target: parseTarget(args.target),
      ...commonOptions(flags, 'who-selects', this.context.cwd),
      selector: flags.selector,
      container: flags.container,
      spiffeId: flags['spiffe-id'],
      entries: flags.entries,
    }
    const { run } = await import('./run.ts')
    return run(options, this.context)
  }
}
