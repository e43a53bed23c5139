// What a listing says of an object that was not read: never that it is not there.
import { expect, test, vi } from 'vitest'
import { FORBIDDEN, K8S_GROUP, pool } from '@kleym/testing/manifests.ts'
import { KindListing } from '../../src/core/snapshot/listing.ts'
import { readSnapshot, type SnapshotSource } from '../../src/core/snapshot/snapshot.ts'
import type { Pool } from '../../src/core/model/objects/inference.ts'

const POOL = `InferencePool.${K8S_GROUP}`
const part = { kind: POOL, name: undefined, why: FORBIDDEN }
const maker = {
  apiVersion: 'serving.kserve.io/v1alpha1',
  kind: 'LLMInferenceService',
  metadata: { name: 'made', namespace: 'team-b' },
  spec: { baseRefs: [{ name: 'not-given' }] },
}

function poolsOf({ objects = [], ...source }: Partial<SnapshotSource>): KindListing<Pool> {
  return readSnapshot({ objects: [{ value: pool() }, ...objects], ...source }).pools
}

/** Whether there is a pool `other` of a namespace, asked in each way; all of them agree. */
function other(pools: KindListing<Pool>, namespace: string): string {
  const isOther = ({ meta }: Pool): boolean => meta.name === 'other' && meta.namespace === namespace
  const { value } = pools.some(isOther, { namespace, name: 'other' })
  const { state } = pools.named(namespace, 'other')
  expect([value, state]).toEqual(state === 'absent' ? ['no', 'absent'] : ['open', 'unknown'])
  expect(pools.more({ namespace, name: 'other' }) !== undefined).toBe(state === 'unknown')
  return state
}

test.each<[string, Partial<SnapshotSource>, here: string, elsewhere: string]>([
  ['everything was read', {}, 'absent', 'absent'],
  ['the kind could not be listed', { gaps: new Map([[POOL, FORBIDDEN]]) }, 'unknown', 'unknown'],
  ['anything may be there', { gaps: new Map([['*', FORBIDDEN]]) }, 'unknown', 'unknown'],
  ['another kind could not be listed', { gaps: new Map([['Pod', FORBIDDEN]]) }, 'absent', 'absent'],
  ['a document of any namespace', { unread: [{ ...part, namespace: undefined }] }, 'unknown', 'unknown'],
  ['a document of the namespace', { unread: [{ ...part, namespace: 'team-a' }] }, 'unknown', 'absent'],
  [
    'a document of another name',
    { unread: [{ ...part, namespace: 'team-a', name: 'x' }] },
    'absent',
    'absent',
  ],
  ['one namespace was looked into', { namespacesRead: new Set(['team-a']) }, 'absent', 'unknown'],
  [
    'a controller may make pools elsewhere',
    { objects: [{ value: maker, isUnread: true }] },
    'absent',
    'unknown',
  ],
])('a pool that was not read: %s', (_name, source, here, elsewhere) => {
  const pools = poolsOf(source)
  expect([other(pools, 'team-a'), other(pools, 'team-b')]).toEqual([here, elsewhere])
  // What was read is there, whatever else may be.
  expect(pools.some(({ meta }) => meta.name === 'llama').value).toBe('yes')
  expect(pools.named('team-a', 'llama')).toMatchObject({ state: 'found' })
})

test('a listing of a change knows no more than the one before it', () => {
  const none = poolsOf({ gaps: new Map([[POOL, FORBIDDEN]]) }).with([])
  expect(none.isAnyRead).toBe(false)
  expect(none.some()).toMatchObject({ value: 'open' })
  expect([...none.some().causes]).toEqual([expect.objectContaining({ kind: 'unread', why: FORBIDDEN })])
})

test('of several with one name the first is found, and to ask for each takes no look at all others', () => {
  const all = Array.from({ length: 1_000 }, (_, at) => ({
    at,
    namespace: 'team-a',
    name: `pool-${at % 999}`,
  }))
  const nameOf = vi.fn<(one: (typeof all)[number]) => { namespace: string; name: string }>((one) => one)
  const listing = new KindListing(all, () => undefined, nameOf)
  const found = all.map(({ namespace, name }) => listing.named(namespace, name))
  expect(found).toEqual(all.map(({ at }) => ({ state: 'found', object: all[at % 999] })))
  expect(nameOf.mock.calls.length).toBeLessThan(2 * all.length)
})
