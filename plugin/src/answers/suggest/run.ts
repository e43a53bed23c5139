// The answer of `kubectl kleym suggest`.
import { dependsOnOutsideScope } from '@kleym/shared/core/findings/index.ts'
import { suggesting } from '@kleym/shared/core/answers/index.ts'
import type { CommonOptions } from '../../flags/options.ts'
import { finish } from '../../frame/finish.ts'
import { framedUnderPremises, type Framed } from '../../frame/premises.ts'
import { gather } from '../../gather/gather.ts'
import type { Question } from '../../gather/question.ts'
import type { CommandContext, CommandResult } from '../../io/context.ts'
import type { ObjectName } from '../../sources/kind-name.ts'
import { chooseTargets } from './choose.ts'
import { suggestFrame } from './frame.ts'

/** What `suggest` is asked. */
export interface SuggestOptions extends CommonOptions {
  /** The pools, objectives, pods and workloads that are asked about; none: the pools in scope. */
  readonly targets: readonly ObjectName[]
}

/** Suggests bindings. */
export async function run(options: SuggestOptions, context: CommandContext): Promise<CommandResult> {
  const { allNamespaces, targets } = options
  const named = targets.length === 0 ? [undefined] : targets.map(({ namespace }) => namespace)
  const question = { allNamespaces, named, policies: true, workloads: true }
  const { frame, input } = await suggested(options, question, context)
  return finish(frame, input, options.output, context)
}

/** With everything read where what is suggested may depend on other namespaces. */
async function suggested(
  options: SuggestOptions,
  question: Question,
  context: CommandContext,
): Promise<Framed> {
  const input = await gather(options, question, context)
  const targets = chooseTargets(input, options.targets, options.output.echo ?? '')
  const framed = framedUnderPremises(input, options.output, (one) => {
    const answer = one.drive(suggesting(one.after, targets, one))
    return { frame: suggestFrame(one, answer, options.targets), input: { ...one, after: answer.world } }
  })
  if (question.readsAll === true || !dependsOnOutsideScope(framed.input.after)) return framed
  return suggested(options, { ...question, readsAll: true }, context)
}
