// The work queue against client-go's rules (`util/workqueue`), as sentences and as a model.
import { array, assert, asyncProperty, constant, constantFrom, integer, nat, oneof, record } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '@kleym/testing/runs.ts'
import { WorkQueue, type QueueObserver } from '../../src/queue/queue.ts'
import { runWorkers } from '../../src/queue/workers.ts'
import { FakeTime, settled } from '../build/fake-time.ts'

const groupOf = (key: string): string => key.split('/', 1)[0] ?? ''
const isLarge = (key: string): boolean => key.endsWith('large')

function build({
  random = () => 0,
  workers = Infinity,
  observer,
}: { random?: () => number; workers?: number; observer?: QueueObserver } = {}) {
  const time = new FakeTime()
  const queue = new WorkQueue({
    clock: time.clock(),
    random,
    groupOf,
    isLarge,
    workers,
    ...(observer === undefined ? {} : { observer }),
  })
  return { time, queue }
}

/** Takes all that is ready, finishing each. */
async function drain(queue: WorkQueue): Promise<string[]> {
  const taken: string[] = []
  while (queue.state().depth > 0) {
    const key = await queue.take()
    if (key === undefined) break
    taken.push(key)
    queue.done(key)
  }
  return taken
}

describe('the queue', () => {
  test('gives a key once however often it is added', async () => {
    const { queue } = build()
    for (let time = 0; time < 3; time++) queue.add('a/1')
    expect(await drain(queue)).toEqual(['a/1'])
  })

  test('gives a key that is added while it is processing again, after it is done and not before', async () => {
    const { queue } = build()
    queue.add('a/1')
    expect(await queue.take()).toBe('a/1')
    queue.add('a/1')
    queue.add('a/1')
    expect(queue.state()).toMatchObject({ depth: 0, processing: 1 })
    queue.done('a/1')
    expect(await drain(queue)).toEqual(['a/1'])
  })

  test('does not give a key again for adds that came before whoever processes it looked', async () => {
    const { queue } = build()
    queue.add('a/1')
    expect(await queue.take()).toBe('a/1')
    queue.add('a/1')
    queue.clearDirty('a/1')
    queue.done('a/1')
    expect(await drain(queue)).toEqual([])
  })

  test('gives a key again for an add that came after that look', async () => {
    const { queue } = build()
    queue.add('a/1')
    expect(await queue.take()).toBe('a/1')
    queue.clearDirty('a/1')
    queue.add('a/1')
    queue.done('a/1')
    expect(await drain(queue)).toEqual(['a/1'])
  })

  test('keeps a key that nobody processes, whoever says that it is dealt with', async () => {
    const { queue } = build()
    queue.add('a/1')
    queue.clearDirty('a/1')
    expect(await drain(queue)).toEqual(['a/1'])
  })

  test('hands a key to workers that wait, first come, first served', async () => {
    const { queue } = build()
    const first = queue.take()
    const second = queue.take()
    queue.add('a/1')
    queue.add('a/2')
    expect(await Promise.all([first, second])).toEqual(['a/1', 'a/2'])
  })

  test('lets 5,000 keys of one namespace delay the single key of another by one', async () => {
    const { queue } = build()
    for (let at = 0; at < 5_000; at++) queue.add(`big/${at}`)
    queue.add('small/1')
    const taken = await drain(queue)
    expect(taken.indexOf('small/1')).toBe(1)
    expect(taken).toHaveLength(5_001)
  })

  test('keeps the order of keys within a namespace, and gives every namespace a turn', async () => {
    const { queue } = build()
    for (const key of ['a/1', 'a/2', 'a/3', 'b/1', 'c/1', 'c/2']) queue.add(key)
    expect(await drain(queue)).toEqual(['a/1', 'b/1', 'c/1', 'a/2', 'c/2', 'a/3'])
  })

  test('refuses the end of a key that nobody took: the caller has a bug', () => {
    const { queue } = build()
    queue.add('a/1')
    expect(() => queue.done('a/1')).toThrow('"a/1" is done, but was not taken')
  })
})

describe('a delayed key', () => {
  test('comes when its delay has passed, and counts as waiting only then', async () => {
    const { time, queue } = build()
    queue.addAfter('a/1', 100)
    await time.advance(99)
    expect(queue.state().depth).toBe(0)
    await time.advance(1)
    expect(await drain(queue)).toEqual(['a/1'])
  })

  test.each([
    { name: 'a later delay does not put an earlier one off', delays: [50, 100] },
    { name: 'an earlier delay replaces a later one', delays: [100, 50] },
  ])('$name, and the key comes once', async ({ delays }) => {
    const { time, queue } = build()
    for (const ms of delays) queue.addAfter('a/1', ms)
    await time.advance(50)
    expect(await drain(queue)).toEqual(['a/1'])
    await time.advance(100)
    expect(await drain(queue)).toEqual([])
  })

  test('still comes after an add in between: the delay was for another reason', async () => {
    const { time, queue } = build()
    queue.addAfter('a/1', 50)
    queue.add('a/1')
    expect(await drain(queue)).toEqual(['a/1'])
    await time.advance(50)
    expect(await drain(queue)).toEqual(['a/1'])
  })

  test('comes no more once its delay is dropped, and another delay counts as if it were the first', async () => {
    const { time, queue } = build()
    queue.addAfter('a/1', 50)
    queue.dropDelay('a/1')
    queue.addAfter('a/1', 100)
    await time.advance(99)
    expect(await drain(queue)).toEqual([])
    await time.advance(1)
    expect(await drain(queue)).toEqual(['a/1'])
  })

  test.each([0, -1, Number.NaN])('comes at once for a delay of %d', async (ms) => {
    const { queue } = build()
    queue.addAfter('a/1', ms)
    expect(await drain(queue)).toEqual(['a/1'])
  })

  test('never asks for a timer longer than Node can hold', () => {
    const asked: number[] = []
    const clock = new FakeTime().clock()
    const queue = new WorkQueue({
      clock: {
        now: () => clock.now(),
        monotonicMs: () => 0,
        after: (ms) => {
          asked.push(ms)
          return () => {}
        },
      },
      random: () => 0,
      groupOf,
      workers: Infinity,
    })
    queue.addAfter('a/1', 1e15)
    queue.addAfter('a/2', Number.POSITIVE_INFINITY)
    expect(asked).toEqual([2 ** 31 - 1, 2 ** 31 - 1])
  })
})

/** How long a key waits after each of so many failures. */
const waits = async (random: () => number, times: number, atLeastMs?: number): Promise<number[]> => {
  const { time, queue } = build({ random })
  const found: number[] = []
  for (let failure = 0; failure < times; failure++) {
    const before = time.nowMs
    queue.retry('a/1', atLeastMs === undefined ? {} : { atLeastMs })
    while (queue.state().depth === 0) await time.advance(1.25)
    found.push(time.nowMs - before)
    await drain(queue)
  }
  return found
}

describe('a key that fails', () => {
  test('waits twice as long each time', async () => {
    expect(await waits(() => 0, 5)).toEqual([5, 10, 20, 40, 80])
  })

  test('has up to half of its wait taken off by chance', async () => {
    expect(await waits(() => 0.5, 3)).toEqual([3.75, 7.5, 15])
  })

  test('waits as long as the server asks, where that is longer', async () => {
    expect(await waits(() => 0, 4, 30)).toEqual([30, 30, 30, 40])
  })

  test('never waits longer than the longest backoff', async () => {
    const { time, queue } = build()
    for (let failure = 0; failure < 2_000; failure++) queue.retry('b/1')
    await drain(queue)
    queue.forget('a/1')
    for (let failure = 0; failure < 30; failure++) {
      queue.retry('a/1')
      await time.advance(300_000)
      expect(await drain(queue)).toContain('a/1')
    }
    expect(queue.failures('a/1')).toBe(30)
  })

  test('starts from the shortest wait once it is forgotten, and other keys have waits of their own', async () => {
    const { time, queue } = build()
    for (let failure = 0; failure < 10; failure++) queue.retry('a/1')
    expect(queue.failures('b/1')).toBe(0)
    queue.forget('a/1')
    expect(queue.failures('a/1')).toBe(0)
    await time.advance(300_000)
    await drain(queue)
    queue.retry('a/1')
    await time.advance(5)
    expect(await drain(queue)).toEqual(['a/1'])
  })
})

describe('a shutdown', () => {
  test('drops what is queued and delayed, and ends when the last key in work is done', async () => {
    const { time, queue } = build()
    queue.add('a/1')
    queue.add('a/2')
    queue.addAfter('a/3', 5)
    await queue.take()
    queue.add('a/1')
    let ended = false
    const end = queue.shutDown().finally(() => {
      ended = true
    })
    await time.advance(10)
    expect(ended).toBe(false)
    expect(queue.state()).toMatchObject({ depth: 0, processing: 1 })
    queue.add('a/4')
    queue.retry('a/5')
    expect(await queue.take()).toBeUndefined()
    queue.done('a/1')
    await end
    expect(time.pending).toBe(0)
    expect(await queue.take()).toBeUndefined()
  })

  test('sends waiting workers home', async () => {
    const { queue } = build()
    const waiting = [queue.take(), queue.take()]
    await queue.shutDown()
    expect(await Promise.all(waiting)).toEqual([undefined, undefined])
  })
})

test('the observer hears of adds, waits, work and retries, and no key', async () => {
  const told: unknown[][] = []
  const tell =
    (what: string) =>
    (...facts: unknown[]): void =>
      void told.push([what, ...facts])
  const { time, queue } = build({
    observer: { added: tell('added'), taken: tell('taken'), done: tell('done'), retried: tell('retried') },
  })
  queue.add('a/1')
  queue.add('a/1')
  await time.advance(7)
  const key = await queue.take()
  await time.advance(3)
  expect(queue.state()).toEqual({ depth: 0, processing: 1, unfinishedMs: 3, longestMs: 3 })
  queue.done(key ?? '')
  queue.addAfter('a/1', 5)
  expect(told).toEqual([['added'], ['taken', 7], ['done', 3], ['retried']])
})

describe('the workers', () => {
  test('never have one key twice at the same time, and no more keys than workers', async () => {
    const { queue } = build()
    const inWork = new Set<string>()
    let most = 0
    let handled = 0
    const end = runWorkers(queue, 3, async (key) => {
      if (inWork.has(key)) throw new Error(`${key} is in work already`)
      inWork.add(key)
      most = Math.max(most, inWork.size)
      await settled()
      if (handled++ < 20) queue.add(key)
      await settled()
      inWork.delete(key)
    })
    for (let at = 0; at < 10; at++) queue.add(`a/${at}`)
    while (queue.state().depth + queue.state().processing > 0) await settled()
    await queue.shutDown()
    await end
    expect({ most, handled }).toEqual({ most: 3, handled: 30 })
  })

  test('reject at once when a handler does, take nothing more, and leave the key done', async () => {
    const { queue } = build()
    const never = new Promise<void>(() => {})
    const handled: string[] = []
    const end = runWorkers(queue, 2, async (key) => {
      handled.push(key)
      if (key === 'a/2') throw new TypeError('a bug')
      await never
    })
    for (const key of ['a/1', 'a/2', 'a/3']) queue.add(key)
    await expect(end).rejects.toThrow('a bug')
    await settled()
    expect(handled).toEqual(['a/1', 'a/2'])
    expect(queue.state()).toMatchObject({ depth: 0, processing: 1 })
  })

  test('all rest together when they have worked for long without a pause', async () => {
    const { time, queue } = build()
    const clock = time.clock()
    let resting = false
    let rests = 0
    const pause = async (): Promise<void> => {
      resting = true
      rests += 1
      await settled()
      resting = false
    }
    const end = runWorkers(
      queue,
      4,
      async () => {
        if (resting) throw new Error('a worker works while others rest')
        time.pass(1)
      },
      { clock, everyMs: 10, pause },
    )
    for (let at = 0; at < 100; at++) queue.add(`a/${at}`)
    while (queue.state().depth + queue.state().processing > 0) await settled()
    await queue.shutDown()
    await end
    expect(rests).toBeGreaterThanOrEqual(7)
    expect(rests).toBeLessThanOrEqual(10)
  })
})

/** The keys that eight workers are at work on, when no key ends. */
async function atWork(keys: readonly string[], late: readonly string[] = []) {
  const { queue } = build({ workers: 8 })
  const taken: string[] = []
  for (const key of keys) queue.add(key)
  const end = runWorkers(queue, 8, async (key) => {
    taken.push(key)
    await new Promise<void>(() => {})
  })
  void end
  await settled()
  for (const key of late) queue.add(key)
  await settled()
  return { taken }
}

function keysOf(space: string): string[] {
  return Array.from({ length: 300 }, (_, at) => `${space}/${at}`)
}

function countOf(taken: readonly string[], space: string): number {
  return taken.filter((key) => groupOf(key) === space).length
}

describe('workers that are shared', () => {
  test('a namespace whose 300 objects take the API server for ever holds up no other: a worker is there at once', async () => {
    const { taken } = await atWork(keysOf('hostile'), ['victim/1'])
    expect({ hostile: countOf(taken, 'hostile'), victim: countOf(taken, 'victim') }).toEqual({
      hostile: 6,
      victim: 1,
    })
  })

  test('nor do three, nor seven of them', async () => {
    for (const count of [2, 3, 7]) {
      const spaces = Array.from({ length: count }, (_, at) => `hostile-${at}`)
      const { taken } = await atWork(spaces.flatMap(keysOf), ['victim/1'])
      expect(countOf(taken, 'victim')).toBe(1)
      expect(taken.length).toBeGreaterThanOrEqual(7)
      for (const space of spaces) expect(countOf(taken, space)).toBeGreaterThan(0)
    }
  })

  test('what was left waiting is taken as soon as a worker is free for it, whose key ever ends', async () => {
    const { queue } = build({ workers: 2 })
    for (const key of ['a/1', 'a/2', 'b/1', 'b/2']) queue.add(key)
    expect([await queue.take(), await queue.take()]).toEqual(['a/1', 'b/1'])
    queue.done('b/1')
    // Two workers wait: one must stay free beside a/1.
    const waiting = [queue.take(), queue.take()]
    expect(await waiting[0]).toBe('b/2')
    queue.done('b/2')
    await settled()
    expect(queue.state()).toMatchObject({ depth: 1, processing: 1 })
    queue.done('a/1')
    expect(await waiting[1]).toBe('a/2')
  })

  test('twenty whose looks are slow leave one for a namespace whose looks are not, once each has been seen to be', async () => {
    const { time, queue } = build({ workers: 8 })
    const slow = Array.from({ length: 20 }, (_, at) => `slow-${at}/1`)
    const running: Promise<string | undefined>[] = []
    const endAll = async (): Promise<void> => {
      for (const key of await Promise.all(running.splice(0))) if (key !== undefined) queue.done(key)
    }
    for (const key of slow) queue.add(key)
    while (queue.state().depth > 0) {
      while (running.length < 8 && queue.state().depth > 0) running.push(queue.take())
      await time.advance(10_000)
      await endAll()
    }
    for (const key of slow) queue.add(key)
    for (let worker = 0; worker < 7; worker++) running.push(queue.take())
    const last = queue.take()
    await settled()
    expect(queue.state()).toMatchObject({ depth: 13, processing: 7 })
    queue.add('quick/1')
    expect(await last).toBe('quick/1')
    queue.done('quick/1')
    // They lose no turn, and what is quick again counts as slow no longer.
    const next = queue.take()
    await endAll()
    expect(await next).toBe('slow-7/1')
    queue.done('slow-7/1')
    expect(await drain(queue)).toHaveLength(12)
    for (const key of slow) queue.add(key)
    for (let worker = 0; worker < 8; worker++) await queue.take()
    expect(queue.state()).toMatchObject({ depth: 12, processing: 8 })
  })

  test('one worker serves one namespace after the other', async () => {
    const { queue } = build({ workers: 1 })
    for (const key of ['a/1', 'a/2', 'b/1']) queue.add(key)
    expect(await drain(queue)).toEqual(['a/1', 'b/1', 'a/2'])
  })

  test('one worker serves slow ones too', async () => {
    const { time, queue } = build({ workers: 1 })
    for (const key of ['a/1', 'a/2', 'b/1']) queue.add(key)
    const taken: (string | undefined)[] = []
    while (queue.state().depth > 0) {
      const key = await queue.take()
      taken.push(key)
      await time.advance(10_000)
      queue.done(key ?? '')
    }
    expect(taken).toEqual(['a/1', 'b/1', 'a/2'])
  })
})

describe('large objects', () => {
  test('are worked on one at a time, of whatever namespace, and hold up no ordinary one elsewhere', async () => {
    const { queue } = build({ workers: 8 })
    for (const space of ['a', 'b', 'c'])
      for (const name of ['1-large', '2-large']) queue.add(`${space}/${name}`)
    for (const name of ['1', '2', '3']) queue.add(`d/${name}`)
    const taken = [await queue.take(), await queue.take(), await queue.take(), await queue.take()]
    expect(taken).toEqual(['a/1-large', 'd/1', 'd/2', 'd/3'])
    for (const key of ['b/1-large', 'c/1-large', 'a/2-large', 'b/2-large', 'c/2-large']) {
      const next = queue.take()
      await settled()
      expect(queue.state()).toMatchObject({ processing: 4 })
      queue.done(taken[0] ?? '')
      taken[0] = await next
      expect(taken[0]).toBe(key)
    }
  })

  test('keep their turn while it cannot come, whatever ordinary ones are taken meanwhile', async () => {
    const { queue } = build({ workers: 8 })
    for (const key of ['a/large', 'b/large', ...keysOf('d')]) queue.add(key)
    expect(await queue.take()).toBe('a/large')
    queue.add('a/large')
    for (let at = 0; at < 5; at++) {
      const key = (await queue.take()) ?? ''
      expect(groupOf(key)).toBe('d')
      queue.done(key)
    }
    queue.done('a/large')
    expect(await queue.take()).toBe('b/large')
  })

  test('what becomes large while it is worked on takes no turn from those that were', async () => {
    const { time } = build()
    const sizes = new Set<string>()
    const queue = new WorkQueue({
      clock: time.clock(),
      random: () => 0,
      groupOf,
      isLarge: (key) => sizes.has(key),
      workers: 8,
    })
    for (const key of ['a/1', 'b/1']) queue.add(key)
    expect([await queue.take(), await queue.take()]).toEqual(['a/1', 'b/1'])
    sizes.add('a/1').add('b/2').add('c/1')
    queue.add('b/2')
    queue.add('c/1')
    expect(await queue.take()).toBe('b/2')
    queue.done('a/1')
    const waiting = queue.take()
    await settled()
    expect(queue.state()).toMatchObject({ depth: 1, processing: 2 })
    sizes.delete('b/2')
    queue.done('b/2')
    expect(await waiting).toBe('c/1')
  })
})

/** What the queue should do, in the plainest way: lists that are searched. */
class Model {
  readonly dirty = new Set<string>()
  readonly processing: string[] = []
  ready: string[] = []
  turns: string[] = []
  delayed: { key: string; dueMs: number }[] = []

  add(key: string): void {
    if (this.dirty.has(key)) return
    this.dirty.add(key)
    if (!this.processing.includes(key)) this.enqueue(key)
  }

  enqueue(key: string): void {
    this.ready.push(key)
    if (!this.turns.includes(groupOf(key))) this.turns.push(groupOf(key))
  }

  addAt(key: string, dueMs: number): void {
    const earlier = this.delayed.find((other) => other.key === key)
    if (earlier !== undefined && earlier.dueMs <= dueMs) return
    this.delayed = [...this.delayed.filter((other) => other !== earlier), { key, dueMs }]
  }

  drop(key: string): void {
    this.delayed = this.delayed.filter((other) => other.key !== key)
  }

  pass(nowMs: number): void {
    const due = this.delayed.filter(({ dueMs }) => dueMs <= nowMs).toSorted((a, b) => a.dueMs - b.dueMs)
    this.delayed = this.delayed.filter(({ dueMs }) => dueMs > nowMs)
    for (const { key } of due) this.add(key)
  }

  oldest(group: string): string {
    return this.ready.find((key) => groupOf(key) === group) ?? ''
  }

  isFree(group: string): boolean {
    return !(isLarge(this.oldest(group)) && this.processing.some(isLarge))
  }

  take(): string | undefined {
    const at = this.turns.findIndex((turn) => this.isFree(turn))
    const [group] = at < 0 ? [] : this.turns.splice(at, 1)
    if (group === undefined) return undefined
    const key = this.oldest(group)
    this.ready = this.ready.filter((other) => other !== key)
    if (this.ready.some((other) => groupOf(other) === group)) this.turns.push(group)
    this.dirty.delete(key)
    this.processing.push(key)
    return key
  }

  done(key: string): void {
    this.processing.splice(this.processing.indexOf(key), 1)
    if (this.dirty.has(key)) this.enqueue(key)
  }
}

test('the queue does what a plain model of it does, whatever happens in whatever order', async () => {
  const key = constantFrom('a/1', 'a/2', 'a/large', 'b/1', 'b/large', 'c/1')
  const step = oneof(
    { weight: 4, arbitrary: record({ do: constant('add' as const), key }) },
    { weight: 3, arbitrary: record({ do: constant('take' as const) }) },
    { weight: 3, arbitrary: record({ do: constant('done' as const), at: nat() }) },
    {
      arbitrary: record({ do: constant('later' as const), key, ms: integer({ min: 1, max: 40 }) }),
      weight: 2,
    },
    { weight: 1, arbitrary: record({ do: constant('drop' as const), key }) },
    {
      arbitrary: record({ do: constant('pass' as const), ms: integer({ min: 1, max: 30 }) }),
      weight: 1,
    },
  )
  await assert(
    asyncProperty(array(step, { maxLength: 60 }), async (steps) => {
      const { time, queue } = build()
      const model = new Model()
      const taken: (readonly [string | undefined, string | undefined])[] = []
      for (const [at, now] of steps.entries()) {
        // Delays that end in the same millisecond come in the order of their timers, which is nobody's promise.
        const fraction = at / 1000
        if (now.do === 'add') {
          queue.add(now.key)
          model.add(now.key)
        } else if (now.do === 'later') {
          queue.addAfter(now.key, now.ms + fraction)
          model.addAt(now.key, time.nowMs + now.ms + fraction)
        } else if (now.do === 'drop') {
          queue.dropDelay(now.key)
          model.drop(now.key)
        } else if (now.do === 'pass') {
          await time.advance(now.ms)
          model.pass(time.nowMs)
        } else if (now.do === 'take') {
          if (model.turns.some((group) => model.isFree(group))) taken.push([await queue.take(), model.take()])
        } else {
          const ended = model.processing[now.at % Math.max(model.processing.length, 1)]
          if (ended !== undefined) {
            queue.done(ended)
            model.done(ended)
          }
        }
        expect(queue.state()).toMatchObject({
          depth: model.ready.length,
          processing: model.processing.length,
        })
      }
      for (const [given, wanted] of taken) expect(given).toBe(wanted)
    }),
    { numRuns: runs(400) },
  )
})
