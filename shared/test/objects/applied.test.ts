// A manifest over a live object, as `kubectl apply` merges them: what an earlier apply gave and the manifest lacks goes, what others have
// set stays.
import { describe, expect, test } from 'vitest'
import type { JsonRecord } from '../../src/core/base/json.ts'
import { afterApply, appliedRecord, LAST_APPLIED } from '../../src/core/model/objects/applied.ts'

const POOL = { apiVersion: 'inference.networking.k8s.io/v1', kind: 'InferencePool' }
const DEPLOYMENT = { apiVersion: 'apps/v1', kind: 'Deployment' }

const byClient = (manifest: JsonRecord): JsonRecord => ({
  annotations: { [LAST_APPLIED]: JSON.stringify(manifest) },
})
const byServer = (fieldsV1: JsonRecord): JsonRecord => ({
  managedFields: [
    { operation: 'Update', manager: 'kubectl-edit', fieldsV1: { 'f:spec': { 'f:a': {}, 'f:b': {} } } },
    { operation: 'Apply', manager: 'flux', fieldsV1: { 'f:spec': fieldsV1 } },
  ],
})

function applied(
  metadata: JsonRecord,
  live: JsonRecord,
  given: JsonRecord,
  type: JsonRecord = POOL,
): unknown {
  const merged = afterApply({ ...type, spec: given }, { ...type, spec: live }, appliedRecord(metadata))
  return merged['spec']
}

describe.each([
  ['kubectl', byClient({ spec: { a: 1, map: { x: 1 }, list: [1] } })],
  ['an apply on the server', byServer({ 'f:a': {}, 'f:map': { 'f:x': {} }, 'f:list': {} })],
])('what %s gave', (_, record) => {
  test.each<[string, live: JsonRecord, given: JsonRecord, JsonRecord]>([
    ['goes if the manifest lacks it', { a: 1, c: 1 }, { c: 2 }, { c: 2 }],
    ['goes within a mapping', { map: { x: 1, y: 2 } }, { map: { z: 3 } }, { map: { y: 2, z: 3 } }],
    ['is replaced by the manifest', { a: 1 }, { a: 2 }, { a: 2 }],
    ['stays where another has set it', { b: 1, map: { y: 2 } }, {}, { b: 1, map: { y: 2 } }],
    ['and null in the manifest takes away', { b: 1 }, { b: null }, { b: null }],
    ['a list is replaced', { list: [1, 2] }, { list: [3] }, { list: [3] }],
  ])('%s', (_says, live, given, expected) => {
    const isOfClient = 'annotations' in record
    const gone = { ...expected }
    // A client-side apply takes away a mapping with what others have put into it.
    if (isOfClient && 'map' in gone && !('map' in given)) delete gone['map']
    expect(applied(record, live, given)).toEqual(gone)
  })
})

test('who owns a whole value owns what is in it', () => {
  const record = byServer({ 'f:map': {} })
  expect(applied(record, { map: { x: 1, y: 2 } }, { map: { z: 3 } })).toEqual({ map: { z: 3 } })
})

test.each([
  ['kubectl', byClient({ spec: { containers: [{ name: 'a' }, { name: 'b', image: 'b' }] } })],
  [
    'the server',
    byServer({ 'f:containers': { 'k:{"name":"a"}': {}, 'k:{"name":"b"}': { 'f:image': {}, 'f:name': {} } } }),
  ],
])('lists of containers are merged by name: applied by %s', (_, record) => {
  const live = { containers: [{ name: 'a' }, { name: 'b', image: 'b', tty: true }, { name: 'c' }] }
  const given = { containers: [{ name: 'b', image: 'b2' }] }
  expect(applied(record, live, given, DEPLOYMENT)).toEqual({
    containers: [{ name: 'b', image: 'b2', tty: true }, { name: 'c' }],
  })
  expect(applied(record, live, given)).toEqual(given)
})

test('a field of any name is a field, and records of any form are read', () => {
  const live = Object.fromEntries([
    ['__proto__', { a: 1 }],
    ['b', 1],
  ])
  const merged = applied(byClient({ spec: { b: 1 } }), live, {})
  expect(JSON.stringify(merged)).toBe('{"__proto__":{"a":1}}')
  for (const managedFields of [7, [7], [{ operation: 'Apply', fieldsV1: [] }], [{ operation: 'Apply' }]])
    expect(applied({ managedFields }, { a: 1 }, { c: 1 })).toEqual({ a: 1, c: 1 })
})

test('without a record of an apply nothing goes', () => {
  expect(appliedRecord({ annotations: { [LAST_APPLIED]: '[' } })).toBeUndefined()
  expect(appliedRecord({ managedFields: [{ operation: 'Update', manager: 'helm' }] })).toBeUndefined()
  expect(applied({}, { a: 1, map: { x: 1 } }, { map: {} })).toEqual({ a: 1, map: { x: 1 } })
})
