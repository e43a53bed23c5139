// What only a node can tell is open on both sides of a diff. It is the same on both only if what decides it is: each test is a change
// of that which `diff` once called none.
import { expect, test } from 'vitest'
import { inProcess, type Ran } from '../../support/in-process.ts'
import { SCM_CONFIG } from '../../support/chat-world.ts'
import { workspace } from '../../support/workspace.ts'

function node(name: string, zone: string): string {
  return `---
apiVersion: v1
kind: Node
metadata: { name: ${name}, uid: uid-of-${name}, labels: { zone: ${zone} } }
`
}

const NODES = node('n1', 'a') + node('n2', 'b')

interface World {
  readonly scm?: string
  /** Further objects. */
  readonly more?: string
  readonly nodes?: string
  /** Labels of the Namespace. */
  readonly labels?: string
  /** Of the pods of the Deployment. */
  readonly spec?: string
  /** Of its container. */
  readonly container?: string
  readonly image?: string
  readonly registration: string
}

function world({
  scm = SCM_CONFIG,
  more = '',
  nodes = NODES,
  labels = '',
  spec = '',
  container = '',
  image = 'web:1',
  registration,
}: World): string {
  return `${scm}${more}${nodes}---
apiVersion: v1
kind: Namespace
metadata: { name: team-a, labels: { kubernetes.io/metadata.name: team-a, ${labels} } }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: team-a }
spec:
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      ${spec === '' ? '{}' : spec}
      serviceAccountName: web
      containers: [{ name: web, image: '${image}', ${container} }]
---
apiVersion: spire.spiffe.io/v1alpha1
${registration}`.replace('      {}\n', '')
}

function selecting(selector: string, id = 'web'): string {
  return `kind: ClusterSPIFFEID
metadata: { name: web }
spec: { spiffeIDTemplate: 'spiffe://example.org/${id}', workloadSelectorTemplates: ['${selector}'] }
`
}

const OF_ZONE = selecting('k8s:ns:team-a', '{{ index .NodeMeta.Labels "zone" }}')
const BY_NAME = selecting('k8s:ns:team-a', '{{ .NodeMeta.Name }}')
const OF_DOMAIN = selecting('k8s:ns:team-a', '{{ .ClusterDomain }}/{{ index .NodeMeta.Labels "zone" }}')
const OF_TEAM = selecting('k8s:ns:team-a', '{{ .PodMeta.Labels.team }}')
const OF_NOTE = selecting('k8s:ns:team-a', '{{ .PodMeta.Annotations.team }}')
function policy(field: string, team: string): string {
  return `---
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: { name: add-label }
spec:
  rules:
    - name: add
      match: { any: [{ resources: { kinds: [Pod] } }] }
      mutate: { patchStrategicMerge: { metadata: { ${field}: { team: ${team} } } } }
`
}
const OTHER_CLUSTER = SCM_CONFIG.replace('clusterName: prod', 'clusterName: other')
const STATIC = `kind: ClusterStaticEntry
metadata: { name: web }
spec:
  spiffeID: spiffe://example.org/web
  parentID: spiffe://example.org/spire/agent/k8s_psat/prod/uid-of-n1
  selectors: ['k8s:ns:team-a']
`

async function diff(base: string, head: string): Promise<Ran> {
  const cwd = await workspace({ 'base/all.yaml': base, 'head/all.yaml': head })
  const settings = ['--trust-domain', 'example.org', '--clusterspiffeid-class-name', '']
  return inProcess(['diff', '--offline', '--base', 'base', '-f', 'head', ...settings], cwd)
}

const AS_USER = 'securityContext: { runAsUser: 1000 }'
const PINNED = 'nodeSelector: { zone: b }'

test.each<[what: string, registration: string, before: Partial<World>, after: Partial<World>]>([
  ['its image', selecting('k8s:container-image:web:1'), {}, { image: 'web:2' }],
  [
    'the user of a pod',
    selecting('unix:uid:1000'),
    { spec: AS_USER },
    { spec: AS_USER.replace('1000', '0') },
  ],
  ['the user of a container', selecting('unix:uid:1000'), { container: AS_USER }, {}],
  [
    'a label of the Namespace',
    selecting('k8s:ns-label:env:prod'),
    { labels: 'env: prod' },
    { labels: 'env: dev' },
  ],
  ['a label of a Node', OF_ZONE, {}, { nodes: node('n1', 'c') + node('n2', 'b') }],
  ['which Nodes there are', OF_ZONE, {}, { nodes: node('n1', 'a') }],
  ['which Nodes there are, for a static entry', STATIC, {}, { nodes: node('n2', 'b') }],
  ['where pods may run, for a static entry', STATIC, {}, { spec: PINNED }],
  ['where pods may run, for the name of their node in the ID', BY_NAME, {}, { spec: PINNED }],
  ['which Nodes there are, for their names in the ID', BY_NAME, {}, { nodes: node('n1', 'a') }],
  ['where pods may run, for a node by its name', selecting('k8s:node-name:n1'), {}, { spec: PINNED }],
  [
    'what a policy sets a label to',
    OF_TEAM,
    { more: policy('labels', 'a') },
    { more: policy('labels', 'b') },
  ],
  [
    'what a policy sets an annotation to',
    OF_NOTE,
    { more: policy('annotations', 'a') },
    { more: policy('annotations', 'b') },
  ],
  ['the cluster in SCM, which parents hold', selecting('unix:uid:1'), {}, { scm: OTHER_CLUSTER }],
  [
    'the domain of the cluster',
    OF_DOMAIN,
    { scm: `${SCM_CONFIG}clusterDomain: cluster.local\n` },
    { scm: `${SCM_CONFIG}clusterDomain: other\n` },
  ],
])('a change of %s leaves open what a container holds', async (_what, registration, before, after) => {
  const [base, head] = [before, after].map((one) => world({ ...one, registration }))
  const { code, stdout } = await diff(base ?? '', head ?? '')
  expect(stdout).toMatch(/^! \d containers? undetermined/)
  expect(code).toBe(4)
})

test.each<[what: string, registration: string, before: Partial<World>, after: Partial<World>]>([
  ['a variable', selecting('k8s:container-image:web:1'), {}, { container: 'env: [{ name: A, value: b }]' }],
  ['an image', selecting('k8s:ns-label:env:prod'), {}, { image: 'web:2' }],
  ['an image, for a static entry', STATIC, {}, { image: 'web:2' }],
  ['a label of a Node', selecting('k8s:container-image:web:1'), {}, { nodes: node('n1', 'c') }],
])('a change of %s that decides nothing is none', async (_what, registration, before, after) => {
  const [base, head] = [before, after].map((one) => world({ ...one, registration }))
  const { code, stdout } = await diff(base ?? '', head ?? '')
  expect(stdout).toMatch(/^✓ no container gains or loses an identity/)
  expect(code).toBe(0)
})

test('an ID of the name of the node goes for certain with what gives it', async () => {
  const other = BY_NAME.replace('{{ .NodeMeta.Name }}', 'web')
  const { code, stdout } = await diff(world({ registration: BY_NAME }), world({ registration: other }))
  expect(stdout).toContain('1 container of team-a loses spiffe://example.org/<node name>')
  expect(stdout).not.toContain('undetermined')
  expect(code).toBe(1)
})
