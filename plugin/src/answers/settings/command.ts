// `kubectl kleym settings`: flags and words; the answer is in run.ts.
import * as Flags from '@oclif/core/flags'
import { SourceCommand } from '../../flags/command.ts'
import { allNamespacesFlag } from '../../flags/flags.ts'
import { optionsWithoutSources, requireFormat } from '../../flags/options.ts'
import type { CommandResult } from '../../io/context.ts'

/** The command line of `settings`. */
export class SettingsCommand extends SourceCommand {
  static override readonly summary = 'Which settings count, and where do they come from?'
  static override readonly description =
    'Lists each setting with its value, its source, and what it decides. The sources, the first that has a ' +
    'value: the command line, the cluster or the files, the environment, .kleym.yaml. --write makes ' +
    '.kleym.yaml of them.'
  static override readonly usage = 'settings [flags]'
  static override readonly examples = [
    '<%= config.bin %> settings',
    '<%= config.bin %> settings --write',
    '<%= config.bin %> settings --write --context prod',
    '<%= config.bin %> settings --offline -R -f manifests',
  ]
  static override readonly flags = {
    'all-namespaces': allNamespacesFlag,
    write: Flags.boolean({
      description:
        'Write .kleym.yaml into this folder, if there is none. With --context, write a section of it.',
    }),
  }

  async run(): Promise<CommandResult> {
    const { flags } = await this.parse(SettingsCommand)
    requireFormat(flags.output, 'settings')
    const options = { ...optionsWithoutSources(flags, this.context.cwd), write: flags.write }
    return this.answer(() => import('./run.ts'), options)
  }
}
