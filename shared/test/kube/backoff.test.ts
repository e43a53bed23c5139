// How long a client waits before it tries again.
import { expect, test } from 'vitest'
import { backoffMs, jittered } from '../../src/kube/backoff.ts'

const LIMITS = { firstMs: 250, maxMs: 10_000 }

test.each<[failures: number, ms: number]>([
  [1, 250],
  [2, 500],
  [6, 8_000],
  [7, 10_000],
  [5_000, 10_000],
])('after %i failures in a row the wait is %i ms', (failures, ms) => {
  expect(backoffMs(LIMITS, failures)).toBe(ms)
})

test('jitter takes off up to a half', () => {
  expect([0, 0.5, 0.75].map((random) => jittered(1_000, () => random))).toEqual([1_000, 750, 625])
})
