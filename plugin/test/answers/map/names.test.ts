// The map draws whom objects of other programs name: patterns by the identities that they take in, and no client that a rule leaves out.
import { expect, test } from 'vitest'
import { listAt, stringAt } from '@kleym/shared/core/base/json.ts'
import { stringify } from 'yaml'
import { askJson, CHAT, policy as accessPolicy } from '../../support/policy-manifests.ts'

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
    { from: 'policy/AuthorizationPolicy/team-a/callers', rule: '#1', how: 'exactly' },
    { from: 'policy/AuthorizationPolicy/team-a/callers', rule: '#1', how: 'pattern' },
  ])
})

test.each([
  ['--spiffe-id', CHAT],
  ['-l', 'app=llama'],
])('a narrow map (%s) draws the policy that names any principal', async (...narrow) => {
  const open = accessPolicy('open', [{ name: 'all' }])
  const ids = listAt(await askJson(['map', '-A', ...narrow], open), 'nodes').map((one) => stringAt(one, 'id'))
  expect(ids).toContain('policy/XAccessPolicy/agents/open')
})

test('the ID of a service account: by a rule that names the account, and by one that perhaps names the ID', async () => {
  const id = 'spiffe://example.org/ns/team-a/sa/runner'
  const registration = stringify({
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ClusterSPIFFEID',
    metadata: { name: 'accounts' },
    spec: { spiffeIDTemplate: id },
  })
  const ofMesh = stringify({
    apiVersion: 'security.istio.io/v1',
    kind: 'AuthorizationPolicy',
    metadata: { name: 'mesh', namespace: 'team-a' },
    // What `cluster.local` stands for is not known here.
    spec: { rules: [{ from: [{ source: { principals: ['cluster.local/ns/team-a/sa/runner'] } }] }] },
  })
  const source = { type: 'ServiceAccount', serviceAccount: { name: 'runner', namespace: 'team-a' } }
  const ofAccount = accessPolicy('tools', [{ name: 'one', source }])
  for (const more of [[], ['--spiffe-id', id]]) {
    const answer = await askJson(['map', '-A', ...more], [registration, ofMesh, ofAccount].join('---\n'))
    const edges = listAt(answer, 'edges').filter((one) => stringAt(one, 'to') === `identity/${id}`)
    expect(edges.filter((one) => stringAt(one, 'kind') === 'names')).toMatchObject([
      { from: 'policy/XAccessPolicy/agents/tools', rule: 'one', how: 'service account' },
      { from: 'policy/AuthorizationPolicy/team-a/mesh', rule: '#1', how: 'perhaps' },
    ])
  }
})
