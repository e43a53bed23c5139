// What many worlds of tests have in common: one binding `chat` of the pool `llama` in the namespace `demo`, and what SCM is told.

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
