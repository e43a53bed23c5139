// An ID that a policy names and that only a pod which waits for a node will be given: the map does not say that nobody holds it.
import { expect, test } from 'vitest'
import { SCM, SETTINGS } from '../../support/door-rows.ts'
import { inProcess } from '../../support/in-process.ts'
import { workspace } from '../../support/workspace.ts'

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
apiVersion: v1
kind: Pod
metadata: { name: one, namespace: team-a, uid: uid-of-one, creationTimestamp: '2026-01-01T00:00:00Z', labels: { app: LABEL } }
spec: { serviceAccountName: web, containers: [{ name: web, image: web }] }
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: callers, namespace: team-a }
spec: { rules: [{ from: [{ source: { principals: [example.org/web] } }] }] }
`

test.each([
  ['web', 'unknown'],
  ['other', 'unheld'],
])('of a pod that waits, labelled %s, the ID is %s', async (label, state) => {
  const cwd = await workspace({ 'all.yaml': FILES.replace('LABEL', label), 'scm.conf': SCM })
  const args = ['map', '--offline', '-f', 'all.yaml', ...SETTINGS]
  const { stdout } = await inProcess([...args, '-o', 'json'], cwd)
  expect(JSON.parse(stdout)).toMatchObject({
    nodes: expect.arrayContaining([expect.objectContaining({ kind: 'identity', state })]),
  })
})
