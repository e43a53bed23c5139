// `kubectl kleym diff`: flags and words; the answer is in run.ts.
import { SourceCommand } from '../../flags/command.ts'
import type { CommandResult } from '../../io/context.ts'
import { allNamespacesFlag } from '../../flags/flags.ts'
import { commonOptions } from '../../flags/options.ts'

/** The command line of `diff`. */
export class DiffCommand extends SourceCommand {
  static override readonly summary = 'What would change if these files were applied?'
  static override readonly description =
    'Prints a unified diff of the ClusterSPIFFEIDs, then the effect: which containers gain, lose or ' +
    'change which SPIFFE ID, which pods lose their default identity, which bindings change verdict, ' +
    'which access policies name an ID that changes hands, and which findings are new or fixed. Live are the ClusterSPIFFEIDs of --live, else those in the ' +
    'files. KUBECTL_EXTERNAL_DIFF names another differ. Exits with 1 when there is a difference.'
  static override readonly usage = 'diff [flags]'
  static override readonly examples = [
    '<%= config.bin %> diff --offline -R -f examples/estate --trust-domain x.org',
    {
      description: 'What a change does to what is there.',
      command:
        '<%= config.bin %> diff --offline --live examples/estate -R -f examples/changes --trust-domain x.org',
    },
    {
      description: 'What deleting a binding does.',
      command:
        '<%= config.bin %> diff --offline -R -f examples/estate --without iib/team-a/chat --trust-domain x.org',
    },
  ]

  static override readonly flags = { 'all-namespaces': allNamespacesFlag }

  async run(): Promise<CommandResult> {
    const { flags } = await this.parse(DiffCommand)
    const options = commonOptions(flags, 'diff', this.context.cwd)
    const { run } = await import('./run.ts')
    return run(options, this.context)
  }
}
