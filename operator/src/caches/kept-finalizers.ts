// What the cache keeps of a binding's finalizers: where kleym's stands, and whether there are others. A tenant may give a
// binding some 25,000 of its own, and names of none of them decide anything.
import { dig } from '@kleym/shared/core/base/json.ts'
import { FINALIZER } from '@kleym/shared/core/model/names.ts'

export interface KeptFinalizers {
  /** The positions of kleym's in the list, ascending; the first ones where a client has repeated it very often. */
  readonly ours: readonly number[]
  readonly hasOthers: boolean
}

/** How many positions are kept: the API server takes a finalizer twice. The rest is seen once these are removed. */
const POSITIONS_MAX = 1_000

/** Shared, as nearly all bindings have no finalizer or kleym's alone. */
const NONE: KeptFinalizers = { ours: [], hasOthers: false }
const ONLY_OURS: KeptFinalizers = { ours: [0], hasOthers: false }

/** Reads `metadata.finalizers` of an object of the API server. */
export function keptFinalizers(object: unknown): KeptFinalizers {
  const found = dig(object, 'metadata', 'finalizers')
  if (!Array.isArray(found) || found.length === 0) return NONE
  if (found.length === 1 && found[0] === FINALIZER) return ONLY_OURS
  const ours: number[] = []
  for (let at = found.indexOf(FINALIZER); at >= 0; at = found.indexOf(FINALIZER, at + 1)) {
    if (ours.length < POSITIONS_MAX) ours.push(at)
  }
  return { ours, hasOthers: found.some((finalizer) => finalizer !== FINALIZER) }
}

/** Whether kleym's is among them. */
export function hasOurs({ ours }: KeptFinalizers): boolean {
  return ours.length > 0
}
