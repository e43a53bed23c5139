// Whether what a process uses grows: by its samples, early and late in its life. Timers are told otherwise: a standby has a dozen, a
// leader one for each binding that waits for something, so that many come with each take-over, and none is left once nothing waits.
import type { Sample } from './replica.ts'

/** A life that is shorter says nothing: what has just started still grows. */
const SHORTEST_MS = 5 * 60_000
const WARM_MS = 2 * 60_000
/** Of what is used early, and what may come on top of that. */
const MOST: Readonly<Record<'rss' | 'fds', { readonly factor: number; readonly more: number }>> = {
  rss: { factor: 1.3, more: 20 },
  fds: { factor: 1.3, more: 15 },
}

/** A sentence for each thing of which the last third of a life uses more than its first third, beyond what chance explains. */
export function growthOf(samples: readonly Sample[]): readonly string[] {
  const last = samples.at(-1)?.ageMs ?? 0
  if (last < SHORTEST_MS) return []
  const warm = samples.filter(({ ageMs }) => ageMs >= WARM_MS)
  const third = (last - WARM_MS) / 3
  const early = warm.filter(({ ageMs }) => ageMs < WARM_MS + third)
  const late = warm.filter(({ ageMs }) => ageMs > last - third)
  return (['rss', 'fds'] as const).flatMap((what) => {
    const [before, after] = [early, late].map((part) => medianOf(part.map((sample) => sample[what])))
    if (before === undefined || after === undefined) return []
    const { factor, more } = MOST[what]
    return after > before * factor + more
      ? [
          `${what} grew from ${before.toFixed(0)} to ${after.toFixed(0)} within ${Math.round(last / 60_000)} minutes`,
        ]
      : []
  })
}

/** How many timers a process may have beside those of bindings, and in calm at all. */
const OWN_TIMERS = 100

/** A sentence where a process has had more timers than bindings, or still has them when nothing is left to do. */
export function timersOf(samples: readonly Sample[], bindings: number): readonly string[] {
  const most = samples.reduce((sum, { timers }) => Math.max(sum, timers), 0)
  const last = samples.at(-1)?.timers ?? 0
  return [
    ...(most > bindings + OWN_TIMERS ? [`a process had ${most} timers, of ${bindings} bindings`] : []),
    ...(last > OWN_TIMERS ? [`a process has ${last} timers when nothing is left to do`] : []),
  ]
}

function medianOf(values: readonly number[]): number | undefined {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
}
