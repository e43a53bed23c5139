// The one door: whatever is given beside a clean estate is read, dismissed for a reason, or not known (docs/offline.md, "Whole
// trees"). Each row gives one more file or more, and the exit code and the first line that `conflicts` must have.
import { unknownReasonText } from '@kleym/shared/core/unknown-reason.ts'
import { describe, expect, test } from 'vitest'
import { inProcess, type Ran } from '../support/in-process.ts'
import { workspace } from '../support/workspace.ts'

type Files = Readonly<Record<string, string | Uint8Array>>

const ESTATE = `apiVersion: v1
kind: Namespace
metadata: {name: demo, labels: {kubernetes.io/metadata.name: demo}}
---
apiVersion: inference.networking.k8s.io/v1
kind: InferencePool
metadata: {name: llama, namespace: demo}
spec: {selector: {matchLabels: {app: llama}}}
---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceObjective
metadata: {name: chat, namespace: demo}
spec: {poolRef: {name: llama}}
---
apiVersion: kleym.sonda.red/v1alpha1
kind: InferenceIdentityBinding
metadata: {name: chat, namespace: demo}
spec: {poolRef: {name: llama}, objectiveRef: {name: chat}, serviceAccountName: runner, containerName: vllm}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: llama, namespace: demo}
spec:
  selector: {matchLabels: {app: llama}}
  template:
    metadata: {labels: {app: llama}}
    spec:
      serviceAccountName: runner
      volumes: [{name: workload-api, csi: {driver: csi.spiffe.io, readOnly: true}}]
      containers: [{name: vllm, image: vllm, volumeMounts: [{name: workload-api, mountPath: /run/spire}]}]
`
const SCM = `apiVersion: spire.spiffe.io/v1alpha1
kind: ControllerManagerConfig
trustDomain: example.org
clusterName: prod
watchClassless: true
`
const SETTINGS = [
  '--trust-domain',
  'example.org',
  '--clusterspiffeid-class-name',
  '',
  '--scm-config',
  'scm.conf',
]

async function asked(command: string, files: Files, scm = SCM, flags: readonly string[] = []): Promise<Ran> {
  const given = Object.fromEntries(Object.entries(files).map(([name, text]) => [`files/${name}`, text]))
  const cwd = await workspace({ 'files/estate.yaml': ESTATE, 'scm.conf': scm, ...given })
  return inProcess([command, '--offline', '-R', '-f', 'files', ...SETTINGS, ...flags], cwd)
}

/** A registration that gives the identity of the binding away. */
const THIEF = {
  apiVersion: 'spire.spiffe.io/v1alpha1',
  kind: 'ClusterSPIFFEID',
  metadata: { name: 'thief' },
  spec: { spiffeIDTemplate: 'spiffe://{{ .TrustDomain }}/ns/demo/objective/chat', podSelector: {} },
}
const THIEF_YAML = `apiVersion: spire.spiffe.io/v1alpha1\nkind: ClusterSPIFFEID\nmetadata: {name: thief}\nspec: {spiffeIDTemplate: "spiffe://example.org/x"}\n`
/** A document that does not parse, and whose kind is plain. */
const POOL_HEAD = 'apiVersion: inference.networking.k8s.io/v1\nkind: InferencePool\n'
const json = (value: unknown): string => JSON.stringify(value)
const typed = (apiVersion: string, kind: string, spec: unknown): string =>
  json({ apiVersion, kind, metadata: { name: 'app', namespace: 'deploy' }, spec })

const CLEAN = '√ nothing clashes'
const OPEN = '‼ nothing is known to clash'

type Row = readonly [given: string, files: Files]

const FILES_OF_APPS = { 'apps/prod/x.yaml': 'apiVersion: v1\nkind: Service\nmetadata: {name: x}\n' }
const kustomization = (spec: object): string =>
  typed('kustomize.toolkit.fluxcd.io/v1', 'Kustomization', { path: './apps/prod', ...spec })
const NONE = { matchLabels: { app: 'none' } }
/** What Helm made of the release `web`. */
const made = json({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    name: 'web',
    namespace: 'web',
    labels: { 'app.kubernetes.io/managed-by': 'Helm', 'app.kubernetes.io/instance': 'web' },
  },
  spec: {
    selector: NONE,
    template: { metadata: { labels: { app: 'none' } }, spec: { containers: [{ name: 'web' }] } },
  },
})

const rowsThatAreOpen: readonly Row[] = [
  ['a manifest in a folder of tools', { '.tekton/a.yaml': THIEF_YAML }],
  ['a JSON array', { 'a.json': json([THIEF]) }],
  ['items without a kind', { 'a.json': json({ items: [THIEF] }) }],
  ['a List without an apiVersion', { 'a.json': json({ kind: 'List', items: [THIEF] }) }],
  ['a map of objects by name', { 'a.json': json({ thief: THIEF }) }],
  ['an array of YAML', { 'a.yaml': `- ${THIEF_YAML.trimEnd().replaceAll('\n', '\n  ')}\n` }],
  ...['\u2028', '\u2029', '\u0085', '\r'].map((end): Row => [
    `a comment that ends at U+${(end.codePointAt(0) ?? 0).toString(16)}`,
    { 'a.yaml': `# c${end}${THIEF_YAML.trimEnd().replaceAll('\n', end)}` },
  ]),
  [
    'a first mapping that is indented, and a kind in column 0',
    { 'a.yaml': `  ${THIEF_YAML.trimEnd().replaceAll('\n', '\n  ')}\nkind: ConfigMap\n` },
  ],
  [
    'a quoted annotation that goes on in column 0, before the namespace',
    {
      'a.yaml': `${POOL_HEAD}metadata:\n  name: llama\n  annotations:\n    a: "x\ny: z"\n  namespace: demo\nspec: {a: [}\n`,
    },
  ],
  ['a file of git-crypt', { 'a.yaml': new TextEncoder().encode('\0GITCRYPT\0xyz') }],
  ['a file of Ansible Vault', { 'a.yaml': '$ANSIBLE_VAULT;1.1;AES256\n6162\n' }],
  [
    'a pointer of Git LFS',
    { 'a.yaml': 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n' },
  ],
  ['UTF-16 without a mark', { 'a.yaml': new Uint8Array(Buffer.from(THIEF_YAML, 'utf16le')) }],
  ['a kustomization of a URL', { 'kustomization.yaml': 'resources: [https://example.org/x.yaml]\n' }],
  ['a kustomization of a missing file', { 'kustomization.yaml': 'resources: [gone.yaml]\n' }],
  [
    'a kustomization of charts',
    { 'kustomization.yaml': 'helmCharts: [{name: spire, repo: https://x.io}]\n' },
  ],
  [
    'a chart whose dependency is not there',
    {
      'c/Chart.yaml':
        'apiVersion: v2\nname: app\nversion: 0.1.0\ndependencies: [{name: spire, version: 1.0.0, repository: https://x.io}]\n',
    },
  ],
  [
    'a HelmRelease',
    { 'a.json': typed('helm.toolkit.fluxcd.io/v2', 'HelmRelease', { chart: { spec: { chart: 'app' } } }) },
  ],
  [
    'a Kustomization of Flux whose path is elsewhere',
    { 'a.json': typed('kustomize.toolkit.fluxcd.io/v1', 'Kustomization', { path: './apps/prod' }) },
  ],
  [
    'a Kustomization of Flux whose path is among the files, and is of another repository',
    { ...FILES_OF_APPS, 'a.json': kustomization({ sourceRef: { kind: 'GitRepository', name: 'podinfo' } }) },
  ],
  [
    'a Kustomization of Flux that patches what it takes from the files',
    { ...FILES_OF_APPS, 'a.json': kustomization({ patches: [{ patch: 'x' }] }) },
  ],
  [
    'an Application of another repository with a path that is among the files',
    {
      ...FILES_OF_APPS,
      'a.json': typed('argoproj.io/v1alpha1', 'Application', {
        source: { repoURL: 'https://x.io/y', path: 'apps/prod' },
      }),
    },
  ],
  [
    'an Application whose plugin makes something of the files',
    {
      ...FILES_OF_APPS,
      'a.json': typed('argoproj.io/v1alpha1', 'Application', {
        source: { path: 'apps/prod', plugin: { name: 'x' } },
      }),
    },
  ],
  [
    'an Application of Argo CD',
    {
      'a.json': typed('argoproj.io/v1alpha1', 'Application', {
        source: { repoURL: 'https://x.io', chart: 'app' },
      }),
    },
  ],
  ['a HelmChart of k3s', { 'a.json': typed('helm.cattle.io/v1', 'HelmChart', { chart: 'spire' }) }],
  [
    'a GitRepo of Fleet',
    { 'a.json': typed('fleet.cattle.io/v1alpha1', 'GitRepo', { repo: 'https://x.io' }) },
  ],
  ['a fleet.yaml', { 'fleet.yaml': 'defaultNamespace: spire\nhelm: {chart: spire, repo: https://x.io}\n' }],
  ['a helmfile', { 'helmfile.yaml': 'releases: [{name: spire, namespace: spire, chart: spiffe/spire}]\n' }],
  [
    'a skaffold.yaml',
    {
      'skaffold.yaml': json({
        apiVersion: 'skaffold/v4beta6',
        kind: 'Config',
        deploy: { helm: { releases: [{ name: 'spire', remoteChart: 'spire' }] } },
      }),
    },
  ],
  [
    'Terraform that installs a chart',
    { 'main.tf': 'resource "helm_release" "spire" {\n  chart = "spire"\n}\n' },
  ],
  [
    'a helmfile of two releases, one of which was made',
    {
      'made.json': made,
      'helmfile.yaml':
        'releases: [{name: web, namespace: web, chart: x/web}, {name: more, namespace: web, chart: x/more}]\n',
    },
  ],
  [
    "a helmfile of SPIRE's chart, of which there is a fallback, and of another",
    {
      'made.json': json({ ...THIEF, spec: { ...THIEF.spec, podSelector: NONE, fallback: true } }),
      'helmfile.yaml': 'releases: [{name: spire, chart: spiffe/spire}, {name: more, chart: x/more}]\n',
    },
  ],
  [
    'a HelmRelease of a release that was made in another namespace',
    {
      'made.json': made,
      'a.yaml':
        'apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web, namespace: other}\nspec: {chart: {spec: {chart: web}}}\n',
    },
  ],
  [
    "values of SPIRE's chart",
    {
      'spire.yaml':
        'spire-server:\n  controllerManager:\n    identities:\n      clusterSPIFFEIDs:\n        x: {enabled: true}\n',
    },
  ],
  [
    'a kind that SOPS has encrypted',
    {
      'a.yaml':
        'apiVersion: ENC[AES256_GCM,data:x]\nkind: ENC[AES256_GCM,data:y]\nmetadata: {name: x}\nsops: {}\n',
    },
  ],
  [
    'a Pod whose spec SOPS has encrypted',
    { 'a.yaml': 'apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: ENC[AES256_GCM,data:x]\n' },
  ],
  [
    'a Deployment whose containers SOPS has encrypted',
    {
      'a.yaml':
        'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\nspec: {template: {spec: {containers: "ENC[AES256_GCM,data:x]"}}}\n',
    },
  ],
  [
    'a Pod whose labels are a text',
    {
      'a.yaml':
        'apiVersion: v1\nkind: Pod\nmetadata: {name: x, labels: app}\nspec: {containers: [{name: a}]}\n',
    },
  ],
]

const rowsThatAreDismissed: readonly Row[] = [
  [
    'a helmfile whose releases were made, or hold CustomResourceDefinitions alone',
    {
      'made.json': made,
      'helmfile.yaml':
        'releases: [{name: web, namespace: web, chart: x/web}, {name: crds, chart: spiffe/spire-crds}]\n',
    },
  ],
  ['an array of what is no object', { 'a.json': json([{ a: 1 }, 'b']) }],
  ['comments alone', { 'a.yaml': '# c\r# d\u2028# e\n' }],
  [
    'a Kustomization of Flux whose path is among the files',
    { ...FILES_OF_APPS, 'a.json': kustomization({}) },
  ],
  [
    'a Kustomization of Flux whose source is the one that the cluster was bootstrapped from',
    {
      ...FILES_OF_APPS,
      'a.json': kustomization({ sourceRef: { kind: 'GitRepository', name: 'flux-system' } }),
    },
  ],
  [
    'a Kustomization of Flux whose source has the address of this repository',
    {
      ...FILES_OF_APPS,
      '.git/config': '[remote "origin"]\n\turl = git@example.org:me/fleet.git\n',
      's.json': typed('source.toolkit.fluxcd.io/v1', 'GitRepository', {
        url: 'https://example.org/me/fleet',
      }),
      'a.json': kustomization({ sourceRef: { kind: 'GitRepository', name: 'app', namespace: 'deploy' } }),
    },
  ],
  [
    'an Application of this repository',
    {
      ...FILES_OF_APPS,
      '.git/config': '[remote "origin"]\n\turl = https://example.org/me/fleet.git\n',
      'a.json': typed('argoproj.io/v1alpha1', 'Application', {
        source: { repoURL: 'https://example.org/me/fleet', path: 'apps/prod' },
      }),
    },
  ],
  [
    'a chart whose only dependency is a library that makes no objects',
    {
      'c/Chart.yaml':
        'apiVersion: v2\nname: app\nversion: 0.1.0\ndependencies: [{name: common, version: 2.x.x, repository: https://charts.bitnami.com/bitnami}]\n',
    },
  ],
  [
    'arguments that Kubernetes fills in',
    {
      'a.json': json({
        apiVersion: 'argoproj.io/v1alpha1',
        kind: 'Rollout',
        metadata: { name: 'web', namespace: 'web' },
        spec: {
          selector: { matchLabels: { app: 'web' } },
          template: {
            metadata: { labels: { app: 'web' } },
            spec: {
              serviceAccountName: 'web',
              containers: [{ name: 'web', image: 'x', args: ['--ip=$(POD_IP)'] }],
            },
          },
        },
      }),
    },
  ],
  [
    'pipelines of Tekton for the repository',
    { '.tekton/a.yaml': 'apiVersion: tekton.dev/v1\nkind: PipelineRun\nmetadata: {name: a}\n' },
  ],
  ['values without a key that makes registrations', { 'spire.yaml': 'spire-server: {replicas: 1}\n' }],
  ["a switch of SCM's", { 'x.yaml': 'reconcile: {clusterSPIFFEIDs: true}\n' }],
  ['Terraform that installs no chart', { 'main.tf': 'resource "aws_s3_bucket" "x" {}\n' }],
]

describe('what may hold anything leaves the answer open', () => {
  test.each(rowsThatAreOpen)('%s', async (_, files) => {
    const { code, stdout } = await asked('conflicts', files)
    expect({ code, first: stdout.slice(0, OPEN.length) }).toEqual({ code: 4, first: OPEN })
  })
})

describe("SCM's configuration", () => {
  test.each<[setting: string, code: number, first: string]>([
    ['staticManifestPath: /manifests', 1, '× '],
    ['gcInterval: 10s', 1, '× '],
    ['cacheNamespace: a\ncacheNamespaces: {b: }', 1, '× '],
    ['validatingWebhookConfigurationName: ""', 1, '× '],
    ['leaderElection: {leaderElect: "yes"}', 1, '× '],
    ['gcInterval: 10000000000', 0, CLEAN],
    // What is not known of it decides about kleym's own outputs alone.
    ['className: $CLASS', 0, '· nothing clashes in 1 '],
  ])('%s', async (setting, code, first) => {
    const { code: found, stdout } = await asked('conflicts', {}, `${SCM}${setting}\n`)
    expect({ code: found, first: stdout.slice(0, first.length) }).toEqual({ code, first })
  })
})

const pod = (namespace: string): string =>
  `---\napiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: ${namespace}}\nspec: {containers: [{name: web, image: x}]}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: ${namespace}}\n`
const web = (image: string): string =>
  json({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'web' },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image }] } },
    },
  })

test("the provider of OpenShift's identity manager makes a fallback for every namespace but its own", async () => {
  const { code, stdout } = await asked(
    'who-selects',
    {
      'a.yaml': `apiVersion: operator.openshift.io/v1alpha1\nkind: SpireOIDCDiscoveryProvider\nmetadata: {name: cluster}\nspec: {}\n${pod('web')}${pod('zero-trust-workload-identity-manager')}`,
    },
    `${SCM}className: zero-trust-workload-identity-manager-spire\n`,
  )
  expect(code).toBe(0)
  expect(stdout).toMatch(/pod web\/web[\s\S]*√ spiffe:\/\/example\.org\/ns\/web\/sa\/default/)
  expect(stdout).not.toContain('ns/zero-trust-workload-identity-manager/sa')
})

const istio = (templates: string): string =>
  web('x').replace(
    '"metadata":{"labels"',
    `"metadata":{"annotations":{"inject.istio.io/templates":"${templates}"},"labels"`,
  )
const spireAgent = (value: string): string =>
  `apiVersion: operator.openshift.io/v1alpha1\nkind: SpireAgent\nmetadata: {name: cluster}\nspec: {workloadAttestors: {disableContainerSelectors: ${value}}}\n`

describe('admission may add a label that a registration asks for', () => {
  const key = 'spiffe.io/spire-managed-identity'
  const asking = json({
    ...THIEF,
    metadata: { name: 'managed' },
    spec: {
      spiffeIDTemplate: 'spiffe://{{ .TrustDomain }}/{{ .PodMeta.Name }}',
      podSelector: { matchLabels: { [key]: 'true' } },
    },
  })
  const kyverno = (rule: object): string =>
    json({
      apiVersion: 'kyverno.io/v1',
      kind: 'ClusterPolicy',
      metadata: { name: 'managed' },
      spec: {
        rules: [{ name: 'x', match: { any: [{ resources: { kinds: ['Pod'] } }] }, ...rule }],
      },
    })
  test.each<[given: string, files: Files, isOpen: boolean]>([
    ["Istio's template spire", { 'web.json': istio('sidecar,spire') }, true],
    ["Istio's own templates", { 'web.json': istio('sidecar') }, false],
    [
      'a policy of Kyverno that mutates',
      { 'p.json': kyverno({ mutate: { patchStrategicMerge: { metadata: { labels: { [key]: 'true' } } } } }) },
      true,
    ],
    [
      'one that sets a label whose key is computed',
      {
        'p.json': kyverno({
          mutate: { patchStrategicMerge: { metadata: { labels: { '{{ element.key }}': 'true' } } } },
        }),
      },
      true,
    ],
    [
      'one that sets another label',
      {
        'p.json': kyverno({
          mutate: { patchStrategicMerge: { metadata: { labels: { [`x-${key}`]: 'true' } } } },
        }),
      },
      false,
    ],
    [
      'one that validates',
      { 'p.json': kyverno({ validate: { pattern: { metadata: { labels: { [key]: 'true' } } } } }) },
      false,
    ],
    [
      'AssignMetadata of Gatekeeper',
      {
        'p.yaml': `apiVersion: mutations.gatekeeper.sh/v1\nkind: AssignMetadata\nmetadata: {name: x}\nspec:\n  location: metadata.labels."${key}"\n  parameters: {assign: {value: "true"}}\n`,
      },
      true,
    ],
    [
      'a MutatingAdmissionPolicy with a JSON patch',
      {
        'p.yaml': `apiVersion: admissionregistration.k8s.io/v1beta1\nkind: MutatingAdmissionPolicy\nmetadata: {name: x}\nspec:\n  mutations:\n  - patchType: JSONPatch\n    jsonPatch: {expression: '[JSONPatch{op: "add", path: "/metadata/labels/${key.replace('/', '~1')}", value: "true"}]'}\n`,
      },
      true,
    ],
  ])('%s', async (_, files, isOpen) => {
    const { code, stdout } = await asked('who-selects', { 'web.json': web('x'), 'm.json': asking, ...files })
    const isTold = /may add some|may give the pod a label/.test(stdout.replaceAll(/\s+/g, ' '))
    expect({ code, isTold }).toEqual({ code: isOpen ? 4 : 0, isTold: isOpen })
  })
})

test.each<[given: string, label: object, code: number]>([
  ['a label of a second pool', { tier: 'x' }, 4],
  ['another label', { other: 'x' }, 0],
])('a pod to which admission adds %s may be in two pools', async (_, labels, code) => {
  const policy = json({
    apiVersion: 'kyverno.io/v1',
    kind: 'ClusterPolicy',
    metadata: { name: 'tiers' },
    spec: { rules: [{ name: 'x', mutate: { patchStrategicMerge: { metadata: { labels } } } }] },
  })
  const pool = (name: string, matchLabels: object): string =>
    json({
      apiVersion: 'inference.networking.k8s.io/v1',
      kind: 'InferencePool',
      metadata: { name, namespace: 'demo' },
      spec: { selector: { matchLabels } },
    })
  // The pools `one` and `two` exclude each other.
  const pools = { 'one.json': pool('one', { tier: 'y' }), 'two.json': pool('two', { tier: 'x' }) }
  const { code: found, stdout } = await asked('conflicts', { ...pools, 'p.json': policy }, SCM, [
    '--fail-on',
    'warning',
  ])
  expect(found).toBe(code)
  expect(/KLM306[^]*ClusterPolicy.kyverno.io tiers may add labels to the pod/.test(stdout)).toBe(code === 4)
})

describe('an agent that finds no selectors of containers issues no identity of one', () => {
  const config = (text: string): string =>
    json({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'agent', namespace: 'spire' },
      data: { 'agent.conf': text },
    })
  const hcl = (option: string): string =>
    config(
      `agent {}\nplugins {\n  WorkloadAttestor "k8s" {\n    plugin_data {\n      ${option}\n    }\n  }\n}\n`,
    )
  const DISABLED = 'disable_container_selectors = true'
  test.each<[given: string, files: Files, code: number, first: string]>([
    ['an agent.conf', { 'a.json': hcl(DISABLED) }, 1, '× 1 error'],
    [
      'an agent.conf in JSON',
      {
        'a.json': config(
          json({
            plugins: { WorkloadAttestor: [{ k8s: { plugin_data: { disable_container_selectors: true } } }] },
          }),
        ),
      },
      1,
      '× 1 error',
    ],
    ["OpenShift's SpireAgent", { 'a.yaml': spireAgent('"true"') }, 1, '× 1 error'],
    ['a comment', { 'a.json': hcl(`# ${DISABLED}`) }, 0, CLEAN],
    ['none that has it', { 'a.yaml': spireAgent('"false"') }, 0, CLEAN],
  ])('%s', async (_, files, code, first) => {
    const { code: found, stdout } = await asked('conflicts', files)
    const isTold = stdout.includes('the agent has disable_container_selectors')
    expect({ code: found, first: stdout.slice(0, first.length), isTold }).toEqual({
      code,
      first,
      isTold: code === 1,
    })
  })
  test('one of two agents', async () => {
    const files = { 'a.json': hcl(DISABLED), 'b.yaml': spireAgent('"false"') }
    const { stdout } = await asked('who-selects', files)
    expect(stdout).toMatch(/^‼ .* undetermined/)
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('a.json:1), and others have not')
  })
})

const service = (model: string): string =>
  typed('serving.kserve.io/v1alpha1', 'LLMInferenceService', { model: { uri: model } })

test('a workload that is defined twice is no doubt where nothing gives an identity', async () => {
  const files = { 'a.json': web('x'), 'b.json': web('y') }
  const cwd = await workspace({ ...files, 'scm.conf': SCM })
  const { code } = await inProcess(['who-selects', '-A', '--offline', '-f', '.', ...SETTINGS], cwd)
  expect(code).toBe(0)
  expect((await asked('who-selects', files)).code).toBe(4)
  const services = await workspace({ 'a.json': service('x'), 'b.json': service('y'), 'scm.conf': SCM })
  expect((await inProcess(['who-selects', '-A', '--offline', '-f', '.', ...SETTINGS], services)).code).toBe(0)
})

test('an object that is defined twice is told in those words', () => {
  const why = { verb: 'read', what: 'a.yaml:1 and b.yaml:1', cause: 'ambiguous' } as const
  expect(unknownReasonText(why)).toBe('defined twice: a.yaml:1, b.yaml:1')
})

describe('what cannot matter is dismissed', () => {
  test.each(rowsThatAreDismissed)('%s', async (_, files) => {
    const { code, stdout } = await asked('conflicts', files)
    expect({ code, first: stdout.slice(0, CLEAN.length) }).toEqual({ code: 0, first: CLEAN })
  })
})
