// What people have beside a clean estate, and what it comes to at the one door (plugin/test/sources/door.test.ts; the executable that
// ships: test/e2e/door.test.ts).

import { settingsFlags } from '@kleym/testing/settings-flags.ts'
import { gzipSync } from 'node:zlib'

export type Files = Readonly<Record<string, string | Uint8Array>>

export const ESTATE = `apiVersion: v1
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
export const SCM = `apiVersion: spire.spiffe.io/v1alpha1
kind: ControllerManagerConfig
trustDomain: example.org
clusterName: prod
watchClassless: true
`
export const SETTINGS = settingsFlags('', 'scm.conf')

const ADDRESS = 'https://example.org/all.yaml'
const WEB_OF_YTT = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: demo}
spec:
  template:
    metadata:
      labels:
        app: #@ data.values.app
    spec: {containers: [{name: web, image: x}]}
`

function jobRunning(command: readonly string[]): object {
  const containers = [{ name: 'run', image: 'tools', command }]
  const template = { spec: { restartPolicy: 'Never', serviceAccountName: 'jobs', containers } }
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'run', namespace: 'ops' },
    spec: { template },
  }
}

/** A registration that gives the identity of the binding away. */
export const THIEF = {
  apiVersion: 'spire.spiffe.io/v1alpha1',
  kind: 'ClusterSPIFFEID',
  metadata: { name: 'thief' },
  spec: { spiffeIDTemplate: 'spiffe://{{ .TrustDomain }}/ns/demo/objective/chat', podSelector: {} },
}
const THIEF_YAML = `apiVersion: spire.spiffe.io/v1alpha1\nkind: ClusterSPIFFEID\nmetadata: {name: thief}\nspec: {spiffeIDTemplate: "spiffe://example.org/x"}\n`
/** A document that does not parse, and whose kind is plain. */
const POOL_HEAD = 'apiVersion: inference.networking.k8s.io/v1\nkind: InferencePool\n'
export const json = (value: unknown): string => JSON.stringify(value)
export const typed = (apiVersion: string, kind: string, spec: unknown): string =>
  json({ apiVersion, kind, metadata: { name: 'app', namespace: 'deploy' }, spec })

const mutating = (kinds: readonly string[], patchStrategicMerge: object): string =>
  typed('kyverno.io/v1', 'ClusterPolicy', {
    rules: [{ name: 'a', match: { any: [{ resources: { kinds } }] }, mutate: { patchStrategicMerge } }],
  })

/** In the namespace of the estate. */
const inDemo = (apiVersion: string, kind: string, spec: unknown): string =>
  json({ apiVersion, kind, metadata: { name: 'app', namespace: 'demo' }, spec })
const jobOf = (command: string): Files => ({
  'a.json': json({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'a', namespace: 'tools' },
    spec: {
      template: { spec: { containers: [{ name: 'a', image: 'x', args: ['sh', '-c', command] }] } },
    },
  }),
})
const clone = (apiVersion: string, kind: string): Files => ({
  'a.json': typed('kyverno.io/v1', 'ClusterPolicy', {
    rules: [{ name: 'a', generate: { apiVersion, kind, name: 'a', clone: { name: 'a', namespace: 'x' } } }],
  }),
})

export const CLEAN = '✓ nothing clashes'
export const OPEN = '! nothing is known to clash'

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

/** An object within fields, as deep as nobody nests them. */
function within(value: object, levels: number): object {
  let outer = value
  for (let level = 0; level < levels; level++) outer = { a: outer }
  return outer
}
const CHART_FILE = 'apiVersion: v2\nname: c\nversion: 0.1.0\n'
const indented = (text: string, by: number): string => text.trimEnd().replaceAll(/^/gm, ' '.repeat(by))
const WORK = (name: string): string =>
  `apiVersion: work.open-cluster-management.io/v1
kind: ManifestWork
metadata: {name: ${name}}
spec:
  workload:
    manifests:
    - ${indented(THIEF_YAML, 6).trimStart()}
`
const ROLLOUT = (name: string): string =>
  `apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: {name: ${name}, namespace: demo}
spec:
  replicas: 1
  template:
    metadata: {labels: {app: llama}}
    spec: {serviceAccountName: runner, containers: [{name: vllm, image: x}]}
`

/** The ConfigMap of an agent. */
const AGENT = (name: string, lacks: string): string =>
  `apiVersion: v1
kind: ConfigMap
metadata: {name: ${name}}
data:
  agent.conf: |
    plugins { WorkloadAttestor "k8s" { plugin_data { disable_container_selectors = ${lacks} } } }
`

const EXTRA = '{{ range .Values.extraObjects }}\n---\n{{ tpl (toYaml .) $ }}\n{{ end }}\n'
const OF_VALUES: Files = {
  'c/Chart.yaml': CHART_FILE,
  'c/values.yaml': 'extraObjects: []\n',
  'c/templates/extra.yaml': EXTRA,
}
/** Deploys the chart in the folder `c`. */
const release = (more: object): string =>
  typed('helm.toolkit.fluxcd.io/v2', 'HelmRelease', {
    chart: {
      spec: {
        chart: './c',
        sourceRef: { kind: 'GitRepository', name: 'flux-system', namespace: 'flux-system' },
      },
    },
    ...more,
  })
const GROUP_OPEN = '${GROUP}/v1alpha1'
const DEPLOYING_ELSEWHERE = { source: { repoURL: 'https://x.io/y', path: 'z' } }

/** Manifests that another tool fills in or fetches. */
const ROWS_OF_OTHER_TOOLS: readonly Row[] = [
  [
    'a chart that makes whole objects of values, which stand elsewhere',
    { ...OF_VALUES, 'a.json': release({ valuesFrom: [{ kind: 'Secret', name: 'v' }] }) },
  ],
  [
    'a chart that makes a List of values, which stand elsewhere',
    {
      ...OF_VALUES,
      'c/templates/extra.yaml':
        'apiVersion: v1\nkind: List\nitems:\n  {{- toYaml .Values.extraObjects | nindent 2 }}\n',
      'a.json': release({ valuesFrom: [{ kind: 'Secret', name: 'v' }] }),
    },
  ],
  [
    'a chart that makes an object of a file',
    {
      'c/Chart.yaml': CHART_FILE,
      'c/files/thief.tpl': THIEF_YAML,
      'c/templates/a.yaml': '{{ .Files.Get "files/thief.tpl" }}\n',
    },
  ],
  [
    'a chart whose values fill in the kind of an object',
    { ...OF_VALUES, 'c/values.yaml': 'extraObjects:\n- kind: "{{ .Values.kind }}"\n' },
  ],
  ['a template of Ansible', { 'roles/x/templates/thief.yaml.j2': `{% if x %}\n${THIEF_YAML}{% endif %}\n` }],
  ['a template without the name of a manifest', { 'thief.j2': THIEF_YAML }],
  [
    'a task of Ansible that applies a file which is not there',
    { 'p.yaml': '- tasks:\n  - kubernetes.core.k8s: {state: present, src: /srv/all.yaml}\n' },
  ],
  [
    'a task of Ansible that applies a template',
    { 'p.yaml': '- tasks:\n  - k8s:\n      template: [{path: all.txt}]\n' },
  ],
  [
    'a task of Ansible that applies what it looks up',
    { 'p.yaml': `- tasks:\n  - k8s: {definition: "{{ lookup('url', x) | from_yaml }}"}\n` },
  ],
  [
    'an Application whose group is filled in later',
    { 'a.json': typed(GROUP_OPEN, 'Application', DEPLOYING_ELSEWHERE) },
  ],
  [
    'the same in a chart',
    {
      'c/Chart.yaml': CHART_FILE,
      'c/templates/a.yaml':
        'apiVersion: {{ .Values.api }}\nkind: Application\nmetadata: {name: a}\nspec:\n  source:\n    repoURL: https://x.io/y\n    path: z\n',
    },
  ],
  [
    'a deployment of kluctl from Git',
    { 'deployment.yaml': 'deployments: [{git: {url: https://x.io/y, subDir: z}}]\n' },
  ],
  [
    'a deployment of kluctl from a registry',
    { 'deployment.yaml': 'deployments:\n- oci: {url: "oci://x.io/y"}\n' },
  ],
  [
    'a package of Zarf that fetches manifests',
    {
      'zarf.yaml': json({
        apiVersion: 'zarf.dev/v1alpha1',
        kind: 'ZarfPackageConfig',
        components: [{ name: 'a', manifests: [{ name: 'a', files: ['https://x.io/y.yaml'] }] }],
      }),
    },
  ],
  [
    'a package of Zarf that imports another one',
    { 'zarf.yaml': 'kind: ZarfPackageConfig\ncomponents: [{name: a, import: {url: "oci://x.io/y"}}]\n' },
  ],
  [
    'a file of skaffold that names manifests by their addresses',
    {
      'skaffold.yaml': json({
        apiVersion: 'skaffold/v4beta6',
        kind: 'Config',
        manifests: { rawYaml: ['https://x.io/y.yaml'] },
      }),
    },
  ],
  [
    'a file of skaffold with a kustomization of a repository',
    {
      'skaffold.yaml':
        'apiVersion: skaffold/v4beta6\nkind: Config\nmanifests: {kustomize: {paths: ["https://github.com/x/y//z"]}}\n',
    },
  ],
  [
    'manifests of Talos at an address',
    { 'talos.yaml': 'cluster: {extraManifests: ["https://x.io/y.yaml"]}\n' },
  ],
  [
    'an object of a stranger with the address of manifests',
    { 'a.json': typed('x.io/v1', 'X', { source: { url: { path: 'https://x.io/y.yaml' } } }) },
  ],
  ['what Garden deploys', { 'garden.yml': 'kind: Deploy\nname: x\ntype: container\nspec: {image: x}\n' }],
  [
    'a ManagedChart of Rancher',
    {
      'a.yaml':
        'apiVersion: management.cattle.io/v3\nkind: ManagedChart\nmetadata: {name: x, namespace: f}\nspec: {chart: x, repoName: z}\n',
    },
  ],
  [
    'a RootSync of a registry',
    {
      'a.yaml':
        'apiVersion: configsync.gke.io/v1beta1\nkind: RootSync\nmetadata: {name: x, namespace: s}\nspec: {sourceType: oci, oci: {image: x.io/y:1}}\n',
    },
  ],
  [
    'a PackageVariant of Porch',
    {
      'a.yaml':
        'apiVersion: config.porch.kpt.dev/v1alpha1\nkind: PackageVariant\nmetadata: {name: x, namespace: d}\nspec: {upstream: {repo: b, package: x}}\n',
    },
  ],
  ['what werf includes', { 'werf-includes.yaml': 'includes: [{git: "https://x.io/y"}]\n' }],
  [
    'a Deployment of Pulumi',
    { 'Pulumi.yaml': 'runtime: yaml\nresources:\n  web: {type: "kubernetes:apps/v1:Deployment"}\n' },
  ],
  [
    'a registration of Pulumi',
    { 'Pulumi.yaml': 'resources:\n  x: {type: "kubernetes:spire.spiffe.io/v1alpha1:ClusterSPIFFEID"}\n' },
  ],
  [
    'a deployment of DevSpace without a chart',
    {
      'devspace.yaml':
        'version: v2beta1\ndeployments:\n  api:\n    helm: {values: {containers: [{image: x}]}}\n',
    },
  ],
  [
    'what a project of DevSpace depends on',
    { 'devspace.yaml': 'version: v2beta1\ndependencies:\n  api: {git: "https://x.io/y"}\n' },
  ],
]
const DEPLOYMENT =
  'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: demo}\nspec: {template: {metadata: {labels: {app: llama}}}}\n'

/** What shows none of the names that the door knows: the default holds them. */
const ROWS_OF_STRANGERS: readonly Row[] = [
  ['an object 30 levels deep in another', { 'a.json': typed('x.io/v1', 'X', within(THIEF, 30)) }],
  ['an object 30 levels deep in what is none', { 'a.json': json(within(THIEF, 30)) }],
  [
    'a chart 20 levels deep in another object',
    { 'a.json': typed('x.io/v1', 'X', within({ chart: 'spire', repoURL: 'https://x.io' }, 20)) },
  ],
  [
    'an object in base64, in an address of data',
    { 'a.json': typed('x.io/v1', 'X', { source: `data:;base64,${btoa(THIEF_YAML)}` }) },
  ],
  [
    'an object in an address of data',
    { 'a.json': typed('x.io/v1', 'X', { source: `data:,${encodeURIComponent(THIEF_YAML)}` }) },
  ],
  ['an object in base64 of base64', { 'a.json': typed('x.io/v1', 'X', { content: btoa(btoa(THIEF_YAML)) }) }],
  [
    'an object that is packed, in a Secret',
    {
      'a.json': json({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'x' },
        data: { m: gzipSync(THIEF_YAML).toString('base64') },
      }),
    },
  ],
  ['an object as JSON in JSON', { 'a.json': typed('x.io/v1', 'X', { m: json(json(THIEF)) }) }],
  [
    'a Job that applies a text',
    {
      'a.json': json({
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: { name: 'x', namespace: 'web' },
        spec: {
          template: {
            spec: { containers: [{ name: 'k', args: [`kubectl apply -f - <<E\n${THIEF_YAML}E`] }] },
          },
        },
      }),
    },
  ],
  [
    'a Deployment in a text that a Job applies',
    {
      'a.json': json({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'x', namespace: 'ops' },
        data: { 'a.yaml': DEPLOYMENT },
      }),
    },
  ],
  [
    'a Bundle of Fleet, whose group makes no pods by itself',
    { 'a.json': typed('fleet.cattle.io/v1alpha1', 'Bundle', { resources: [{ content: DEPLOYMENT }] }) },
  ],
  [
    'a static Pod that a MachineConfig writes',
    {
      'a.json': typed('machineconfiguration.openshift.io/v1', 'MachineConfig', {
        files: [{ source: 'data:,apiVersion%3A%20v1%0Akind%3A%20Pod%0Ametadata%3A%20%7Bname%3A%20x%7D' }],
      }),
    },
  ],
  [
    'a policy that generates what an expression gives',
    {
      'a.json': typed('policies.kyverno.io/v1', 'GeneratingPolicy', {
        generate: [{ expression: "generator.Apply('demo', [dyn({'kind': 'Deployment'})])" }],
      }),
    },
  ],
  ['a kind of another project below k8s.io', { 'a.json': inDemo('flink.k8s.io/v1', 'FlinkApplication', {}) }],
  [
    'a backup that is restored into a namespace',
    { 'a.json': typed('velero.io/v1', 'Restore', { includedNamespaces: ['demo'] }) },
  ],
  [
    'an object of any other kind that names a namespace',
    { 'a.json': typed('x.io/v1', 'X', { target: { namespace: 'demo' } }) },
  ],
  ['a text in base64', { 'a.yaml': `${btoa(THIEF_YAML)}\n` }],
  ['the path of a file, as git writes a link on Windows', { 'a.yaml': '../base/thief.yaml' }],
  [
    'a file of age',
    { 'a.yaml': '-----BEGIN AGE ENCRYPTED FILE-----\nYWdl\n-----END AGE ENCRYPTED FILE-----\n' },
  ],
  ['a file that is packed', { 'a.yaml': new Uint8Array(gzipSync(THIEF_YAML)) }],
  [
    'a file that SOPS has encrypted as a whole',
    { 'a.yaml': json({ data: 'ENC[AES256_GCM,data:x]', sops: { version: '3' } }) },
  ],
  [
    'an object of which a kustomization makes a ConfigMap',
    {
      'kustomization.yaml': `configMapGenerator:\n- name: x\n  literals:\n  - |\n    a=${indented(THIEF_YAML, 4).trimStart()}\n`,
    },
  ],
  [
    'a file, of another name, of which a kustomization makes a ConfigMap',
    {
      'kustomization.yaml': 'configMapGenerator: [{name: x, files: [thief.txt]}]\n',
      'thief.txt': THIEF_YAML,
    },
  ],
  [
    'a patch that may change the kind',
    {
      'kustomization.yaml':
        'resources: [c.yaml]\npatches: [{target: {kind: ConfigMap}, options: {allowKindChange: true}, patch: "[{op: replace, path: /kind, value: X}]"}]\n',
      'c.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n',
    },
  ],
  ['Terraform as JSON', { 'main.tf.json': json({ resource: { helm_release: { x: { chart: 'spire' } } } }) }],
  [
    'Terraform that runs kubectl',
    { 'main.tf': `provisioner "local-exec" { command = "kubectl apply -f ${ADDRESS}" }\n` },
  ],
  [
    'Terraform with a module from elsewhere',
    { 'main.tf': 'module "x" {\n  source = "git::https://x/k8s.git"\n}\n' },
  ],
  [
    'Terraform with a module at an address that does not show what it is for',
    { 'main.tf': 'module "x" {\n  source = "git::https://x.io/y.git"\n}\n' },
  ],
  ['Terraform with a module from beside the files', { 'main.tf': 'module "x" {\n  source = "../../y"\n}\n' }],
  [
    'a package of kpt that changes what stands in it',
    {
      Kptfile:
        'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: x}\npipeline:\n  mutators:\n  - image: set-labels:v0.1\n',
    },
  ],
  [
    'entries of a SPIRE server',
    {
      'entries.json': json({
        entries: [
          { spiffe_id: 'spiffe://example.org/x', parent_id: 'spiffe://example.org/y', selectors: [] },
        ],
      }),
    },
  ],
  [
    "values of SPIRE's chart that keep agents from finding containers",
    { 'v.yaml': 'spire-agent: {workloadAttestors: {k8s: {disableContainerSelectors: true}}}\n' },
  ],
  [
    'the configuration of an agent in a chart',
    { 'c/Chart.yaml': CHART_FILE, 'c/templates/a.yaml': AGENT('spire-agent', 'true') },
  ],
  [
    'the same in a document that does not parse',
    { 'a.yaml': `${AGENT('spire-agent', 'true')}  x: {{ y }}\n` },
  ],
  [
    'the same in an object of another kind',
    {
      'a.yaml': `apiVersion: x.io/v1\nkind: X\nmetadata: {name: x}\nspec:\n  object:\n${indented(AGENT('a', 'true'), 4)}\n`,
    },
  ],
  [
    "entries of a SPIRE server beside a fallback, which shows SPIRE's chart",
    {
      'entries.json': json([
        { spiffeID: 'spiffe://example.org/x', parentID: 'spiffe://example.org/y', selectors: [] },
      ]),
      'a.json': json({
        ...THIEF,
        metadata: { name: 'default' },
        spec: {
          spiffeIDTemplate: 'spiffe://example.org/{{ .PodMeta.Name }}',
          podSelector: NONE,
          fallback: true,
        },
      }),
    },
  ],
  [
    'a text of an object whose kind is filled in later',
    {
      'a.json': typed('x.io/v1', 'X', {
        template: 'apiVersion: << inputs.api >>\nkind: << inputs.kind >>\nmetadata: {name: a}\n',
      }),
    },
  ],
  [
    'a registration under another field than spec',
    {
      'a.json': typed('x.io/v1', 'X', {
        template: { apiVersion: THIEF.apiVersion, kind: THIEF.kind, values: THIEF.spec },
      }),
    },
  ],
  [
    'a Stack of Pulumi',
    {
      'a.json': typed('pulumi.com/v1', 'Stack', { projectRepo: 'https://github.com/x/y', branch: 'main' }),
    },
  ],
  [
    'a Workspace of Terraform, whose repository is no address',
    {
      'a.json': typed('app.terraform.io/v1alpha2', 'Workspace', {
        versionControl: { repository: 'x/y', branch: 'main' },
      }),
    },
  ],
  [
    'a ServiceDeployment of Plural, whose place stands beside its repository',
    {
      'a.json': typed('deployments.plural.sh/v1alpha1', 'ServiceDeployment', {
        git: { folder: 'x', ref: 'main' },
        repositoryRef: { kind: 'GitRepository', name: 'y' },
      }),
    },
  ],
  [
    'a Bundle of Timoni',
    {
      'a.json': typed('timoni.sh/v1alpha1', 'Bundle', {
        instances: { x: { module: { url: 'oci://x.io/y' } } },
      }),
    },
  ],
  ['a Restore of Velero', { 'a.json': typed('velero.io/v1', 'Restore', { backupName: 'x' }) }],
  ['Terragrunt', { 'a/terragrunt.hcl': 'terraform {\n  source = "git::https://x/k8s.git"\n}\n' }],
  ['a Job that applies an address', { 'j.json': json(jobRunning(['kubectl', 'apply', '-f', ADDRESS])) }],
  [
    'a pipeline that installs a chart',
    { '.gitlab-ci.yml': 'deploy: {script: [helm upgrade --install x spiffe/spire]}\n' },
  ],
  [
    'values for a chart of the cluster',
    {
      'a.json': json({
        apiVersion: 'helm.cattle.io/v1',
        kind: 'HelmChartConfig',
        metadata: { name: 'x', namespace: 'kube-system' },
        spec: { valuesContent: '{}' },
      }),
    },
  ],
  ['Terraform that makes a Deployment', { 'main.tf': 'resource "kubernetes_deployment_v1" "x" {\n}\n' }],
  [
    'a program of Pulumi',
    {
      'Pulumi.yaml':
        'runtime: yaml\nresources:\n  s:\n    type: kubernetes:helm.sh/v3:Release\n    properties: {chart: spire, repositoryOpts: {repo: https://x.io}}\n',
    },
  ],
  [
    'a playbook of Ansible',
    { 'p.yaml': '- tasks:\n  - kubernetes.core.helm: {name: spire, chart_ref: spiffe/spire}\n' },
  ],
  ['applications of Helmsman', { 'a.yaml': 'apps:\n  spire: {namespace: spire, chart: spiffe/spire}\n' }],
  [
    'a package of Zarf',
    {
      'zarf.yaml':
        'kind: ZarfPackageConfig\ncomponents: [{charts: [{name: spire, url: https://x.io, version: 1.0.0}]}]\n',
    },
  ],
  [
    'what vendir fetches',
    {
      'vendir.yml':
        'apiVersion: vendir.k14s.io/v1alpha1\nkind: Config\ndirectories: [{contents: [{helmChart: {name: spire, repository: {url: https://x.io}}}]}]\n',
    },
  ],
  ['helmfiles of a helmfile', { 'helmfile.yaml': 'helmfiles: [git::https://x.io/y@helmfile.yaml]\n' }],
  [
    'a helmfile that is a template',
    { 'helmfile.yaml': 'releases:\n  - name: {{ .x }}\n    chart: spiffe/spire\n' },
  ],
  [
    'a HelmRelease with a key twice: kubectl takes the last',
    {
      'a.yaml':
        'apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: x}\nspec:\n  interval: 5m\n  interval: 6m\n  chart: {spec: {chart: app}}\n',
    },
  ],
  [
    'the same in JSON',
    {
      'a.json':
        '{"apiVersion":"helm.toolkit.fluxcd.io/v2","kind":"HelmRelease","metadata":{"name":"x"},"spec":{"a":1,"a":2}}',
    },
  ],
  ['an object in another with a key twice', { 'a.yaml': `${WORK('x')}spec: {}\n` }],
  [
    'an object in base64 in a Secret with a key twice',
    {
      'a.yaml': `apiVersion: v1\nkind: Secret\nmetadata: {name: x}\ndata:\n  a: b\n  a: c\n  t: ${btoa(THIEF_YAML)}\n`,
    },
  ],
  ['what makes pods, with a key twice', { 'a.yaml': `${ROLLOUT('x')}  replicas: 2\n` }],
  [
    'a list of objects with a number that JSON does not have',
    { 'a.yaml': `- ${indented(THIEF_YAML, 2).trimStart()}\n- .inf\n` },
  ],
  [
    'values of SPIRE with a key twice',
    { 'a.yaml': 'a: 1\na: 2\nspire-server:\n  identities:\n    clusterSPIFFEIDs: {x: {}}\n' },
  ],
  [
    'an object in another, in a chart',
    { 'c/Chart.yaml': CHART_FILE, 'c/templates/a.yaml': WORK('{{ .x }}') },
  ],
  ['what makes pods, in a chart', { 'c/Chart.yaml': CHART_FILE, 'c/templates/a.yaml': ROLLOUT('{{ .x }}') }],
  [
    'a Chart.yaml that does not say what it depends on',
    { 'c/Chart.yaml': 'name: [\n', 'c/templates/a.yaml': 'a: 1\n' },
  ],
  ['an object in another, in a folder of tools', { '.github/a.yaml': WORK('x') }],
  [
    'an object with a key in base64, in a folder of tools',
    {
      '.github/a.yaml':
        '!!binary YXBpVmVyc2lvbg==: spire.spiffe.io/v1alpha1\nkind: ClusterSPIFFEID\nmetadata: {name: x}\n',
    },
  ],
]

/** What is to be filled in, in ways that nobody listed: each stands where the API server does not take it. */
const ROWS_TO_FILL_IN: readonly Row[] = ['@X@', '__X__', '%X%', '$X', '[[X]]', '((X))', '#{X}#'].flatMap(
  (mark): readonly Row[] => {
    const pod = (label: string, account: string, container: string): string =>
      json({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'x', namespace: 'demo', labels: { app: label } },
        spec: { serviceAccountName: account, containers: [{ name: container, image: 'x' }] },
      })
    const registration = (spec: Record<string, unknown>): string =>
      json({ ...THIEF, spec: { ...THIEF.spec, ...spec } })
    return [
      [`a kind ${mark}`, { 'a.json': json({ ...THIEF, kind: mark }) }],
      [`an API version ${mark}`, { 'a.json': json({ ...THIEF, apiVersion: `${mark}/v1` }) }],
      [`a label ${mark}`, { 'a.json': pod(mark, 'runner', 'vllm') }],
      [`a service account ${mark}`, { 'a.json': pod('llama', mark, 'vllm') }],
      [`a container ${mark}`, { 'a.json': pod('llama', 'runner', mark) }],
      [`a class ${mark}`, { 'a.json': registration({ className: mark }) }],
      [
        `a label ${mark} in a selector`,
        { 'a.json': registration({ podSelector: { matchLabels: { app: mark } } }) },
      ],
      [
        `a label ${mark} in an expression`,
        {
          'a.json': registration({
            podSelector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['x', mark] }] },
          }),
        },
      ],
    ]
  },
)

export const ROWS_OPEN: readonly Row[] = [
  [
    'a kustomization that does not parse',
    { 'k/kustomization.yaml': 'resources: [https://example.org/x?ref=v1\n' },
  ],
  [
    'a kustomization that kubectl does not read',
    { 'k/kustomization.yaml': 'resources: [https://example.org/x?ref=v1]\n' },
  ],
  ['a kustomization that is a list', { 'k/kustomization.yaml': '- a.yaml\n' }],
  [
    'a chart whose requirements do not parse',
    {
      'c/Chart.yaml': 'apiVersion: v1\nname: c\nversion: 1.0.0\n',
      'c/requirements.yaml': 'dependencies: [{name: spire\n',
    },
  ],
  ...ROWS_TO_FILL_IN,
  ...ROWS_OF_STRANGERS,
  ...ROWS_OF_OTHER_TOOLS,
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
    'a kustomization of a folder without one',
    { 'kustomization.yaml': 'resources: [base]\n', 'base/x.yaml': 'kind: ConfigMap\n' },
  ],
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
  ['a fleet.yaml that labels namespaces', { 'a/fleet.yaml': 'namespaceLabels: {env: prod}\n' }],
  [
    'an overlay of ytt',
    { 'o.yaml': '#@overlay/match by=overlay.all\n---\nspec: {template: {metadata: {labels: {app: x}}}}\n' },
  ],
  ['a template of ytt', { 't.yaml': WEB_OF_YTT }],
  [
    'a Kustomization of Flux that patches as versions before v1 did',
    { ...FILES_OF_APPS, 'a.json': kustomization({ patchesStrategicMerge: [{ kind: 'x' }] }) },
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
    'a policy of Kyverno that changes pools',
    { 'a.yaml': `${mutating(['InferencePool'], { spec: { selector: { matchLabels: { app: 'x' } } } })}\n` },
  ],
  [
    'a policy of Kyverno that changes registrations, with a key twice',
    {
      'a.yaml': `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: a}
a: 1
a: 2
spec: {rules: [{match: {resources: {kinds: [ClusterSPIFFEID]}}, mutate: {patchStrategicMerge: {spec: {}}}}]}
`,
    },
  ],
  [
    'a policy of Kyverno that sets service accounts',
    { 'a.yaml': `${mutating(['Pod'], { spec: { serviceAccountName: 'x' } })}\n` },
  ],
  [
    "a policy of Gatekeeper's that changes registrations",
    {
      'a.yaml': `${typed('mutations.gatekeeper.sh/v1', 'Assign', { applyTo: [{ kinds: ['ClusterSPIFFEID'] }], location: 'spec.spiffeIDTemplate' })}\n`,
    },
  ],
  [
    "a policy of the API server's that changes bindings",
    {
      'a.yaml': `${typed('admissionregistration.k8s.io/v1', 'MutatingAdmissionPolicy', { matchConstraints: { resourceRules: [{ resources: ['inferenceidentitybindings'] }] }, mutations: [{ applyConfiguration: { expression: 'Object{spec: Object.spec{mode: "PoolOnly"}}' } }] })}\n`,
    },
  ],
  [
    'a policy of Istio in a Work',
    {
      'a.yaml': `${typed('work.karmada.io/v1alpha1', 'Work', { workload: { manifests: [{ apiVersion: 'security.istio.io/v1', kind: 'AuthorizationPolicy', metadata: { name: 'a', namespace: 'demo' }, spec: {} }] } })}\n`,
    },
  ],
  [
    'an object whose controller may make registrations of a field',
    {
      'a.yaml': `${typed('platform.example.org/v1', 'Tenant', { identity: { clusterSPIFFEID: { podSelector: {} } } })}\n`,
    },
  ],
  [
    'the same as a list, in a document that does not parse',
    {
      'a.yaml':
        'apiVersion: platform.example.org/v1\nkind: Tenant\nmetadata: {name: x}\nspec: {cluster_spiffe_ids: [{a: 1, a: 2}]}\n',
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
  [
    'a kind that kleym does not know',
    { 'a.json': inDemo('kafka.strimzi.io/v1beta2', 'Kafka', { kafka: { replicas: 3 } }) },
  ],
  [
    'Prometheus, which makes pods without a template',
    { 'a.json': inDemo('monitoring.coreos.com/v1', 'Prometheus', { podMetadata: { labels: { app: 'a' } } }) },
  ],
  [
    'an Application of Open Application Model',
    { 'a.json': inDemo('core.oam.dev/v1beta1', 'Application', {}) },
  ],
  [
    'a kind without a namespace, unknown to kleym',
    { 'a.json': json({ apiVersion: 'x.io/v1', kind: 'X', metadata: { name: 'a' } }) },
  ],
  ['a policy that copies a Deployment', clone('apps/v1', 'Deployment')],
  [
    'a policy that copies bindings from a namespace',
    {
      'a.json': typed('kyverno.io/v1', 'ClusterPolicy', {
        rules: [
          {
            name: 'a',
            generate: {
              namespace: 'demo',
              cloneList: { namespace: 'x', kinds: ['kleym.sonda.red/v1alpha1/InferenceIdentityBinding'] },
            },
          },
        ],
      }),
    },
  ],
  ...[
    'kubectl patch clusterspiffeid thief --type merge -p {}',
    'kubectl -n demo label pods -l app=web app=llama',
    'oc set serviceaccount deployment llama other',
    'kubectl edit \\\n  inferencepools.inference.networking.k8s.io/llama',
    'spire-server entry create -spiffeID x -parentID y -selector k8s:ns:demo',
  ].map((command): Row => [`a Job that runs ${command}`, jobOf(command)]),
]

export const ROWS_DISMISSED: readonly Row[] = [
  ...['', '# later\n', '---\n'].map((text, at): Row => [
    `a kustomization without a document (${at})`,
    { 'k/kustomization.yaml': text },
  ]),
  [
    'a kind that kleym does not know, in another namespace',
    { 'a.json': typed('kafka.strimzi.io/v1beta2', 'Kafka', { kafka: { replicas: 3 } }) },
  ],
  [
    'kinds that are known to make no pods',
    {
      'a.json': inDemo('monitoring.coreos.com/v1', 'ServiceMonitor', { selector: {} }),
      'b.json': inDemo('networking.istio.io/v1', 'VirtualService', {}),
      'c.json': inDemo('gateway.networking.k8s.io/v1', 'HTTPRoute', {}),
      'd.json': inDemo('autoscaling/v2', 'HorizontalPodAutoscaler', {}),
    },
  ],
  ['a policy that copies a Secret', clone('v1', 'Secret')],
  ...[
    'kubectl rollout restart deployment/llama; kubectl scale deployment llama --replicas 3; kubectl delete pod -l a=b',
    'kubectl get clusterspiffeids --show-labels; kubectl annotate pod a b=c; kubectl patch service a -p {}',
    'kubectl set image deployment/llama a=b; kubectl label node a b=c',
    'spire-server entry show',
  ].map((command): Row => [`a Job that runs ${command}`, jobOf(command)]),
  [
    'the configuration of a tool, which has no name',
    { 'a.yaml': 'apiVersion: kbld.k14s.io/v1alpha1\nkind: Config\nsources: [{image: x}]\n' },
  ],
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
  [
    'a package.json that names its repository',
    {
      'package.json': json({
        repository: { type: 'git', url: 'git+https://x.io/y', directory: 'z' },
        dependencies: { a: '1' },
      }),
    },
  ],
  [
    'pages that name a kind, with a tag of Python',
    { 'mkdocs.yml': 'nav:\n  - InferencePool: pool.md\nemoji: !!python/name:x\n' },
  ],
  [
    'values of images and labels',
    { 'v.yaml': 'image: {repository: ghcr.io/x/y, tag: v1}\nlabels: {chart: web-0.1.0, name: web}\n' },
  ],
  [
    'an alert that talks of containers, in a chart',
    {
      'c/Chart.yaml': CHART_FILE,
      'c/templates/a.yaml':
        'apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: "{{ .x }}"}\nspec: {groups: [{rules: [{alert: too many containers}]}]}\n',
    },
  ],
  ['a chart that nothing gives whole objects', OF_VALUES],
  [
    'a chart that makes whole objects of values, which stand here',
    { ...OF_VALUES, 'a.json': release({ values: { extraObjects: [{ apiVersion: 'v1', kind: 'Secret' }] } }) },
  ],
  [
    'a chart that makes a ConfigMap of a file',
    {
      'c/Chart.yaml': CHART_FILE,
      'c/files/thief.tpl': 'a: 1\n',
      'c/templates/a.yaml':
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  a: |\n{{ .Files.Get "files/thief.tpl" | indent 4 }}\n',
    },
  ],
  [
    'an Ingress of a chart whose group is filled in later',
    {
      'c/Chart.yaml': CHART_FILE,
      'c/templates/a.yaml':
        'apiVersion: {{ include "api" . }}\nkind: Ingress\nmetadata: {name: a}\nspec: {rules: [{http: {paths: [{path: /}]}}]}\n',
    },
  ],
  ['a manifest that was put aside', { 'thief.yaml.disabled': THIEF_YAML }],
  [
    'variables that Ansible Vault has encrypted',
    { 'group_vars/all/vault.yml': '$ANSIBLE_VAULT;1.1;AES256\n6162\n' },
  ],
  ['a template of what is no manifest', { 'prometheus.yml.j2': 'scrape_configs: []\n' }],
  [
    'a task of Ansible that applies a file which is here, or deletes one',
    {
      'files/ok.yaml': 'apiVersion: v1\nkind: Secret\nmetadata: {name: x}\n',
      'p.yaml':
        '- tasks:\n  - k8s: {src: "{{ role_path }}/files/ok.yaml"}\n  - k8s: {state: absent, src: /srv/all.yaml}\n',
    },
  ],
  [
    'a task of Ansible that applies what is in a folder which is here',
    {
      'roles/x/files/ok.yaml': 'apiVersion: v1\nkind: Secret\nmetadata: {name: x}\n',
      'roles/x/tasks/main.yml': '- k8s: {src: "{{ role_path }}/files/{{ item }}"}\n  loop: [ok.yaml]\n',
    },
  ],
  ['a Service of Pulumi', { 'Pulumi.yaml': 'resources:\n  web: {type: "kubernetes:core/v1:Service"}\n' }],
  [
    'addresses of what is no manifest: schemas, packages, models',
    {
      'a.yaml': 'openapi: 3.1.0\ncomponents: {schemas: {X: {$ref: "https://x.io/x.yaml"}}}\n',
      'b.yaml':
        'model: {uri: "oci://x.io/model"}\nimage: {repository: x.io/y}\nconfigSchema: https://x.io/y.yaml\n',
      'package-lock.json': json({ packages: { a: { resolved: 'https://x.io/a/-/a.tgz' } } }),
    },
  ],
  [
    'an autoscaler whose bounds are filled in later',
    {
      'a.json': inDemo('autoscaling/v2', 'HorizontalPodAutoscaler', {
        maxReplicas: '${MAX}',
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'llama' },
      }),
    },
  ],
  ['a deployment of kluctl of a folder', { 'deployment.yaml': 'deployments: [{path: ./x}]\n' }],
  ['values without a key that makes registrations', { 'spire.yaml': 'spire-server: {replicas: 1}\n' }],
  [
    'values of agents as they ship',
    { 'v.yaml': 'spire-agent: {workloadAttestors: {k8s: {disableContainerSelectors: false}}}\n' },
  ],
  [
    'policies of Kyverno that check registrations, and that change Services, images, and the labels of pools',
    {
      'a.yaml': `${typed('kyverno.io/v1', 'ClusterPolicy', { rules: [{ match: { resources: { kinds: ['ClusterSPIFFEID'] } }, validate: { pattern: { spec: { className: '?*' } } } }] })}\n`,
      'b.yaml': `${mutating(['Service'], { spec: { type: 'ClusterIP' } })}\n`,
      'c.yaml': `${mutating(['Pod'], { spec: { containers: [{ '(name)': '*', image: 'x' }] } })}\n`,
      'd.yaml': `${mutating(['InferencePool'], { metadata: { labels: { x: 'y' } } })}\n`,
    },
  ],
  [
    'a schema of registrations, and a rule about them',
    {
      'a.yaml': 'components: {schemas: {ClusterSPIFFEID: {type: object}}}\n',
      'b.yaml': `${typed('admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicy', { variables: { clusterSPIFFEID: { a: 1 } } })}\n`,
    },
  ],
  ["a switch of SCM's", { 'x.yaml': 'reconcile: {clusterSPIFFEIDs: true}\n' }],
  [
    'Terraform with a module of the tree',
    { 'main.tf': 'module "x" {\n  source = "./k8s"\n}\n', 'k8s/main.tf': 'locals {}\n' },
  ],
  [
    'the configuration of an agent that finds containers, in a chart',
    { 'c/Chart.yaml': CHART_FILE, 'c/templates/a.yaml': AGENT('spire-agent', 'false') },
  ],
  [
    'Terraform with modules that name another provider',
    {
      'main.tf':
        'module "x" {\n  source = "terraform-aws-modules/vpc/aws"\n}\nmodule "y" {\n  source = "git::https://x.io/terraform-google-network.git"\n}\n',
    },
  ],
  [
    'a package of kpt that changes nothing',
    { Kptfile: 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: x}\ninfo: {description: y}\n' },
  ],
  [
    'objects that make secrets, buckets and tenants',
    {
      'a.json': inDemo('onepassword.com/v1', 'OnePasswordItem', { itemPath: 'vaults/a/items/b' }),
      'b.json': inDemo('s3.services.k8s.aws/v1alpha1', 'Bucket', { name: 'x' }),
      'c.json': inDemo('capsule.clastix.io/v1beta2', 'Tenant', { owners: [{ kind: 'User', name: 'a' }] }),
    },
  ],
  [
    'references to registrations',
    {
      'a.json': typed('x.io/v1', 'X', {
        of: { apiVersion: THIEF.apiVersion, kind: THIEF.kind, resourceRef: { name: 'x' } },
      }),
    },
  ],
  [
    'Terraform that needs a provider',
    {
      'main.tf':
        'terraform {\n  required_providers {\n    helm = {\n      source = "hashicorp/helm"\n    }\n  }\n}\n',
    },
  ],
  ['a fleet.yaml that orders', { 'a/fleet.yaml': 'dependsOn: [{name: x}]\n' }],
  ['a comment that is none of ytt', { 'v.yaml': '#@ schema: x\na: b #@ignore\n' }],
  ['a Job that reads', { 'j.json': json(jobRunning(['kubectl', 'get', 'pods'])) }],
  ['Terraform that installs no chart', { 'main.tf': 'resource "aws_s3_bucket" "x" {}\n' }],
]
