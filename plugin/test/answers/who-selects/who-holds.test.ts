// Who holds an ID: a pod that waits for a node holds nothing now and will hold the ID without being asked again; and what is asked about.
import { expect, test } from 'vitest'
import { SCM, SETTINGS } from '../../support/door-rows.ts'
import { inProcess, type Ran } from '../../support/in-process.ts'
import { WEB_WORLD, webPod } from '../../support/web-world.ts'
import { workspace } from '../../support/workspace.ts'

async function whoHolds(pods: string, ...args: readonly string[]): Promise<Ran> {
  const cwd = await workspace({ 'all.yaml': WEB_WORLD + pods, 'scm.conf': SCM })
  return inProcess(['who-selects', '--offline', '-f', 'all.yaml', ...SETTINGS, ...args], cwd)
}

test('a pod that waits for a node may hold the ID', async () => {
  const running = webPod('one', 'nodeName: n1, ')
  const alone = await whoHolds(running, '--spiffe-id', 'spiffe://example.org/web')
  expect([alone.code, alone.stdout]).toEqual([0, expect.stringContaining('1 container holds it')])
  const { stdout } = await whoHolds(running + webPod('two'), '--spiffe-id', 'spiffe://example.org/web')
  expect(stdout).toMatch(/^! spiffe:\/\/example\.org\/web: 1 container holds it, 1\s+undetermined/)
  expect(stdout).toContain('depends: the pod is not scheduled to a node yet')
  expect(stdout).toMatch(/pod team-a\/two +\(no node\) +web/)
})

test('of a container that is named, only that is said', async () => {
  const beside = webPod('two', 'nodeName: n1, ', 'other').replace('name: web, image', 'name: side, image')
  const pods = webPod('one', 'nodeName: n1, ') + beside
  const { stdout } = await whoHolds(pods, '--spiffe-id', 'spiffe://example.org/web', '-c', 'side')
  expect(stdout).toMatch(/^· spiffe:\/\/example\.org\/web: no container side holds it/)
})

test('about the pod itself, it is said that it holds nothing now', async () => {
  const { code, stdout } = await whoHolds(webPod('two'), 'pod', 'two', '-n', 'team-a')
  expect(code).toBe(0)
  expect(stdout).toContain('ignored: the pod is not scheduled to a node yet')
})

test('a registration that is not certain is no template that kleym does not support', async () => {
  const entry = `---
apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterStaticEntry
metadata: {name: by-alias}
spec: {spiffeID: spiffe://example.org/static, parentID: spiffe://example.org/nodes, selectors: ['k8s:sa:web']}
`
  const id = 'spiffe://example.org/static'
  const { code, stderr } = await whoHolds(webPod('one', 'nodeName: n1, ') + entry, '--spiffe-id', id)
  expect(stderr).toContain(`not known: who holds ${id}`)
  expect(stderr).not.toContain('template')
  expect(code).toBe(4)
})
