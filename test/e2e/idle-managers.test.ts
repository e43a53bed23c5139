// Two SCMs that are both told not to reconcile ClusterSPIFFEIDs: which of them serves a pod is not known, and a static entry that only
// one of them handles is neither issued nor ignored for certain. With the executable that ships.
import { beforeAll, expect, test } from 'vitest'
import { built, kleym } from './plugin.ts'
import { documents, NODE, POD, SCM_CONFIG, workspace } from './workspace.ts'

beforeAll(built)

const ENTRY = `apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterStaticEntry
metadata: {name: by-hand}
spec:
  spiffeID: spiffe://example.org/by-hand
  parentID: spiffe://example.org/spire/agent/k8s_psat/prod/5f3d3e5d-6a0f-4a3a-a0a6-7b0d2a1f8a11
  selectors: ['k8s:ns:team-a']
`
const IDLE = SCM_CONFIG.replace('metadata: {name: scm}\n', '').replace(
  'watchClassless: true',
  'reconcile: {clusterStaticEntries: true}',
)

test('neither is taken for the one that is meant without a word', async () => {
  const cwd = workspace({
    'all.yaml': documents(POD, NODE, ENTRY),
    'a.yaml': `${IDLE}className: x\n`,
    'b.yaml': IDLE,
  })
  const files = ['-f', 'all.yaml', '-f', 'a.yaml', '-f', 'b.yaml']
  const settings = ['--trust-domain', 'example.org', '--clusterspiffeid-class-name', '']
  const { code, stdout, stderr } = await kleym(['who-selects', '-A', '--offline', ...files, ...settings], {
    cwd,
  })
  expect(`${stdout}${stderr}`).toContain('which SCM serves the nodes of a pod')
  expect(stdout).not.toContain('✓')
  expect(stdout).not.toContain('no identity')
  expect(code).toBe(4)
})
