// The answer of `kubectl kleym conflicts`.
import type { CommandContext, Outcome } from '../../cli/context.ts'
import { gather } from '../../gather/gather.ts'
import { conflictsFrame } from '../../report/conflicts.ts'
import { finish } from '../../report/frame.ts'
import type { ConflictsOptions } from '../../cli/options.ts'

/** Lists what clashes. */
export async function run(options: ConflictsOptions, context: CommandContext): Promise<Outcome> {
  const world = await gather(options, context)
  const namespace = options.allNamespaces ? undefined : options.sources.namespaceInForce
  return finish(conflictsFrame(world, namespace), world, options.output, context)
}
