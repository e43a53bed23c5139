// A manifest over a live object: what a controller or admission has set stays.
import { expect, test } from 'vitest'
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
