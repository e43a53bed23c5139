// SPIRE as `status` sees it: the hops of `why` that hang on no single pod.
import {
  installationHops,
  type SpireInstall,
  type WholeServer,
  type Hop,
} from '@kleym/shared/core/answers/index.ts'
import type { UnknownReason } from '@kleym/shared/core/model/unknown-reason.ts'
import type { ClusterSession } from '../../cluster/session.ts'
import type { CommonOptions } from '../../flags/options.ts'
import { gather } from '../../gather/gather.ts'
import type { CommandContext } from '../../io/context.ts'
import { STDIN_ARGUMENT } from '../../sources/stdin.ts'
import { asOfSeconds } from '../parts/as-of.ts'
import { compareWithServer } from '../parts/compare-entries.ts'
import { readEntries, showEntries } from '../parts/read-entries.ts'

/** What `status` is asked. */
export interface StatusOptions extends CommonOptions {
  /** Files of a server's entries; `-` is stdin. None: not given. */
  readonly entries: readonly string[]
  /** As written: when they were dumped. */
  readonly asOf: string | undefined
}

/** The hops of SPIRE as a whole. */
export async function spireHops(
  options: StatusOptions,
  session: ClusterSession,
  context: CommandContext,
): Promise<readonly Hop[]> {
  const server = options.entries.length === 0 ? undefined : await serverOf(options, context)
  const { parts, nodes } = await session.readSpireInstall()
  const install: SpireInstall = {
    parts,
    nodes,
    server,
    entriesCommand: `${showEntries(parts.server)} | kubectl kleym status${options.output.echo ?? ''} --entries -`,
  }
  return installationHops(install)
}

/** What could not be read, and keeps a hop from being known. */
export function unreadIn(hops: readonly Hop[]): readonly UnknownReason[] {
  return hops
    .flatMap(({ truth }) => [...truth.causes])
    .flatMap((cause) => (cause.kind === 'unread' && cause.why.cause !== 'not given' ? [cause.why] : []))
}

async function serverOf(options: StatusOptions, context: CommandContext): Promise<WholeServer> {
  const { entries, asOf } = options
  const question = { allNamespaces: true, named: [undefined] }
  const input = await gather({ ...options, allNamespaces: true }, question, context)
  const now = Math.floor(context.clock.now().getTime() / 1000)
  const isOfNow = entries.every((file) => file === STDIN_ARGUMENT)
  const times = { asOf: asOfSeconds(asOf) ?? (isOfNow ? now : undefined), objectsAsOf: now }
  const { judged, counts } = await compareWithServer(input, times, async (onEntry) => {
    for (const file of entries) await readEntries(file, onEntry, context)
  })
  return { differences: judged.map(({ difference }) => difference), agreed: counts.agreed }
}
