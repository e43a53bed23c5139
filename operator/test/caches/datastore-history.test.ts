// The signs that the datastore was restored, what is none, and what a call comes to in whose midst it was.
import { expect, it } from 'vitest'
import type { JsonRecord } from '@kleym/shared/core/json.ts'
import type { Api, Listing } from '@kleym/shared/kube/api.ts'
import { ApiError } from '@kleym/shared/kube/errors.ts'
import { BINDINGS, CLUSTER_SPIFFE_IDS, LEASES } from '@kleym/shared/kube/resources.ts'
import { FakeClock } from '@kleym/testing/fake-clock.ts'
import { rejection } from '@kleym/testing/clusters.ts'
import { createCaches } from '../../src/caches/caches.ts'
import { DatastoreHistory, heldUntilListed, isListedAnew } from '../../src/caches/datastore-history.ts'

const REF = { namespace: 'team-a', name: 'chat' }

function object(version: number): JsonRecord {
  return { metadata: { resourceVersion: String(version) } }
}

function page(version: number): Listing {
  return { items: [], resourceVersion: String(version) }
}

interface Setup {
  /** What every call is answered with, until it is changed. */
  version: number
  /** How far the watch cache of the API server is; undefined: as far as its lists. */
  cached: number | undefined
  /** What calls wait for. */
  gate: Promise<void>
  readonly api: Api
  readonly history: DatastoreHistory
  readonly clock: FakeClock
  /** The kinds that showed a sign. */
  readonly signs: string[]
  readonly list: (pages?: readonly number[]) => Promise<void>
}

/** Version 100 of a binding has been listed. */
async function setUp(): Promise<Setup> {
  const clock = new FakeClock()
  const signs: string[] = []
  const history = new DatastoreHistory({
    clock,
    onRestored: ({ kind }) => signs.push(kind),
    onOldList: ({ kind }) => signs.push(`old ${kind}`),
  })
  let pages: readonly number[] = [100]
  const answer = async (): Promise<JsonRecord> => {
    await setup.gate
    return object(setup.version)
  }
  const server: Api = {
    get: answer,
    create: answer,
    update: answer,
    patch: answer,
    list: async (_, { fromWatchCache = false } = {}) => {
      await setup.gate
      return page(fromWatchCache ? (setup.cached ?? setup.version) : setup.version)
    },
    pages: async function* listed() {
      await setup.gate
      for (const version of pages) yield page(version)
    },
    delete: async () => ({ state: 'terminating', object: await answer() }),
    watch: async function* events() {
      yield { type: 'MODIFIED', object: object(setup.version) }
    },
  }
  const setup: Setup = {
    version: 100,
    cached: undefined,
    gate: Promise.resolve(),
    api: history.watchedApi(server),
    history,
    clock,
    signs,
    list: async (versions = [setup.version]) => {
      pages = versions
      await Array.fromAsync(setup.api.pages(BINDINGS))
    },
  }
  await setup.list()
  return setup
}

async function watched({ api }: Setup): Promise<void> {
  await Array.fromAsync(api.watch(BINDINGS, { resourceVersion: '1', timeoutSeconds: 1 }))
}

function leases(setup: Setup): Pick<Api, 'get' | 'create' | 'update'> {
  return setup.history.watchedLeases(setup.api)
}

it.each<[string, (setup: Setup) => Promise<unknown>]>([
  ['the first page of a list', (setup) => setup.list([90, 101])],
  ['the answer to a POST', ({ api }) => api.create(BINDINGS, {})],
  ['the answer to a PUT', ({ api }) => api.update(BINDINGS, object(95))],
  ['the answer to a PATCH', ({ api }) => api.patch(BINDINGS, REF, object(95), { kind: 'merge' })],
])(
  '%s with a lower version than was known is a sign, and the call is as if it had no answer',
  async (_, call) => {
    const setup = await setUp()
    setup.version = 90
    expect(await rejection(call(setup))).toMatchObject({ failure: 'aborted', neverSent: false })
    expect([setup.signs, setup.history.restores]).toEqual([['InferenceIdentityBinding'], 1])
  },
)

it.each<[string, (setup: Setup) => Promise<unknown>]>([
  ['a later page', (setup) => setup.list([100, 90])],
  ['the answer to a PUT that changes nothing', ({ api }) => api.update(BINDINGS, object(90))],
  [
    'the answer to a PATCH that changes nothing',
    ({ api }) => api.patch(BINDINGS, REF, object(90), { kind: 'merge' }),
  ],
  ['the answer to a GET', ({ api }) => api.get(BINDINGS, REF)],
  ['the answer to a DELETE', ({ api }) => api.delete(BINDINGS, REF)],
  ['a watch event', watched],
  ['what another resource shows', ({ api }) => api.create(CLUSTER_SPIFFE_IDS, {})],
])('%s is none', async (_, call) => {
  const setup = await setUp()
  setup.version = 90
  await call(setup)
  expect(setup.signs).toEqual([])
})

it('what became known after a request had begun is not held against its answer', async () => {
  const setup = await setUp()
  const open = Promise.withResolvers<void>()
  setup.gate = open.promise
  setup.version = 105
  const created = setup.api.create(BINDINGS, {})
  setup.version = 110
  await watched(setup)
  setup.version = 105
  open.resolve()
  await created
  expect(setup.signs).toEqual([])
})

it('a Lease that is older than the last that was acknowledged is a sign, and the election goes on', async () => {
  const setup = await setUp()
  await leases(setup).update(LEASES, object(99))
  setup.version = 90
  expect(await leases(setup).get(LEASES, REF)).toEqual(object(90))
  expect(setup.signs).toEqual(['Lease'])
  setup.version = 91
  await leases(setup).update(LEASES, object(90))
  expect(setup.signs, 'one restore is one').toEqual(['Lease'])
})

const CALLS: readonly (readonly [string, (setup: Setup) => Promise<unknown>])[] = [
  ['a GET', ({ api }) => api.get(BINDINGS, REF)],
  ['a POST', ({ api }) => api.create(CLUSTER_SPIFFE_IDS, {})],
  ['a DELETE', ({ api }) => api.delete(CLUSTER_SPIFFE_IDS, { name: 'one' })],
  ['a list', ({ api }) => api.list(BINDINGS)],
  ['a list in pages', (setup) => setup.list([101])],
]
const GONE = new ApiError({
  status: 404,
  reason: 'NotFound',
  message: 'not found',
  details: { name: 'chat' },
})

it.each(
  CALLS.flatMap(([what, call]) => [
    { what, end: 'an answer', call, isRefused: false },
    { what, end: 'a 404', call, isRefused: true },
  ]),
)(
  '$what that began before the restore and ends after it with $end is as if it had none',
  async ({ call, isRefused }) => {
    const setup = await setUp()
    await leases(setup).update(LEASES, object(99))
    const open = Promise.withResolvers<void>()
    const now = setup.gate
    setup.gate = open.promise
    const under = rejection(call(setup))
    setup.gate = now
    setup.version = 90
    await leases(setup).get(LEASES, REF)
    setup.version = 300
    if (isRefused) open.reject(GONE)
    else open.resolve()
    expect(await under).toMatchObject({ neverSent: false })
    expect(setup.history.restores).toBe(1)
  },
)

it('a list of the old history, from an API server that was not restarted, is refused until the new one has come as far', async () => {
  const setup = await setUp()
  await leases(setup).update(LEASES, object(99))
  setup.version = 90
  await leases(setup).get(LEASES, REF)
  setup.clock.advance(3_600_000)
  for (const version of [100, 120]) {
    const refused = await rejection(setup.list([version]))
    expect(refused).toMatchObject({ message: expect.stringContaining('before'), neverSent: false })
  }
  expect(setup.signs, 'told once').toEqual(['Lease', 'old InferenceIdentityBinding'])
  await setup.list([91])
  setup.version = 100
  await leases(setup).update(LEASES, object(90))
  await setup.list([101])
  expect(setup.history.restores).toBe(1)
})

it('a list that is new, from an API server whose watches are of the old history, is refused until its cache is new too', async () => {
  const setup = await setUp()
  await leases(setup).update(LEASES, object(99))
  setup.version = 90
  await leases(setup).get(LEASES, REF)
  setup.version = 91
  setup.cached = 99
  expect(await rejection(setup.list([91]))).toMatchObject({ message: expect.stringContaining('before') })
  expect(await rejection(setup.api.list(BINDINGS))).toMatchObject({ neverSent: false })
  expect(setup.signs).toEqual(['Lease', 'old InferenceIdentityBinding'])
  setup.cached = undefined
  await setup.list([91])
  // A cache that is behind is none of the old history: it goes on from the datastore.
  setup.cached = 80
  await setup.list([92])
  expect(setup.history.restores).toBe(1)
})

it('how far the cache is, is asked after a restore alone, and until the new history has come as far as the old one', async () => {
  const setup = await setUp()
  setup.cached = 1_000
  await setup.list([101])
  expect(await rejection(setup.list([90]))).toMatchObject({ message: expect.stringContaining('meanwhile') })
  setup.version = 91
  expect(await rejection(setup.list([91]))).toMatchObject({ message: expect.stringContaining('before') })
  setup.version = 102
  setup.clock.advance(30_000)
  await setup.list([102])
  expect(setup.history.restores).toBe(1)
})

it('without a Lease, such a list is refused for half a minute', async () => {
  const setup = await setUp()
  await rejection(setup.list([90]))
  await rejection(setup.list([100]))
  setup.clock.advance(30_000)
  await setup.list([100])
  expect(setup.signs).toEqual(['InferenceIdentityBinding', 'old InferenceIdentityBinding'])
})

it('nothing is asked or written before bindings and outputs are listed', async () => {
  const setup = await setUp()
  let isListed = false
  const held = heldUntilListed(setup.api, () => isListed)
  const calls: readonly (() => Promise<unknown>)[] = [
    () => held.get(BINDINGS, REF),
    () => held.list(BINDINGS),
    () => Array.fromAsync(held.pages(BINDINGS)),
    () => held.create(BINDINGS, {}),
    () => held.update(BINDINGS, {}),
    () => held.patch(BINDINGS, REF, {}, { kind: 'merge' }),
    () => held.delete(BINDINGS, REF),
  ]
  for (const call of calls) expect(await rejection(call())).toMatchObject({ neverSent: true })
  isListed = true
  for (const call of calls) await call()
})

it('a kind that could not be read since is not listed anew, though its state tells why', () => {
  const caches = createCaches({ onError: () => {} })
  expect(isListedAnew(caches)).toBe(true)
  for (const cache of [caches.bindings, caches.outputs]) {
    cache.beginHistory()
    cache.setSyncState({ kind: 'unknown', why: { verb: 'list', what: 'a kind', cause: 'forbidden' } })
  }
  expect(isListedAnew(caches)).toBe(false)
  caches.bindings.store.replace([], '7', caches.bindings.store.listBegins())
  expect(isListedAnew(caches)).toBe(false)
  // Not served: nothing is there.
  caches.outputs.clear()
  expect(isListedAnew(caches)).toBe(true)
  caches.bindings.beginHistory()
  expect(isListedAnew(caches)).toBe(false)
})
