// Whether what a process uses grows: by its samples, early and late in its life.
import type { Sample } from './replica.ts'

/** A life that is shorter says nothing: what has just started still grows. */
const SHORTEST_MS = 5 * 60_000
const WARM_MS = 2 * 60_000
/** Of what is used early, and what may come on top of that. */
const MOST: Readonly<Record<'rss' | 'fds' | 'timers', { readonly factor: number; readonly more: number }>> = {
  rss: { factor: 1.3, more: 20 },
  fds: { factor: 1.3, more: 15 },
  timers: { factor: 1.5, more: 60 },
}

/** A sentence for each thing of which the last third of a life uses more than its first third, beyond what chance explains. */
export function growthOf(samples: readonly Sample[]): readonly string[] {
  const last = samples.at(-1)?.ageMs ?? 0
  if (last < SHORTEST_MS) return []
  const warm = samples.filter(({ ageMs }) => ageMs >= WARM_MS)
  const third = (last - WARM_MS) / 3
  const early = warm.filter(({ ageMs }) => ageMs < WARM_MS + third)
  const late = warm.filter(({ ageMs }) => ageMs > last - third)
  return (['rss', 'fds', 'timers'] as const).flatMap((what) => {
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

function medianOf(values: readonly number[]): number | undefined {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
}
