// What the counters of all outputs add up to while outputs come, change and go.
import { expect, test } from 'vitest'
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import { ANNOTATION_BINDING } from '@kleym/shared/core/model/names.ts'
import { createCaches } from '../../src/caches/caches.ts'
import { talliedOutputs } from '../../src/caches/tallied-outputs.ts'

const caches = createCaches({ onError: (error) => expect.fail(String(error)) })
let version = 0

function output(name: string, entriesToSet: number | undefined, binding = 'team-a/chat'): JsonRecord {
  version += 1
  return {
    metadata: {
      name,
      uid: name,
      resourceVersion: String(version),
      ...(binding !== '' && { annotations: { [ANNOTATION_BINDING]: binding } }),
    },
    spec: {},
    ...(entriesToSet !== undefined && { status: { stats: { entriesToSet } } }),
  }
}

test('the sum follows each change, and outputs that name no binding are not in it', () => {
  const { store, read } = caches.outputs
  const tally = talliedOutputs(caches)
  store.apply('ADDED', read(output('a', 3)))
  store.apply('ADDED', read(output('b', undefined)))
  store.apply('ADDED', read(output('c', 250)))
  store.apply('ADDED', read(output('others', 1_000, '')))
  expect(tally.sum()).toEqual({ entries: 253, largest: 250, counted: 2, uncounted: 1 })
  store.apply('MODIFIED', read(output('b', 250)))
  store.apply('MODIFIED', read(output('c', 7)))
  expect(tally.sum()).toEqual({ entries: 260, largest: 250, counted: 3, uncounted: 0 })
  store.apply('DELETED', read(output('b', 250)))
  expect(tally.sum()).toEqual({ entries: 10, largest: 7, counted: 2, uncounted: 0 })
  store.apply('MODIFIED', read(output('a', 9, '')))
  expect(tally.sum()).toEqual({ entries: 7, largest: 7, counted: 1, uncounted: 0 })
})
