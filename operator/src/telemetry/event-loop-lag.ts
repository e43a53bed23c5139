// How late the event loop is. One thread does everything in this process: while one piece of work holds it, no watch is
// read, no request is answered and the Lease is not renewed. A timer asks for its turn again and again, and the metric is
// by how much it was late each time. It is a histogram, not a gauge of the worst since the last scrape, since a second
// scraper would take such a worst away from the first. Two questions can be asked of it:
//   rate(..._sum): the share of the time in which the loop kept others waiting (0 to 1), since each turn is asked for only
//   after the last one came;
//   increase(..._count) - increase(..._bucket{le="5"}): how often the loop stood still for more than 5 s.
import { Histogram, type Registry } from 'prom-client'
import type { Clock } from '@kleym/shared/kube/clock.ts'

/** How long after one turn the next is asked for, in milliseconds. A shorter stall is seen in part, or not at all. */
export const LAG_PERIOD_MS = 100

/** In seconds, up to where the Lease is lost (15 s) and beyond. */
const LAG_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30]

export interface EventLoopMetrics {
  /** By how many milliseconds the event loop was late for a turn. */
  eventLoopLagged(ms: number): void
}

/** Adds `kleym_event_loop_lag_seconds` to `registry`. */
export function eventLoopMetrics(registry: Registry): EventLoopMetrics {
  const lag = new Histogram({
    name: 'kleym_event_loop_lag_seconds',
    help: 'How late the event loop gave a timer its turn, asked every 100 ms.',
    buckets: LAG_BUCKETS,
    registers: [registry],
  })
  return {
    eventLoopLagged(ms) {
      lag.observe(ms / 1000)
    },
  }
}

/** Tells `lagged` by how many milliseconds each turn was late, never less than 0, until the result is called. */
export function watchEventLoop(clock: Clock, lagged: (ms: number) => void): () => void {
  let cancel = next()
  return () => cancel()

  function next(): () => void {
    const due = clock.monotonicMs() + LAG_PERIOD_MS
    return clock.after(LAG_PERIOD_MS, () => {
      // A timer may run a fraction of a millisecond early.
      lagged(Math.max(0, clock.monotonicMs() - due))
      cancel = next()
    })
  }
}
