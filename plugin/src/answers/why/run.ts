// The answer of `kubectl kleym why`.
import type { CommandContext, CommandResult } from '../../io/context.ts'
import { wrongUsage } from '../../io/errors.ts'
import { finish } from '../../frame/finish.ts'
import { STDIN_ARGUMENT } from '../../sources/stdin.ts'
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
  const ofStdin = [...entries, agentLog, ...sources.files.files].filter((file) => file === STDIN_ARGUMENT)
  if (ofStdin.length > 1)
    throw wrongUsage('why', {
      what: 'stdin is given twice',
      why: 'it can be read only once',
      fix: 'write - once: for one of --entries, --agent-log and -f',
    })
}
