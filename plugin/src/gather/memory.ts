// Memory given back while a large cluster is worked on: Bun's heap grows to twice what is in use otherwise. What that
// costs and saves: docs/performance.md.
import type { RawObject } from '@kleym/shared/core/objects/raw.ts'
import { IGNORE_PROGRESS, type OnProgress } from '@kleym/shared/core/on-progress.ts'
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

/** The onProgress of work on so many objects. What is in use at its beginning is not gone through again. */
export function progressOf(
  objects: number,
  { collectGarbage }: Pick<CommandContext, 'collectGarbage'>,
): OnProgress {
  if (objects < MANY || collectGarbage === undefined) return IGNORE_PROGRESS
  let steps = 0
  collectGarbage('all')
  return () => {
    steps++
    if (steps % STEPS === 0) collectGarbage('young')
  }
}
