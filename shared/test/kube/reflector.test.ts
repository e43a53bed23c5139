// What a reflector asks for, when, and what it says of itself, request by request.
import { describe, expect, it } from 'vitest'
import type { JsonRecord } from '../../src/core/base/json.ts'
import { readMeta, type ObjectMeta } from '../../src/core/model/objects/meta.ts'
import type { Api, CallOptions, Listing, WatchEvent, WatchCallOptions } from '../../src/kube/api.ts'
import { ApiError, ConnectionError } from '../../src/kube/errors.ts'
import { Reflector, type ReflectorState } from '../../src/kube/reflector.ts'
import { Store } from '../../src/kube/store.ts'
import { FakeClock } from '@kleym/testing/fake-clock.ts'
import { flush } from './reflector-model.ts'

interface Thing {
  readonly meta: ObjectMeta
}

const THINGS = { group: 'example.com', version: 'v1', plural: 'things', kind: 'Thing', namespaced: true }

/** What a list comes to: its pages, a failure, or nothing for ever. */
type ListScript = readonly Listing[] | Error | 'nothing'

interface WatchScript {
  /** Whether the server accepts the watch before anything else. */
  readonly opens?: boolean
  readonly events?: readonly WatchEvent[]
  /** How long after the events the watch ends, in milliseconds. */
  readonly endsAfterMs?: number
  /** How it ends: by itself when absent; never, until it is aborted; or by a failure. */
  readonly ends?: 'never' | Error
}

const QUIET: WatchScript = { opens: true, ends: 'never' }

/** Answers from two scripts, whose last entries repeat, and logs what was asked. */
class ScriptedApi implements Pick<Api, 'pages' | 'watch'> {
  readonly log: string[] = []
  readonly lists: ListScript[]
  readonly watches: WatchScript[]
  readonly clock: FakeClock
  /** `timeoutSeconds` of every watch. */
  readonly seconds: number[] = []
  /** How long each page takes, in milliseconds. */
  pageMs = 0

  constructor(clock: FakeClock, lists: readonly ListScript[], watches: readonly WatchScript[]) {
    this.clock = clock
    this.lists = [...lists]
    this.watches = [...watches]
  }

  async *pages(_: unknown, options: CallOptions = {}): AsyncIterable<Listing> {
    this.log.push('list')
    const script = (this.lists.length > 1 ? this.lists.shift() : this.lists[0]) ?? 'nothing'
    if (script instanceof Error) throw script
    if (script === 'nothing') await aborted(options)
    else
      for (const next of script) {
        this.clock.advance(this.pageMs)
        yield next
      }
  }

  async *watch(_: unknown, options: WatchCallOptions): AsyncIterable<WatchEvent> {
    this.log.push(`watch from ${options.resourceVersion}`)
    this.seconds.push(options.timeoutSeconds)
    const script = (this.watches.length > 1 ? this.watches.shift() : this.watches[0]) ?? QUIET
    if (script.opens === true) options.onOpen?.()
    yield* script.events ?? []
    if (script.endsAfterMs !== undefined) this.clock.advance(script.endsAfterMs)
    if (script.ends === 'never') await aborted(options)
    if (script.ends instanceof Error) throw script.ends
  }
}

async function aborted({ signal }: CallOptions): Promise<never> {
  return new Promise((_, reject) => {
    const end = (): void => reject(new ConnectionError('aborted', 'ended', { neverSent: false }))
    signal?.addEventListener('abort', end, { once: true })
  })
}

function raw(name: string, version: number, more: JsonRecord = {}): JsonRecord {
  return { metadata: { name, namespace: 'ns', uid: `u-${name}`, resourceVersion: String(version) }, ...more }
}

function page(version: number, ...items: JsonRecord[]): Listing {
  return { items, resourceVersion: String(version) }
}

function bookmark(version: number): WatchEvent {
  return { type: 'BOOKMARK', object: { metadata: { resourceVersion: String(version) } } }
}

function answer(
  status: number,
  reason = '',
  more: { retryAfterMs?: number; details?: unknown } = {},
): ApiError {
  return new ApiError({ status, reason, message: `answered ${status}`, ...more })
}

const EXPIRED = answer(410, 'Expired')
const RESET = new ConnectionError('reset', 'the connection was reset', { neverSent: false })

interface Setup {
  readonly lists?: readonly ListScript[]
  readonly watches?: readonly WatchScript[]
  readonly read?: (object: JsonRecord) => Thing | undefined
  readonly onState?: (state: ReflectorState) => void
  readonly random?: () => number
}

function setUp({ lists = [[page(10)]], watches = [QUIET], read, onState, random = () => 0 }: Setup): {
  api: ScriptedApi
  clock: FakeClock
  store: Store<Thing>
  reflector: Reflector<Thing>
  states: string[]
  errors: unknown[]
} {
  const clock = new FakeClock()
  const api = new ScriptedApi(clock, lists, watches)
  const errors: unknown[] = []
  const states: string[] = []
  const store = new Store<Thing>({ onError: (error) => errors.push(error) })
  const reflector = new Reflector<Thing>({
    api,
    resource: THINGS,
    store,
    read: read ?? ((object) => ({ meta: readMeta(object) })),
    clock,
    random,
    onState: (state) => {
      states.push(stateText(state))
      onState?.(state)
    },
    onError: (error) => errors.push(error),
  })
  return { api, clock, store, reflector, states, errors }
}

function stateText(state: ReflectorState): string {
  if (state.kind !== 'failing') return state.kind
  return `cannot ${state.why.verb}: ${state.why.cause}${state.synced ? ', listed before' : ''}`
}

function held(store: Store<Thing>): readonly string[] {
  return [...store.values()].map(({ meta }) => `${meta.name}@${meta.resourceVersion}`).toSorted()
}

describe('the requests', () => {
  it('are all pages of a list, and a watch from its version', async () => {
    const { api, store, reflector, states } = setUp({
      lists: [[page(10, raw('a', 3)), page(10, raw('b', 4))]],
    })
    expect(reflector.state).toEqual({ kind: 'waiting' })
    reflector.start()
    reflector.start()
    await flush()
    expect(api.log).toEqual(['list', 'watch from 10'])
    expect(held(store)).toEqual(['a@3', 'b@4'])
    expect(states).toEqual(['synced'])
    await reflector.stop()
  })

  it('go on from the last event or bookmark when the server ends a watch', async () => {
    const { api, store, reflector, states } = setUp({
      watches: [
        { opens: true, events: [{ type: 'ADDED', object: raw('a', 12) }], endsAfterMs: 28_000 },
        { opens: true, events: [bookmark(20)], endsAfterMs: 28_000 },
        QUIET,
      ],
    })
    reflector.start()
    await flush()
    expect(api.log).toEqual(['list', 'watch from 10', 'watch from 12', 'watch from 20'])
    expect(held(store)).toEqual(['a@12'])
    expect(states).toEqual(['synced'])
    await reflector.stop()
  })

  it.each([
    [0, 28],
    [0.5, 31],
    [0.9999, 34],
  ])('ask for watches of 28 to 34 s: at random %d, %d s', async (random, seconds) => {
    const { api, reflector } = setUp({ random: () => random })
    reflector.start()
    await flush()
    expect(api.seconds).toEqual([seconds])
    await reflector.stop()
  })

  it('do not come in a hot loop from a server that ends watches at once', async () => {
    const { api, clock, reflector, states } = setUp({ watches: [{ opens: true }] })
    reflector.start()
    await flush()
    expect(api.log).toEqual(['list', 'watch from 10'])
    expect(clock.nextIn).toBe(800)
    clock.advance(800)
    await flush()
    expect(api.log).toHaveLength(3)
    expect(states).toEqual(['synced'])
    await reflector.stop()
  })

  const FUTURE = answer(504, 'Timeout', { details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } })
  it.each([
    ['the version is too old (410)', EXPIRED],
    ['the version is gone (an old server)', answer(410, 'Gone')],
    ['the server was restored to an earlier version (504)', FUTURE],
    ['the server takes it for no version (400)', answer(400, 'BadRequest')],
    ['the kind is no longer served (404)', answer(404)],
  ])('are a new list at once when %s', async (_, error) => {
    const { api, clock, reflector, states } = setUp({
      lists: [[page(10)], [page(30)]],
      watches: [{ opens: true, ends: error }, QUIET],
    })
    reflector.start()
    await flush()
    expect(api.log).toEqual(['list', 'watch from 10', 'list', 'watch from 30'])
    expect(states).toEqual(['synced'])
    expect(clock.nextIn, 'the stall timer alone').toBe(36_000)
    await reflector.stop()
  })

  it('do not come in a hot loop from a server whose versions always expire', async () => {
    const { api, clock, reflector } = setUp({ watches: [{ opens: true, ends: EXPIRED }] })
    reflector.start()
    await flush()
    expect(api.log).toHaveLength(4)
    const waits: (number | undefined)[] = []
    for (let round = 0; round < 3; round++) {
      waits.push(clock.nextIn)
      clock.advance(clock.nextIn ?? 0)
      await flush()
    }
    expect(waits).toEqual([800, 1600, 3200])
    await reflector.stop()
  })

  it('are a new list at once again when events came in between', async () => {
    const expires: WatchScript = { events: [bookmark(11)], ends: EXPIRED }
    const { api, reflector } = setUp({ watches: [expires, expires, expires, QUIET] })
    reflector.start()
    await flush()
    expect(api.log.filter((line) => line === 'list')).toHaveLength(4)
    await reflector.stop()
  })

  it('begin the list again when a page token has expired', async () => {
    const { api, reflector, states } = setUp({ lists: [EXPIRED, [page(10)]] })
    reflector.start()
    await flush()
    expect(api.log).toEqual(['list', 'list', 'watch from 10'])
    expect(states).toEqual(['synced'])
    await reflector.stop()
  })
})

describe('a list that fails', () => {
  const LOST = new ConnectionError('refused', 'refused', { neverSent: true })
  it.each<[Error, string]>([
    [answer(403, 'Forbidden'), 'cannot list: forbidden'],
    [answer(404, 'NotFound'), 'cannot list: absent'],
    [answer(429, 'TooManyRequests'), 'cannot list: throttled'],
    [answer(500, 'InternalError'), 'cannot list: failed'],
    [LOST, 'cannot list: unreachable'],
    [new ConnectionError('malformed', 'no JSON', { neverSent: false }), 'cannot list: malformed'],
  ])('with %s says so, goes on trying, and recovers', async (error, state) => {
    const { api, clock, reflector, states, errors } = setUp({ lists: [error, error, [page(10)]] })
    reflector.start()
    await flush()
    expect(states).toEqual([state])
    clock.advance(800)
    await flush()
    expect(states, 'the same state is reported once').toEqual([state])
    clock.advance(1600)
    await flush()
    expect(states).toEqual([state, 'synced'])
    expect(api.log).toEqual(['list', 'list', 'list', 'watch from 10'])
    expect(errors).toEqual([error, error])
    await reflector.stop()
  })

  it.each([
    [0, [800, 1600, 3200, 6400, 12_800, 15_000, 15_000]],
    [0.5, [1200, 2400, 4800, 9600, 19_200, 22_500, 22_500]],
    [1, [1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000]],
  ])('is tried again after growing waits, at random %d: %j ms', async (random, expected) => {
    const { clock, reflector } = setUp({ lists: [RESET], random: () => random })
    reflector.start()
    const waits: (number | undefined)[] = []
    for (const _ of expected) {
      await flush()
      waits.push(clock.nextIn)
      clock.advance(clock.nextIn ?? 0)
    }
    expect(waits).toEqual(expected)
    await reflector.stop()
  })

  it.each([
    ['shorter than the wait of its own', 100, 800],
    ['longer', 7000, 7000],
    ['absurd, which would overflow a timer', 1e12, 30_000],
  ])('honours a Retry-After that is %s', async (_, retryAfterMs, wait) => {
    const { clock, reflector } = setUp({ lists: [answer(429, 'TooManyRequests', { retryAfterMs })] })
    reflector.start()
    await flush()
    expect(clock.nextIn).toBe(wait)
    await reflector.stop()
  })

  it('because its pages always expire says so after the second time', async () => {
    const { api, clock, reflector, states } = setUp({ lists: [EXPIRED] })
    reflector.start()
    await flush()
    expect(api.log).toEqual(['list', 'list'])
    expect(states).toEqual(['cannot list: refused'])
    expect(clock.nextIn).toBe(800)
    await reflector.stop()
  })

  it('is tried at once when a caller knows better', async () => {
    const { api, clock, reflector } = setUp({ lists: [answer(404), [page(10)]] })
    reflector.start()
    await flush()
    reflector.retryNow()
    await flush()
    expect(api.log).toEqual(['list', 'list', 'watch from 10'])
    expect(clock.monotonicMs()).toBe(0)
    await reflector.stop()
  })

  it('keeps what the store holds, and says that it is old', async () => {
    const gone = answer(404)
    const { store, reflector, states } = setUp({
      lists: [[page(10, raw('a', 3))], gone],
      watches: [{ opens: true, ends: gone }],
    })
    reflector.start()
    await flush()
    expect(held(store)).toEqual(['a@3'])
    expect(states).toEqual(['synced', 'cannot list: absent, listed before'])
    await reflector.stop()
  })
})

describe('a watch that fails', () => {
  it('once is normal, twice is reported, and one that is accepted ends it', async () => {
    const breaks: WatchScript = { ends: RESET }
    const { api, clock, reflector, states } = setUp({ watches: [breaks, breaks, QUIET] })
    reflector.start()
    await flush()
    expect(states).toEqual(['synced'])
    clock.advance(800)
    await flush()
    expect(states).toEqual(['synced', 'cannot watch: unreachable, listed before'])
    clock.advance(1600)
    await flush()
    expect(states.at(-1)).toBe('synced')
    expect(api.log, 'no list is needed').toEqual(['list', 'watch from 10', 'watch from 10', 'watch from 10'])
    await reflector.stop()
  })

  it('again and again after it was accepted stays normal', async () => {
    const { clock, reflector, states } = setUp({ watches: [{ opens: true, ends: RESET }] })
    reflector.start()
    for (let round = 0; round < 5; round++) {
      await flush()
      expect(clock.nextIn).toBe(800)
      clock.advance(800)
    }
    expect(states).toEqual(['synced'])
    await reflector.stop()
  })
})

describe('a stall', () => {
  it('of a watch is noticed 8 s after the server should have ended it', async () => {
    const { api, clock, reflector, errors } = setUp({})
    reflector.start()
    await flush()
    clock.advance(35_999)
    await flush()
    expect(errors).toEqual([])
    clock.advance(1)
    await flush()
    expect(errors).toEqual([expect.objectContaining({ failure: 'timed out' })])
    clock.advance(800)
    await flush()
    expect(api.log).toEqual(['list', 'watch from 10', 'watch from 10'])
    await reflector.stop()
  })

  it('of a watch that is silent with its connection open is over within 45 s, and reads no silence as absence', async () => {
    const deletion: WatchEvent = { type: 'DELETED', object: raw('a', 12) }
    const { clock, store, reflector, states } = setUp({
      lists: [[page(10, raw('a', 3), raw('b', 4))]],
      watches: [QUIET, { ...QUIET, events: [deletion] }],
      random: () => 0.9999,
    })
    reflector.start()
    await flush()
    const until = clock.monotonicMs() + 45_000
    let heldWhileSilent = held(store)
    while (clock.nextIn !== undefined && clock.monotonicMs() + clock.nextIn <= until) {
      heldWhileSilent = held(store)
      clock.advance(clock.nextIn)
      await flush()
    }
    expect(heldWhileSilent).toEqual(['a@3', 'b@4'])
    expect(held(store), 'what the next watch told').toEqual(['b@4'])
    expect(states, 'a stall is no doubt about what is held').toEqual(['synced'])
    await reflector.stop()
  })

  it('of a watch is counted from the moment at which the server has accepted it', async () => {
    const { api, clock, reflector, errors } = setUp({})
    const accepted = Promise.withResolvers<void>()
    const watch = api.watch.bind(api)
    api.watch = async function* (resource, options) {
      await accepted.promise
      yield* watch(resource, options)
    }
    reflector.start()
    await flush()
    clock.advance(20_000)
    accepted.resolve()
    await flush()
    clock.advance(35_999)
    await flush()
    expect(errors).toEqual([])
    clock.advance(1)
    await flush()
    expect(errors).toHaveLength(1)
    await reflector.stop()
  })

  it('of a list is noticed after 75 s', async () => {
    const { clock, reflector, states } = setUp({ lists: ['nothing', [page(10)]] })
    reflector.start()
    await flush()
    clock.advance(75_000)
    await flush()
    expect(states).toEqual(['cannot list: timed out'])
    clock.advance(800)
    await flush()
    expect(states.at(-1)).toBe('synced')
    await reflector.stop()
  })
})

describe('a long list', () => {
  it('is none that stalls, as long as its pages come', async () => {
    const { api, store, reflector, states } = setUp({ lists: [[page(10), page(10), page(10, raw('a', 3))]] })
    api.pageMs = 60_000
    reflector.start()
    await flush()
    expect([states, held(store)]).toEqual([['synced'], ['a@3']])
    await reflector.stop()
  })
})

describe('a stop', () => {
  it('ends a request, and nothing comes after it', async () => {
    const events: WatchEvent[] = [
      { type: 'ADDED', object: raw('a', 11) },
      { type: 'ADDED', object: raw('b', 12) },
    ]
    const { clock, store, reflector } = setUp({ watches: [{ events, ends: 'never' }] })
    let stopped: Promise<void> | undefined
    store.subscribe(() => {
      stopped = reflector.stop()
    })
    reflector.start()
    await flush()
    await stopped
    expect(held(store)).toEqual(['a@11'])
    expect(clock.timers).toBe(0)
  })

  it('ends a wait', async () => {
    const { api, clock, reflector } = setUp({ lists: [RESET] })
    reflector.start()
    await flush()
    await reflector.stop()
    expect([clock.timers, api.log]).toEqual([0, ['list']])
  })

  it('during a list takes nothing in and tells no state', async () => {
    const { store, reflector, states } = setUp({ lists: ['nothing'] })
    reflector.start()
    await flush()
    await reflector.stop()
    expect([store.listed, states]).toEqual([false, []])
  })

  it('on the last page of a list takes nothing in either', async () => {
    const stop: { now: () => void } = { now: () => {} }
    const { store, reflector, states } = setUp({
      lists: [[page(10, raw('a', 3))]],
      read: (object) => {
        stop.now()
        return { meta: readMeta(object) }
      },
    })
    stop.now = () => void reflector.stop()
    reflector.start()
    await flush()
    expect([store.listed, states]).toEqual([false, []])
  })

  it('before the start is no fault', async () => {
    const { api, reflector } = setUp({})
    await reflector.stop()
    reflector.start()
    await flush()
    expect(api.log).toEqual([])
  })
})

describe('what cannot be read', () => {
  const FAULT = new Error('a fault of the reader')
  const refuse: Required<Setup>['read'] = (object) => {
    if (object['broken'] === 'throws') throw FAULT
    return object['broken'] === true ? undefined : { meta: readMeta(object) }
  }

  it('is not there, in lists and in events, until it can be read again', async () => {
    const { store, reflector, states, errors } = setUp({
      read: refuse,
      lists: [[page(10, raw('a', 3), raw('b', 4, { broken: true }), raw('c', 5, { broken: 'throws' }))]],
      watches: [
        {
          events: [
            { type: 'MODIFIED', object: raw('a', 11, { broken: true }) },
            { type: 'MODIFIED', object: raw('b', 12) },
            { type: 'DELETED', object: raw('b', 13, { broken: 'throws' }) },
            { type: 'MODIFIED', object: raw('c', 14) },
          ],
          ends: 'never',
        },
      ],
    })
    const log: string[] = []
    store.subscribe((change) => log.push(change.kind))
    reflector.start()
    await flush()
    expect(log).toEqual(['added', 'removed', 'added', 'removed', 'added'])
    expect(held(store)).toEqual(['c@14'])
    expect(states).toEqual(['synced'])
    expect(errors).toEqual([FAULT])
    await reflector.stop()
  })
})

it('goes on when a listener for its state throws', async () => {
  const { api, reflector, errors } = setUp({
    onState: () => {
      throw new Error('a fault of a listener')
    },
  })
  reflector.start()
  await flush()
  expect(api.log).toEqual(['list', 'watch from 10'])
  expect(errors).toHaveLength(1)
  await reflector.stop()
})
