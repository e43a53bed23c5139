// The answer of `kubectl kleym policies`.
import { ACCESS_POLICY_KIND, qualifiedKind } from '@kleym/shared/core/kinds.ts'
import type { CommandContext, CommandResult } from '../../io/context.ts'
import type { PoliciesOptions } from '../../flags/options.ts'
import { gather } from '../../gather/gather.ts'
import { finish } from '../../frame/finish.ts'
import { unlessUnread } from '../../frame/missing.ts'
import { policiesFrame } from './frame.ts'
import { choosePolicies } from './scope.ts'

/** Tells whom policies name. */
export async function run(options: PoliciesOptions, context: CommandContext): Promise<CommandResult> {
  const { allNamespaces, policies: names } = options
  const question = { allNamespaces, named: [undefined], policies: true, resolves: true }
  const world = await gather(options, question, context)
  const chosen = unlessUnread(world, qualifiedKind(ACCESS_POLICY_KIND), () => choosePolicies(world, names))
  const frame = policiesFrame(world, chosen, { named: names.length > 0 })
  return finish(frame, world, options.output, context)
}
