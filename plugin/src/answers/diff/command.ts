// `kubectl kleym diff`: flags and words; the answer is in run.ts.
import * as Flags from '@oclif/core/flags'
import { SourceCommand } from '../../flags/command.ts'
import type { CommandResult } from '../../io/context.ts'
import { withoutKind } from '../../gather/selection.ts'
import { allNamespacesFlag, configMapsFlag, namesFlag, selectorFlag } from '../../flags/flags.ts'
import { commonOptions } from '../../flags/options.ts'
import { REPEATABLE, words } from '../../flags/repeatable.ts'
import { baseFlag, requireBase, type DiffOptions } from '../parts/base-flag.ts'

/** The command line of `diff`. */
export class DiffCommand extends SourceCommand {
  static override readonly summary = 'What would change if these files were applied?'
  static override readonly description =
    'Prints a unified diff of the ClusterSPIFFEIDs, then the effect: which containers gain, lose or change ' +
    'which SPIFFE ID, which pods lose their default identity, which bindings change verdict, which access ' +
    'policies name an ID that changes hands, and which findings are new, are fixed or no longer apply. With ' +
    '--base, compares two folders, each with all manifests: a manifest that is missing in the second one ' +
    'counts as deleted. Without --base, an object that is in no file counts as unchanged, and the live ' +
    'ClusterSPIFFEIDs are those of --live, else those in the files. KUBECTL_EXTERNAL_DIFF names another ' +
    'differ. Exits with 1 if there is a difference.'
  static override readonly usage = 'diff [BINDING...] [flags]'
  static override readonly examples = [
    '<%= config.bin %> diff -R -f manifests',
    {
      description: 'What a pull request changes: two folders, deletions included.',
      command: '<%= config.bin %> diff --offline --base base -R -f head',
    },
    {
      description: 'Which identity tests it breaks.',
      command: '<%= config.bin %> diff --offline --base base -R -f head --tests tests',
    },
    {
      description: 'What applying a few files does to a dump of live objects.',
      command: '<%= config.bin %> diff --offline --live dump -R -f manifests',
    },
    {
      description: 'What deleting a binding does.',
      command: '<%= config.bin %> diff --without iib/team-a/chat',
    },
  ]

  static override readonly args = {
    binding: words(
      'Show only what these bindings are part of: NAME or NAMESPACE/NAME. Filters the output only; the exit code counts everything.',
    ),
  }

  static override readonly flags = {
    'all-namespaces': allNamespacesFlag,
    names: namesFlag,
    configmaps: configMapsFlag,
    selector: selectorFlag,
    base: baseFlag,
    tests: Flags.string({
      helpValue: 'FILE|DIR',
      description: 'IdentityTests (kubectl kleym test): names those that the change breaks. Repeatable.',
      ...REPEATABLE,
    }),
  }

  async run(): Promise<CommandResult> {
    const { flags, args } = await this.parse(DiffCommand)
    const options: DiffOptions = {
      ...commonOptions(flags, 'diff', this.context.cwd),
      base: flags.base ?? [],
      bindings: withoutKind(args.binding ?? []),
      selector: flags.selector,
      tests: flags.tests ?? [],
    }
    requireBase(options.base, options, {
      command: 'diff',
      flag: '--base',
      besideCluster: 'it compares two folders, and without --offline the files are compared with the cluster',
      besideLive:
        '--base is a desired state, --live a dump of live objects; the files can be compared with one of them',
    })
    return this.answer(() => import('./run.ts'), options)
  }
}
