// `kubectl kleym map`: flags and words; the answer is in run.ts.
import type { MapOptions } from './run.ts'
import * as Flags from '@oclif/core/flags'
import { SourceCommand } from '../../flags/command.ts'
import type { CommandResult } from '../../io/context.ts'
import { allNamespacesFlag, selectorFlag } from '../../flags/flags.ts'
import { commonOptions } from '../../flags/options.ts'
import { wrongUsage } from '../../io/errors.ts'
import { baseFlag, requireBase } from '../parts/base-flag.ts'

/** The command line of `map`. */
export class MapCommand extends SourceCommand {
  static override readonly summary = 'Who holds what, as a picture?'
  static override readonly description =
    'Draws namespaces with their workloads, pods and containers, the bindings, ClusterSPIFFEIDs and static ' +
    'entries that give them identities, and the access policies that name these. With -o html it is one page ' +
    'that needs no network: you can search, filter and print it, and read it by keyboard and screen reader. ' +
    'Other forms are mermaid, dot and json; as text, it is a table of namespaces. With --compare, the picture' +
    ' shows what a change gives and takes.'
  static override readonly usage = 'map [flags]'
  static override readonly examples = [
    '<%= config.bin %> map -A -o html > map.html',
    '<%= config.bin %> map --offline -R -f manifests -n team-a -o mermaid',
    {
      description: 'What a pull request gives and takes.',
      command: '<%= config.bin %> map --offline --compare base -R -f head -o html > map.html',
    },
  ]

  static override readonly flags = {
    'all-namespaces': allNamespacesFlag,
    selector: selectorFlag,
    'spiffe-id': Flags.string({
      helpValue: 'ID',
      description: 'Only what has to do with this SPIFFE ID.',
    }),
    compare: baseFlag,
  }

  async run(): Promise<CommandResult> {
    const { flags } = await this.parse(MapCommand)
    const options: MapOptions = {
      ...commonOptions(flags, 'map', this.context.cwd),
      selector: flags.selector,
      spiffeId: flags['spiffe-id'],
      compare: flags.compare ?? [],
    }
    requireBase(options.compare, options, {
      command: 'map',
      flag: '--compare',
      besideCluster: 'it compares two folders, and without --offline the cluster is read',
      besideLive: '--compare is a desired state, --live a dump of live objects',
    })
    const [first] = options.compare
    const { files, kustomize } = options.sources.files
    if (first !== undefined && files.length === 0 && kustomize.length === 0)
      throw wrongUsage('map', {
        what: '--compare stands alone',
        where: `--compare ${first}`,
        why: 'there is nothing to compare it with',
        fix: 'name the other desired state: -R -f DIR',
      })
    return this.answer(() => import('./run.ts'), options)
  }
}
