// Drives long work: memory is given back while a large cluster is worked on, since Bun's heap grows to twice what is in use
// otherwise (what that costs and saves: docs/decisions/2026-11-22-steps-between-collections.md), and a person who waits is told why.
import type { RawObject } from '@kleym/shared/core/model/objects/raw.ts'
import type { Drive, StepWaste } from '@kleym/shared/core/base/steps.ts'
import type { CommandContext } from '../io/context.ts'
import { progressLine } from '../io/progress-line.ts'

/** Fewer objects leave too little behind for a collection to pay. */
const MANY = 20_000
/** How many steps lie between two collections of what they have left behind, where each leaves little. */
const STEPS = 3_000
/**
 * As how many such steps one counts. Each collection goes through all that was written to since the one before, the whole of a map with
 * half a million entries: after every 200 steps that leave little it took longer than the steps, and after 200 that leave much a seventh of all.
 */
const COUNTS_AS: Readonly<Record<StepWaste, number>> = { much: 10, little: 1 }

/** Takes out objects that have been read, and gives back what they took. */
export function release(
  objects: RawObject[],
  { collectGarbage }: Pick<CommandContext, 'collectGarbage'>,
): void {
  if (objects.splice(0).length >= MANY) collectGarbage?.('all')
}

/**
 * Drives work on so many objects, with progress on a terminal. What reading them has left behind is given back first, and what is in use
 * by now is not gone through again until then.
 */
export function driverFor(
  objects: number,
  io: Pick<CommandContext, 'collectGarbage' | 'clock' | 'stderr' | 'env'>,
): Drive {
  const collects = objects < MANY ? undefined : io.collectGarbage
  const line = progressLine(io)
  const text = (): string => `working on ${objects.toLocaleString('en')} objects`
  let steps = 0
  collects?.('all')
  return (work, waste = 'much') => {
    for (;;) {
      const step = work.next()
      if (step.done === true) {
        line?.end()
        return step.value
      }
      line?.at(text)
      steps += COUNTS_AS[waste]
      if (steps < STEPS) continue
      steps = 0
      // What was in use at one of many steps that leave much behind is not young any more.
      collects?.(waste === 'much' ? 'as needed' : 'young')
    }
  }
}
