// Cached objects as the core takes them: what the caches do not keep is no blank.
import { expect, test } from 'vitest'
import { binding, pool } from '@kleym/testing/manifests.ts'
import { cachedBinding } from '../../src/caches/cached-binding.ts'
import { cachedPool } from '../../src/caches/cached-reference.ts'
import { bindingView, poolView } from '../../src/caches/core-view.ts'

const VIEWS = [
  ['binding', bindingView(cachedBinding(binding({ name: 'chat' })))],
  ['pool', poolView(cachedPool('inference.networking.k8s.io')(pool()))],
] as const

test.each(VIEWS)('the metadata of a %s that is not kept cannot be read', (_kind, { meta }) => {
  expect(meta.namespace).toBe('team-a')
  for (const key of ['labels', 'annotations', 'ownerReferences', 'finalizers', 'createdAt'] as const) {
    expect(() => meta[key]).toThrow(/^the operator's caches do not keep metadata\./)
  }
})
