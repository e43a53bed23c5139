// What counts as growth in the samples of a process, and what does not.
import { expect, test } from 'vitest'
import { growthOf, timersOf } from './growth.ts'
import type { Sample } from './replica.ts'

function life(minutes: number, at: (minute: number) => Partial<Sample>): readonly Sample[] {
  return Array.from({ length: minutes * 6 }, (_, index) => ({
    ageMs: index * 10_000,
    rss: 120,
    fds: 30,
    timers: 40,
    ...at(index / 6),
  }))
}

test.each([
  ['nothing changes', life(20, () => ({}))],
  [
    'it uses more for some minutes',
    life(20, (minute) => (minute > 8 && minute < 11 ? { rss: 300, fds: 90 } : {})),
  ],
  ['it has just started', life(4, (minute) => ({ rss: 60 + 100 * minute }))],
])('where %s there is no growth', (_what, samples) => {
  expect(growthOf(samples)).toEqual([])
})

test.each([
  [
    'memory',
    life(20, (minute) => ({ rss: 100 + 10 * minute })),
    /^rss grew from 1\d\d to 2\d\d within 20 minutes$/,
  ],
  ['sockets', life(20, (minute) => ({ fds: 20 + 3 * minute })), /^fds grew/],
])('%s that grow all the time are reported', (_what, samples, sentence) => {
  expect(growthOf(samples).join()).toMatch(sentence)
})

test('a leader has one timer for each binding that waits, and none is left in calm', () => {
  const leads = life(20, (minute) => ({ timers: minute < 10 ? 12 : minute < 19 ? 1_900 : 11 }))
  expect(timersOf(leads, 2_000)).toEqual([])
  expect(timersOf(leads, 1_000)).toEqual(['a process had 1900 timers, of 1000 bindings'])
  expect(timersOf(leads.slice(0, 100), 2_000)).toEqual([
    'a process has 1900 timers when nothing is left to do',
  ])
})
