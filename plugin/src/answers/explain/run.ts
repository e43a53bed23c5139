// The answer of `kubectl kleym explain`.
import { BINDING, qualifiedKind } from '@kleym/shared/core/model/kinds.ts'
import type { CommandContext, CommandResult } from '../../io/context.ts'
import { gather } from '../../gather/gather.ts'
import type { NamedBinding } from '../../gather/question.ts'
import { explainFrame } from './frame.ts'
import type { Only } from './only.ts'
import { finish } from '../../frame/finish.ts'
import { framedUnderPremises } from '../../frame/premises.ts'
import { notFoundOnlyIfRead } from '../../frame/not-found.ts'
import { bindingsMeant, chooseBindings, namespaceNamed } from '../../gather/selection.ts'
import type { CommonOptions } from '../../flags/options.ts'

/** What `explain` is asked. */
export interface ExplainOptions extends CommonOptions {
  /** Names of bindings (`chat`, `team-a/chat`); empty: those in scope. */
  readonly bindings: readonly string[]
  /** The state of the bindings that are shown; undefined: all. */
  readonly only?: Only | undefined
  /** A label selector as written. */
  readonly selector: string | undefined
}

/** Explains bindings. */
export async function run(options: ExplainOptions, context: CommandContext): Promise<CommandResult> {
  const { allNamespaces, bindings, selector } = options
  const named = bindings.length === 0 ? [undefined] : bindings.map(namespaceNamed)
  const { namespace } = options.sources
  const about = (all: readonly NamedBinding[]): readonly NamedBinding[] =>
    bindingsMeant(all, bindings, { namespace: allNamespaces ? undefined : namespace, selector })
  // A part of the bindings cannot tell whether a --suppress is used: that takes the findings of all.
  const isPart = options.output.suppress.length === 0
  const question = { allNamespaces, named, policies: true, ...(isPart ? { about } : {}) }
  const input = await gather(options, question, context)
  const scope = { namespace: input.namespaceInForce, selector, echo: options.output.echo }
  const chosen = notFoundOnlyIfRead(input, [qualifiedKind(BINDING)], () =>
    chooseBindings(input, bindings, scope),
  )
  const framed = framedUnderPremises(input, options.output, (one) => ({
    frame: explainFrame(one, chosen, { named: bindings.length > 0, only: options.only }),
    input: one,
  }))
  return finish(framed.frame, framed.input, options.output, context)
}
