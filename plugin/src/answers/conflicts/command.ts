// `kubectl kleym conflicts`: flags and words; the answer is in run.ts.
import * as Args from '@oclif/core/args'
import { SourceCommand } from '../../flags/command.ts'
import type { CommandResult } from '../../io/context.ts'
import { allNamespacesFlag, selectorFlag } from '../../flags/flags.ts'
import { withoutKind } from '../../gather/selection.ts'
import type { ConflictsOptions } from './run.ts'
import { commonOptions } from '../../flags/options.ts'

/** The command line of `conflicts`. */
export class ConflictsCommand extends SourceCommand {
  static override readonly summary = 'What clashes?'
  static override readonly description =
    'Lists everything that clashes, worst first: identity collisions with proof and witness, label ' +
    'sets that may overlap, two identities on one container, one SPIFFE ID claimed twice, foreign ' +
    'ClusterSPIFFEIDs on the same pods, displaced defaults, masked entries, equal hints, a pod in two ' +
    'pools, and access policies that name no client, every client, or another identity than they seem to.'
  static override readonly usage = 'conflicts [BINDING...] [flags]'
  static override readonly examples = [
    '<%= config.bin %> conflicts -A --summary',
    '<%= config.bin %> conflicts team-a/chat',
    '<%= config.bin %> conflicts -A --code KLM402',
    '<%= config.bin %> conflicts --offline -R -f manifests --fail-on warning',
  ]
  static override readonly args = {
    binding: Args.string({
      multiple: true,
      ignoreStdin: true,
      description: 'Only what these bindings are part of: NAME or NAMESPACE/NAME.',
    }),
  }
  static override readonly flags = { 'all-namespaces': allNamespacesFlag, selector: selectorFlag }

  async run(): Promise<CommandResult> {
    const { flags, args } = await this.parse(ConflictsCommand)
    const options: ConflictsOptions = {
      ...commonOptions(flags, 'conflicts', this.context.cwd),
      bindings: withoutKind(args.binding ?? []),
      selector: flags.selector,
    }
    const { run } = await import('./run.ts')
    return run(options, this.context)
  }
}
