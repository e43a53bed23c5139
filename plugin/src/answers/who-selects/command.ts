// `kubectl kleym who-selects`: flags and words; the answer is in run.ts.
import * as Flags from '@oclif/core/flags'
import { SourceCommand } from '../../flags/command.ts'
import type { CommandResult } from '../../io/context.ts'
import { allNamespacesFlag, configMapsFlag, namesFlag, selectorFlag } from '../../flags/flags.ts'
import { commonOptions, requireFormat } from '../../flags/options.ts'
import { words } from '../../flags/repeatable.ts'
import { parseTarget } from './target.ts'

/** The command line of `who-selects`. */
export class WhoSelectsCommand extends SourceCommand {
  static override readonly summary = 'Who gets which identity here?'
  static override readonly description =
    'Lists, for each container, every registration that would select it, with its SPIFFE ID, where it comes ' +
    'from, and its verdict: issued, masked, displaced, ignored, dead, refused, or what it depends on. Reads ' +
    'pods, and the pod templates of workloads without a pod. Also lists the access policies that name these ' +
    'identities.'
  static override readonly usage = 'who-selects [KIND/NAME|SPIFFE-ID] [flags]'
  static override readonly examples = [
    '<%= config.bin %> who-selects pod llama-0 -n team-a',
    '<%= config.bin %> who-selects deployment/team-a/llama',
    '<%= config.bin %> who-selects spiffe://example.org/ns/team-a/objective/chat -A',
    '<%= config.bin %> who-selects sa/team-a/runner --offline -R -f manifests',
    '<%= config.bin %> who-selects -A --entries --offline -R -f manifests',
  ]
  static override readonly args = {
    target: words(
      'A pod or a workload (pod/llama-0, deployment llama), a service account (sa/runner), a pool, a binding (iib/chat), or a SPIFFE ID.',
    ),
  }
  static override readonly flags = {
    'all-namespaces': allNamespacesFlag,
    names: namesFlag,
    configmaps: configMapsFlag,
    selector: selectorFlag,
    container: Flags.string({ char: 'c', helpValue: 'NAME', description: 'Only this container.' }),
    'spiffe-id': Flags.string({ helpValue: 'ID', description: 'Which containers would hold this ID?' }),
    entries: Flags.boolean({ description: 'Print the registration entries that SPIRE would hold.' }),
  }

  async run(): Promise<CommandResult> {
    const { flags, args } = await this.parse(WhoSelectsCommand)
    if (flags.output === 'spire' && !flags.entries)
      requireFormat(flags.output, 'who-selects without --entries')
    const target = parseTarget(args.target ?? [])
    return this.answer(() => import('./run.ts'), {
      target: target.object,
      ...commonOptions(flags, 'who-selects', this.context.cwd),
      selector: flags.selector,
      container: flags.container,
      spiffeId: flags['spiffe-id'] ?? target.spiffeId,
      entries: flags.entries,
    })
  }
}
