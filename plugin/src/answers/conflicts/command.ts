// `kubectl kleym conflicts`: flags and words; the answer is in run.ts, that about several clusters in clusters.ts.
import * as Flags from '@oclif/core/flags'
import { SourceCommand } from '../../flags/command.ts'
import type { CommandResult } from '../../io/context.ts'
import { wrongUsage } from '../../io/errors.ts'
import { allNamespacesFlag, selectorFlag } from '../../flags/flags.ts'
import { shellWord } from '../../flags/echo.ts'
import { withoutKind } from '../../gather/selection.ts'
import {
  commonOptions,
  givenFileFlag,
  optionsWithoutSources,
  requireFormat,
  type FileFlags,
} from '../../flags/options.ts'
import { REPEATABLE, words } from '../../flags/repeatable.ts'

/** The command line of `conflicts`. */
export class ConflictsCommand extends SourceCommand {
  static override readonly summary = 'What clashes?'
  static override readonly description =
    'Lists everything that clashes, worst first: identity collisions with the proof and an example pod, label' +
    ' sets that may overlap, two identities on one container, one SPIFFE ID claimed twice, foreign ' +
    'ClusterSPIFFEIDs on the same pods, displaced defaults, masked entries, equal hints, a pod in two pools, ' +
    'and access policies that name no client, every client, or another identity than they seem to. With ' +
    'several clusters (--context and --cluster-dir, two or more in all), lists the SPIFFE IDs that more than ' +
    'one of them gives.'
  static override readonly usage = 'conflicts [BINDING...] [flags]'
  static override readonly examples = [
    '<%= config.bin %> conflicts -A --summary',
    '<%= config.bin %> conflicts team-a/chat',
    '<%= config.bin %> conflicts -A --code KLM402',
    '<%= config.bin %> conflicts --offline -R -f manifests --fail-on warning',
    '<%= config.bin %> conflicts --context east --context west',
  ]
  static override readonly args = {
    binding: words('Only what these bindings are part of: NAME or NAMESPACE/NAME.'),
  }
  static override readonly flags = {
    'all-namespaces': allNamespacesFlag,
    selector: selectorFlag,
    context: Flags.string({
      helpGroup: 'CLUSTER',
      helpValue: 'NAME',
      description: 'The context of the kubeconfig. Given twice or more, the clusters are compared.',
      ...REPEATABLE,
    }),
    'cluster-dir': Flags.string({
      helpGroup: 'SOURCE',
      helpValue: 'DIR',
      description:
        'A folder with the dump or the manifests of a cluster, to compare with another cluster. Repeatable.',
      ...REPEATABLE,
    }),
  }

  async run(): Promise<CommandResult> {
    const { flags, args } = await this.parse(ConflictsCommand)
    const contexts: readonly string[] = flags.context ?? []
    const folders = flags['cluster-dir'] ?? []
    const one = { ...flags, context: contexts[0] }
    if (contexts.length + folders.length > 1 || folders.length > 0) {
      requireClustersAlone(flags, contexts.length + folders.length, args.binding ?? [])
      requireFormat(flags.output, 'conflicts')
      const given = optionsWithoutSources({ ...one, context: undefined }, this.context.cwd)
      const echo = [
        ...contexts.map((name) => ` --context ${shellWord(name)}`),
        ...folders.map((name) => ` --cluster-dir ${shellWord(name)}`),
      ].join('')
      const options = { ...given, output: { ...given.output, echo: `${given.output.echo ?? ''}${echo}` } }
      const { askedClusters, runClusters } = await import('./clusters.ts')
      return runClusters(askedClusters(options, contexts, folders), options, this.context)
    }
    return this.answer(() => import('./run.ts'), {
      ...commonOptions(one, 'conflicts', this.context.cwd),
      bindings: withoutKind(args.binding ?? []),
      selector: flags.selector,
    })
  }
}

/** Several clusters are compared whole: what makes one cluster of files, or narrows the question, has no meaning. */
function requireClustersAlone(
  flags: FileFlags & {
    readonly selector?: string | undefined
    readonly namespace?: string | undefined
    readonly output: string
  },
  clusters: number,
  bindings: readonly string[],
): void {
  const [name = ''] = bindings
  const wrong = [
    givenFileFlag(flags) ?? '',
    flags.selector === undefined ? '' : '-l',
    flags.namespace === undefined ? '' : '-n',
    name,
    flags.output === 'openreports' ? '-o openreports' : '',
  ].find((one) => one !== '')
  if (wrong !== undefined)
    throw wrongUsage('conflicts', {
      what: 'several clusters are compared whole',
      where: wrong,
      why: 'each is a context (--context) or a folder (--cluster-dir), with all that is in it',
      fix: `leave ${wrong} out`,
    })
  if (clusters > 1) return
  throw wrongUsage('conflicts', {
    what: 'there is no cluster to compare with',
    where: '--cluster-dir',
    why: 'one alone shares its IDs with none',
    fix: 'give a second one: --cluster-dir DIR, or --context NAME',
  })
}
