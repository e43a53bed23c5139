// The answer of `kubectl kleym why`.
import type { CommandContext, CommandResult } from '../../io/context.ts'
import { finish } from '../../frame/finish.ts'
import { requireStdinOnce } from '../../sources/stdin.ts'
import { requireSpiffeId } from '../parts/spiffe-id.ts'
import { chainsOf, type WhyOptions } from './chains.ts'
import { whyFrame } from './frame.ts'

/** Tells where the identity of some containers ends. */
export async function run(options: WhyOptions, context: CommandContext): Promise<CommandResult> {
  requireSpiffeId(options.spiffeId, options.settings.trustDomain)
  requireOnce(options)
  if (options.watch) return (await import('./watch.ts')).watch(options, context)
  const { chains, input } = await chainsOf(options, context)
  return finish(whyFrame(chains, input), input, options.output, context)
}

function requireOnce({ entries, agentLog, sources }: WhyOptions): void {
  const paths = [...entries, agentLog, ...sources.files.files]
  requireStdinOnce('why', paths, 'write - once: for one of --entries, --agent-log and -f')
}
