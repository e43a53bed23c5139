// A registration of others that a change edits is named with its fields, and counts as a difference, though nobody gains or loses an ID.
import { expect, test } from 'vitest'
import { SCM, SETTINGS } from '../../support/door-rows.ts'
import { inProcess, type Ran } from '../../support/in-process.ts'
import { workspace } from '../../support/workspace.ts'

const POD = `apiVersion: v1
kind: Pod
metadata: { name: web, namespace: team-a, uid: 22222222-0000-4000-8000-000000000001, labels: { app: web } }
spec: { serviceAccountName: web, containers: [{ name: web, image: web }] }
---
`
const REGISTRATION = `apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: { name: mesh }
spec:
  spiffeIDTemplate: spiffe://example.org/web
  podSelector: { matchLabels: { app: web } }
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

test('the same written in another way is no edit, and what is new or gone is none', async () => {
  const same = `${REGISTRATION}  admin: false\n  className: ""\n`.replace(
    '{ matchLabels: { app: web } }',
    '\n    matchLabels:\n      app: web',
  )
  const [other, gone] = [await diff(REGISTRATION, same), await diff(REGISTRATION, '')]
  expect(other.code).toBe(0)
  expect(`${other.stdout}${gone.stdout}`).not.toContain('edits')
})

test('in JSON', async () => {
  const { stdout } = await diff(REGISTRATION, `${REGISTRATION}  jwtTtl: 5m\n`, '-o', 'json')
  expect(JSON.parse(stdout)).toMatchObject({
    effect: { edited: [{ kind: 'ClusterSPIFFEID', name: 'mesh', fields: ['jwtTtl'] }] },
    exitCode: 1,
  })
})
