// The answer of `kubectl kleym diff`.
import type { CommandContext, CommandResult } from '../../io/context.ts'
import { KleymError } from '../../io/errors.ts'
import { gather, type AnswerInput } from '../../gather/gather.ts'
import { objectChanges, type ObjectChange } from './changes.ts'
import { diffFrame } from './frame.ts'
import { finish } from '../../frame/finish.ts'
import type { CommonOptions } from '../../flags/options.ts'

/** Tells what would change. */
export async function run(options: CommonOptions, context: CommandContext): Promise<CommandResult> {
  const { allNamespaces } = options
  const about = { allNamespaces, named: [undefined], aboutFiles: true }
  const input = await gather(options, { ...about, policies: true, resolves: true }, context)
  requireTrustDomain(input)
  const changes = objectChanges(input)
  const caused = changes.filter(({ dueAlready }) => !dueAlready)
  const shown = caused.length === 0 ? '' : await show(caused, context)
  return finish(diffFrame(input, changes, shown), input, options.output, context)
}

/** Names and specs hold the trust domain: without it, every line of the diff would be wrong. */
function requireTrustDomain({ operator }: AnswerInput): void {
  if (operator.config.trustDomain.kind === 'set') return
  throw new KleymError({
    code: 'usage',
    what: 'diff needs the trust domain',
    why: 'names and SPIFFE IDs hold it, and neither a flag, an operator Deployment nor a status says which it is',
    fix: 'add --trust-domain NAME',
    docs: 'kubectl kleym diff --help',
  })
}

async function show(changes: readonly ObjectChange[], { env }: CommandContext): Promise<string> {
  const { externalDiff, unifiedDiff } = await import('./unified.ts')
  const external = env['KUBECTL_EXTERNAL_DIFF'] ?? ''
  return external.trim() === '' ? unifiedDiff(changes) : externalDiff(changes, external, env)
}
