// What a snapshot says of things that are not in it: certainly absent, of a kind that is not there, or not known and why.
import { describe, expect, test } from 'vitest'
import type { Lookup } from '../../src/core/compile/references.ts'
import { bindingsIn, readSnapshot, referencesIn, type SnapshotSource } from '../../src/core/snapshot.ts'
import { binding, FORBIDDEN, K8S_GROUP, objective, pool } from './build.ts'

const POOL = `InferencePool.${K8S_GROUP}`
const source = (more: Partial<SnapshotSource> = {}): SnapshotSource => ({
  objects: [pool(), objective(), binding()].map((value) => ({ value })),
  ...more,
})
const poolOf = (more: Partial<SnapshotSource>, namespace: string, name: string): Lookup<unknown> =>
  referencesIn(readSnapshot(source(more))).pool(K8S_GROUP, namespace, name)
const state = ({ state: found }: Lookup<unknown>): string => found

describe('a pool', () => {
  test.each<[string, Partial<SnapshotSource>, readonly [string, string], string]>([
    ['that is there', {}, ['team-a', 'llama'], 'found'],
    ['that is not', {}, ['team-a', 'other'], 'absent'],
    ['of a namespace that was read', { namespacesRead: new Set(['team-a']) }, ['team-a', 'other'], 'absent'],
    ['of one that was not', { namespacesRead: new Set(['team-b']) }, ['team-a', 'other'], 'unknown'],
    ['that was found where nobody looked', { namespacesRead: new Set() }, ['team-a', 'llama'], 'found'],
    ['of a kind that is not served', { absentKinds: new Set([POOL]) }, ['team-a', 'other'], 'kind absent'],
    [
      'of a kind that could not be read',
      { gaps: new Map([[POOL, FORBIDDEN]]) },
      ['team-a', 'other'],
      'unknown',
    ],
    ['where nothing is sure', { gaps: new Map([['*', FORBIDDEN]]) }, ['team-a', 'other'], 'unknown'],
  ])('%s is %s', (_says, more, [namespace, name], found) => {
    expect(state(poolOf(more, namespace, name))).toBe(found)
  })

  test('of a namespace that was not read says so', () => {
    expect(poolOf({ namespacesRead: new Set(['team-b']) }, 'team-a', 'x')).toEqual({
      state: 'unknown',
      why: { verb: 'list', what: POOL, namespace: 'team-a', cause: 'not given' },
    })
  })
})

test('a binding of a namespace that was not read is not known', () => {
  const lookUp = bindingsIn(readSnapshot(source({ namespacesRead: new Set(['team-a']) })))
  expect(state(lookUp('team-a/llama'))).toBe('found')
  expect(state(lookUp('team-a/other'))).toBe('absent')
  expect(lookUp('team-b/other')).toMatchObject({ state: 'unknown', why: { namespace: 'team-b' } })
})

describe('nodes and endpoints', () => {
  const node = { value: { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } } }

  test.each<[string, SnapshotSource, number | undefined]>([
    ['of files that have none', { objects: [] }, undefined],
    ['of files that have some', { objects: [node] }, 1],
    ['of a cluster that has none', { objects: [], listedKinds: new Set(['Node', 'Endpoints']) }, 0],
    ['of a cluster that lists others', { objects: [], listedKinds: new Set(['Pod']) }, undefined],
    ['that could not all be read', { objects: [node], gaps: new Map([['Node', FORBIDDEN]]) }, undefined],
  ])('%s', (_says, given, count) => {
    expect(readSnapshot(given).nodes?.length).toBe(count)
  })

  test('endpoints of a cluster that has none are none', () => {
    expect(readSnapshot({ objects: [], listedKinds: new Set(['Endpoints']) }).endpoints).toEqual([])
    expect(readSnapshot({ objects: [], listedKinds: new Set(['Node']) }).endpoints).toBeUndefined()
  })
})
