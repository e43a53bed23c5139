// `kubectl kleym watch`: flags and words; the answer is in run.ts.
import * as Flags from '@oclif/core/flags'
import { clusterFlags, clusterOptions } from '../../flags/cluster-flags.ts'
import { KleymCommand } from '../../flags/command.ts'
import type { CommandResult } from '../../io/context.ts'
import { allNamespacesFlag, outputFlags, settingsFlags, sourceFlags } from '../../flags/flags.ts'
import { echoOf } from '../../flags/echo.ts'
import { filesOf, namespaceOf, requireSources, settingsOf } from '../../flags/options.ts'
import { wrongUsage } from '../../io/errors.ts'
import { STDIN_ARGUMENT } from '../../sources/stdin.ts'
import { STREAM_FORMATS, type StreamFormat } from './live/formats.ts'

const { filename, recursive, kustomize, render, exclude, offline } = sourceFlags
/** Which files are watched in place of a cluster. */
const sourcesOfWatch = { filename, recursive, kustomize, render, exclude, offline }

/** The command line of `watch`. */
export class WatchCommand extends KleymCommand {
  static override readonly summary = 'Watch bindings live'
  static override readonly description =
    'A live table of bindings with their verdicts, and the derivation of the one that you open. The verdicts ' +
    'are worked out as the operator works them out, so they are there even if no operator runs. Press ? for ' +
    'the keys. With --plain, or without a terminal, it prints a line for each binding and then a line for ' +
    'each change. Settings come from the same sources as for the other commands (kubectl kleym settings). ' +
    'With --offline it watches files, and answers again when one of them changes.'
  static override readonly usage = 'watch [flags]'
  static override readonly examples = [
    '<%= config.bin %> watch -A',
    '<%= config.bin %> watch -n team-a --plain',
    '<%= config.bin %> watch --offline -R -f manifests',
    '$ <%= config.bin %> watch -A -o json | jq --unbuffered -c \'select(.ready == "False")\'',
  ]
  static override readonly flags = {
    'all-namespaces': allNamespacesFlag,
    namespace: Flags.string({
      char: 'n',
      helpValue: 'NAME',
      description: "The namespace to watch, in place of the context's.",
    }),
    plain: Flags.boolean({ description: 'Print lines, also on a terminal.' }),
    output: Flags.option({ options: STREAM_FORMATS, default: 'text' as StreamFormat })({
      char: 'o',
      helpValue: STREAM_FORMATS.join('|'),
      description: 'The form of the lines; json is one object for each, and never draws a screen.',
    }),
    'trust-domain': settingsFlags['trust-domain'],
    'clusterspiffeid-class-name': settingsFlags['clusterspiffeid-class-name'],
    'variant-label-key': settingsFlags['variant-label-key'],
    'scm-config': settingsFlags['scm-config'],
    color: outputFlags.color,
    v: outputFlags.v,
    ...sourcesOfWatch,
    ...clusterFlags,
  }

  /** Resolves when the person leaves, or throws a KleymError. */
  async run(): Promise<CommandResult> {
    const { flags } = await this.parse(WatchCommand)
    requireFilesToFollow(flags)
    return this.answer(() => import('./run.ts'), {
      files: flags.offline ? filesOf(flags) : undefined,
      echo: echoOf(flags),
      cluster: clusterOptions(flags, this.context.cwd),
      namespace: namespaceOf(flags, 'namespace'),
      allNamespaces: flags['all-namespaces'],
      plain: flags.plain,
      format: flags.output,
      settings: settingsOf(flags),
      colour: flags.color,
    })
  }
}

/** Throws a usage error for files beside a cluster, and for what cannot change. */
function requireFilesToFollow(flags: Parameters<typeof requireSources>[0]): void {
  requireSources(flags, 'watch')
  const files = [...(flags.filename ?? []), ...(flags.kustomize ?? [])]
  if (!flags.offline && files.length > 0)
    throw wrongUsage('watch', {
      what: 'files are given beside a cluster',
      where: `-f ${files[0] ?? ''}`,
      why: 'watch shows a cluster as it is, or files alone',
      fix: 'add --offline, or leave the files out',
    })
  if (files.includes(STDIN_ARGUMENT))
    throw wrongUsage('watch', {
      what: 'stdin cannot be watched',
      where: '-f -',
      why: 'it is read once, and does not change',
      fix: 'write it to a file, and name that',
    })
}
