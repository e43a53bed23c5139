// The signs that the datastore was restored, what is none, and which lists are not believed after one.
import { expect, it } from 'vitest'
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import type { Api, Listing } from '@kleym/shared/kube/api.ts'
import { BINDINGS, CLUSTER_SPIFFE_IDS, LEASES } from '@kleym/shared/kube/resources.ts'
import { FakeClock } from '@kleym/testing/fake-clock.ts'
import { rejection } from '@kleym/testing/clusters.ts'
import { DatastoreHistory } from '../../src/caches/datastore-history.ts'
import { settled } from '../build/fake-time.ts'

const REF = { namespace: 'team-a', name: 'chat' }
/** The version up to which bindings have been seen. */
const SEEN = '100'

interface Setup {
  /** How far the Lease has come. */
  lease: number
  /** How far the watch cache of the API server is. */
  cached: number
  readonly history: DatastoreHistory
  readonly clock: FakeClock
  /** The kinds that showed a sign, or whose list was of the history before. */
  readonly told: string[]
  /** The kinds whose watch cache was asked for its version. */
  readonly asked: string[]
  /** Lists a kind, whose pages are of these versions. */
  readonly list: (versions: readonly number[], resource?: typeof BINDINGS) => Promise<readonly Listing[]>
  readonly renew: () => Promise<JsonRecord>
}

function setUp({ isLater = false } = {}): Setup {
  const clock = new FakeClock()
  const told: string[] = []
  const asked: string[] = []
  const history = new DatastoreHistory({
    clock,
    seen: (resource) => (resource === BINDINGS ? SEEN : undefined),
    isLater,
    onRestored: ({ kind }) => told.push(kind),
    onOldList: ({ kind }) => told.push(`old ${kind}`),
  })
  const lease = async (): Promise<JsonRecord> => ({ metadata: { resourceVersion: String(setup.lease) } })
  const api: Omit<Api, 'pages'> = {
    get: lease,
    create: lease,
    update: lease,
    list: async ({ kind }) => {
      asked.push(kind)
      return { items: [], resourceVersion: String(setup.cached) }
    },
    patch: never,
    delete: never,
    watch: never,
  }
  const setup: Setup = {
    lease: 0,
    cached: 0,
    history,
    clock,
    told,
    asked,
    list: (versions, resource = BINDINGS) => {
      const pages = async function* listed(): AsyncGenerator<Listing> {
        for (const version of versions) yield { items: [], resourceVersion: String(version) }
      }
      return Array.fromAsync(history.watchedApi({ ...api, pages }).pages(resource))
    },
    renew: () => history.watchedLeases(api).get(LEASES, REF),
  }
  return setup
}

function never(): never {
  throw new TypeError('nobody asks for it')
}

it('a list whose first page is older than what was seen is a sign, and is not taken in', async () => {
  const setup = setUp()
  expect(await rejection(setup.list([99, 101]))).toMatchObject({ failure: 'aborted' })
  expect(setup.told).toEqual(['InferenceIdentityBinding'])
})

it.each<[string, (setup: Setup) => Promise<unknown>]>([
  ['a list that is as old as what was seen', (setup) => setup.list([100])],
  ['a later page', (setup) => setup.list([101, 99])],
  ['a list of a kind that was not seen yet', (setup) => setup.list([1], CLUSTER_SPIFFE_IDS)],
])('%s is none', async (_, call) => {
  const setup = setUp()
  await call(setup)
  expect([setup.told, setup.asked]).toEqual([[], []])
})

it('a Lease that is older than the last that was seen is a sign, and one that is not is none', async () => {
  const setup = setUp()
  for (const lease of [99, 99, 100]) {
    setup.lease = lease
    await setup.renew()
  }
  expect(setup.told).toEqual([])
  setup.lease = 90
  await setup.renew()
  expect(setup.told).toEqual(['Lease'])
})

it('after a restore a list waits until the Lease has come as far as the watch cache, once for each kind', async () => {
  const setup = setUp({ isLater: true })
  setup.cached = 110
  setup.lease = 109
  await setup.renew()
  let isIn = false
  const list = setup.list([109]).then(() => (isIn = true))
  await settled()
  expect(isIn).toBe(false)
  setup.lease = 111
  await setup.renew()
  setup.clock.advance(1_000)
  await list
  await setup.list([112])
  expect([setup.told, setup.asked]).toEqual([[], ['InferenceIdentityBinding']])
  await setup.list([112], CLUSTER_SPIFFE_IDS)
  expect(setup.asked).toEqual(['InferenceIdentityBinding', 'ClusterSPIFFEID'])
})

it('after a restore a list is refused while the watch cache is ahead of the datastore, however old the list is, which is reported once', async () => {
  const setup = setUp({ isLater: true })
  setup.cached = 300
  setup.lease = 200
  await setup.renew()
  for (const version of [300, 201]) {
    const refused = rejection(setup.list([version]))
    for (let at = 0; at < 30; at++) {
      await settled()
      setup.clock.advance(200)
    }
    expect(await refused).toMatchObject({ message: expect.stringContaining('before'), neverSent: false })
  }
  expect(setup.told).toEqual(['old InferenceIdentityBinding'])
  setup.cached = 201
  setup.lease = 202
  await setup.renew()
  await setup.list([201])
})
