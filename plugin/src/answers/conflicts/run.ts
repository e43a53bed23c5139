// The answer of `kubectl kleym conflicts`.
import type { CommandContext, CommandResult } from '../../io/context.ts'
import { gather } from '../../gather/gather.ts'
import { conflictsFrame } from './frame.ts'
import { finish } from '../../frame/finish.ts'
import type { CommonOptions } from '../../flags/options.ts'

/** Lists what clashes. */
export async function run(options: CommonOptions, context: CommandContext): Promise<CommandResult> {
  const { allNamespaces } = options
  const question = { allNamespaces, named: [undefined], policies: true, resolves: true }
  const input = await gather(options, question, context)
  return finish(conflictsFrame(input, input.namespaceInForce), input, options.output, context)
}
