// SPIRE as `status` sees it: the hops of `why` that hang on no single pod.
import {
  installationHops,
  type SpireInstall,
  type WholeServer,
  type Hop,
} from '@kleym/shared/core/answers/index.ts'
import type { ClusterSession } from '../../cluster/session.ts'
import type { CommonOptions } from '../../flags/options.ts'
import { gather, type GatheredInput } from '../../gather/gather.ts'
import type { CommandContext } from '../../io/context.ts'
import { budgetReport, type BudgetReport } from '../parts/budgets.ts'
import { asOfSeconds, readTimes } from '../parts/as-of.ts'
import { compareWithServer } from '../parts/compare-entries.ts'
import { readEntries, showEntries } from '../parts/read-entries.ts'

/** What `status` is asked. */
export interface StatusOptions extends CommonOptions {
  /** Files of a server's entries; `-` is stdin. None: not given. */
  readonly entries: readonly string[]
  /** As written: when they were dumped. */
  readonly asOf: string | undefined
  /** Whether all pods are read, to count entries. */
  readonly budgets: boolean
}

/** SPIRE as a whole. */
export interface SpireAnswer {
  readonly hops: readonly Hop[]
  /** Undefined: not asked for. */
  readonly budgets: BudgetReport | undefined
  /** What decides how long an identity takes, as far as it is configured. */
  readonly timers: Timers
}

/** Intervals of the agents and the server, in seconds; undefined: not set, or not read. */
export interface Timers {
  readonly syncSeconds: number | undefined
  readonly reloadSeconds: number | undefined
}

/** Tells what there is to say of SPIRE as a whole. */
export async function spireAnswer(
  options: StatusOptions,
  session: ClusterSession,
  context: CommandContext,
): Promise<SpireAnswer> {
  const question = { allNamespaces: true, named: [undefined] }
  const needsPods = options.budgets || options.entries.length > 0
  const input = needsPods ? await gather({ ...options, allNamespaces: true }, question, context) : undefined
  const { parts, nodes } = await session.readSpireInstall()
  const kept = parts.configs.flatMap(({ svidsKept }) => svidsKept ?? [])
  const budgets =
    input === undefined || !options.budgets
      ? undefined
      : budgetReport(input.after.now, input.drive, kept.length === 0 ? undefined : Math.min(...kept))
  const server =
    input === undefined || options.entries.length === 0 ? undefined : await serverOf(options, input, context)
  const install: SpireInstall = {
    parts,
    nodes,
    server,
    entriesCommand: `${showEntries(parts.server)} | kubectl kleym status${options.output.echo ?? ''} --entries -`,
  }
  const syncs = parts.configs.flatMap(({ syncSeconds }) => syncSeconds ?? [])
  const timers = {
    syncSeconds: syncs.length === 0 ? undefined : Math.max(...syncs),
    reloadSeconds: parts.reloadSeconds,
  }
  return { hops: installationHops(install), budgets, timers }
}

async function serverOf(
  { entries, asOf }: StatusOptions,
  input: GatheredInput,
  context: CommandContext,
): Promise<WholeServer> {
  const times = readTimes(asOfSeconds(asOf), entries, { isLive: true }, context)
  const { judged, counts } = await compareWithServer(input, times, (onEntry) =>
    readEntries(entries, onEntry, context, asOf),
  )
  return { differences: judged.map(({ difference }) => difference), agreed: counts.agreed }
}
