// The base of all commands: oclif parses, the code behind the command answers, and the program prints.
import { Command } from '@oclif/core/command'
import type { Config } from '@oclif/core/config'
import type { CommandContext, CommandResult } from '../io/context.ts'
import { EmbeddedConfig } from '../program/embedded.ts'
import { clusterFlags } from './cluster-flags.ts'
import { outputFlags, settingsFlags, sourceFlags } from './flags.ts'

export abstract class KleymCommand extends Command {
  static override readonly baseFlags = {
    ...sourceFlags,
    ...settingsFlags,
    ...outputFlags,
    ...clusterFlags,
  }

  /** Answers, or throws a KleymError. */
  abstract override run(): Promise<CommandResult>

  /** What the command may use of the process. */
  protected get context(): CommandContext {
    return contextOf(this.config)
  }
}

/** What a command that was started by the program may use of the process. */
export function contextOf(config: Config): CommandContext {
  if (config instanceof EmbeddedConfig) return config.context
  throw new TypeError('a command was started without its context')
}
