// The lag of the event loop, on a clock turned by hand: what each turn comes to, and what the two questions answer.
import { expect, test } from 'vitest'
import { LAG_PERIOD_MS, watchEventLoop } from '../../src/telemetry/event-loop-lag.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { FakeClock } from '@kleym/testing/fake-clock.ts'
import { FakeTime } from '../build/fake-time.ts'

/** A process whose loop is watched. */
function watched(): { time: FakeTime; lags: number[]; stand: (ms: number) => void; end: () => void } {
  const time = new FakeTime()
  const clock = time.clock()
  const lags: number[] = []
  const end = watchEventLoop(clock, (ms) => lags.push(ms))
  const stand = (ms: number): void => {
    clock.stopped = true
    time.pass(ms)
    clock.stopped = false
  }
  return { time, lags, stand, end }
}

test('a loop that is free is never late', async () => {
  const { time, lags } = watched()
  await time.advance(10 * LAG_PERIOD_MS)
  expect(lags).toEqual(Array(10).fill(0))
})

test('a loop that stands still is late by the time from when the turn was due, once', async () => {
  const { time, lags, stand } = watched()
  await time.advance(2 * LAG_PERIOD_MS)
  stand(7_000)
  await time.advance(2 * LAG_PERIOD_MS)
  expect(lags).toEqual([0, 0, 7_000 - LAG_PERIOD_MS, 0, 0])
})

test('a timer that runs early is not late', () => {
  const lags: number[] = []
  const clock = new FakeClock()
  const early = {
    now: () => clock.now(),
    monotonicMs: () => clock.monotonicMs(),
    after: (ms: number, run: () => void) => clock.after(ms - 0.4, run),
  }
  watchEventLoop(early, (ms) => lags.push(ms))
  clock.advance(LAG_PERIOD_MS)
  expect(lags).toEqual([0])
})

test('it ends, and leaves no timer behind', async () => {
  const { time, lags, end } = watched()
  await time.advance(LAG_PERIOD_MS)
  end()
  expect(time.pending).toBe(0)
  await time.advance(10 * LAG_PERIOD_MS)
  expect(lags).toEqual([0])
})

test('the metric is in seconds, tells long stalls from short ones, and is there before the first turn', async () => {
  const metrics = createMetrics({ process: false })
  const lines = async (): Promise<readonly string[]> =>
    (await metrics.render()).body.split('\n').filter((line) => line.startsWith('kleym_event_loop'))
  expect(await lines()).toContain('kleym_event_loop_lag_seconds_count 0')
  metrics.eventLoopLagged(2)
  metrics.eventLoopLagged(6_900)
  expect(await lines()).toEqual(
    expect.arrayContaining([
      'kleym_event_loop_lag_seconds_bucket{le="0.005"} 1',
      'kleym_event_loop_lag_seconds_bucket{le="5"} 1',
      'kleym_event_loop_lag_seconds_bucket{le="10"} 2',
      'kleym_event_loop_lag_seconds_sum 6.902',
      'kleym_event_loop_lag_seconds_count 2',
    ]),
  )
})
