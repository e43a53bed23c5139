// Entries of a server of which it is not known whether they should be there: the registration that explains them asks for a label
// of a Namespace that is not among the files. `verify`, with the executable that ships.
import { beforeAll, describe, expect, test } from 'vitest'
import { built, kleym, type Run } from './plugin.ts'
import { documents, POD, NODE, SCM_CONFIG, SETTINGS, workspace } from './workspace.ts'

beforeAll(built)

const LIVE = 'resourceVersion: "1", generation: 1, creationTimestamp: "2026-01-01T00:00:00Z"'
const WORLD = documents(
  POD,
  NODE,
  `apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: {name: prod, uid: c1, ${LIVE}}
spec: {spiffeIDTemplate: 'spiffe://example.org/prod', namespaceSelector: {matchLabels: {env: prod}}}
`,
)

const ENTRY = {
  id: 'e1',
  spiffe_id: { trust_domain: 'example.org', path: '/prod' },
  parent_id: {
    trust_domain: 'example.org',
    path: '/spire/agent/k8s_psat/prod/5f3d3e5d-6a0f-4a3a-a0a6-7b0d2a1f8a11',
  },
  selectors: [{ type: 'k8s', value: 'pod-uid:3d0ff7fd-08cb-45dd-9e5a-2c9d3d6cc73f' }],
  created_at: '1767225600',
}

async function verify(
  entries: readonly object[],
  env?: string,
  ...more: readonly string[]
): Promise<Pick<Run, 'code' | 'stdout' | 'stderr'>> {
  const namespace = `apiVersion: v1\nkind: Namespace\nmetadata: {name: team-a, labels: {env: ${env ?? ''}}}\n`
  const cwd = workspace({
    'all.yaml': documents(WORLD, ...(env === undefined ? [] : [namespace])),
    'scm.yaml': SCM_CONFIG,
    'entries.json': JSON.stringify({ entries }),
  })
  const args = ['verify', '--entries', 'entries.json', '--offline', '-f', 'all.yaml', ...SETTINGS, ...more]
  return kleym(args, { cwd })
}

describe('an entry of a registration whose Namespace is not among the files', () => {
  test('is not known to be right: 4, and with the Namespace 0 or 1', async () => {
    const open = await verify([ENTRY])
    expect(open.stdout).toContain('1 entry could not be checked')
    expect(open.stderr).toContain('not known: whether ClusterSPIFFEID/prod applies')
    expect(open.code).toBe(4)
    expect((await verify([ENTRY], 'prod')).code).toBe(0)
    const extra = await verify([ENTRY], 'dev')
    expect(extra.stdout).toContain('KLM802')
    expect(extra.code).toBe(1)
  })

  test('is not known to be rightly absent: 4, and with the Namespace 1 or nothing', async () => {
    const open = await verify([])
    expect(open.stdout).toContain('may be missing: it is not known whether it should be there')
    expect(open.code).toBe(4)
    expect((await verify([], 'prod')).stdout).toContain('KLM801')
  })

  test('does not explain one with a right that it would not give', async () => {
    const open = await verify([{ ...ENTRY, admin: true }])
    expect(open.stdout).toContain('KLM804')
    expect(open.stdout.replaceAll(/\s+/g, ' ')).toContain('depends: .spec.namespaceSelector')
    expect(open.code).toBe(4)
    expect((await verify([{ ...ENTRY, admin: true }], 'prod')).code).toBe(1)
  })

  test('counts for nothing with --fail-on never', async () => {
    expect((await verify([ENTRY], undefined, '--fail-on', 'never')).code).toBe(0)
  })
})
