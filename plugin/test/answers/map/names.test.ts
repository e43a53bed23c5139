// The map draws whom objects of other programs name: patterns by the identities that they take in, and no client that a rule leaves out.
import { expect, test } from 'vitest'
import { listAt, stringAt } from '@kleym/shared/core/base/json.ts'
import { stringify } from 'yaml'
import { askJson, CHAT } from '../../support/policy-manifests.ts'

test('an object that mentions an identity in a string, and not what it mentions besides', async () => {
  const peers = stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'peers', namespace: 'web' },
    data: { peer: CHAT, other: 'spiffe://elsewhere.org/other' },
  })
  const answer = await askJson(['map', '-A'], peers)
  const from = 'policy/ConfigMap/web/peers'
  const edges = listAt(answer, 'edges').filter((one) => stringAt(one, 'from') === from)
  expect(edges).toMatchObject([{ to: `identity/${CHAT}`, rule: '.data.peer', how: 'mentioned' }])
  expect(listAt(answer, 'nodes').map((one) => stringAt(one, 'id'))).toContain(from)
  expect(JSON.stringify(answer)).not.toContain('identity/spiffe://elsewhere.org')
})

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
