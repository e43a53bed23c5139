// A change that takes away what its other objects need: the Namespace that they are in, the CRD of their kind, the ServiceAccount of their
// pods. Whether that deletes anything no file says, so what containers hold afterwards is not known; "nothing changes" would be wrong.
import { describe, expect, test } from 'vitest'
import { diffBetween } from '../../support/diff-between.ts'
import { inProcess, type Ran } from '../../support/in-process.ts'
import { CHAT_BINDING, SCM_CONFIG } from '../../support/chat-world.ts'
import { workspace } from '../../support/workspace.ts'

const NAMESPACE = `apiVersion: v1
kind: Namespace
metadata: {name: demo}
---
`
const POOL = `apiVersion: inference.networking.k8s.io/v1
kind: InferencePool
metadata: {name: llama, namespace: demo}
spec: {selector: {matchLabels: {app: llama}}}
---
`
const deployment = (account: string): string => `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: llama, namespace: demo}
spec:
  selector: {matchLabels: {app: llama}}
  template:
    metadata: {labels: {app: llama}}
    spec: {serviceAccountName: ${account}, containers: [{name: vllm, image: server}]}
`
const WORLD = `${POOL}${CHAT_BINDING}---
${SCM_CONFIG}`
const RUNNER = `${WORLD}${deployment('runner')}`

const account = (name: string, namespace = 'demo'): string => `---
apiVersion: v1
kind: ServiceAccount
metadata: {name: ${name}, namespace: ${namespace}}
`

const crd = (kind: string, group: string): string => `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: some.${group}
spec:
  group: ${group}
  names:
    kind: ${kind}
    plural: some
  scope: Namespaced
`

/** The CRD of ClusterSPIFFEIDs with one version. */
const versioned = (
  served: boolean,
  ...fields: readonly string[]
): string => `${crd('ClusterSPIFFEID', 'spire.spiffe.io')}  versions:
  - name: v1alpha1
    served: ${served}
    schema:
      openAPIV3Schema:
        properties:
          spec: {properties: {${['spiffeIDTemplate', ...fields].map((one) => `${one}: {type: string}`).join(', ')}}}
`

function between(base: string, head: string, ...flags: readonly string[]): Promise<Ran> {
  return diffBetween(base, head, { flags: [...flags, '--summary'] })
}

const IN_FLOW = `---
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: a.x},
 spec: {group: spire.spiffe.io, names: {kind: ClusterSPIFFEID, plural: a}, scope: Cluster}}
`

test.each<[what: string, taken: string, stays: string]>([
  ['the Namespace of its objects', NAMESPACE, RUNNER],
  ['the ServiceAccount of a workload', `${RUNNER}${account('runner')}---\n`, RUNNER],
  [
    'the CRD of ClusterSPIFFEIDs, although no file holds one',
    crd('ClusterSPIFFEID', 'spire.spiffe.io'),
    RUNNER,
  ],
  ['that CRD, written in another way', IN_FLOW, RUNNER],
  ['the CRD of pools', crd('InferencePool', 'inference.networking.k8s.io'), RUNNER],
  ['the CRD of bindings', crd('InferenceIdentityBinding', 'kleym.sonda.red'), RUNNER],
])('a change that takes away %s leaves open what containers hold', async (_, taken, stays) => {
  const { code, stdout, stderr } = await between(`${taken}---\n${stays}`, stays)
  expect(stdout).toContain('no container is known to gain or lose an identity')
  expect(stdout).not.toContain('✓')
  expect(stderr).toContain('the change takes away')
  expect(code).toBe(4)
})

test.each<[what: string, before: string, after: string, said: string]>([
  [
    'a version in which SCM reads',
    versioned(true),
    versioned(false),
    'the change takes away version v1alpha1 from the CRD of ClusterSPIFFEID.spire.spiffe.io',
  ],
  [
    'a field that the API server then drops',
    versioned(true, 'hint', 'className'),
    versioned(true, 'hint'),
    'the change takes away spec.className from the CRD of ClusterSPIFFEID.spire.spiffe.io',
  ],
])('a CRD that loses %s leaves open what containers hold', async (_, before, after, said) => {
  const { code, stdout, stderr } = await between(`${RUNNER}${before}`, `${RUNNER}${after}`)
  expect(stdout).not.toContain('✓')
  expect(stderr).toContain(said)
  expect(code).toBe(4)
})

test.each<[what: string, base: string, head: string]>([
  [
    'nothing from a CRD, and adds a field',
    `${RUNNER}${versioned(true)}`,
    `${RUNNER}${versioned(true, 'hint')}`,
  ],
  ['a field that no answer rests on', `${RUNNER}${versioned(true, 'colour')}`, `${RUNNER}${versioned(true)}`],
  ['a Namespace that holds nothing', `${NAMESPACE.replace('demo', 'empty')}${RUNNER}`, RUNNER],
  [
    'a Namespace that the API server does not delete',
    `${NAMESPACE}${RUNNER}`.replaceAll('demo', 'default'),
    RUNNER.replaceAll('demo', 'default'),
  ],
  ['a CRD of a kind that it has no objects of', `${RUNNER}${crd('Other', 'spire.spiffe.io')}`, RUNNER],
  ['a ServiceAccount that no pod names', `${RUNNER}${account('other')}`, RUNNER],
  ['the ServiceAccount of that name in another namespace', `${RUNNER}${account('runner', 'other')}`, RUNNER],
  [
    'one of two places of a CRD',
    `${RUNNER}${IN_FLOW}`,
    `${RUNNER}${crd('ClusterSPIFFEID', 'spire.spiffe.io')}`,
  ],
])('a change that takes away %s changes nothing', async (_, base, head) => {
  const { code, stdout } = await between(base, head)
  expect(stdout).toContain('✓ no container gains or loses an identity')
  expect(code).toBe(0)
})

test('a Namespace that goes with all that is in it takes its identities along', async () => {
  const { code, stdout } = await between(`${NAMESPACE}${RUNNER}`, SCM_CONFIG)
  expect(stdout).toContain('1 container of demo loses spiffe://example.org/ns/demo/objective/chat')
  expect(code).toBe(1)
})

test('a ServiceAccount that is there under the namespace in force is not taken away', async () => {
  const unplaced = account('runner').replace(', namespace: demo', '')
  const { code } = await between(`${RUNNER}${account('runner')}`, `${RUNNER}${unplaced}`, '-n', 'demo')
  expect(code).toBe(0)
})

test('a ServiceAccount named by what makes pods in a way of its own counts too', async () => {
  const cluster = `---
apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: ray, namespace: demo}
spec: {workerGroupSpecs: [{template: {spec: {serviceAccountName: rays, containers: [{name: vllm, image: x}]}}}]}
`
  const { code, stderr } = await between(`${RUNNER}${cluster}${account('rays')}`, `${RUNNER}${cluster}`)
  expect(stderr).toContain('takes away ServiceAccount demo/rays, which RayCluster ray names')
  expect(code).toBe(4)
})

const IN_FOLDER = {
  'all.yaml': `${NAMESPACE}${SCM_CONFIG}`,
  'apps/demo/pool.yaml': POOL,
  'apps/demo/chat.yaml': CHAT_BINDING,
  'apps/demo/llama.yaml': deployment('runner'),
} as const
const takes = (...resources: readonly string[]): string => `resources: [${resources.join(', ')}]\n`
const ALL = takes('pool.yaml', 'chat.yaml', 'llama.yaml')
const FLUX = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: demo, namespace: flux-system}
spec: {prune: true, path: ./apps/demo, sourceRef: {kind: GitRepository, name: flux-system}}
`

const flux = (more: string): string => FLUX.replace('prune: true', `prune: true, ${more}`)
/** One of Argo CD, with more of its source. */
const application = (more: string): string => `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: demo, namespace: argocd}
spec:
  source: {path: apps/demo${more === '' ? '' : `, ${more}`}}
  destination: {namespace: demo}
`

type Files = Readonly<Record<string, string>>

async function trees(base: Files, head: Files, ...flags: readonly string[]): Promise<Ran> {
  const under = (folder: string, files: Files): Files =>
    Object.fromEntries(
      Object.entries({ ...IN_FOLDER, ...files }).map(([name, text]) => [`${folder}/${name}`, text]),
    )
  const cwd = await workspace({ ...under('base', base), ...under('head', head) })
  const settings = ['--trust-domain', 'example.org', '--clusterspiffeid-class-name', '']
  return inProcess(['diff', '--offline', ...settings, ...flags, '-R', '--base', 'base', '-f', 'head'], cwd)
}

const MANY = { 'apps/demo/kustomization.yaml': ALL } as const
const FEWER = { 'apps/demo/kustomization.yaml': takes('pool.yaml', 'llama.yaml') } as const
const BOTH = { ...MANY, 'apps/kustomization.yaml': takes('demo') } as const

describe('a file that stays, and comes into the cluster in another way, leaves open what is in it', () => {
  test.each<[what: string, one: Files, other: Files]>([
    ['a kustomization no longer takes it in', MANY, FEWER],
    ['nothing deploys its folder any more', { 'flux.yaml': FLUX }, {}],
    ['what deploys it is suspended', { 'flux.yaml': FLUX }, { 'flux.yaml': flux('suspend: true') }],
    [
      'what deploys it goes to another cluster',
      { 'flux.yaml': FLUX },
      { 'flux.yaml': flux('kubeConfig: {secretRef: {name: other}}') },
    ],
    [
      'what deploys it leaves files out',
      { 'app.yaml': application('') },
      { 'app.yaml': application("directory: {exclude: 'chat.yaml'}") },
    ],
    [
      'what deploys it takes another revision',
      { 'app.yaml': application('') },
      { 'app.yaml': application('targetRevision: v1') },
    ],
    [
      'another folder is deployed instead',
      { 'flux.yaml': FLUX },
      {
        'flux.yaml': FLUX.replace('apps/demo', 'apps/x'),
        'apps/x/a.yaml': 'apiVersion: v1\nkind: Service\nmetadata: {name: a}\n',
      },
    ],
  ])('%s, and the other way round', async (_, one, other) => {
    for (const [base, head] of [
      [one, other],
      [other, one],
    ] as const) {
      const { code, stdout, stderr } = await trees(base, head)
      expect(stdout).toContain('no container is known to gain or lose an identity')
      expect(stderr).toMatch(/files come into the cluster in another way|may take away or bring what/)
      expect(code).toBe(4)
    }
  })

  test('an edit of what is suspended on both sides counts, with a word that it waits', async () => {
    const suspended = { 'flux.yaml': flux('suspend: true') }
    const edited = { ...suspended, 'apps/demo/llama.yaml': deployment('other') }
    const { code, stderr } = await trees(suspended, edited)
    expect(stderr).toContain(
      'what deploys apps/demo/llama.yaml is suspended: the edit is applied once it is resumed',
    )
    expect(code).toBe(1)
    expect((await trees(suspended, suspended)).stderr).not.toContain('suspended')
    const resumed = { 'flux.yaml': FLUX }
    expect((await trees(resumed, { ...edited, ...resumed })).stderr).not.toContain('suspended')
  })

  test('nothing deploys any more what deploys it', async () => {
    const app = { 'apps/root/app.yaml': application('') } as const
    const root = application('').replace('apps/demo', 'apps/root').replace('name: demo', 'name: root')
    const { code, stderr } = await trees({ ...app, 'root.yaml': root }, app)
    expect(stderr).toContain('what deploys its folder does so in another way')
    expect(code).toBe(4)
  })

  test('one above no longer takes its kustomization in', async () => {
    const { code, stderr } = await trees(BOTH, { ...MANY, 'apps/kustomization.yaml': takes() })
    expect(stderr).toContain('files come into the cluster in another way')
    expect(code).toBe(4)
  })

  test.each<[what: string, base: Files, head: Files]>([
    [
      'a kustomization that takes in the same',
      MANY,
      { 'apps/demo/kustomization.yaml': `# the same\n${ALL}` },
    ],
    ['one more that takes it in', MANY, BOTH],
    [
      'what deploys it under another name',
      { 'flux.yaml': FLUX },
      { 'flux.yaml': FLUX.replace('name: demo', 'name: chat') },
    ],
    [
      'what deploys it more often, with another image',
      { 'flux.yaml': FLUX },
      { 'flux.yaml': flux('interval: 5m, images: [{name: server, newTag: b}]') },
    ],
    [
      'one more that deploys it',
      { 'app.yaml': application('') },
      {
        'app.yaml': `${application('')}---\n${application('targetRevision: v1').replace('name: demo', 'name: more')}`,
      },
    ],
  ])('is none: %s', async (_, base, head) => {
    const { code, stdout } = await trees(base, head)
    expect(stdout).toContain('✓ no container gains or loses an identity')
    expect(code).toBe(0)
  })
})
