// Which SPIFFE IDs Istio takes for identities, asked of Istio's own Go package (go/istio/main.go).
import { runs, seedOf } from '@kleym/testing/runs.ts'
import * as fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { identityPath, type IdentityBoundary } from '../../shared/src/core/decide/compile/identity-path.ts'
import { isMeshIdentity } from '../../shared/src/core/analysis/consumers/consumers.ts'
import { ensureClient, FIRST_BUILD_MS } from './client-binaries.ts'
import { istioOf } from './istio.ts'

beforeAll(async () => {
  await ensureClient('istio')
}, FIRST_BUILD_MS)

const NAME = fc.stringMatching(/^[a-z0-9]([a-z0-9.-]{0,8}[a-z0-9])?$/)
const TRUST = fc.stringMatching(/^[a-z0-9._-]{1,12}$/)
const BOUNDARY: fc.Arbitrary<IdentityBoundary> = fc.oneof(
  fc.record({ mode: fc.constant('PoolOnly' as const), namespace: NAME, pool: NAME }),
  fc.record({ mode: fc.constant('PerVariant' as const), namespace: NAME, pool: NAME, variant: NAME }),
  fc.record({ mode: fc.constant('PerObjective' as const), namespace: NAME, objective: NAME }),
)
const OURS = fc.tuple(TRUST, BOUNDARY).map(([domain, one]) => `spiffe://${domain}${identityPath(one)}`)
const OF_ACCOUNT = fc
  .tuple(TRUST, NAME, NAME)
  .map(([domain, ns, sa]) => `spiffe://${domain}/ns/${ns}/sa/${sa}`)
/** Texts near the form, most of them off by a part. */
const NEAR = fc
  .tuple(
    fc.constantFrom('spiffe://', 'spiffe://', 'spiffe://', 'SPIFFE://', 'spiffe:/', ''),
    fc.constantFrom('td', 'td', '', '\n', 'é'),
    fc.constantFrom('/ns/', '/ns/', '/ns/', '/sa/', '/ns', '/'),
    fc.constantFrom('n', '', 'n/m', '?'),
    fc.constantFrom('/sa/', '/sa/', '/sa/', '/pool/', '/'),
    fc.constantFrom('a', '', '\n', 'sa'),
    fc.constantFrom('', '', '/', '/x', '\n'),
  )
  .map((parts) => parts.join(''))

function sampled<T>(arbitrary: fc.Arbitrary<T>, count: number): readonly T[] {
  return fc.sample(arbitrary, { numRuns: runs(count), ...seedOf(41) })
}

describe('an ID', () => {
  test('of a service account is an identity for Istio', async () => {
    expect(await istioOf(['spiffe://example.org/ns/team-a/sa/runner'])).toEqual([
      { trustDomain: 'example.org', namespace: 'team-a', serviceAccount: 'runner' },
    ])
    const ids = sampled(OF_ACCOUNT, 300)
    expect((await istioOf(ids)).filter((one) => one === null)).toEqual([])
  })

  test.each<[mode: string, path: string]>([
    ['PoolOnly', '/ns/team-a/pool/llama'],
    ['PerVariant', '/ns/team-a/pool/llama/variant/decode'],
    ['PerObjective', '/ns/team-a/objective/chat'],
  ])('of %s is none', async (_, path) => {
    expect(await istioOf([`spiffe://example.org${path}`])).toEqual([null])
  })

  test('of a binding is none, whatever its names', async () => {
    const ids = sampled(OURS, 1_000)
    expect((await istioOf(ids)).filter((one) => one !== null)).toEqual([])
  })

  test('is an identity of a mesh for kleym where it is one for Istio', async () => {
    const ids = sampled(fc.oneof(NEAR, NEAR, OURS, OF_ACCOUNT, fc.string()), 5_000)
    const found = await istioOf(ids)
    expect(ids.filter((id, at) => isMeshIdentity(id) !== (found[at] !== null))).toEqual([])
    const accepted = found.filter((one) => one !== null).length
    expect(accepted).toBeGreaterThan(ids.length / 10)
    expect(accepted).toBeLessThan((ids.length * 2) / 3)
  })
})
