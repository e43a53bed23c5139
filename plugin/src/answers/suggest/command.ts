// `kubectl kleym suggest`: flags and words; the answer is in run.ts.
import { SourceCommand } from '../../flags/command.ts'
import type { CommandResult } from '../../io/context.ts'
import { allNamespacesFlag } from '../../flags/flags.ts'
import { commonOptions } from '../../flags/options.ts'
import { words } from '../../flags/repeatable.ts'
import { parseTargets } from './targets.ts'

/** The command line of `suggest`. */
export class SuggestCommand extends SourceCommand {
  static override readonly summary = 'Which bindings could these pools have?'
  static override readonly description =
    'Suggests bindings for pools that have none. Service account, container and role are read from the pods ' +
    'or pod templates that a pool selects. Each binding is proven before it is shown: it would be Ready, no ' +
    'other binding would change its readiness, and no error would be new. For a pool without a suggestion it ' +
    'prints the reason that the operator would give. -o yaml prints only the objects to apply, in their ' +
    'order, with the reasons as comments.'
  static override readonly usage = 'suggest [KIND/NAME...] [flags]'
  static override readonly examples = [
    '<%= config.bin %> suggest -A',
    '<%= config.bin %> suggest pool/team-a/llama',
    '<%= config.bin %> suggest objective/team-a/chat',
    '<%= config.bin %> suggest -A --offline -R -f manifests -o yaml',
  ]
  static override readonly args = {
    target: words(
      'Only for these: a pool (pool/llama), an objective (objective/chat), a pod or a workload (deployment/team-a/llama).',
    ),
  }
  static override readonly flags = { 'all-namespaces': allNamespacesFlag }

  async run(): Promise<CommandResult> {
    const { flags, args } = await this.parse(SuggestCommand)
    return this.answer(() => import('./run.ts'), {
      ...commonOptions(flags, 'suggest', this.context.cwd),
      targets: parseTargets(args.target ?? []),
    })
  }
}
