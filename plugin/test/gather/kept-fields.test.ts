// A manifest over a live object: what a controller or admission has set stays.
import { describe, expect, test } from 'vitest'
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import { inProcess, type Ran } from '../support/in-process.ts'
import { workspace } from '../support/workspace.ts'

const SCM = `apiVersion: spire.spiffe.io/v1alpha1
kind: ControllerManagerConfig
className: spire
clusterName: c
trustDomain: example.org
`

const STAMPS = { uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z' }
const CONTAINERS = [{ name: 'c', image: 'i' }]

function pod(metadata: JsonRecord, spec: JsonRecord): JsonRecord {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'team-a', ...metadata },
    spec: { containers: CONTAINERS, ...spec },
  }
}

const LIVE = [
  {
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ClusterSPIFFEID',
    metadata: { name: 'x', ...STAMPS },
    spec: { className: 'spire', spiffeIDTemplate: 'spiffe://example.org/{{ .PodSpec.ServiceAccountName }}' },
  },
  { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', ...STAMPS } },
  pod({ ...STAMPS, uid: 'uid-of-p' }, { nodeName: 'n', serviceAccountName: 'default' }),
]

async function ask(command: string, file: JsonRecord, live: readonly JsonRecord[] = LIVE): Promise<Ran> {
  const cwd = await workspace({
    'live.json': JSON.stringify({ apiVersion: 'v1', kind: 'List', items: live }),
    'scm.yaml': SCM,
    'new.json': JSON.stringify(file),
  })
  const settings = ['--trust-domain', 'example.org', '--clusterspiffeid-class-name', 'spire']
  const given = ['--offline', '--live', 'live.json', '-f', 'new.json', '--scm-config', 'scm.yaml']
  return inProcess([command, '-A', ...given, ...settings], cwd)
}

test('a Pod keeps its node and its service account', async () => {
  const file = pod({ labels: { new: 'label' } }, {})
  const held = await ask('who-selects', file)
  expect(held.stdout).toContain('pod team-a/p, container c, holds spiffe://example.org/default')
  const { code, stdout } = await ask('diff', file)
  expect(stdout).toMatch(/^· no container gains or loses an identity/)
  expect(code).toBe(0)
})

test('a workload keeps its owner, whose pods it makes', async () => {
  const rollout = {
    apiVersion: 'example.org/v1',
    kind: 'Rollout',
    metadata: { name: 'r', namespace: 'team-a', ...STAMPS },
    spec: { template: { metadata: { labels: { app: 'r' } }, spec: { containers: CONTAINERS } } },
  }
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'r', namespace: 'team-a' },
    spec: { selector: { matchLabels: { app: 'r' } }, template: rollout.spec.template },
  }
  const ownerReferences = [
    { apiVersion: 'example.org/v1', kind: 'Rollout', name: 'r', uid: 'u', controller: true },
  ]
  const owned = { ...deployment, metadata: { ...deployment.metadata, ...STAMPS, uid: 'd', ownerReferences } }
  const { stdout } = await ask('who-selects', deployment, [...LIVE, rollout, owned])
  expect(stdout).toContain('Deployment team-a/r')
  expect(stdout).not.toContain('Rollout')
})

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

const poolSpec = (matchLabels: JsonRecord): JsonRecord => ({ selector: { matchLabels } })

const names = (principal: string): JsonRecord => ({ from: [{ source: { principals: [principal] } }] })

describe('what a live object has and its manifest lacks', () => {
  const POOL = { apiVersion: 'inference.networking.k8s.io/v1', kind: 'InferencePool' }
  const NAMED = { name: 'llama', namespace: 'team-a' }
  const BINDING = {
    apiVersion: 'kleym.sonda.red/v1alpha1',
    kind: 'InferenceIdentityBinding',
    metadata: { name: 'whole', namespace: 'team-a', ...STAMPS, uid: 'b' },
    spec: { poolRef: { name: 'llama' }, mode: 'PoolOnly', serviceAccountName: 'runner' },
  }
  const RUNNING = pod(
    { ...STAMPS, uid: 'uid-of-p', labels: { app: 'llama' } },
    { nodeName: 'n', serviceAccountName: 'runner' },
  )
  const NAMESPACE = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team-a', ...STAMPS } }

  /** What `diff` says of a pool with a further label, whose manifest lacks that. */
  async function ofPool(metadata: JsonRecord): Promise<readonly [number, string]> {
    const live = {
      ...POOL,
      metadata: { ...NAMED, ...STAMPS, ...metadata },
      spec: poolSpec({ app: 'llama', tier: 'gold' }),
    }
    const [, node] = LIVE
    const objects = [NAMESPACE, BINDING, RUNNING, live, ...(node === undefined ? [] : [node])]
    const { code, stdout } = await ask(
      'diff',
      { ...POOL, metadata: NAMED, spec: poolSpec({ app: 'llama' }) },
      objects,
    )
    return [code, stdout.split('\n')[0] ?? '']
  }

  test.each<[string, JsonRecord, string]>([
    [
      'goes if an apply gave it',
      { annotations: { [LAST_APPLIED]: JSON.stringify({ spec: poolSpec({ app: 'llama', tier: 'gold' }) }) } },
      '· 1 container of team-a gains spiffe://example.org/ns/team-a/pool/llama',
    ],
    [
      'stays if another has set it',
      { annotations: { [LAST_APPLIED]: JSON.stringify({ spec: poolSpec({ app: 'llama' }) }) } },
      '· no container gains or loses an identity, as long as 1 object of --live stays',
    ],
    [
      'is not known without a record',
      {},
      '! no container is known to gain or lose an identity among these files; no',
    ],
  ])('%s', async (_, metadata, expected) => {
    const [code, line] = await ofPool(metadata)
    expect([line, code === 4]).toEqual([expected, expected.startsWith('!')])
  })

  test('leaves a policy open, if it is in its rules', async () => {
    const policy = {
      apiVersion: 'security.istio.io/v1',
      kind: 'AuthorizationPolicy',
      metadata: { name: 'x', namespace: 'team-a' },
      spec: { action: 'ALLOW' },
    }
    const rules = [names('example.org/ns/team-a/pool/llama')]
    const live = { ...policy, metadata: { ...policy.metadata, ...STAMPS }, spec: { ...policy.spec, rules } }
    const asked = await ask('policies', policy, [...LIVE, live])
    expect(asked.stderr).toContain('live AuthorizationPolicy team-a/x has fields that its manifest lacks')
    expect((await ask('policies', { ...policy, spec: live.spec }, [...LIVE, live])).stderr).not.toContain(
      'lacks',
    )
  })

  test('leaves nothing open if it decides nothing, such as a default', async () => {
    const template = { metadata: { labels: { app: 'r' } }, spec: { containers: CONTAINERS } }
    const deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'r', namespace: 'team-a' },
      spec: { selector: { matchLabels: { app: 'r' } }, template },
    }
    const filledIn = {
      ...template,
      spec: { ...template.spec, dnsPolicy: 'ClusterFirst', restartPolicy: 'Always' },
    }
    const live = {
      ...deployment,
      metadata: { ...deployment.metadata, ...STAMPS },
      spec: { ...deployment.spec, template: filledIn },
    }
    const { code, stderr } = await ask('who-selects', deployment, [...LIVE, live])
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('lacks')])
    const account = { ...filledIn, spec: { ...filledIn.spec, serviceAccountName: 'other' } }
    const set = { ...live, spec: { ...deployment.spec, template: account } }
    const asked = await ask('who-selects', deployment, [...LIVE, set])
    expect(asked.stderr).toContain('live Deployment team-a/r has fields that its manifest lacks')
    expect(asked.code).toBe(4)
  })
})
