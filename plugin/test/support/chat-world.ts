// What many worlds of tests have in common: one binding `chat` of the pool `llama` in the namespace `demo`, and SCM's settings.

/** The objective and the binding; the pool is the test's own. */
export const CHAT_BINDING = `apiVersion: llm-d.ai/v1alpha2
kind: InferenceObjective
metadata: {name: chat, namespace: demo}
spec: {poolRef: {name: llama}}
---
apiVersion: kleym.sonda.red/v1alpha1
kind: InferenceIdentityBinding
metadata: {name: chat, namespace: demo, uid: u1}
spec: {poolRef: {name: llama}, objectiveRef: {name: chat}, serviceAccountName: runner, containerName: vllm}
`

/** SCM's configuration: the trust domain `example.org`, and objects without a class. */
export const SCM_CONFIG = `apiVersion: spire.spiffe.io/v1alpha1
kind: ControllerManagerConfig
trustDomain: example.org
clusterName: prod
watchClassless: true
`

/** The pool of that binding, its namespace and a pod of it. */
export const CHAT_OBJECTS = `apiVersion: inference.networking.k8s.io/v1
kind: InferencePool
metadata: {name: llama, namespace: demo}
spec: {selector: {matchLabels: {app: llama}}, targetPorts: [{number: 8000}], endpointPickerRef: {name: epp, port: {number: 9002}}}
---
apiVersion: v1
kind: Namespace
metadata: {name: demo, labels: {kubernetes.io/metadata.name: demo}}
---
apiVersion: v1
kind: Pod
metadata: {name: llama-0, namespace: demo, uid: p1, labels: {app: llama}}
spec:
  serviceAccountName: runner
  containers: [{name: vllm, image: vllm, volumeMounts: [{name: spiffe, mountPath: /spiffe}]}]
  volumes: [{name: spiffe, csi: {driver: csi.spiffe.io, readOnly: true}}]
`

/** SCM's configuration for it. */
export const CHAT_SCM = `apiVersion: spire.spiffe.io/v1alpha1
kind: ControllerManagerConfig
trustDomain: acme.example
className: spire
clusterName: prod
`

/** A pod of another tenant, and a registration that gives it the identity of the binding. */
export const CHAT_THEFT = `apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: {name: thief}
spec: {className: spire, spiffeIDTemplate: 'spiffe://acme.example/ns/demo/objective/chat', podSelector: {matchLabels: {app: thief}}}
---
apiVersion: v1
kind: Pod
metadata: {name: thief, namespace: other, uid: p2, labels: {app: thief}}
spec: {serviceAccountName: x, containers: [{name: main, image: x}]}
---
apiVersion: v1
kind: Namespace
metadata: {name: other, labels: {kubernetes.io/metadata.name: other}}
`

/** The operator's Deployment, set to a trust domain and a class. */
export function operatorDeployment(
  trustDomain: string,
  className: string,
  { name = 'kleym', namespace = 'kleym-system' } = {},
): string {
  return `apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}, namespace: ${namespace}}
spec:
  selector: {matchLabels: {app: kleym}}
  template:
    metadata: {labels: {app: kleym}}
    spec: {containers: [{name: kleym, image: kleym, args: [--trust-domain=${trustDomain}, --clusterspiffeid-class-name=${className}]}]}
`
}

/** A pool, and the binding `whole` of all its pods. */
export const WHOLE_POOL = `apiVersion: inference.networking.k8s.io/v1
kind: InferencePool
metadata: {name: llama, namespace: serving}
spec: {selector: {matchLabels: {app: llama}}}
---
apiVersion: kleym.sonda.red/v1alpha1
kind: InferenceIdentityBinding
metadata: {name: whole, namespace: serving}
spec: {mode: PoolOnly, poolRef: {name: llama}, serviceAccountName: runner}
`
