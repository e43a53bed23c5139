// `KindKeeper` on a server whose faults come when the test says so, with a clock that the test turns, and what becomes of one of
// its caches: for the tests of how far a cache may be believed.
import { expect, onTestFinished } from 'vitest'
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import { BINDINGS, CLUSTER_SPIFFE_IDS, OBJECTIVES, POOLS } from '@kleym/shared/kube/resources.ts'
import { FakeTime, settled } from '../build/fake-time.ts'
import { keptLog } from '../build/log-lines.ts'
import { KindKeeper } from '../../src/caches/kind-keeper.ts'
import { createCaches } from '../../src/caches/caches.ts'
import type { SyncState } from '@kleym/shared/kube/followed-kind.ts'
import { answer, KindsServer } from './kinds-server.ts'

const EVERY_KIND = [BINDINGS, CLUSTER_SPIFFE_IDS, ...POOLS, ...OBJECTIVES]
/** The kind that all of this is about: the only one of its group. */
export const SUBJECT = CLUSTER_SPIFFE_IDS
export const FORBIDDEN = answer(403, 'Forbidden')
export const NOTHING = answer(404, 'NotFound')
export const FAILED = answer(500, 'InternalError')
export const SECOND = 1_000
export const MINUTE = 60 * SECOND

/** `synced`, or `unknown: forbidden`. */
function textOf(syncState: SyncState): string {
  return syncState.kind === 'unknown' ? `unknown: ${syncState.why.cause}` : syncState.kind
}

/** Nothing has begun. It ends with its test, which fails where a listener has thrown. */
export function setUp(): Setup {
  const time = new FakeTime()
  const server = new KindsServer(EVERY_KIND, () => time.nowMs)
  const errors: unknown[] = []
  const onError = (error: unknown): void => void errors.push(error)
  const caches = createCaches({ onError })
  const cache = caches.outputs
  const said: string[] = []
  const heard: string[] = []
  cache.onSyncState(() => said.push(`${time.nowMs / SECOND} s: ${textOf(cache.syncState)}`))
  cache.store.subscribe((change) => {
    const { name } = (change.kind === 'removed' ? change.before : change.now).meta
    heard.push(`${change.kind} ${name} while ${cache.syncState.kind}`)
  })
  const setup: Setup = {
    time,
    server,
    said,
    heard,
    recoveries: 0,
    syncState: () => textOf(cache.syncState),
    names: () => [...cache.store.values()].map(({ meta }) => meta.name).toSorted(),
    recheck: () => setup.keeper.recheck(cache),
    keeper: new KindKeeper({
      api: server.api,
      caches,
      clock: time.clock(),
      random: () => 0,
      log: keptLog().log,
      onError,
      onCrdChange: () => {},
      onRecovered: () => {
        setup.recoveries += 1
      },
    }),
  }
  onTestFinished(async () => {
    await setup.keeper.stop()
    if (errors.length > 0) throw new AggregateError(errors, 'a listener has thrown')
  })
  return setup
}

/** `KindKeeper` on such a server, and what is seen of its cache of one kind. */
export interface Setup {
  readonly time: FakeTime
  readonly server: KindsServer
  readonly keeper: KindKeeper
  /** What its cache's syncState became, and when. */
  readonly said: string[]
  /** What became of its objects, and what its syncState was by then. */
  readonly heard: string[]
  /** How often the API server was said to be heard of again. */
  recoveries: number
  /** What its cache's syncState is. */
  syncState(): string
  /** The names that its cache holds. */
  names(): readonly string[]
  recheck(): Promise<void>
}

/** Everything is served, every cache is filled, and nothing has been noted yet. */
export async function filled(...names: readonly string[]): Promise<Setup> {
  const setup = setUp()
  for (const name of names) setup.server.write(SUBJECT, named(name))
  await begin(setup)
  expect(setup.syncState()).toBe('synced')
  setup.said.length = 0
  setup.heard.length = 0
  return setup
}

/** As `filled`, without the kind and its CRD. */
export async function without(): Promise<Setup> {
  const setup = setUp()
  setup.server.withdraw(SUBJECT)
  await begin(setup)
  expect(setup.syncState()).toBe('absent')
  setup.said.length = 0
  return setup
}

/** The first discovery is answered, and what it named is followed. */
export async function begin({ keeper }: Setup): Promise<void> {
  await keeper.start()
  await settled()
}

/** An object of the kind. */
export function named(name: string): JsonRecord {
  return { metadata: { name } }
}

export const forbid = ({ server }: Setup): void => server.refuse(SUBJECT, FORBIDDEN)
export const fail = ({ server }: Setup): void => server.refuse(SUBJECT, FAILED)
export const permit = ({ server }: Setup): void => server.refuse(SUBJECT, undefined)
