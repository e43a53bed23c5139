// A registration of others that a change edits, adds or removes is named, with its fields if it is edited, and counts as a difference,
// though nobody gains or loses an ID.
import { expect, test } from 'vitest'
import { SCM, SETTINGS } from '../../support/door-rows.ts'
import { inProcess, type Ran } from '../../support/in-process.ts'
import { WEB_REGISTRATION as REGISTRATION } from '../../support/web-world.ts'
import { workspace } from '../../support/workspace.ts'

const POD = `apiVersion: v1
kind: Pod
metadata: { name: web, namespace: team-a, uid: 22222222-0000-4000-8000-000000000001, labels: { app: web } }
spec: { serviceAccountName: web, containers: [{ name: web, image: web }] }
---
`
const ENTRY = `---
apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterStaticEntry
metadata: { name: host }
spec: { spiffeID: spiffe://example.org/host, parentID: spiffe://example.org/p, selectors: ['unix:uid:0'], hint: HINT }
`

async function diff(base: string, head: string, ...args: readonly string[]): Promise<Ran> {
  const cwd = await workspace({ 'base.yaml': `${POD}${base}`, 'head.yaml': `${POD}${head}`, 'scm.conf': SCM })
  return inProcess(['diff', '--offline', '--base', 'base.yaml', '-f', 'head.yaml', ...SETTINGS, ...args], cwd)
}

test('rights, TTLs and the hint of entries', async () => {
  const more = `${REGISTRATION}  admin: true\n  downstream: true\n  ttl: 1h\n`
  const { stdout, code } = await diff(
    REGISTRATION + ENTRY.replace('HINT', 'a'),
    more + ENTRY.replace('HINT', 'b'),
  )
  expect(code).toBe(1)
  expect(stdout).toMatch(/^! no container gains or loses an identity/)
  expect(stdout).toContain('KLM310')
  expect(stdout).toContain('· edits ClusterSPIFFEID/mesh: .spec.admin, .spec.downstream, .spec.ttl\n')
  expect(stdout).toContain('· edits ClusterStaticEntry/host: .spec.hint\n')
})

test('the same written in another way is no edit', async () => {
  const same = `${REGISTRATION}  admin: false\n  className: ""\n`.replace(
    '{ matchLabels: { app: web } }',
    '\n    matchLabels:\n      app: web',
  )
  const other = await diff(REGISTRATION, same)
  expect(other.code).toBe(0)
  expect(other.stdout).not.toContain('edits')
})

/** The same ID for the same pod, by another entry. */
const SECOND = `---
${REGISTRATION.replace('name: mesh', 'name: second')}  workloadSelectorTemplates: ['k8s:sa:web']
  dnsNameTemplates: [admin.example.org]
`

test.each([
  ['one that gives the same ID with a DNS name', SECOND],
  [
    'one with a right, which nothing here is selected by',
    `---\n${REGISTRATION.replace('mesh', 'b').replace('app: web', 'app: b')}  admin: true\n`,
  ],
  ['a static entry that no container here is given', ENTRY.replace('unix:uid:0', 'k8s:ns:elsewhere')],
])('what is new or gone is a difference: %s', async (_, more) => {
  const [added, removed] = [
    await diff(REGISTRATION, REGISTRATION + more),
    await diff(REGISTRATION + more, REGISTRATION),
  ]
  expect([added.code, removed.code]).toEqual([1, 1])
  expect(added.stdout).toMatch(/^· adds Cluster(?:SPIFFEID|StaticEntry)\/\w+$/m)
  expect(removed.stdout).toMatch(/^· removes Cluster(?:SPIFFEID|StaticEntry)\/\w+$/m)
  expect(added.stdout + removed.stdout).not.toContain('✓ no container gains')
})

test('one that is renamed asks for the same; one that is renamed and edited does not', async () => {
  const renamed = REGISTRATION.replace('mesh', 'mesh-2')
  expect((await diff(REGISTRATION, renamed)).code).toBe(0)
  const { stdout, code } = await diff(REGISTRATION, `${renamed}  ttl: 1h\n`)
  expect(code).toBe(1)
  expect(stdout).toContain('· adds ClusterSPIFFEID/mesh-2\n')
  expect(stdout).toContain('· removes ClusterSPIFFEID/mesh\n')
})

test('one that is renamed is a younger object: beside another that wants its entry it is a difference', async () => {
  const rival = `---\n${REGISTRATION.replace('mesh', 'rival')}  admin: true\n`
  const renamed = REGISTRATION.replace('mesh', 'mesh-2')
  const { stdout, code } = await diff(REGISTRATION + rival, renamed + rival)
  expect(code).toBe(1)
  expect(stdout).toContain('· adds ClusterSPIFFEID/mesh-2\n')
  expect(stdout).toContain('· removes ClusterSPIFFEID/mesh\n')
  const twin = `---\n${REGISTRATION.replace('mesh', 'twin')}`
  expect((await diff(REGISTRATION + twin, renamed + twin)).code).toBe(0)
})

const PARTNER = `---
apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterFederatedTrustDomain
metadata: { name: partner }
spec:
  trustDomain: partner.example
  bundleEndpointURL: https://partner.example/bundle
  bundleEndpointProfile: { type: https_web }
`

test('a relationship with another trust domain', async () => {
  const moved = PARTNER.replace('/bundle', '/other')
  const ways = [
    ['adds ClusterFederatedTrustDomain/partner', '', PARTNER],
    ['removes ClusterFederatedTrustDomain/partner', PARTNER, ''],
    ['edits ClusterFederatedTrustDomain/partner: .spec.bundleEndpointURL', PARTNER, moved],
  ] as const
  for (const [text, before, after] of ways) {
    const { stdout, code } = await diff(REGISTRATION + before, REGISTRATION + after)
    expect(stdout).toContain(`· ${text}\n`)
    expect(code).toBe(1)
  }
  const renamed = PARTNER.replace('name: partner', 'name: other')
  expect((await diff(REGISTRATION + PARTNER, REGISTRATION + renamed)).code).toBe(0)
})

test('in JSON', async () => {
  const { stdout } = await diff(REGISTRATION, `${REGISTRATION}  jwtTtl: 5m\n`, '-o', 'json')
  expect(JSON.parse(stdout)).toMatchObject({
    effect: { edited: [{ kind: 'ClusterSPIFFEID', name: 'mesh', change: 'edits', fields: ['jwtTtl'] }] },
    exitCode: 1,
  })
})
