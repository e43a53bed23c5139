// The status of a binding, as it is read back.
import { binding } from '@kleym/testing/manifests.ts'
import { expect, test } from 'vitest'
import { readBinding } from '../../src/core/model/objects/binding.ts'

test('a status that cannot be read is as if absent, and a good one is read', () => {
  const status = { clusterSPIFFEID: { name: 'a', uid: 'b' }, stray: true }
  expect(statusRead(status)).toEqual({ clusterSPIFFEID: { name: 'a', uid: 'b' } })
  expect(statusRead({ ...status, observedGeneration: 'one' })).toBeUndefined()
  expect(statusRead('Ready')).toBeUndefined()
})

function statusRead(status: unknown): unknown {
  return readBinding({ value: binding({ status }) }, 'live').status
}
