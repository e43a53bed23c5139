// What the caches keep of an object as large as an API server takes one, 1.5 MB: a kilobyte or two, whatever is in it
// (docs/reliability.md, "One tenant's large objects"). `npm run bench:large` measures the memory of the whole operator.
import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { FINALIZER } from '@kleym/shared/core/model/names.ts'
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import { readMeta } from '@kleym/shared/core/model/objects/meta.ts'
import { binding, K8S_GROUP, objective, pool, X_GROUP } from '@kleym/testing/manifests.ts'
import { cachedBinding } from '../../src/caches/cached-binding.ts'
import { hasOurs } from '../../src/caches/kept-finalizers.ts'
import { keptMeta, withReadMeta } from '../../src/caches/kept-meta.ts'
import { cachedObjective, cachedPool } from '../../src/caches/cached-reference.ts'

const LARGE = 1_200_000
const KEPT_MAX = 8_000

/** Texts that together have as many characters as an object may have. */
function many(text: (at: number) => string): readonly string[] {
  return Array.from({ length: Math.ceil(LARGE / text(0).length) }, (_, at) => text(at))
}

const long = 'x'.repeat(LARGE)
const finalizers = [FINALIZER, ...many((at) => `example.com/${'h'.repeat(200)}-${at}`)]
const labels = Object.fromEntries(many((at) => `label-${at}`).map((key) => [key, 'x']))
const longKeys = Object.fromEntries(
  Array.from({ length: 64 }, (_, at) => [`${'k'.repeat(20_000)}${at}`, 'x']),
)

function withMetadata(object: JsonRecord, metadata: JsonRecord): JsonRecord {
  return { ...object, metadata: { ...Object(object['metadata']), ...metadata } }
}

const cases: readonly { name: string; object: JsonRecord; read: (object: JsonRecord) => unknown }[] = [
  { name: 'finalizers of a binding', object: withMetadata(binding(), { finalizers }), read: cachedBinding },
  {
    name: 'copies of our own finalizer',
    object: withMetadata(binding(), { finalizers: many(() => FINALIZER) }),
    read: cachedBinding,
  },
  {
    name: 'annotations of a binding',
    object: withMetadata(binding(), { annotations: { note: long } }),
    read: cachedBinding,
  },
  {
    name: 'owners of a binding',
    object: withMetadata(binding(), {
      ownerReferences: many((at) => `owner-${at}`).map((name) => ({ name })),
    }),
    read: cachedBinding,
  },
  {
    name: 'a name in the spec of a binding',
    object: binding({ spec: { poolRef: { name: long } } }),
    read: cachedBinding,
  },
  {
    name: 'a text in the spec of a binding',
    object: binding({ spec: { mode: long, containerName: long, serviceAccountName: long } }),
    read: cachedBinding,
  },
  { name: 'labels of a selector', object: pool({ group: X_GROUP, labels }), read: cachedPool(X_GROUP) },
  {
    name: 'long labels of a selector',
    object: pool({ group: X_GROUP, labels: longKeys }),
    read: cachedPool(X_GROUP),
  },
  {
    name: 'expressions of a selector',
    object: pool({
      spec: {
        selector: { matchExpressions: many((at) => `key-${at}`).map((key) => ({ key, values: [key] })) },
      },
    }),
    read: cachedPool(K8S_GROUP),
  },
  {
    name: 'a pool reference that is a text',
    object: objective({ poolRef: long }),
    read: cachedObjective(X_GROUP),
  },
  {
    name: 'a pool reference with long fields',
    object: objective({ poolRef: { name: long, namespace: long, kind: long, group: long } }),
    read: cachedObjective(X_GROUP),
  },
  {
    name: 'a pool reference with more than it may have',
    object: objective({ poolRef: { name: 'llama', more: long, group: many((at) => `${at}`) } }),
    read: cachedObjective(X_GROUP),
  },
]

test.each(cases)('little is kept of $name', ({ object, read }) => {
  // From text, as from an API server: no part of it is shared with this file.
  const text = JSON.stringify(object)
  expect(text.length).toBeGreaterThan(LARGE / 2)
  const parsed: JsonRecord = JSON.parse(text)
  const kept = inspect(read(parsed), { depth: Infinity, maxArrayLength: null, maxStringLength: null })
  expect(kept.length).toBeLessThan(KEPT_MAX)
})

test.each(cases.filter(({ read }) => read === cachedBinding))('a binding is large by $name', ({ object }) => {
  expect(cachedBinding(object).isLarge).toBe(true)
})

test('a binding with all that kubectl and the operator write into it is none of the large ones', () => {
  const applied = JSON.stringify(binding())
  const managedFields = ['kubectl-client-side-apply', 'kleym-operator', 'argocd-controller'].map(
    (manager) => ({
      manager,
      operation: 'Update',
      fieldsV1: Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`f:field-${at}`, {}])),
    }),
  )
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': applied, note: 'x'.repeat(8_000) }
  const object = withMetadata(binding({ status: { trustDomain: 'example.org' } }), {
    annotations,
    managedFields,
    finalizers: [FINALIZER],
  })
  expect(cachedBinding(object).isLarge).toBe(false)
})

test('a reader sees the fields of the metadata that are kept, and no others', () => {
  const object = withMetadata(binding(), { labels, finalizers, deletionTimestamp: '2026-01-01T00:00:00Z' })
  const { metadata, ...rest } = withReadMeta(object)
  expect(keptMeta(readMeta({ metadata }))).toEqual(keptMeta(readMeta(object)))
  expect(metadata).not.toHaveProperty('labels')
  expect(metadata).not.toHaveProperty('finalizers')
  expect({ ...rest, metadata: object['metadata'] }).toEqual(object)
})

test('whether ours is among thousands of finalizers is kept', () => {
  expect(hasOurs(cachedBinding(withMetadata(binding(), { finalizers })).finalizers)).toBe(true)
  expect(
    hasOurs(cachedBinding(withMetadata(binding(), { finalizers: finalizers.slice(1) })).finalizers),
  ).toBe(false)
})

function bindingWithStatus(trustDomain: string): JsonRecord {
  return binding({ status: { trustDomain } })
}

test('a status that is longer than any of ours is not kept', () => {
  expect(cachedBinding(bindingWithStatus('example.org')).readStatus()).toEqual({ trustDomain: 'example.org' })
  expect(cachedBinding(bindingWithStatus(long)).readStatus()).toBeUndefined()
})
