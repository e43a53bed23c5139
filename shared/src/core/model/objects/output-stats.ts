// The counters that SCM writes into `.status.stats` of a ClusterSPIFFEID, and the one word that they come to
// (docs/contract.md §7, `InForce`). Counters are data from a cluster: anything that is no count is read as none.
import { dig } from '../../base/json.ts'

/** The counters that the word is read from; whole numbers, never negative. */
export const STAT_NAMES = [
  'namespacesSelected',
  'namespacesIgnored',
  'podsSelected',
  'podEntryRenderFailures',
  'entriesMasked',
  'entriesToSet',
  'entryFailures',
] as const

/** SCM's counters of one ClusterSPIFFEID. */
export type OutputStats = Readonly<Record<(typeof STAT_NAMES)[number], number>>

/** What SCM's counters say of an output. */
export type StatsReason =
  | 'Registered'
  | 'NamespaceIgnored'
  | 'NoPods'
  | 'EntriesRefused'
  | 'Masked'
  | 'RenderFailed'
  | 'Undetermined'

/** Reads the counters of a ClusterSPIFFEID; undefined where there are none, or all of them are zero. */
export function readOutputStats(object: unknown): OutputStats | undefined {
  const count = (name: string): number => {
    const value = dig(object, 'status', 'stats', name)
    return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0
  }
  const stats: OutputStats = {
    namespacesSelected: count('namespacesSelected'),
    namespacesIgnored: count('namespacesIgnored'),
    podsSelected: count('podsSelected'),
    podEntryRenderFailures: count('podEntryRenderFailures'),
    entriesMasked: count('entriesMasked'),
    entriesToSet: count('entriesToSet'),
    entryFailures: count('entryFailures'),
  }
  return STAT_NAMES.every((name) => stats[name] === 0) ? undefined : stats
}

/** Whether two readings are the same. */
export function sameStats(left: OutputStats | undefined, right: OutputStats | undefined): boolean {
  if (left === undefined || right === undefined) return left === right
  return STAT_NAMES.every((name) => left[name] === right[name])
}

/**
 * The word of the counters: entries that the SPIRE server took, else the first thing that keeps them away.
 * SCM counts ignored namespaces as selected too, and pods that are not scheduled yet as render failures.
 */
export function reasonOfStats(stats: OutputStats): StatsReason {
  if (stats.entriesToSet > stats.entryFailures) return 'Registered'
  if (stats.podsSelected === 0) return stats.namespacesIgnored > 0 ? 'NamespaceIgnored' : 'NoPods'
  if (stats.entryFailures > 0) return 'EntriesRefused'
  if (stats.entriesMasked > 0) return 'Masked'
  if (stats.podEntryRenderFailures > 0) return 'RenderFailed'
  return 'Undetermined'
}

/** Entries of one page of SCM's list: https://github.com/spiffe/spire-controller-manager/blob/v0.7.0/pkg/spireapi/batch.go#L20-L26 */
export const ENTRIES_OF_PAGE = 200

/** What the counters of several ClusterSPIFFEIDs add up to. */
export interface StatsSum {
  /** Entries that SCM asks the server for. */
  readonly entries: number
  /** Those of the one with the most. */
  readonly largest: number
  /** ClusterSPIFFEIDs with counters. */
  readonly counted: number
  /** Those without: SCM has none for them yet, or does not handle them. */
  readonly uncounted: number
}

/** Counters of ClusterSPIFFEIDs that come and go, added up; undefined stands for a ClusterSPIFFEID without any. */
export class StatsTally {
  /** How many ClusterSPIFFEIDs ask for so many entries. */
  readonly #byEntries = new Map<number, number>()
  #entries = 0
  #counted = 0
  #uncounted = 0

  /** Counts one more with these counters, or one less. */
  count(stats: OutputStats | undefined, change: 1 | -1): void {
    if (stats === undefined) {
      this.#uncounted += change
      return
    }
    const { entriesToSet } = stats
    this.#counted += change
    this.#entries += change * entriesToSet
    const alike = (this.#byEntries.get(entriesToSet) ?? 0) + change
    if (alike === 0) this.#byEntries.delete(entriesToSet)
    else this.#byEntries.set(entriesToSet, alike)
  }

  /** Takes as long as there are different numbers of entries, not as there are ClusterSPIFFEIDs. */
  sum(): StatsSum {
    let largest = 0
    for (const entries of this.#byEntries.keys()) largest = Math.max(largest, entries)
    return { entries: this.#entries, largest, counted: this.#counted, uncounted: this.#uncounted }
  }
}

/** Adds counters up; undefined stands for a ClusterSPIFFEID without any. */
export function sumOfStats(all: Iterable<OutputStats | undefined>): StatsSum {
  const tally = new StatsTally()
  for (const stats of all) tally.count(stats, 1)
  return tally.sum()
}
