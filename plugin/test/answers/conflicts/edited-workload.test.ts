// A workload of another team whose template is edited so that its pods take the identity of a binding, while its pods of before
// still run: these do not stand for those that replace them.
import { describe, expect, test } from 'vitest'
import { inProcess } from '../../support/in-process.ts'
import { CHAT_BINDING, SCM_CONFIG } from '../../support/chat-world.ts'
import { workspace } from '../../support/workspace.ts'

const WORLD = `apiVersion: v1
kind: Namespace
metadata: {name: demo}
---
apiVersion: v1
kind: Namespace
metadata: {name: team-b}
---
apiVersion: inference.networking.k8s.io/v1
kind: InferencePool
metadata: {name: llama, namespace: demo}
spec: {selector: {matchLabels: {app: llama}}}
---
${CHAT_BINDING}---
apiVersion: v1
kind: Node
metadata: {name: n1}
---
apiVersion: v1
kind: Pod
metadata:
  name: llama
  namespace: demo
  uid: pod-of-llama
  creationTimestamp: '2026-01-01T00:00:00Z'
  labels: {app: llama}
spec: {nodeName: n1, serviceAccountName: runner, containers: [{name: vllm, image: server}]}
status: {phase: Running}
---
${SCM_CONFIG}`

interface Theft {
  /** What the ClusterSPIFFEID says after its selector. */
  readonly registration: string
  /** What the metadata and the spec of the pods say, before the edit and after. */
  readonly before: readonly [metadata: string, spec: string]
  readonly after: readonly [metadata: string, spec: string]
}

function world({ registration, before, after }: Theft): string {
  return `${WORLD}---
apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: {name: web, uid: c1, creationTimestamp: '2026-01-01T00:00:00Z'}
spec: {podSelector: {matchLabels: {app: web}}, ${registration}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: team-b}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}, ${after[0]}}
    spec: {serviceAccountName: web, ${after[1]}}
---
apiVersion: v1
kind: Pod
metadata:
  name: web-5d4-x
  namespace: team-b
  uid: pod-of-web
  creationTimestamp: '2026-01-01T00:00:00Z'
  labels: {app: web, pod-template-hash: 5d4}
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-5d4, uid: rs, controller: true}]
  ${before[0]}
spec: {nodeName: n1, serviceAccountName: web, ${before[1]}}
status:
  phase: Running
  containerStatuses: [{name: web, image: server:1, imageID: server@sha256:1}]
`
}

const CONTAINERS = 'containers: [{name: web, image: "server:1"}]'
const OBJECTIVE = 'spiffe://{{ .TrustDomain }}/ns/demo/objective/'

const BY_ANNOTATION: Theft = {
  registration: `spiffeIDTemplate: "${OBJECTIVE}{{ .PodMeta.Annotations.who }}"`,
  before: ['annotations: {who: ok}', CONTAINERS],
  after: ['annotations: {who: chat}', CONTAINERS],
}
const BY_FIELD: Theft = {
  registration: `spiffeIDTemplate: "${OBJECTIVE}{{ .PodSpec.PriorityClassName }}"`,
  before: ['', `priorityClassName: ok, ${CONTAINERS}`],
  after: ['', `priorityClassName: chat, ${CONTAINERS}`],
}
const BY_IMAGE: Theft = {
  registration: `spiffeIDTemplate: "${OBJECTIVE}chat", workloadSelectorTemplates: ["k8s:container-image:server:2"]`,
  before: ['', CONTAINERS],
  after: ['', 'containers: [{name: web, image: "server:2"}]'],
}

const SETTINGS = ['--offline', '--trust-domain', 'example.org', '--clusterspiffeid-class-name', '']
const ASKED = [
  ['conflicts', '-A'],
  ['map', '-A'],
  ['explain', 'chat', '-n', 'demo'],
  ['who-selects', 'deployment/web', '-n', 'team-b'],
] as const

describe.each<[what: string, theft: Theft]>([
  ['an annotation', BY_ANNOTATION],
  ['a field of the pod spec', BY_FIELD],
])('an identity taken by %s', (_, theft) => {
  test.each(ASKED.map((words) => [words[0], words] as const))('%s tells it', async (_command, words) => {
    const cwd = await workspace({ 'all.yaml': world(theft) })
    const { code, stdout } = await inProcess([...words, ...SETTINGS, '-f', 'all.yaml'], cwd)
    expect(stdout).toContain('KLM308')
    expect(code).toBe(1)
  })

  test('nobody takes it where the template is as it was', async () => {
    const cwd = await workspace({ 'all.yaml': world({ ...theft, after: theft.before }) })
    const { code, stdout } = await inProcess(['conflicts', '-A', ...SETTINGS, '-f', 'all.yaml'], cwd)
    expect(stdout).not.toContain('KLM308')
    expect(code).toBe(0)
  })
})

test('an identity perhaps taken by an image that is yet to be pulled does not pass', async () => {
  const cwd = await workspace({
    'all.yaml': world(BY_IMAGE),
    'same.yaml': world({ ...BY_IMAGE, after: BY_IMAGE.before }),
  })
  const run = (file: string) => inProcess(['conflicts', '-A', ...SETTINGS, '-f', file], cwd)
  expect((await run('same.yaml')).code).toBe(0)
  const { code, stdout } = await run('all.yaml')
  expect(stdout).toContain('Deployment team-b/web')
  expect(code).not.toBe(0)
})
