// A registration of others that gives each pod with a label one ID, on a cluster with one Node and one Namespace.

/** Gives pods with the label `app: web` the ID `spiffe://example.org/web`. */
export const WEB_REGISTRATION = `apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: { name: mesh }
spec:
  spiffeIDTemplate: spiffe://example.org/web
  podSelector: { matchLabels: { app: web } }
`

/** That registration, and what its pods are in. */
export const WEB_WORLD = `${WEB_REGISTRATION}---
apiVersion: v1
kind: Node
metadata: { name: n1, uid: uid-of-n1 }
---
apiVersion: v1
kind: Namespace
metadata: { name: team-a }
`

/** An Istio policy that names that ID. */
export const WEB_POLICY = `---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: callers, namespace: team-a }
spec: { rules: [{ from: [{ source: { principals: [example.org/web] } }] }] }
`

/** A pod of that cluster, which waits for a node unless its spec names one: `nodeName: n1, `. */
export function webPod(name: string, spec = '', label = 'web'): string {
  return `---
apiVersion: v1
kind: Pod
metadata: { name: ${name}, namespace: team-a, uid: uid-of-${name}, creationTimestamp: '2026-01-01T00:00:00Z', labels: { app: ${label} } }
spec: { ${spec}serviceAccountName: web, containers: [{ name: web, image: web }] }
status: { phase: Pending }
`
}
