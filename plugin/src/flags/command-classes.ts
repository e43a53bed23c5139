// What oclif needs to know of the commands.
import type { Command } from '@oclif/core/command'

/** Command classes by the word on the command line. */
export type CommandClasses = Readonly<Record<string, Command.Class>>
