// The classes of all commands, for help and for errors that name flags of theirs.
import { keysOf } from '@kleym/shared/core/base/json.ts'
import { commandClass, QUESTIONS, type CommandClass, type CommandId } from './commands.ts'

/** By the word on the command line, in the order in which help lists them. */
export const COMMANDS: ReadonlyMap<CommandId, CommandClass> = new Map(
  await Promise.all(keysOf(QUESTIONS).map(async (id) => [id, await commandClass(id)] as const)),
)
