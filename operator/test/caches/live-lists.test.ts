// Live lists: who shares one, and how much of the time they may take.
import { expect, test } from 'vitest'
import type { Listing } from '@kleym/shared/kube/api.ts'
import { ApiError } from '@kleym/shared/kube/errors.ts'
import { createCaches } from '../../src/caches/caches.ts'
import { LiveLists } from '../../src/caches/live-lists.ts'
import { FakeTime, settled } from '../build/fake-time.ts'

const LIST_MS = 3_000

/** Lists that each take 3 s or fail at once, and when each began. */
function setUp(failure?: Error) {
  const time = new FakeTime()
  const clock = time.clock()
  const began: number[] = []
  const caches = createCaches({
    onError: (error) => {
      throw error
    },
  })
  async function* pages(): AsyncGenerator<Listing> {
    began.push(clock.monotonicMs())
    if (failure !== undefined) throw failure
    await new Promise<void>((resolve) => clock.after(LIST_MS, resolve))
    yield { items: [], resourceVersion: '7' }
  }
  const lists = new LiveLists({ api: { pages }, caches, clock })
  const from = clock.monotonicMs()
  return { time, lists, began: () => began.map((at) => at - from) }
}

test('the first list begins at once, and whoever asks while it runs shares the one after it', async () => {
  const { time, lists, began } = setUp()
  const ended: string[] = []
  void lists.afterNow().then(() => ended.push('first'))
  await settled()
  for (const name of ['second', 'third']) void lists.afterNow().then(() => ended.push(name))
  await time.advance(LIST_MS)
  expect([ended, began()]).toEqual([['first'], [0]])
  await time.advance(2 * LIST_MS)
  expect([ended, began()]).toEqual([
    ['first', 'second', 'third'],
    [0, 2 * LIST_MS],
  ])
})

test('however often somebody asks, lists take half of the time', async () => {
  const { time, lists, began } = setUp()
  for (let asked = 0; asked < 120; asked++) {
    void lists.afterNow()
    await time.advance(500)
  }
  expect(began()).toEqual(Array.from({ length: 11 }, (_, at) => at * 2 * LIST_MS))
})

test('a list after a long rest begins at once', async () => {
  const { time, lists, began } = setUp()
  void lists.afterNow()
  await time.advance(60_000)
  void lists.afterNow()
  await settled()
  expect(began()).toEqual([0, 60_000])
})

test.each([
  { name: 'a second', retryAfterMs: undefined, restMs: 1_000 },
  { name: 'as long as the API server asks', retryAfterMs: 10_000, restMs: 10_000 },
])(
  'a list that fails at once is followed by a rest of $name, however often somebody asks',
  async ({ retryAfterMs, restMs }) => {
    const answer = { status: 429, reason: 'TooManyRequests', message: 'later' }
    const { time, lists, began } = setUp(
      new ApiError({ ...answer, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }),
    )
    for (let asked = 0; asked < 299; asked++) {
      lists.afterNow().catch(() => undefined)
      await time.advance(100)
    }
    expect(began()).toEqual(Array.from({ length: 30_000 / restMs }, (_, at) => at * restMs))
  },
)
