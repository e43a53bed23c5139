// One pass of SCM over a state: how many pages it lists, and how long it takes. Each pass lists all entries of the server, goes
// through all registrations and pods, and then waits for an event or for `gcInterval` (docs/spire-facts.md §7, §8).
import { ENTRIES_OF_PAGE } from '../../model/objects/output-stats.ts'
import type { ScmSettings } from '../../model/objects/scm-settings.ts'

/** SCM's default (docs/spire-facts.md §7). */
export const DEFAULT_GC_SECONDS = 10

/** What SCM and the server take for each entry, in seconds. */
export interface ScmCosts {
  /** To list it. */
  readonly list: number
  /** To render it, and to compare it with that of the server. */
  readonly render: number
  /** To make it. */
  readonly make: number
}

/**
 * Of SQLite on the machine of SCM, from one measurement: a steady pass over 5,000 entries took 0.17 s of CPU of SCM and 0.22 s of the server,
 * and 5,000 entries were there 10 s after SCM's start (docs/scale.md).
 */
export const LOCAL_COSTS: ScmCosts = { list: 0.000_06, render: 0.000_04, make: 0.002 }

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
  { list, render }: ScmCosts = LOCAL_COSTS,
): ScmPass {
  return {
    pages: Math.max(1, Math.ceil(entries / ENTRIES_OF_PAGE)),
    listSeconds: entries * list,
    seconds: entries * (list + render),
    gcSeconds: gcIntervalSeconds,
  }
}
