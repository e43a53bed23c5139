// Makes an estate on which the prediction and SCM differ small enough to read. A run on the real thing takes seconds,
// whether it holds one estate or fifty: so all smaller ones are tried side by side.
import type { Estate } from './estate.ts'

const MOST_ROUNDS = 15

/** Says of each estate whether it still differs. */
export type Differs = (candidates: readonly Estate[]) => Promise<readonly boolean[]>

/** The smallest estate that is found by taking one thing away at a time, and that still differs. */
export async function shrink(estate: Estate, differs: Differs): Promise<Estate> {
  let smallest = estate
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const candidates = smaller(smallest)
    const answers = await differs(candidates)
    const next = candidates.find((_, at) => answers[at] === true)
    if (next === undefined) return smallest
    smallest = next
  }
  return smallest
}

/** Every estate that has one thing less: the biggest things first. */
export function smaller(estate: Estate): readonly Estate[] {
  const { ids, pods, statics } = estate
  return [
    ...without(ids).map((left) => ({ ...estate, ids: left })),
    // The first pod is the one that static entries are about: it goes last, and never alone.
    ...(pods.length > 1 ? without(pods).toReversed() : []).map((left) => ({ ...estate, pods: left })),
    ...without(statics).map((left) => ({ ...estate, statics: left })),
    ...ids.flatMap((id, at) =>
      Object.keys(id.spec)
        .filter((field) => field !== 'spiffeIDTemplate')
        .map((field) => ({
          ...estate,
          ids: ids.with(at, {
            ...id,
            spec: Object.fromEntries(Object.entries(id.spec).filter(([name]) => name !== field)),
          }),
        })),
    ),
    ...pods.flatMap((pod, at) =>
      Object.keys(pod.labels).map((key) => ({
        ...estate,
        pods: pods.with(at, {
          ...pod,
          labels: Object.fromEntries(Object.entries(pod.labels).filter(([name]) => name !== key)),
        }),
      })),
    ),
  ]
}

function without<T>(items: readonly T[]): readonly (readonly T[])[] {
  return items.map((_, at) => items.toSpliced(at, 1))
}
