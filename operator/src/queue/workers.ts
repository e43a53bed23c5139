// The workers of a queue. There is one thread: work that never waits for I/O (a resync of settled bindings) would keep
// the Lease from being renewed and the probes from being answered, so all workers pause together now and then.
import type { Clock } from '@kleym/shared/kube/clock.ts'
import type { WorkQueue } from './queue.ts'

/** How the workers let timers and I/O of the process have their turn. */
export interface WorkerPauses {
  readonly clock: Clock
  /** The longest that workers go on without a pause, in milliseconds. */
  readonly everyMs: number
  /** Resolves after timers and I/O had their turn (`setImmediate` of `node:timers/promises`). */
  readonly pause: () => Promise<unknown>
}

/** How long timers and I/O wait for workers at most, in milliseconds. */
export const PAUSE_EVERY_MS = 10

/**
 * Handles the keys of `queue` with `count` workers. Resolves when the queue is shut down and all of them have ended.
 * Rejects at once when `handle` does, and shuts the queue down: a handler that throws is a bug, not a failure to retry.
 */
export async function runWorkers(
  queue: WorkQueue,
  count: number,
  handle: (key: string) => Promise<void>,
  pauses?: WorkerPauses,
): Promise<void> {
  const pause = pauses === undefined ? undefined : sharedPause(pauses)
  try {
    await Promise.all(Array.from({ length: count }, () => work(queue, handle, pause)))
  } catch (error) {
    // Other handlers may never end: the caller does not wait for them.
    void queue.shutDown()
    throw error
  }
}

async function work(
  queue: WorkQueue,
  handle: (key: string) => Promise<void>,
  pause: (() => Promise<void>) | undefined,
): Promise<void> {
  for (let key = await queue.take(); key !== undefined; key = await queue.take()) {
    try {
      await pause?.()
      await handle(key)
    } finally {
      queue.done(key)
    }
  }
}

/** One for all workers: while one pauses, so do the others. */
function sharedPause({ clock, everyMs, pause }: WorkerPauses): () => Promise<void> {
  let since = clock.monotonicMs()
  let pausing: Promise<void> | undefined
  const run = async (): Promise<void> => {
    await pause()
    since = clock.monotonicMs()
    pausing = undefined
  }
  return async () => {
    if (pausing === undefined && clock.monotonicMs() - since < everyMs) return
    pausing ??= run()
    await pausing
  }
}
