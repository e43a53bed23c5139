// The last hop: what the process makes of what it gets.
import { expect, test } from 'vitest'
import { NO, YES } from '../../src/core/model/truth/truth.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'
import { hopOf } from './hops-of.ts'
import { binding, estate } from '@kleym/testing/manifests.ts'

test('a container that holds nothing has no SVID to use, whatever a registration nearby would give', () => {
  const given = { objects: estate(binding({ spec: { serviceAccountName: 'other' } })) }
  expect(hopOf('wanted', given).truth).toBe(NO)
  expect(hopOf('used', given)).toMatchObject({ text: 'not checked until the hop "wanted" is good' })
  expect(hopOf('used', given).truth).not.toBe(YES)
})

const registration = (name: string, spec: JsonRecord): JsonRecord => ({
  apiVersion: 'spire.spiffe.io/v1alpha1',
  kind: 'ClusterSPIFFEID',
  metadata: { name, uid: name },
  spec: { spiffeIDTemplate: `spiffe://example.org/${name}`, ...spec },
})
const FALLBACK = registration('default', { fallback: true })

test('an SVID of a fallback that gave way follows from what is rendered, since the container is registered', () => {
  const other = registration('other', { workloadSelectorTemplates: ['k8s:ns:elsewhere'] })
  const given = { objects: [FALLBACK, other], spiffeId: 'spiffe://example.org/default' }
  expect(hopOf('wanted', given).truth).toBe(YES)
  expect(hopOf('rendered', given).truth).toBe(NO)
  expect(hopOf('used', given)).toMatchObject({ text: 'not checked until the hop "rendered" is good' })
})

test.each([
  ['alone, it is not called one more', [], /^whether it gets spiffe:\/\/example.org\/perhaps is not known/],
  [
    'beside another one, it is one more',
    [registration('certain', { hint: 'c' })],
    /^whether it also gets spiffe:\/\/example.org\/perhaps/,
  ],
])('of an SVID that is not certain: %s', (_what, more, text) => {
  const perhaps = registration('perhaps', { hint: 'p', federatesWith: ['other.example'] })
  expect(hopOf('used', { objects: [perhaps, ...more] }).text).toMatch(text)
})
