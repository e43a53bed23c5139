// oclif without a disk: the commands and their descriptions are part of the program, so the same code runs from source,
// from a bundle and from an executable. Only public methods of @oclif/core 5.1.9 are overridden.
import { CommandConfig, type CommandClasses } from '../flags/command.ts'
import type { Command } from '@oclif/core/command'
import { Plugin } from '@oclif/core/config'
import type * as Interfaces from '@oclif/core/interfaces'
import type { CommandContext } from '../io/context.ts'
import { BIN } from './bin.ts'

class EmbeddedPlugin extends Plugin {
  readonly #classes: CommandClasses

  constructor(options: Interfaces.PluginOptions, classes: CommandClasses) {
    super(options)
    this.#classes = classes
  }

  override async load(): Promise<void> {
    await super.load()
    const cached = [...this.#classes].map(([id, command]) => describe(id, command, this.name))
    this.manifest = {
      version: this.version,
      commands: Object.fromEntries(cached.map((one) => [one.id, one])),
    }
    this.hasManifest = true
    this.commandIDs = cached.map(({ id }) => id)
    this.commands = cached.map((one) =>
      Object.assign(one, { load: async () => this.findCommand(one.id, { must: true }) }),
    )
  }

  override async findCommand(id: string, options: { must: true }): Promise<Command.Class>
  override async findCommand(id: string, options?: { must: boolean }): Promise<Command.Class | undefined>
  override async findCommand(id: string, options?: { must: boolean }): Promise<Command.Class | undefined> {
    const command = this.#classes.get(id)
    if (command === undefined) {
      if (options?.must === true) throw new RangeError(`no command ${id}`)
      return undefined
    }
    command.id = id
    return command
  }
}

/** What help and lookup need to know of a command class. */
function describe(id: string, command: Command.Class, plugin: string): Command.Cached {
  const flags = { ...command.baseFlags, ...command.flags }
  return {
    id,
    aliases: [],
    hiddenAliases: [],
    hidden: command.hidden,
    strict: command.strict,
    summary: command.summary,
    description: command.description,
    usage: command.usage,
    examples: command.examples,
    flags: Object.fromEntries(Object.entries(flags).map(([name, flag]) => [name, { ...flag, name }])),
    args: Object.fromEntries(Object.entries(command.args).map(([name, arg]) => [name, { ...arg, name }])),
    pluginName: plugin,
    pluginType: 'core',
  }
}

const ROOT = import.meta.dirname

/** All that a command needs to run: what oclif knows of commands and machine takes longer to load than to parse with. */
export function configToRun(context: CommandContext): CommandConfig {
  return new CommandConfig({ root: ROOT }, context)
}

/** oclif's configuration for the given commands, for help and for errors; nothing is searched on disk for it. */
export async function loadConfig(classes: CommandClasses, context: CommandContext): Promise<CommandConfig> {
  const pjson: Interfaces.PJSON = {
    name: 'kleym',
    version: context.version,
    type: 'module',
    oclif: { bin: BIN, dirname: 'kleym', topicSeparator: ' ', additionalHelpFlags: ['-h'] },
  }
  const plugin = new EmbeddedPlugin(
    { root: ROOT, pjson, isRoot: true, type: 'core', ignoreManifest: true, name: 'kleym' },
    classes,
  )
  await plugin.load()
  const config = new CommandConfig({ root: ROOT, pjson, plugins: new Map([[plugin.name, plugin]]) }, context)
  await config.load()
  return config
}
