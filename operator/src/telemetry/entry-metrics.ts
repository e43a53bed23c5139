// How many registration entries kleym's ClusterSPIFFEIDs ask for, as SCM's counters say: no pod is read for it (docs/scale.md).
import { Gauge, type Registry } from 'prom-client'
import { ENTRIES_OF_PAGE, type StatsSum } from '@kleym/shared/core/model/objects/output-stats.ts'

/** The metrics of entries. */
export interface EntryMetrics {
  /** Is asked at each scrape, once for each metric. */
  watchOutputs(tally: { sum(): StatsSum }): void
}

/** Adds `kleym_identity_entries` and what belongs to it to `registry`, once outputs are watched. */
export function entryMetrics(registry: Registry): EntryMetrics {
  return {
    watchOutputs(tally) {
      const gauge = (name: string, help: string, read: (sum: StatsSum) => number): void => {
        const metric: Gauge = new Gauge({
          name: `kleym_identity_${name}`,
          help,
          registers: [registry],
          collect: () => metric.set(read(tally.sum())),
        })
      }
      gauge(
        'entries',
        "Registration entries that SCM asks for on behalf of kleym's ClusterSPIFFEIDs, by its counters.",
        ({ entries }) => entries,
      )
      gauge(
        'entries_largest_output',
        'Registration entries of the ClusterSPIFFEID with the most.',
        ({ largest }) => largest,
      )
      gauge(
        'entry_pages',
        'Pages that each pass of SCM lists for these entries alone; those of others on the server are not known here.',
        ({ entries }) => Math.ceil(entries / ENTRIES_OF_PAGE),
      )
      gauge(
        'outputs_uncounted',
        "kleym's ClusterSPIFFEIDs without counters of SCM: their entries are not known.",
        ({ uncounted }) => uncounted,
      )
    },
  }
}
