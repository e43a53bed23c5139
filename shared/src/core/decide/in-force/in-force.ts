// When the operator says whether SCM acts on an output (docs/contract.md §7, `InForce`). SCM writes only differences and
// pods come and go, so a word is given time: `Pending` after a write, and sixty seconds without interruption before
// anything but `Registered`. Pure: the caller gives the time, and keeps the memory.
import {
  reasonOfStats,
  sameStats,
  type OutputStats,
  type StatsReason,
} from '../../model/objects/output-stats.ts'

/** How long SCM is given after a write, and how long a bad word must last before it is said, in milliseconds. */
export const IN_FORCE_DELAY_MS = 60_000

/** The reasons of the condition `InForce`. */
export type InForceReason = StatsReason | 'NoOutput' | 'Pending' | 'NotHandled'

/** What there is to see of a binding's output. */
export type InForceObservation =
  | { readonly kind: 'no output' }
  /** ClusterSPIFFEIDs could not be read. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'output'; readonly stats: OutputStats | undefined }

/** What the operator remembers of one output between two looks. Times are monotonic milliseconds. */
export interface InForceMemory {
  /** SCM must still act on what was written; undefined once it has, or has had the time. */
  readonly pending: { readonly sinceMs: number; readonly stats: OutputStats | undefined } | undefined
  /** The word that is not said yet, and since when the counters have said it without interruption. */
  readonly unsaid: { readonly reason: InForceReason; readonly sinceMs: number } | undefined
}

/** The memory of an operator that has just started, or taken over: every delay begins anew. */
export const NOTHING_SEEN: InForceMemory = { pending: undefined, unsaid: undefined }

/** What to say now, and when to look again without an event. */
export interface InForceAnswer {
  /** Undefined: the last word stays. */
  readonly reason: InForceReason | undefined
  readonly memory: InForceMemory
  readonly againInMs: number | undefined
}

/**
 * The memory after a create, or after an update that changed what is written; a repair of the same content is none. `stats` are
 * the previous counters, which SCM leaves unchanged if nothing changes for it.
 */
export function afterWrite(stats: OutputStats | undefined, nowMs: number): InForceMemory {
  return { pending: { sinceMs: nowMs, stats }, unsaid: undefined }
}

/** Looks at an output. Calling it again with the same arguments gives the same answer. */
export function lookInForce(
  memory: InForceMemory,
  observation: InForceObservation,
  nowMs: number,
): InForceAnswer {
  if (observation.kind === 'no output')
    return { reason: 'NoOutput', memory: NOTHING_SEEN, againInMs: undefined }
  if (observation.kind === 'unknown') return { reason: 'Undetermined', memory, againInMs: undefined }
  const { stats } = observation
  const reason: InForceReason = stats === undefined ? 'NotHandled' : reasonOfStats(stats)
  const { pending } = memory
  const pendingMs =
    pending === undefined || !sameStats(pending.stats, stats)
      ? 0
      : Math.max(0, pending.sinceMs + IN_FORCE_DELAY_MS - nowMs)
  const stillPending = pendingMs > 0 ? pending : undefined
  if (reason === 'Registered') {
    const next = { pending: stillPending, unsaid: undefined }
    return stillPending === undefined
      ? { reason, memory: next, againInMs: undefined }
      : { reason: 'Pending', memory: next, againInMs: pendingMs }
  }
  const unsaid: InForceMemory['unsaid'] & {} =
    memory.unsaid?.reason === reason
      ? memory.unsaid
      : { reason, sinceMs: sinceOf(stillPending, reason, nowMs) }
  const waitMs = Math.max(0, unsaid.sinceMs + IN_FORCE_DELAY_MS - nowMs)
  const next = { pending: stillPending, unsaid }
  if (stillPending !== undefined)
    return { reason: 'Pending', memory: next, againInMs: Math.max(pendingMs, waitMs) }
  return waitMs === 0
    ? { reason, memory: next, againInMs: undefined }
    : { reason: undefined, memory: next, againInMs: waitMs }
}

/** No counters after a write say `NotHandled` as soon as SCM has had its time. */
function sinceOf(pending: InForceMemory['pending'], reason: InForceReason, nowMs: number): number {
  return reason === 'NotHandled' && pending !== undefined ? pending.sinceMs : nowMs
}
