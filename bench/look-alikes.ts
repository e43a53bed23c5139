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
  return `metadata:
  name: ${name}
${place}  labels:
    helm.sh/chart: ${chart}-0.28.4
    app.kubernetes.io/name: ${chart}
    app.kubernetes.io/instance: ${name}
    app.kubernetes.io/version: "1.15.3"
    app.kubernetes.io/managed-by: Helm
`
}

/** A generated CRD: deep schemas, texts in quotes over several lines at the indentation of their key, enums in flow style. */
function crd(number: number, lines: number): string {
  const fields: string[] = []
  for (let field = 0; fields.length * 12 < lines; field++)
    fields.push(
      `              field${field}:
                description: "Field ${field} says what the controller does
                with it: see https://example.org/docs#field${field}

                more."
                enum: ["Always", 'Never', IfNotPresent]
                properties:
                  key: {type: string, maxLength: 63}
                  values:
                    items: {type: string}
                    type: array
                type: object
`,
    )
  return `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  annotations:
    controller-gen.kubebuilder.io/version: v0.19.0
  name: things${number}.example.org
spec:
  group: example.org
  names: {kind: Thing${number}, plural: things${number}}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
${fields.join('')}`
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
        `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
${meta(full, undefined, chart)}rules:
  - apiGroups: [""]
    resources: [nodes, pods]
    verbs: ["get", "list", "watch"]
  - apiGroups: ["spire.spiffe.io"]
    resources: ["clusterspiffeids", "clusterstaticentries"]
    verbs: ["create", "delete", "get", "list", "patch", "update", "watch"]
`,
      ),
      rendered(
        chart,
        `${name}/configmap`,
        `apiVersion: v1
kind: ConfigMap
${meta(full, 'spire', chart)}data:
  ${name}.conf: |
    {
      "${name}": {"log_level": "info", "trust_domain": "example.org"}
    }
`,
      ),
      rendered(
        chart,
        `${name}/service`,
        `apiVersion: v1
kind: Service
${meta(full, 'spire', chart)}spec:
  type: ClusterIP
  ports:
    - {name: grpc, port: 443, targetPort: grpc}
  selector: {app.kubernetes.io/name: ${name}}
`,
      ),
    )
  }
  parts.push(
    rendered(
      chart,
      'controller-manager/config',
      `apiVersion: v1
kind: ConfigMap
${meta('spire-controller-manager-config', 'spire', chart)}data:
  controller-manager-config.yaml: |
    apiVersion: spire.spiffe.io/v1alpha1
    kind: ControllerManagerConfig
    metadata: {name: spire-controller-manager}
    className: spire
    watchClassless: false
    trustDomain: example.org
    clusterName: example
    ignoreNamespaces: [kube-system, kube-public, local-path-storage]
`,
    ),
    rendered(
      chart,
      'controller-manager/default',
      `apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
${meta('spire-default', undefined, chart)}spec:
  className: spire
  spiffeIDTemplate: "spiffe://{{ .TrustDomain }}/ns/{{ .PodMeta.Namespace }}/sa/{{ .PodSpec.ServiceAccountName }}"
  fallback: true
  namespaceSelector:
    matchExpressions:
      - {key: "kubernetes.io/metadata.name", operator: NotIn, values: ["spire", "kube-system"]}
`,
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
      `apiVersion: apps/v1
kind: Deployment
${meta(`ms-${role}`, namespace, chart)}spec:
  replicas: 2
  selector:
    matchLabels: {llm-d.ai/model: llama, llm-d.ai/role: ${role}}
  template:
    metadata:
      labels: {app: llama, llm-d.ai/model: llama, llm-d.ai/role: ${role}}
    spec:
      serviceAccountName: ms
      initContainers:
        - {name: routing-proxy, image: "ghcr.io/llm-d/proxy:v0.3", restartPolicy: Always}
      containers:
        - name: vllm
          image: ghcr.io/llm-d/llm-d:v0.3.1
          args: ["--model", "/models/llama", '--port', "8200"]
          env:
            - {name: POD_IP, valueFrom: {fieldRef: {apiVersion: v1, fieldPath: status.podIP}}}
          resources:
            limits: {cpu: "16", memory: 64Gi, nvidia.com/gpu: "1"}
`,
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
      `apiVersion: ${kind === 'NetworkPolicy' ? 'networking.k8s.io/v1' : kind === 'PodDisruptionBudget' ? 'policy/v1' : 'v1'}
kind: ${kind}
${meta('epp', namespace, 'inferencepool')}spec: {selector: {app: epp}, ports: [{port: 9002}]}
`,
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
      `apiVersion: inference.networking.k8s.io/v1
kind: InferencePool
${meta('llama', namespace, 'inferencepool')}spec:
  targetPorts: [{number: 8000}]
  selector:
    matchLabels: {app: llama}
  endpointPickerRef: {name: epp, port: {number: 9002}}
`,
    ),
    rendered(
      'inferencepool',
      'objective',
      `apiVersion: llm-d.ai/v1alpha2
kind: InferenceObjective
${meta('chat', namespace, 'inferencepool')}spec: {priority: 10, poolRef: {name: llama, group: inference.networking.k8s.io}}
`,
    ),
    rendered(
      'inferencepool',
      'httproute',
      `apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
${meta('llama', namespace, 'inferencepool')}spec:
  parentRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: gateway}]
  rules:
    - backendRefs: [{group: inference.networking.k8s.io, kind: InferencePool, name: llama}]
      matches: [{path: {type: PathPrefix, value: /}}]
`,
    ),
    rendered(
      'tenant',
      'binding',
      `apiVersion: kleym.sonda.red/v1alpha1
kind: InferenceIdentityBinding
metadata:
  name: chat
  namespace: ${namespace}
spec:
  poolRef: {name: llama, group: inference.networking.k8s.io}
  objectiveRef: {name: chat}
  serviceAccountName: ms
  containerName: vllm
`,
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
