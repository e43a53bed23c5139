// `kubectl kleym migrate`: flags and words; the answer is in run.ts.
import * as Flags from '@oclif/core/flags'
import { SourceCommand } from '../../flags/command.ts'
import type { CommandResult } from '../../io/context.ts'
import { allNamespacesFlag, configMapsFlag, namesFlag } from '../../flags/flags.ts'
import { commonOptions } from '../../flags/options.ts'
import { REPEATABLE, words } from '../../flags/repeatable.ts'
import type { MigrateOptions } from './run.ts'
import { parseRegistrations } from './targets.ts'

/** The command line of `migrate`. */
export class MigrateCommand extends SourceCommand {
  static override readonly summary = 'How do hand-written ClusterSPIFFEIDs become bindings?'
  static override readonly description =
    "For a ClusterSPIFFEID that is not kleym's: the bindings that give the same containers an identity, each " +
    'proven Ready; what no binding can say (the ID changes, TTLs, DNS names, federation); who must accept the' +
    ' new ID beside the old one; and the order of steps that leaves no container without an identity. It ' +
    'never invents a pool or an objective. -o yaml prints the bindings alone, ready to be applied.'
  static override readonly usage = 'migrate [clusterspiffeid/NAME...] [flags]'
  static override readonly examples = [
    '<%= config.bin %> migrate clusterspiffeid/inference',
    '<%= config.bin %> migrate -A --offline -R -f manifests',
    {
      description: 'With the identity tests that name an old ID, or break.',
      command: '<%= config.bin %> migrate clusterspiffeid/inference --tests tests',
    },
    '<%= config.bin %> migrate --from-go --offline -R -f manifests',
  ]
  static override readonly args = {
    registration: words("The registrations: clusterspiffeid/NAME. With -A all that are not kleym's."),
  }
  static override readonly flags = {
    'all-namespaces': allNamespacesFlag,
    'from-go': Flags.boolean({
      description:
        'Bindings of the Go implementation in place of ClusterSPIFFEIDs: their IDs there and here.',
      exclusive: ['tests'],
    }),
    tests: Flags.string({
      helpValue: 'FILE|DIR',
      description: 'Identity tests: which of them name an old ID, and which break. Repeatable.',
      ...REPEATABLE,
    }),
    names: namesFlag,
    configmaps: configMapsFlag,
  }

  async run(): Promise<CommandResult> {
    const { flags, args } = await this.parse(MigrateCommand)
    const options: MigrateOptions = {
      ...commonOptions(flags, 'migrate', this.context.cwd),
      registrations: parseRegistrations(args.registration ?? [], flags['all-namespaces'] || flags['from-go']),
      tests: flags.tests ?? [],
    }
    if (flags['from-go']) return (await import('./from-go.ts')).runFromGo(options, this.context)
    return this.answer(() => import('./run.ts'), options)
  }
}
