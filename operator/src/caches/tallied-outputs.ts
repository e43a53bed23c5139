// SCM's counters of all outputs, added up as they change: of a hundred thousand, a walk at each scrape would take more than all else
// that an idle operator does.
import { StatsTally } from '@kleym/shared/core/model/objects/output-stats.ts'
import type { CachedOutput } from './cached-output.ts'
import type { Caches } from './caches.ts'

/** The counters of the ClusterSPIFFEIDs that name a binding; of those that come from now on. */
export function talliedOutputs({ outputs }: Pick<Caches, 'outputs'>): Pick<StatsTally, 'sum'> {
  const tally = new StatsTally()
  const count = (output: CachedOutput, change: 1 | -1): void => {
    if (output.isWhole && output.bindingKey !== undefined) tally.count(output.stats, change)
  }
  outputs.store.subscribe((change) => {
    if (change.kind !== 'added') count(change.before, -1)
    if (change.kind !== 'removed') count(change.now, 1)
  })
  return tally
}
