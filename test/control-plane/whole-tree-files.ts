// The files of a made tree that holds what people's repositories hold.

const meta = (namespace: string, name: string): string =>
  `metadata:\n  name: ${name}\n  namespace: ${namespace}\n`

const pool = (namespace: string, name: string, app = name): string =>
  `apiVersion: inference.networking.k8s.io/v1\nkind: InferencePool\n${meta(namespace, name)}spec:\n  selector: {matchLabels: {app: ${app}}}\n`

const objective = (namespace: string, name: string): string =>
  `apiVersion: llm-d.ai/v1alpha2\nkind: InferenceObjective\n${meta(namespace, name)}spec: {poolRef: {name: ${name}}}\n`

const binding = (namespace: string, name: string, poolName = name): string =>
  `apiVersion: kleym.sonda.red/v1alpha1\nkind: InferenceIdentityBinding\n${meta(namespace, name)}spec:
  poolRef: {name: ${poolName}, group: inference.networking.k8s.io}
  objectiveRef: {name: ${name}}
  serviceAccountName: default
  containerName: server
`

const pod = (namespace: string, name: string, app = name): string =>
  `apiVersion: v1\nkind: Pod\n${meta(namespace, name)}  labels: {app: ${app}}\nspec: {containers: [{name: server}]}\n`

const deployment = (name: string): string => `apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}
  labels: {{- include "labels" . | nindent 4 }}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata:
      labels: {app: ${name}}
    spec:
      containers:
        - name: server
          image: "{{ .Values.image }}"
`

const registration = (name: string, more: string): string =>
  `apiVersion: spire.spiffe.io/v1alpha1\nkind: ClusterSPIFFEID\nmetadata:\n  name: ${name}\nspec:
  spiffeIDTemplate: spiffe://example.org/sa/{{ .PodSpec.ServiceAccountName }}
  ${more}
`

const documents = (...all: readonly string[]): string => all.join('---\n')

const HELPERS = `{{- define "labels" }}
app.kubernetes.io/name: {{ .Chart.Name }}
{{- end }}
`

const GATE_POOL = 'charts/gate/templates/pool.yaml'

/** The same chart, but its values name the pool. */
export const POOL_OF_VALUES: Readonly<Record<string, string>> = {
  [GATE_POOL]: pool('team-b', '{{ .Values.pool }}', 'gate'),
}

/** What is read as it stands, in the raw tree and in the rendered one. */
export const LEFT_AS_IT_IS: Readonly<Record<string, string>> = {
  'README.md': '```yaml\nkind: InferencePool\n```\n',
  'apps/a/all.yaml': documents(
    pool('team-a', 'one'),
    objective('team-a', 'one'),
    binding('team-a', 'one'),
    pod('team-a', 'one'),
    pod('team-a', 'idle'),
  ),
  'apps/again/pool.yaml': `# the same\n${pool('team-a', 'one')}`,
  'apps/default.yaml': registration('default', 'fallback: true'),
  // Their pools are in a chart, and in what a kustomization moves.
  'apps/b/binding.yaml': documents(
    objective('team-b', 'gate'),
    binding('team-b', 'gate'),
    pod('team-b', 'gate'),
  ),
  'apps/c/binding.yaml': documents(
    objective('team-c', 'moved'),
    binding('team-c', 'moved'),
    pod('team-c', 'moved'),
  ),
  // Collides with a binding of the chart.
  'apps/d/all.yaml': documents(
    pool('team-d', 'two'),
    objective('team-d', 'two'),
    binding('team-d', 'two'),
    pod('team-d', 'two'),
  ),
  // Refused, whatever the rest holds: a pool that is nowhere would be open, so its selector is empty.
  'apps/e/all.yaml': documents(
    pool('team-e', 'bad').replace('matchLabels: {app: bad}', 'matchLabels: {}'),
    objective('team-e', 'bad'),
    binding('team-e', 'bad'),
  ),
  'apps/twice/first.yaml': documents(
    pool('team-f', 'twice'),
    objective('team-f', 'twice'),
    binding('team-f', 'twice'),
  ),
  'apps/twice/second.yaml': pool('team-f', 'twice', 'other'),
  'drafts/pool.yaml': pool('team-g', '${POOL}'),
  'drafts/values.tmpl.yaml': 'image: {{ .Values.image }}\n  more: [\n',
  'drafts/secret.yaml':
    'apiVersion: v1\nkind: Secret\nmetadata:\n  name: <name>\nstringData: {{ toYaml . }}\n',
  'crds/pools.yaml':
    'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: x}\nspec: {names: {kind: InferencePool}}\n',
  '.vscode/settings.json': '{ // comments\n "kind": "InferencePool",\n}\n',
  'node_modules/some/pool.yaml': pool('team-a', 'one', 'hijacked'),
}

/** What is rendered. */
export const RENDERED_TREE: Readonly<Record<string, string>> = {
  'charts/gate/Chart.yaml': 'apiVersion: v2\nname: gate\nversion: 0.1.0\n',
  'charts/gate/values.yaml': '# one InferencePool\nreplicas: 1\nimage: x\npool: gate\n',
  'charts/gate/ci/other-values.yaml': 'pool: other\n',
  'charts/gate/templates/_helpers.tpl': HELPERS,
  'charts/gate/templates/NOTES.txt': 'See the ClusterStaticEntry of {{ .Release.Name }}.\n',
  [GATE_POOL]: pool('team-b', '{{ .Chart.Name }}', 'gate'),
  'charts/gate/templates/peer.yaml': documents(
    objective('team-d', 'peer'),
    binding('team-d', 'peer', 'two').replace('name: two, group', 'name: {{ "two" }}, group'),
  ),
  'charts/gate/templates/deployment.yaml': deployment('gate'),
  'charts/gate/templates/route.yaml': `apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: gate}
spec:
  rules:
    - backendRefs:
        - kind: InferencePool
          name: {{ .Chart.Name }}
`,
  'charts/gate/crds/pools.yaml':
    'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: y}\nspec: {names: {kind: InferencePool}}\n',
  'charts/web/Chart.yaml': 'apiVersion: v2\nname: web\nversion: 0.1.0\n',
  'charts/web/values.yaml': 'replicas: 2\nimage: x\n',
  'charts/web/templates/_helpers.tpl': HELPERS,
  'charts/web/templates/deployment.yaml': deployment('web'),
  'charts/spire/Chart.yaml': 'apiVersion: v2\nname: spire\nversion: 0.1.0\n',
  'charts/spire/templates/ids.yaml': registration(
    '{{ .Release.Name }}-web',
    'podSelector: {matchLabels: {app: web}}',
  ).replace('{{ .PodSpec.ServiceAccountName }}', '{{ printf "{{ .PodMeta.Namespace }}" }}'),
  'deploy/base/kustomization.yaml': 'resources: [pool.yaml]\n',
  'deploy/base/pool.yaml': pool('base', 'moved'),
  'deploy/overlays/prod/kustomization.yaml':
    'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nnamespace: team-c\nresources: [../../base]\npatches: [{path: patch.yaml}]\n',
  'deploy/overlays/prod/patch.yaml': pool('base', 'moved').replace('app: moved', 'app: moved'),
  'deploy/plain/kustomization.yaml': 'resources: [all.yaml]\n',
  'deploy/plain/all.yaml': documents(
    pool('team-h', 'plain'),
    objective('team-h', 'plain'),
    binding('team-h', 'plain'),
    pod('team-h', 'plain'),
  ),
}

/** What a person would run, and where the output would lie. The names sort as those of the folders do. */
export const HAND_RENDERED = [
  {
    file: 'charts/gate.yaml',
    program: 'helm',
    args: ['template', 'gate', 'charts/gate', '--namespace', 'default'],
  },
  {
    file: 'charts/web.yaml',
    program: 'helm',
    args: ['template', 'web', 'charts/web', '--namespace', 'default'],
  },
  {
    file: 'charts/spire.yaml',
    program: 'helm',
    args: ['template', 'spire', 'charts/spire', '--namespace', 'default'],
  },
  { file: 'deploy/prod.yaml', program: 'kubectl', args: ['kustomize', 'deploy/overlays/prod'] },
  { file: 'deploy/plain.yaml', program: 'kubectl', args: ['kustomize', 'deploy/plain'] },
] as const
