// The shape of kleym's SPIFFE IDs (docs/contract.md §5): what is built is read back, and nothing else is taken for it.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '@kleym/testing/runs.ts'
import {
  identityPath,
  parseIdentity,
  type IdentityBoundary,
} from '../../src/core/decide/compile/identity-path.ts'
import { spiffeIdProblem } from '../../src/core/decide/compile/identity.ts'

const name = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?$/)
/** Words of the paths themselves may be names. */
const names = fc.oneof({ weight: 8, arbitrary: name }, fc.constantFrom('pool', 'variant', 'objective', 'ns'))
const variant = fc.oneof(names, fc.stringMatching(/^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/))

const boundary: fc.Arbitrary<IdentityBoundary> = fc.oneof(
  fc.record({ mode: fc.constant('PoolOnly' as const), namespace: names, pool: names }),
  fc.record({ mode: fc.constant('PerVariant' as const), namespace: names, pool: names, variant }),
  fc.record({ mode: fc.constant('PerObjective' as const), namespace: names, objective: names }),
)

test('what is built is a SPIFFE ID, and is read back as it was', () => {
  fc.assert(
    fc.property(boundary, (one) => {
      const spiffeId = `spiffe://example.org${identityPath(one)}`
      expect(spiffeIdProblem(spiffeId)).toBeUndefined()
      expect(parseIdentity(spiffeId)).toEqual(one)
    }),
    { numRuns: runs(100) },
  )
})

test.each([
  'spiffe://example.org/ns/team-a/pool/llama/variant',
  'spiffe://example.org/ns/team-a/pool/llama/variant/',
  'spiffe://example.org/ns/team-a/pool/llama/variant/prefill/x',
  'spiffe://example.org/ns/team-a/pool/llama/role/prefill',
  'spiffe://example.org/ns/team-a/objective/chat/variant/prefill',
  'spiffe://example.org/ns/team-a/pool//variant/prefill',
  'spiffe://example.org/ns//pool/llama/variant/prefill',
  'spiffe:///ns/team-a/pool/llama/variant/prefill',
  'https://example.org/ns/team-a/pool/llama/variant/prefill',
])('%s is none of ours', (spiffeId) => {
  expect(parseIdentity(spiffeId)).toBeUndefined()
})
