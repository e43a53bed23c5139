// The map draws whom objects of other programs name: patterns by the identities that they take in, and no client that a rule leaves out.
import { expect, test } from 'vitest'
import { listAt, stringAt } from '@kleym/shared/core/base/json.ts'
import { stringify } from 'yaml'
import { askJson, CHAT } from '../../support/policy-manifests.ts'

test('a policy of Istio, by pattern, by ID, and by what it leaves out', async () => {
  const policy = stringify({
    apiVersion: 'security.istio.io/v1',
    kind: 'AuthorizationPolicy',
    metadata: { name: 'callers', namespace: 'team-a' },
    spec: {
      rules: [
        { from: [{ source: { principals: ['example.org/ns/team-a/*', CHAT.slice('spiffe://'.length)] } }] },
        { from: [{ source: { notPrincipals: [CHAT.slice('spiffe://'.length)] } }] },
      ],
    },
  })
  const answer = await askJson(['map', '-A'], policy)
  const edges = listAt(answer, 'edges').filter((one) => stringAt(one, 'kind') === 'names')
  expect(edges).toMatchObject([
    { from: 'policy/AuthorizationPolicy/team-a/callers', rule: '#1', how: 'pattern' },
    { from: 'policy/AuthorizationPolicy/team-a/callers', rule: '#1', how: 'exactly' },
  ])
})
