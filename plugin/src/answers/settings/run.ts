// The answer of `kubectl kleym settings`.
import type { CommonOptions } from '../../flags/options.ts'
import { finish } from '../../frame/finish.ts'
import { gather } from '../../gather/gather.ts'
import type { CommandContext, CommandResult } from '../../io/context.ts'
import { settingsFrame } from './frame.ts'

/** What `settings` is asked. */
export interface SettingsCommandOptions extends CommonOptions {
  /** Whether `.kleym.yaml` is written. */
  readonly write: boolean
}

/** Says what kleym is set to, and who says so. */
export async function run(options: SettingsCommandOptions, context: CommandContext): Promise<CommandResult> {
  const { settings, sources } = options
  // What is written comes from the cluster or the files themselves, not from a file that is there.
  const asked = options.write ? { ...options, settings: { ...settings, fallbacks: [] } } : options
  const input = await gather(asked, { allNamespaces: true, named: [undefined] }, context)
  const written = options.write
    ? await (
        await import('./write.ts')
      ).writeSettings(input, {
        cwd: context.cwd,
        context: sources.cluster.context,
      })
    : undefined
  return finish(settingsFrame(input, written), input, options.output, context)
}
