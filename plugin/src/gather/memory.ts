// Memory given back while a large cluster is worked on: Bun's heap grows to twice what is in use otherwise. What that
// costs and saves: docs/performance.md.
import type { RawObject } from '@kleym/shared/core/objects/raw.ts'
import { NO_PACE, type Pace } from '@kleym/shared/core/on-progress.ts'
import type { CommandContext } from '../io/context.ts'

/** Fewer objects leave too little behind for a collection to pay. */
const MANY = 20_000
/** How many objects are worked on between two collections of what that has left behind. */
const STEPS = 500

/** Takes out objects that have been read, and gives back what they took. */
export function release(
  objects: RawObject[],
  { collectGarbage }: Pick<CommandContext, 'collectGarbage'>,
): void {
  if (objects.splice(0).length >= MANY) collectGarbage?.('all')
}

/** The pace of work on so many objects. What is in use at its beginning is not gone through again. */
export function paceOf(objects: number, { collectGarbage }: Pick<CommandContext, 'collectGarbage'>): Pace {
  if (objects < MANY || collectGarbage === undefined) return NO_PACE
  let steps = 0
  collectGarbage('all')
  return () => {
    steps++
    if (steps % STEPS === 0) collectGarbage('young')
  }
}
