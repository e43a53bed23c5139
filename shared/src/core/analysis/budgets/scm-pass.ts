// One pass of SCM over a state: how many pages it lists, and how long it takes. Each pass lists all entries of the server, goes
// through all registrations and pods, and then waits for an event or for `gcInterval` (docs/spire-facts.md §7, §8).
import { ENTRIES_OF_PAGE } from '../../model/objects/output-stats.ts'
import type { ScmSettings } from '../../model/objects/scm-settings.ts'

/** SCM's default (docs/spire-facts.md §7). */
export const DEFAULT_GC_SECONDS = 10

/** What SCM and the server took for each entry, in seconds, with SQLite and all of it on two cores (docs/scale.md). */
export interface ScmCosts {
  /** To list it. */
  readonly list: number
  /** To render it, and to compare it with that of the server. */
  readonly render: number
  /** To make it. */
  readonly make: number
}

/** Measured: `npm run bench:delay`. */
export const MEASURED_COSTS: ScmCosts = { list: 0.000_06, render: 0.000_04, make: 0.001 }

/** A pass in which nothing changes. */
export interface ScmPass {
  readonly pages: number
  /** Of listing alone. */
  readonly listSeconds: number
  /** Of all of it. */
  readonly seconds: number
  /** For how long SCM waits after a pass without an event. */
  readonly gcSeconds: number
}

/** What a pass over so many entries takes. */
export function scmPass(
  entries: number,
  { gcIntervalSeconds = DEFAULT_GC_SECONDS }: Pick<ScmSettings, 'gcIntervalSeconds'>,
  { list, render }: ScmCosts = MEASURED_COSTS,
): ScmPass {
  return {
    pages: Math.max(1, Math.ceil(entries / ENTRIES_OF_PAGE)),
    listSeconds: entries * list,
    seconds: entries * (list + render),
    gcSeconds: gcIntervalSeconds,
  }
}
