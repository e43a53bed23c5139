// What `map` says of the number of entries: of pods that are there, of pods to come, and what is above a limit.
import { expect, test } from 'vitest'
import { inProcess } from '../../support/in-process.ts'
import { SCM_CONFIG } from '../../support/chat-world.ts'
import { workspace } from '../../support/workspace.ts'

const STAMPS = "creationTimestamp: '2026-01-01T00:00:00Z'"
const DEFAULT = `apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: {name: default, uid: c1, ${STAMPS}}
spec: {spiffeIDTemplate: 'spiffe://example.org/pod/{{ .PodMeta.Name }}'}
---
apiVersion: v1
kind: Node
metadata: {name: n1, uid: n1, ${STAMPS}}
---
${SCM_CONFIG}`
const pods = (count: number): string =>
  Array.from(
    { length: count },
    (_, at) => `apiVersion: v1
kind: Pod
metadata: {name: p${at}, namespace: demo, uid: p${at}, ${STAMPS}}
spec: {nodeName: n1, containers: [{name: vllm}]}
---
`,
  ).join('')

/** The text in one line. */
async function said(text: string): Promise<string> {
  const folder = await workspace({ 'all.yaml': text })
  const args = ['map', '-A', '--offline', '-f', 'all.yaml', '--trust-domain', 'example.org']
  const { stdout } = await inProcess(args, folder)
  return stdout.replaceAll(/\s+/g, ' ')
}

test('entries of pods that are there are counted, with the node that has the most', async () => {
  const text = await said(pods(3) + DEFAULT)
  expect(text).toContain('entries 3 of 3 pods')
  expect(text).toContain('node n1 has 3')
  expect(text).toContain('SCM lists 1 page in each pass')
  expect(text).not.toContain('limit')
})

test('a node with more entries than its agent keeps SVIDs is reported, with who has met that', async () => {
  const text = await said(pods(1_001) + DEFAULT)
  expect(text).toContain('! limit node n1 has 1001 entries, and its agent keeps the SVIDs of 1000')
  expect(text).toContain('https://github.com/spiffe/spire/issues/7175')
})

test('a folder of manifests asks for entries of each pod to come, and for no number of them', async () => {
  const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: llama, namespace: demo}
spec:
  replicas: 7
  selector: {matchLabels: {app: llama}}
  template: {metadata: {labels: {app: llama}}, spec: {containers: [{name: vllm}]}}
---
`
  const text = await said(deployment + DEFAULT)
  expect(text).toContain('to come 1 for each pod of Deployment demo/llama')
  expect(text).not.toContain('of 0 pods')
})
