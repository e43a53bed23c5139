// The answer of `kubectl kleym conflicts`.
import { BINDING, qualifiedKind } from '@kleym/shared/core/model/kinds.ts'
import type { CommandContext, CommandResult } from '../../io/context.ts'
import { gather } from '../../gather/gather.ts'
import type { Question } from '../../gather/question.ts'
import { chooseBindings, namespaceNamed } from '../../gather/selection.ts'
import { conflictsFrame } from './frame.ts'
import { finish } from '../../frame/finish.ts'
import { framedUnderPremises } from '../../frame/premises.ts'
import { notFoundOnlyIfRead } from '../../frame/not-found.ts'
import type { CommonOptions } from '../../flags/options.ts'

/** What `conflicts` is asked. */
export interface ConflictsOptions extends CommonOptions {
  /** Names of bindings (`chat`, `team-a/chat`) that the findings are part of; empty: all in scope. */
  readonly bindings: readonly string[]
  /** A label selector of bindings as written. */
  readonly selector: string | undefined
}

/** Lists what clashes. */
export async function run(options: ConflictsOptions, context: CommandContext): Promise<CommandResult> {
  const { allNamespaces, bindings, selector } = options
  const named = bindings.length === 0 ? [undefined] : bindings.map(namespaceNamed)
  const question: Question = { allNamespaces, named, policies: true, resolves: 'own', names: 'kinds' }
  const input = await gather(options, question, context)
  const namespace = input.namespaceInForce
  const isAboutSome = bindings.length > 0 || selector !== undefined
  const chosen = isAboutSome
    ? notFoundOnlyIfRead(input, [qualifiedKind(BINDING)], () =>
        chooseBindings(input, bindings, { namespace, selector, echo: options.output.echo }),
      )
    : undefined
  const framed = framedUnderPremises(input, options.output, (one) => ({
    frame: conflictsFrame(one, namespace, chosen),
    input: one,
  }))
  return finish(framed.frame, framed.input, options.output, context)
}
