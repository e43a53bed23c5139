// The answer of `kubectl kleym policies`.
import { POLICY_KINDS } from '@kleym/shared/core/model/kinds.ts'
import type { CommandContext, CommandResult } from '../../io/context.ts'
import type { CommonOptions } from '../../flags/options.ts'
import { gather } from '../../gather/gather.ts'
import { WHOM_ALL_NAME } from '../../gather/question.ts'
import { finish } from '../../frame/finish.ts'
import { notFoundOnlyIfRead } from '../../frame/not-found.ts'
import { policiesFrame } from './frame.ts'
import { choosePolicies, mentioningIn } from './choose.ts'

/** What `policies` is asked. */
export interface PoliciesOptions extends CommonOptions {
  /** Names of access policies (`tools`, `agents/tools`); empty: those in scope. */
  readonly policies: readonly string[]
}

/** Tells whom policies name. */
export async function run(options: PoliciesOptions, context: CommandContext): Promise<CommandResult> {
  const { allNamespaces, policies: names } = options
  const question = {
    allNamespaces,
    named: [undefined],
    ...WHOM_ALL_NAME,
  }
  const input = await gather(options, question, context)
  const chosen = notFoundOnlyIfRead(input, POLICY_KINDS, () =>
    choosePolicies(input, names, options.output.echo),
  )
  const frame = policiesFrame(input, chosen, names.length === 0 ? mentioningIn(input) : [])
  return finish(frame, input, options.output, context)
}
