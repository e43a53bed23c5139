// The order in which the keys of a mapping are written is no difference: `diff` must not tell of a change where there is none.
import { expect, test } from 'vitest'
import { inProcess } from '../../support/in-process.ts'
import { SCM_CONFIG } from '../../support/chat-world.ts'
import { workspace } from '../../support/workspace.ts'

const POOL_LABELS = ['app: llama', 'colour: blue']

const CLUSTER = `apiVersion: v1
kind: Namespace
metadata: {name: demo}
---
apiVersion: v1
kind: Node
metadata: {name: n1, uid: node-1}
---
${SCM_CONFIG}`

function pod(labels: readonly string[]): string {
  return `---
apiVersion: v1
kind: Pod
metadata:
  name: llama-0
  namespace: demo
  uid: pod-1
  creationTimestamp: '2026-01-01T00:00:00Z'
  labels: {${labels.join(', ')}}
spec: {nodeName: n1, serviceAccountName: runner, containers: [{name: vllm}]}
status: {phase: Running}
`
}

function pool(labels: readonly string[]): string {
  return `---
apiVersion: inference.networking.k8s.io/v1
kind: InferencePool
metadata: {name: llama, namespace: demo}
spec: {selector: {matchLabels: {${labels.join(', ')}}}}
`
}

/** A binding with the output that kleym makes of it, with the labels of its pods in some order. */
function settled(labels: readonly string[]): string {
  return `${CLUSTER}${pod(POOL_LABELS)}${pool(POOL_LABELS)}---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceObjective
metadata: {name: chat, namespace: demo}
spec: {poolRef: {name: llama}}
---
apiVersion: kleym.sonda.red/v1alpha1
kind: InferenceIdentityBinding
metadata: {name: chat, namespace: demo, uid: b1, creationTimestamp: '2026-01-01T00:00:00Z'}
spec: {poolRef: {name: llama}, objectiveRef: {name: chat}, serviceAccountName: runner, containerName: vllm}
---
apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata:
  name: kleym-demo-chat-objective-540bcf7f165859574fda
  uid: c1
  creationTimestamp: '2026-01-01T00:00:00Z'
  labels:
    kleym.sonda.red/binding-name: chat
    kleym.sonda.red/binding-namespace: demo
    kleym.sonda.red/managed-by: kleym
  annotations: {kleym.sonda.red/binding: demo/chat}
spec:
  fallback: false
  hint: demo/chat
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: demo}}
  podSelector: {matchLabels: {${labels.join(', ')}}}
  spiffeIDTemplate: spiffe://example.org/ns/demo/objective/chat
  workloadSelectorTemplates:
    - k8s:container-name:vllm
    - k8s:ns:demo
    - k8s:pod-label:app:llama
    - k8s:pod-label:colour:blue
    - k8s:sa:runner
`
}

/** A registration that kleym does not follow. */
function unfollowed(fields: readonly string[], podLabels: readonly string[]): string {
  const template = 'spiffe://{{ .TrustDomain }}/o/{{ (index .PodMeta.OwnerReferences 0) }}'
  return `${CLUSTER}${pod(podLabels).replace('labels:', 'ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: r, uid: r1, controller: true}]\n  labels:')}---
apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: {name: web, uid: c2, creationTimestamp: '2026-01-01T00:00:00Z'}
spec: {spiffeIDTemplate: "${template}", ${fields.join(', ')}}
`
}

/** One that depends on labels of a namespace that are not known. */
function dependent(labels: readonly string[]): string {
  return `${CLUSTER.replace('kind: Namespace', 'kind: Unrelated')}${pod(POOL_LABELS)}---
apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: {name: web, uid: c3, creationTimestamp: '2026-01-01T00:00:00Z'}
spec: {spiffeIDTemplate: "spiffe://example.org/web", namespaceSelector: {matchLabels: {${labels.join(', ')}}}}
`
}

const SELECTOR = ['podSelector: {matchLabels: {app: llama, colour: blue}}', 'fallback: false']
const TURNED = ['fallback: false', 'podSelector: {matchLabels: {colour: blue, app: llama}}']
const TEAM = ['team: a', 'zone: b']

test.each<[what: string, base: string, head: string]>([
  ["labels in kleym's own output", settled(POOL_LABELS), settled(POOL_LABELS.toReversed())],
  [
    'fields of a registration that is not followed',
    unfollowed(SELECTOR, POOL_LABELS),
    unfollowed(TURNED, POOL_LABELS),
  ],
  [
    'labels of a pod that it may select',
    unfollowed(SELECTOR, POOL_LABELS),
    unfollowed(SELECTOR, POOL_LABELS.toReversed()),
  ],
  ['labels of a namespace that are not known', dependent(TEAM), dependent(TEAM.toReversed())],
])('%s in another order are no change', async (_, base, head) => {
  const cwd = await workspace({ 'base/all.yaml': base, 'head/all.yaml': head })
  const settings = ['--offline', '--trust-domain', 'example.org', '--clusterspiffeid-class-name', '']
  const { code, stdout } = await inProcess(['diff', '--base', 'base', '-f', 'head', '-A', ...settings], cwd)
  expect(stdout).toContain("no ClusterSPIFFEID of kleym's changes")
  expect(stdout).toContain('no container gains or loses an identity')
  expect(stdout).not.toContain('undetermined')
  expect(code).toBe(0)
})
