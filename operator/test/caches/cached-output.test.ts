// What the cache of ClusterSPIFFEIDs keeps of one, and what of another.
import { expect, test } from 'vitest'
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import { ANNOTATION_BINDING, FINALIZER } from '@kleym/shared/core/model/names.ts'
import { readClusterSpiffeId } from '@kleym/shared/core/model/objects/clusterspiffeid.ts'
import { cachedOutput } from '../../src/caches/cached-output.ts'
import { outputView } from '../../src/caches/output-view.ts'

/** A ClusterSPIFFEID as the API server has it, with everything that its metadata may hold. */
function stored(annotations: JsonRecord, name = 'kleym-team-a-chat'): JsonRecord {
  return {
    metadata: {
      name,
      uid: 'u1',
      resourceVersion: '7',
      generation: 3,
      creationTimestamp: '2026-01-01T00:00:00Z',
      deletionTimestamp: '2026-01-02T00:00:00Z',
      labels: { team: 'a' },
      annotations,
      finalizers: [FINALIZER, 'example.org/hold'],
      ownerReferences: [{ kind: 'ConfigMap', name: 'owner', uid: 'u2' }],
    },
    spec: { spiffeIDTemplate: 'spiffe://example.org/a', ttl: 7, hint: 'größer' },
  }
}

test('one that names a binding is read back as it was', () => {
  const value = stored({ [ANNOTATION_BINDING]: 'team-a/chat', note: 'by hand' })
  const cached = cachedOutput(value)
  expect(cached.bindingKey).toBe('team-a/chat')
  expect(outputView(cached)).toEqual(readClusterSpiffeId({ value }, 'live'))
})

test('one that names none is read back as it was where its name may be of kleym', () => {
  const value = stored({ note: 'by hand' }, 'kleym-team-a-chat-objective-0123456789abcdef0123')
  const cached = cachedOutput(value)
  expect(cached.bindingKey).toBeUndefined()
  expect(outputView(cached)).toEqual(readClusterSpiffeId({ value }, 'live'))
})

test('of any other one, only what tells it from others is kept', () => {
  const cached = cachedOutput(stored({ note: 'by hand' }))
  expect(cached).toEqual({
    meta: {
      name: 'kleym-team-a-chat',
      namespace: '',
      uid: 'u1',
      resourceVersion: '7',
      generation: 3,
      deletedAt: '2026-01-02T00:00:00Z',
    },
    bindingKey: undefined,
    install: undefined,
    isWhole: false,
  })
  expect(outputView(cached).meta).toMatchObject({
    name: 'kleym-team-a-chat',
    uid: 'u1',
    annotations: new Map(),
  })
})

test('an annotation that is no text names no binding', () => {
  expect(cachedOutput(stored({ [ANNOTATION_BINDING]: 7 })).bindingKey).toBeUndefined()
})
