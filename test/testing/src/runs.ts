// How much a random campaign tries: one factor for all property tests, generated estates and simulated seeds.
// `KLEYM_RUNS=1` (and no such variable) is what the gate runs; less is for a quick answer, more for a campaign.
import { env } from 'node:process'

const FACTOR = factorOf(env['KLEYM_RUNS'])

/** The factor that a value of `KLEYM_RUNS` stands for; throws if it is no number above 0. */
export function factorOf(value: string | undefined): number {
  const factor = value === undefined || value === '' ? 1 : Number(value)
  if (!Number.isFinite(factor) || factor <= 0)
    throw new Error(`KLEYM_RUNS=${value} is no number above 0, such as 0.2 or 50`)
  return factor
}

/** How many cases to try where the gate tries `count`: at least one. */
export function runs(count: number, factor = FACTOR): number {
  return Math.max(1, Math.round(count * factor))
}

/**
 * More than so often must something have come up, where the gate says `count`. A run of fewer cases holds no such bound,
 * since chance decides it (so that this is below zero then); more cases do not raise it.
 */
export function leastSeen(count: number, factor = FACTOR): number {
  return factor >= 1 ? count : -1
}

/** What must have come up, in any order: all of it in the gate, nothing in a run of fewer cases. */
export function mustSee<T>(all: readonly T[], factor = FACTOR): T[] {
  return factor >= 1 ? [...all] : []
}

/** The seed of a property of fast-check: the same in every gate, another one in each campaign unless `KLEYM_SEED` gives it. */
export function seedOf(gate: number, factor = FACTOR, given = env['KLEYM_SEED']): { readonly seed?: number } {
  if (factor <= 1) return { seed: gate }
  return given === undefined ? {} : { seed: Number(given) }
}

/** A bound in milliseconds that grows with the number of cases. */
export function runsMs(milliseconds: number, factor = FACTOR): number {
  return milliseconds * Math.max(1, factor)
}
