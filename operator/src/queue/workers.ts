// The workers of a queue. There is one thread: work that never waits for I/O (a resync of settled bindings) would keep
// the Lease from being renewed and the probes from being answered, so all workers rest together now and then.
import type { Clock } from '@kleym/shared/kube/clock.ts'
import type { WorkQueue } from './queue.ts'

/** How the workers give way to the rest of the process. */
export interface Rest {
  readonly clock: Clock
  /** The longest that workers go on without a pause, in milliseconds. */
  readonly everyMs: number
  /** Resolves after timers and I/O had their turn (`setImmediate` of `node:timers/promises`). */
  readonly pause: () => Promise<unknown>
}

/** How long timers and I/O wait for workers at most, in milliseconds. */
export const REST_EVERY_MS = 10

/**
 * Handles the keys of `queue` with `count` workers. Resolves when the queue is shut down and all of them have ended.
 * Rejects at once when `handle` does, and shuts the queue down: a handler that throws is a bug, not a failure to retry.
 */
export async function runWorkers(
  queue: WorkQueue,
  count: number,
  handle: (key: string) => Promise<void>,
  rest?: Rest,
): Promise<void> {
  const breathe = rest === undefined ? undefined : breather(rest)
  try {
    await Promise.all(Array.from({ length: count }, () => work(queue, handle, breathe)))
  } catch (error) {
    // What else is processing may never end, and nobody waits for it.
    void queue.shutDown()
    throw error
  }
}

async function work(
  queue: WorkQueue,
  handle: (key: string) => Promise<void>,
  breathe: (() => Promise<void>) | undefined,
): Promise<void> {
  for (let key = await queue.take(); key !== undefined; key = await queue.take()) {
    try {
      await breathe?.()
      await handle(key)
    } finally {
      queue.done(key)
    }
  }
}

/** One for all workers: while one rests, so do the others. */
function breather({ clock, everyMs, pause }: Rest): () => Promise<void> {
  let since = clock.monotonicMs()
  let resting: Promise<void> | undefined
  const rest = async (): Promise<void> => {
    await pause()
    since = clock.monotonicMs()
    resting = undefined
  }
  return async () => {
    if (resting === undefined && clock.monotonicMs() - since < everyMs) return
    resting ??= rest()
    await resting
  }
}
