// What every command is made of: oclif parses the command line, `run` answers, and the program prints the result.
import { Command } from '@oclif/core/command'
import { Config } from '@oclif/core/config'
import type { Hook } from '@oclif/core/interfaces'
import type { CommandContext, CommandResult } from '../io/context.ts'
import { clusterFlags } from './cluster-flags.ts'
import { outputFlags, settingsFlags, sourceFlags } from './flags.ts'

/** Command classes by the word on the command line. */
export type CommandClasses = ReadonlyMap<string, Command.Class>

/** oclif's configuration, which also carries what commands may use of the process. */
export class CommandConfig extends Config {
  readonly context: CommandContext

  /** `options` are oclif's own. */
  constructor(options: ConstructorParameters<typeof Config>[0], context: CommandContext) {
    super(options)
    this.context = context
  }

  /** No hooks run: no other package can extend the program. */
  override async runHook(): Promise<Hook.Result<never>> {
    return { successes: [], failures: [] }
  }
}

/** One command of the program. */
export abstract class KleymCommand extends Command {
  /** Answers, or throws a KleymError. */
  abstract override run(): Promise<CommandResult>

  /** What the command may use of the process. */
  protected get context(): CommandContext {
    if (this.config instanceof CommandConfig) return this.config.context
    throw new TypeError(`the command ${this.id ?? ''} was started without a CommandConfig`)
  }

  /** Answers with the code of the command, which is loaded here alone: help and completion do without it. */
  protected async answer<Options>(
    load: () => Promise<{
      readonly run: (options: Options, context: CommandContext) => Promise<CommandResult>
    }>,
    options: NoInfer<Options>,
  ): Promise<CommandResult> {
    const { run } = await load()
    return run(options, this.context)
  }
}

/** A command with the flags that `commonOptions` reads: sources, settings, output and cluster. */
export abstract class SourceCommand extends KleymCommand {
  static override readonly baseFlags = {
    ...sourceFlags,
    ...settingsFlags,
    ...outputFlags,
    ...clusterFlags,
  }
}
