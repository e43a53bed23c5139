// The last hop: what the process makes of what it gets.
import { expect, test } from 'vitest'
import { NO, YES } from '../../src/core/model/truth/truth.ts'
import { hopOf } from './hops-of.ts'
import { binding, estate } from '@kleym/testing/manifests.ts'

test('a container that holds nothing has no SVID to use, whatever a registration nearby would give', () => {
  const given = { objects: estate(binding({ spec: { serviceAccountName: 'other' } })) }
  expect(hopOf('wanted', given).truth).toBe(NO)
  expect(hopOf('used', given)).toMatchObject({ text: 'it follows once the hop "wanted" is good' })
  expect(hopOf('used', given).truth).not.toBe(YES)
})
