// The answer of `kubectl kleym explain`.
import { BINDINGS, resourceName } from '@kleym/shared/kube/resources.ts'
import type { CommandContext, CommandResult } from '../../io/context.ts'
import { EXIT } from '../../io/errors.ts'
import { gather } from '../../gather/gather.ts'
import type { NamedBinding } from '../../gather/question.ts'
import { explainFrame } from './frame.ts'
import { finish } from '../../frame/finish.ts'
import { unlessUnread } from '../../frame/missing.ts'
import { bindingsMeant, chooseBindings, namespaceNamed } from '../../gather/selection.ts'
import type { ExplainOptions } from '../../flags/options.ts'

/** Explains bindings, or prints the pages of finding codes. */
export async function run(options: ExplainOptions, context: CommandContext): Promise<CommandResult> {
  if (options.codes.length > 0 && options.bindings.length === 0) {
    const { codePages } = await import('./pages.ts')
    return { answer: await codePages(options.codes, options.output, context), notes: [], exitCode: EXIT.ok }
  }
  const { allNamespaces, bindings, selector } = options
  const named = bindings.length === 0 ? [undefined] : bindings.map(namespaceNamed)
  const { namespace } = options.sources
  const about = (all: readonly NamedBinding[]): readonly NamedBinding[] =>
    bindingsMeant(all, bindings, { namespace: allNamespaces ? undefined : namespace, selector })
  // Whether a --suppress is used, every finding tells.
  const isPart = options.output.suppress.length === 0
  const question = { allNamespaces, named, policies: true, ...(isPart ? { about } : {}) }
  const world = await gather(options, question, context)
  const scope = { namespace: world.namespaceInForce, selector }
  const chosen = unlessUnread(world, resourceName(BINDINGS), () => chooseBindings(world, bindings, scope))
  return finish(explainFrame(world, chosen, bindings.length > 0), world, options.output, context)
}
