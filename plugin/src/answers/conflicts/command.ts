// `kubectl kleym conflicts`: flags and words; the answer is in run.ts.
import { SourceCommand } from '../../flags/command.ts'
import type { CommandResult } from '../../io/context.ts'
import { allNamespacesFlag } from '../../flags/flags.ts'
import { commonOptions } from '../../flags/options.ts'

/** The command line of `conflicts`. */
export class ConflictsCommand extends SourceCommand {
  static override readonly summary = 'What clashes?'
  static override readonly description =
    'Lists everything that clashes, worst first: identity collisions with proof and witness, label ' +
    'sets that may overlap, two identities on one container, one SPIFFE ID claimed twice, foreign ' +
    'ClusterSPIFFEIDs on the same pods, displaced defaults, masked entries, equal hints, a pod in two ' +
    'pools, and access policies that name no client, every client, or another identity than they seem to.'
  static override readonly usage = 'conflicts [flags]'
  static override readonly examples = [
    '<%= config.bin %> conflicts --offline -R -f examples/estate -A',
    '<%= config.bin %> conflicts --offline -R -f examples/estate --fail-on warning',
  ]
  static override readonly flags = { 'all-namespaces': allNamespacesFlag }

  async run(): Promise<CommandResult> {
    const { flags } = await this.parse(ConflictsCommand)
    const options = commonOptions(flags, 'conflicts', this.context.cwd)
    const { run } = await import('./run.ts')
    return run(options, this.context)
  }
}
