// Whom policies name, where more containers may hold the ID than are known to.
import { expect, test } from 'vitest'
import { SCM, SETTINGS } from '../../support/door-rows.ts'
import { inProcess } from '../../support/in-process.ts'
import { workspace } from '../../support/workspace.ts'

function pod(name: string, spec: string): string {
  return `---
apiVersion: v1
kind: Pod
metadata: { name: ${name}, namespace: team-a, uid: uid-of-${name}, creationTimestamp: '2026-01-01T00:00:00Z', labels: { app: web } }
spec: { ${spec}serviceAccountName: web, containers: [{ name: web, image: web }] }
`
}

const FILES = `apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: { name: mesh }
spec:
  spiffeIDTemplate: spiffe://example.org/web
  podSelector: { matchLabels: { app: web } }
---
apiVersion: v1
kind: Node
metadata: { name: n1, uid: uid-of-n1 }
---
apiVersion: v1
kind: Namespace
metadata: { name: team-a }
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: callers, namespace: team-a }
spec: { rules: [{ from: [{ source: { principals: [example.org/web] } }] }] }
`

async function whomPoliciesName(pods: string): Promise<string> {
  const cwd = await workspace({ 'all.yaml': `${FILES}${pods}`, 'scm.conf': SCM })
  return (await inProcess(['policies', '--offline', '-f', 'all.yaml', ...SETTINGS], cwd)).stdout
}

test('a source that a container holds has no tick while a pod that waits for a node may hold it', async () => {
  const running = pod('one', 'nodeName: n1, ')
  expect(await whomPoliciesName(running)).toMatch(/^✓ policy team-a\/callers: 1 source resolved\n/)
  const both = await whomPoliciesName(running + pod('two', ''))
  expect(both).toMatch(/^! policy team-a\/callers: 1 source resolved\n/)
  expect(both).toContain('    ! spiffe://example.org/web\n')
  expect(both).toContain('perhaps others: not certain whether ClusterSPIFFEID/mesh gives it')
})
