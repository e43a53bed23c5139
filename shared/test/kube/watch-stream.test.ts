// Watches over real connections, and the lines that they are made of.
import * as fc from 'fast-check'
import { Socket } from 'node:net'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { runs } from '@kleym/testing/runs.ts'
import {
  events,
  failure,
  failureStatus,
  json,
  stall,
  stream,
  text,
  type Behaviour,
} from '@kleym/testing/faults/behaviour.ts'
import { faultServer } from '@kleym/testing/faults/server.ts'
import type { WatchEvent, WatchCallOptions } from '../../src/kube/api.ts'
import { linesOf } from '../../src/kube/watch-stream.ts'
import { clientAt, clientOf, clusterAt, rejection, THINGS, THINGS_PATH } from '@kleym/testing/clusters.ts'
import { FakeClock } from '@kleym/testing/fake-clock.ts'

const FROM = { resourceVersion: '1', timeoutSeconds: 60 }
const added = (name: string): WatchEvent => ({ type: 'ADDED', object: { metadata: { name } } })

/** What a watch gives before it ends or throws. */
async function read(
  behaviour: Behaviour,
  more: Partial<WatchCallOptions> = {},
): Promise<{ readonly got: readonly WatchEvent[]; readonly error: unknown }> {
  await using server = await faultServer(() => behaviour)
  const got: WatchEvent[] = []
  try {
    for await (const event of clientAt(server.url).watch(THINGS, { ...FROM, ...more })) got.push(event)
    return { got, error: undefined }
  } catch (error) {
    return { got, error }
  }
}

describe('a watch', () => {
  test('asks for bookmarks, from a version, for a time, and tells when it is open', async () => {
    await using server = await faultServer(() => events([]))
    let opened = 0
    const watch = clientAt(server.url).watch(THINGS, {
      ...FROM,
      namespace: 'team-a',
      onOpen: () => {
        opened += 1
      },
    })
    for await (const _ of watch) expect.unreachable()
    const { pathname, searchParams } = new URL(server.seen[0]?.path ?? '', server.url)
    expect(pathname).toBe(THINGS_PATH.replace('/things', '/namespaces/team-a/things'))
    expect(Object.fromEntries(searchParams)).toEqual({
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion: '1',
      timeoutSeconds: '60',
    })
    expect(opened).toBe(1)
  })

  test('gives its events and ends when the server ends it', async () => {
    const sent = [added('a'), { type: 'BOOKMARK', object: { metadata: { resourceVersion: '9' } } }]
    expect(await read(events(sent))).toEqual({ got: sent, error: undefined })
  })

  test('puts characters together that packets tear apart', async () => {
    const bytes = Buffer.from(`${JSON.stringify(added('päckchen-😀'))}\n`)
    const { got } = await read(stream(Array.from(bytes, (byte) => Buffer.of(byte))))
    expect(got).toEqual([added('päckchen-😀')])
  })

  const broken: readonly (readonly [string, Behaviour, object])[] = [
    ['is cut', events([added('a')], 'drop'), { failure: 'reset' }],
    ['ends within a line', stream([`${JSON.stringify(added('a'))}\n`, '{"type"']), { failure: 'malformed' }],
    [
      'holds a line that is no JSON',
      stream([`${JSON.stringify(added('a'))}\n`, 'oops\n']),
      { failure: 'malformed' },
    ],
    ['holds an unknown type', events([added('a'), { type: 'MOVED', object: {} }]), { failure: 'malformed' }],
    ['holds an event without an object', events([added('a'), { type: 'ADDED' }]), { failure: 'malformed' }],
    [
      'holds an ERROR',
      events([added('a'), { type: 'ERROR', object: failureStatus(410, 'Expired') }], 'stall'),
      { name: 'ApiError', status: 410, reason: 'Expired' },
    ],
    [
      'holds a line that never ends',
      stream(
        [
          `${JSON.stringify(added('a'))}\n`,
          ...Array.from({ length: 17 }, () => Buffer.alloc(1024 * 1024, 'x')),
        ],
        'stall',
      ),
      { failure: 'malformed' },
    ],
  ]
  test.each(broken)('that %s throws after what came before', async (_, behaviour, error) => {
    const outcome = await read(behaviour)
    expect(outcome.got).toEqual([added('a')])
    expect(outcome.error).toMatchObject(error)
  })

  test.each([
    ['refused', failure(410, 'Expired'), { name: 'ApiError', status: 410 }],
    ['of a kind that is not served', text('404 page not found', 404), { name: 'ApiError', status: 404 }],
    ['answered with another success', text('', 204), { failure: 'malformed' }],
  ] satisfies readonly (readonly [string, Behaviour, object])[])(
    '%s throws and is not open',
    async (_, behaviour, error) => {
      const outcome = await read(behaviour, { onOpen: () => expect.unreachable() })
      expect(outcome.error).toMatchObject(error)
    },
  )

  test('that does not begin in time is timed out', async () => {
    const clock = new FakeClock()
    await using server = await faultServer(() => stall)
    const work = rejection(Array.fromAsync(clientAt(server.url, { clock }).watch(THINGS, FROM)))
    await expect.poll(() => server.seen.length, { message: 'the request to arrive' }).toBe(1)
    clock.advance(30_000)
    expect(await work).toMatchObject({ failure: 'timed out' })
  })

  test('may last longer than a call', async () => {
    const clock = new FakeClock()
    await using server = await faultServer(() => events([added('a')], 'stall'))
    const watch = clientAt(server.url, { clock }).watch(THINGS, FROM)[Symbol.asyncIterator]()
    expect(await watch.next()).toEqual({ done: false, value: added('a') })
    expect(clock.timers).toBe(0)
    await watch.return?.()
  })

  test('and calls ask the other end by TCP whether it is there', async () => {
    const asked = vi.spyOn(Socket.prototype, 'setKeepAlive')
    onTestFinished(() => asked.mockRestore())
    await using server = await faultServer(
      ({ path }) => (path.includes('watch=') ? events([added('a')], 'stall') : json({})),
      { certificate: 'server' },
    )
    const api = clientOf(clusterAt(server.url, { rejectUnauthorized: false }))
    for await (const _ of api.watch(THINGS, FROM)) break
    expect(asked.mock.calls).toEqual([[true, 30_000]])
    await api.raw('GET', '/version')
    expect(asked.mock.calls.slice(0, 2)).toEqual([
      [true, 30_000],
      [true, 30_000],
    ])
    api.close()
  })

  test('whose reader stops leaves no connection', async () => {
    await using server = await faultServer(() => events([added('a'), added('b')], 'stall'))
    for await (const _ of clientAt(server.url).watch(THINGS, FROM)) break
    await expect.poll(() => server.open(), { message: 'the connection to close' }).toBe(0)
  })

  test('whose opening is met with an exception leaves no connection', async () => {
    await using server = await faultServer(() => stream([], 'stall'))
    const watch = clientAt(server.url).watch(THINGS, {
      ...FROM,
      onOpen: () => expect.unreachable('a bug'),
    })
    expect(await rejection(Array.fromAsync(watch))).toMatchObject({ name: 'AssertionError' })
    await expect.poll(() => server.open(), { message: 'the connection to close' }).toBe(0)
  })

  test('whose signal is tripped while it waits throws at once', async () => {
    await using server = await faultServer(() => stream([], 'stall'))
    const ending = new AbortController()
    const watch = clientAt(server.url).watch(THINGS, {
      ...FROM,
      signal: ending.signal,
      onOpen: () => ending.abort(),
    })
    expect(await rejection(Array.fromAsync(watch))).toMatchObject({ failure: 'aborted' })
    await expect.poll(() => server.open(), { message: 'the connection to close' }).toBe(0)
  })

  test('whose signal is tripped gives nothing more of what has come', async () => {
    const both = Buffer.from([added('a'), added('b')].map((event) => `${JSON.stringify(event)}\n`).join(''))
    await using server = await faultServer(() => stream([both], 'stall'))
    const ending = new AbortController()
    const got: WatchEvent[] = []
    const work = async (): Promise<void> => {
      for await (const event of clientAt(server.url).watch(THINGS, { ...FROM, signal: ending.signal })) {
        got.push(event)
        ending.abort()
      }
    }
    expect(await rejection(work())).toMatchObject({ failure: 'aborted' })
    expect(got).toEqual([added('a')])
  })
})

function breach(detail: string): Error {
  return new Error(detail)
}

async function* chunks(parts: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* parts
}

describe('lines', () => {
  test('are the same however the bytes are cut', async () => {
    const line = fc.string({ unit: 'grapheme' }).filter((each) => !each.includes('\n'))
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.array(fc.nat()), async (lines, cuts) => {
        const bytes = Buffer.from(lines.map((each) => `${each}\n`).join(''))
        const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b)
        const parts = at.slice(1).map((to, i) => bytes.subarray(at[i], to))
        expect(await Array.fromAsync(linesOf(chunks(parts), 1 << 20, breach))).toEqual(lines)
      }),
      { numRuns: runs(100) },
    )
  })

  test.each([
    ['in one piece', ['123456\n']],
    ['in two pieces', ['1234', '56\n']],
    ['without an end', ['123456']],
  ])('that are too long, %s, are refused', async (_, parts) => {
    const work = Array.fromAsync(linesOf(chunks(parts.map((part) => Buffer.from(part))), 5, breach))
    expect(await rejection(work)).toMatchObject({ message: 'a line is longer than 5 bytes' })
  })
})
