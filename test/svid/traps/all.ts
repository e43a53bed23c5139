// Every trap on one control plane at the same time: the objects of all of them, and what each expects in the end.
import { isRecord } from '../../../shared/src/core/base/json.ts'
import { namespace, type PlacedObject } from '../build-cluster.ts'
import { FALLBACK_TRAPS } from './fallback.ts'
import { FIELD_TRAPS } from './fields.ts'
import { MASKING_TRAPS } from './masking.ts'
import { RENDERING_TRAPS } from './rendering.ts'
import { SELECTION_TRAPS } from './selection.ts'
import { isPiece, type Trap } from './trap.ts'

/** All of them. */
export const TRAPS: readonly Trap[] = [
  ...FALLBACK_TRAPS,
  ...SELECTION_TRAPS,
  ...RENDERING_TRAPS,
  ...MASKING_TRAPS,
  ...FIELD_TRAPS,
]

/** The namespace of a trap. */
export function spaceOf(trap: Trap): string {
  return `trap-${TRAPS.indexOf(trap)}`
}

/** All traps in one: the waves of each beside those of the others. */
export function allWaves(): readonly (readonly PlacedObject[])[] {
  const waves: PlacedObject[][] = [[]]
  for (const trap of TRAPS) {
    waves[0]?.push({ object: namespace(spaceOf(trap)) })
    for (const [at, wave] of trap.waves.entries()) {
      const into = (waves[at + 1] ??= [])
      for (const one of wave) into.push(placed(isPiece(one) ? one : { object: one }, spaceOf(trap)))
    }
  }
  return waves
}

function placed(piece: PlacedObject, space: string): PlacedObject {
  const object: unknown = JSON.parse(JSON.stringify(piece.object).replaceAll('@', space))
  if (!isRecord(object)) throw new TypeError('an object is a mapping')
  return { ...piece, object }
}

/** What a trap expects of one of its pods, with its namespace filled in, sorted. */
export function expected(trap: Trap, name: string): readonly string[] {
  return (trap.holds[name] ?? []).map((text) => text.replaceAll('@', spaceOf(trap))).toSorted()
}
