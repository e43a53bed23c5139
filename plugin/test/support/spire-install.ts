// An install of SPIRE, in short: all that its charts make, one object of each kind.
import { CHAT_SCM } from './chat-world.ts'

/** SCM's configuration, and a file beside it. */
export const SCM_CONFIG = `apiVersion: v1
kind: ConfigMap
metadata: {name: scm-abc, namespace: spire}
data:
  scm.yaml: ${JSON.stringify(CHAT_SCM)}
  more.yaml: 'a: b'
`
/** SCM. */
export const SCM = `apiVersion: apps/v1
kind: Deployment
metadata: {name: spire-controller-manager, namespace: spire}
spec:
  selector: {matchLabels: {app: scm}}
  template:
    metadata: {labels: {app: scm}}
    spec:
      serviceAccountName: scm
      containers:
      - name: scm
        image: ghcr.io/spiffe/spire-controller-manager:0.7.0
        args: [--config=scm.yaml]
      volumes:
      - {name: config, configMap: {name: scm-abc}}
`
/** A server. */
export const SERVER = `apiVersion: apps/v1
kind: StatefulSet
metadata: {name: spire-server, namespace: spire}
spec:
  serviceName: server
  selector: {matchLabels: {app: server}}
  template:
    metadata: {labels: {app: server}}
    spec:
      containers: [{name: server, image: 'ghcr.io/spiffe/spire-server:1.15.3'}]
      volumes: [{name: config, configMap: {name: spire-server}}]
`
/** The server's configuration. */
export const SERVER_CONFIG = `apiVersion: v1
kind: ConfigMap
metadata: {name: spire-server, namespace: spire}
data:
  server.conf: |
    {"server": {"trust_domain": "acme.example"}, "plugins": {
      "DataStore": [{"sql": {"plugin_data": {}}}],
      "NodeAttestor": [{"k8s_psat": {"plugin_data": {"clusters": [{"prod": {
        "service_account_allow_list": ["spire:spire-agent"]}}]}}}]}}
`
/** The agents. */
export const AGENT = `apiVersion: apps/v1
kind: DaemonSet
metadata: {name: spire-agent, namespace: spire}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      hostPID: true
      serviceAccountName: spire-agent
      containers: [{name: agent, image: 'ghcr.io/spiffe/spire-agent:1.15.3'}]
      volumes: [{name: config, configMap: {name: spire-agent}}]
`
/** The agents' configuration. */
export const AGENT_CONFIG = `apiVersion: v1
kind: ConfigMap
metadata: {name: spire-agent, namespace: spire}
data:
  agent.conf: |
    agent { trust_domain = "acme.example", server_address = "spire-server", socket_path = "/run/spire/agent.sock" }
    plugins {
      NodeAttestor "k8s_psat" { plugin_data { cluster = "prod" } }
      WorkloadAttestor "k8s" { plugin_data {} }
    }
`
/** What SCM may do. */
export const ROLE = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: scm}
rules:
- {apiGroups: [''], resources: [pods, nodes], verbs: [get, list, watch]}
`
/** That SCM may do it. */
export const ROLE_BINDING = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: scm}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: scm}
subjects: [{kind: ServiceAccount, name: scm, namespace: spire}]
`
/** The same in a namespace: a Role, and its binding. */
export const IN_NAMESPACE = [ROLE, ROLE_BINDING].map((one) =>
  one
    .replaceAll('ClusterRole', 'Role')
    .replace('[pods, nodes]', '[configmaps]')
    .replace('metadata: {name: scm}', 'metadata: {name: leases, namespace: spire}')
    .replace('kind: Role, name: scm', 'kind: Role, name: leases'),
)
/** The Service of the server. */
export const SERVICE = `apiVersion: v1
kind: Service
metadata: {name: server, namespace: spire}
spec: {selector: {app: server}, ports: [{port: 443, targetPort: 8081}]}
`
/** What asks SCM about registrations. */
export const WEBHOOK = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: scm}
webhooks:
- name: v.spiffe.io
  clientConfig: {service: {name: scm, namespace: spire}}
  rules: [{apiGroups: [spire.spiffe.io], apiVersions: [v1alpha1], operations: [CREATE], resources: [clusterspiffeids]}]
  sideEffects: None
  admissionReviewVersions: [v1]
`
/** The driver of the sockets. */
export const DRIVER = `apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: csi.spiffe.io}
spec: {volumeLifecycleModes: [Ephemeral]}
`
/** A policy that is no part of the install. */
export const POLICY = `apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: deny, namespace: spire}
spec: {podSelector: {}, policyTypes: [Ingress]}
`
/** Where all of it runs. */
export const NAMESPACE = `apiVersion: v1
kind: Namespace
metadata: {name: spire, labels: {kubernetes.io/metadata.name: spire}}
`
