// `node bench/look-alikes.ts FOLDER`: writes a tree as people have it, of about a thousand documents: what a hardened SPIRE
// chart, llm-d deployments and their gateway configuration render to, with flow style, comments, and CRDs of ten thousand lines.
// `explain -n team-0 chat` is the question to ask of it (docs/performance.md). The same bytes every time.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'

const TEAMS = 64

/** A document, as helm prints it: with its source, labels in its way, and a separator. */
function rendered(chart: string, file: string, text: string): string {
  return `---\n# Source: ${chart}/templates/${file}.yaml\n${text}`
}

function meta(name: string, namespace: string | undefined, chart: string): string {
  const place = namespace === undefined ? '' : `  namespace: ${namespace}\n`
  return `metadata:\n  name: ${name}\n${place}  labels:\n    helm.sh/chart: ${chart}-0.28.4\n    app.kubernetes.io/name: ${chart}\n    app.kubernetes.io/instance: ${name}\n    app.kubernetes.io/version: "1.15.3"\n    app.kubernetes.io/managed-by: Helm\n`
}

/** A generated CRD: deep schemas, texts in quotes over several lines at the indentation of their key, enums in flow style. */
function crd(number: number, lines: number): string {
  const fields: string[] = []
  for (let field = 0; fields.length * 12 < lines; field++)
    fields.push(
      `              field${field}:\n                description: "Field ${field} says what the controller does\n                with it: see https://example.org/docs#field${field}\n\n                more."\n                enum: ["Always", 'Never', IfNotPresent]\n                properties:\n                  key: {type: string, maxLength: 63}\n                  values:\n                    items: {type: string}\n                    type: array\n                type: object\n`,
    )
  return `apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  annotations:\n    controller-gen.kubebuilder.io/version: v0.19.0\n  name: things${number}.example.org\nspec:\n  group: example.org\n  names: {kind: Thing${number}, plural: things${number}}\n  scope: Namespaced\n  versions:\n  - name: v1\n    served: true\n    storage: true\n    schema:\n      openAPIV3Schema:\n        type: object\n        properties:\n          spec:\n            type: object\n            properties:\n${fields.join('')}`
}

/** What the chart of SPIRE has beside its identities. */
function spire(): string {
  const chart = 'spire'
  const parts: string[] = []
  for (const name of ['server', 'agent', 'controller-manager', 'csi-driver', 'oidc-provider']) {
    const full = `spire-${name}`
    parts.push(
      rendered(
        chart,
        `${name}/serviceaccount`,
        `apiVersion: v1\nkind: ServiceAccount\n${meta(full, 'spire', chart)}`,
      ),
      rendered(
        chart,
        `${name}/roles`,
        `apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\n${meta(full, undefined, chart)}rules:\n  - apiGroups: [""]\n    resources: [nodes, pods]\n    verbs: ["get", "list", "watch"]\n  - apiGroups: ["spire.spiffe.io"]\n    resources: ["clusterspiffeids", "clusterstaticentries"]\n    verbs: ["create", "delete", "get", "list", "patch", "update", "watch"]\n`,
      ),
      rendered(
        chart,
        `${name}/configmap`,
        `apiVersion: v1\nkind: ConfigMap\n${meta(full, 'spire', chart)}data:\n  ${name}.conf: |\n    {\n      "${name}": {"log_level": "info", "trust_domain": "example.org"}\n    }\n`,
      ),
      rendered(
        chart,
        `${name}/service`,
        `apiVersion: v1\nkind: Service\n${meta(full, 'spire', chart)}spec:\n  type: ClusterIP\n  ports:\n    - {name: grpc, port: 443, targetPort: grpc}\n  selector: {app.kubernetes.io/name: ${name}}\n`,
      ),
    )
  }
  parts.push(
    rendered(
      chart,
      'controller-manager/config',
      `apiVersion: v1\nkind: ConfigMap\n${meta('spire-controller-manager-config', 'spire', chart)}data:\n  controller-manager-config.yaml: |\n    apiVersion: spire.spiffe.io/v1alpha1\n    kind: ControllerManagerConfig\n    metadata: {name: spire-controller-manager}\n    className: spire\n    watchClassless: false\n    trustDomain: example.org\n    clusterName: example\n    ignoreNamespaces: [kube-system, kube-public, local-path-storage]\n`,
    ),
    rendered(
      chart,
      'controller-manager/default',
      `apiVersion: spire.spiffe.io/v1alpha1\nkind: ClusterSPIFFEID\n${meta('spire-default', undefined, chart)}spec:\n  className: spire\n  spiffeIDTemplate: "spiffe://{{ .TrustDomain }}/ns/{{ .PodMeta.Namespace }}/sa/{{ .PodSpec.ServiceAccountName }}"\n  fallback: true\n  namespaceSelector:\n    matchExpressions:\n      - {key: "kubernetes.io/metadata.name", operator: NotIn, values: ["spire", "kube-system"]}\n`,
    ),
  )
  return parts.join('')
}

/** A team that serves a model: a deployment for each role, its pool with an endpoint picker, and a binding. */
function team(number: number): string {
  const namespace = `team-${number}`
  const chart = 'llm-d-modelservice'
  const pods = (role: string): string =>
    rendered(
      chart,
      `${role}-deployment`,
      `apiVersion: apps/v1\nkind: Deployment\n${meta(`ms-${role}`, namespace, chart)}spec:\n  replicas: 2\n  selector:\n    matchLabels: {llm-d.ai/model: llama, llm-d.ai/role: ${role}}\n  template:\n    metadata:\n      labels: {app: llama, llm-d.ai/model: llama, llm-d.ai/role: ${role}}\n    spec:\n      serviceAccountName: ms\n      initContainers:\n        - {name: routing-proxy, image: "ghcr.io/llm-d/proxy:v0.3", restartPolicy: Always}\n      containers:\n        - name: vllm\n          image: ghcr.io/llm-d/llm-d:v0.3.1\n          args: ["--model", "/models/llama", '--port', "8200"]\n          env:\n            - {name: POD_IP, valueFrom: {fieldRef: {apiVersion: v1, fieldPath: status.podIP}}}\n          resources:\n            limits: {cpu: "16", memory: 64Gi, nvidia.com/gpu: "1"}\n`,
    )
  const others = ['Role', 'RoleBinding'].flatMap((kind) =>
    ['epp', 'ms'].map((name) =>
      rendered(
        'inferencepool',
        `${name}-${kind.toLowerCase()}`,
        `apiVersion: rbac.authorization.k8s.io/v1\nkind: ${kind}\n${meta(name, namespace, 'inferencepool')}${kind === 'Role' ? 'rules:\n- {apiGroups: ["inference.networking.k8s.io"], resources: ["inferencepools"], verbs: ["get", "watch", "list"]}\n' : `roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: ${name}}\nsubjects: [{kind: ServiceAccount, name: ${name}, namespace: ${namespace}}]\n`}`,
      ),
    ),
  )
  const plain = ['Service', 'ServiceAccount', 'PodDisruptionBudget', 'NetworkPolicy'].map((kind) =>
    rendered(
      'inferencepool',
      kind.toLowerCase(),
      `apiVersion: ${kind === 'NetworkPolicy' ? 'networking.k8s.io/v1' : kind === 'PodDisruptionBudget' ? 'policy/v1' : 'v1'}\nkind: ${kind}\n${meta('epp', namespace, 'inferencepool')}spec: {selector: {app: epp}, ports: [{port: 9002}]}\n`,
    ),
  )
  return [
    rendered(chart, 'namespace', `apiVersion: v1\nkind: Namespace\nmetadata:\n  name: ${namespace}\n`),
    pods('decode'),
    pods('prefill'),
    ...others,
    ...plain,
    rendered(
      'inferencepool',
      'pool',
      `apiVersion: inference.networking.k8s.io/v1\nkind: InferencePool\n${meta('llama', namespace, 'inferencepool')}spec:\n  targetPorts: [{number: 8000}]\n  selector:\n    matchLabels: {app: llama}\n  endpointPickerRef: {name: epp, port: {number: 9002}}\n`,
    ),
    rendered(
      'inferencepool',
      'objective',
      `apiVersion: llm-d.ai/v1alpha2\nkind: InferenceObjective\n${meta('chat', namespace, 'inferencepool')}spec: {priority: 10, poolRef: {name: llama, group: inference.networking.k8s.io}}\n`,
    ),
    rendered(
      'inferencepool',
      'httproute',
      `apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\n${meta('llama', namespace, 'inferencepool')}spec:\n  parentRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: gateway}]\n  rules:\n    - backendRefs: [{group: inference.networking.k8s.io, kind: InferencePool, name: llama}]\n      matches: [{path: {type: PathPrefix, value: /}}]\n`,
    ),
    rendered(
      'tenant',
      'binding',
      `apiVersion: kleym.sonda.red/v1alpha1\nkind: InferenceIdentityBinding\nmetadata:\n  name: chat\n  namespace: ${namespace}\nspec:\n  poolRef: {name: llama, group: inference.networking.k8s.io}\n  objectiveRef: {name: chat}\n  serviceAccountName: ms\n  containerName: vllm\n`,
    ),
  ].join('')
}

const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('name the folder to write to: node bench/look-alikes.ts FOLDER')
const write = (name: string, text: string): void => {
  mkdirSync(dirname(join(folder, name)), { recursive: true })
  writeFileSync(join(folder, name), text)
}
write('spire/rendered.yaml', spire())
for (let number = 0; number < 3; number++) write(`crds/large-${number}.yaml`, crd(number, 10_000))
for (let number = 3; number < 20; number++) write(`crds/small-${number}.yaml`, crd(number, 400))
for (let number = 0; number < TEAMS; number++) write(`teams/${number}.yaml`, team(number))
