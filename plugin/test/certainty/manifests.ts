// The manifests of the estates: as little of each as an answer needs.
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'

/** The node of every pod. */
export const NODE_NAME = 'node-1'
const CHAT = 'spiffe://example.org/ns/team-a/objective/chat'

/** A pool of namespace team-a that selects the pods of its name. */
export function pool(name: string): JsonRecord {
  return {
    apiVersion: 'inference.networking.k8s.io/v1',
    kind: 'InferencePool',
    metadata: { name, namespace: 'team-a' },
    spec: { selector: { matchLabels: { app: name } } },
  }
}

/** An objective of the pool llama. */
export function objective(name: string): JsonRecord {
  return {
    apiVersion: 'llm-d.ai/v1alpha2',
    kind: 'InferenceObjective',
    metadata: { name, namespace: 'team-a' },
    spec: { poolRef: { name: 'llama' } },
  }
}

/** A binding of the pool llama; `spec` is laid over that. */
export function binding(name: string, spec: JsonRecord): JsonRecord {
  return {
    apiVersion: 'kleym.sonda.red/v1alpha1',
    kind: 'InferenceIdentityBinding',
    metadata: { name, namespace: 'team-a' },
    spec: {
      poolRef: { name: 'llama', group: 'inference.networking.k8s.io' },
      serviceAccountName: 'runner',
      ...spec,
    },
  }
}

/** A pod with the label `app`, and further ones. */
export function pod(
  namespace: string,
  name: string,
  app: string,
  containers: readonly string[],
  labels: Readonly<Record<string, string>> = {},
): JsonRecord {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels: { app, ...labels } },
    spec: {
      nodeName: NODE_NAME,
      serviceAccountName: 'runner',
      containers: containers.map((container) => ({ name: container })),
    },
  }
}

/** A Deployment whose pods have the label `app`. */
export function deployment(
  namespace: string,
  name: string,
  app: string,
  containers: readonly string[],
): JsonRecord {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace },
    spec: {
      selector: { matchLabels: { app } },
      template: {
        metadata: { labels: { app } },
        spec: {
          serviceAccountName: 'runner',
          containers: containers.map((container) => ({ name: container, image: container })),
        },
      },
    },
  }
}

/** What a ClusterSPIFFEID of somebody else says. */
export interface RegistrationParts {
  readonly id: string
  readonly className: string
  readonly fallback: boolean
  readonly hint: string
  /** The pods that it is for; undefined: all. */
  readonly app: string | undefined
  /** The label of the namespaces that it is for; undefined: all. */
  readonly env: string | undefined
  readonly ttl: string | undefined
  readonly selectors: readonly string[]
  /** Whether it has the label that some SCMs ask for. */
  readonly labelled: boolean
}

/** A ClusterSPIFFEID of somebody else. */
export function registration(name: string, parts: RegistrationParts): JsonRecord {
  const { id, className, fallback, hint, app, env, ttl, selectors, labelled } = parts
  return {
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ClusterSPIFFEID',
    metadata: {
      name,
      ...(labelled && { labels: { tier: 'prod', 'spire.spiffe.io/class-name': className } }),
    },
    spec: {
      spiffeIDTemplate: id,
      fallback,
      ...(className !== '' && { className }),
      ...(hint !== '' && { hint }),
      ...(app !== undefined && { podSelector: { matchLabels: { app } } }),
      ...(env !== undefined && { namespaceSelector: { matchLabels: { env } } }),
      ...(ttl !== undefined && { ttl }),
      ...(selectors.length > 0 && { workloadSelectorTemplates: selectors }),
    },
  }
}

/** A ClusterStaticEntry that gives an ID of a binding to the workloads of a namespace. */
export function staticEntry(className: string, namespace: string): JsonRecord {
  return {
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ClusterStaticEntry',
    metadata: { name: 'by-hand' },
    spec: {
      spiffeID: 'spiffe://example.org/ns/team-a/objective/chat',
      parentID: 'spiffe://example.org/spire/agent/k8s_psat/prod/node-uid',
      selectors: [`k8s:ns:${namespace}`],
      ...(className !== '' && { className }),
    },
  }
}

/** An access policy that names the ID of the binding chat, one of another trust domain, and one that nothing gives. */
export function accessPolicy(): JsonRecord {
  const ids = [
    'spiffe://example.org/ns/team-a/objective/chat',
    'spiffe://other.org/ns/team-a/pool/llama',
    'spiffe://example.org/nothing',
  ]
  return {
    apiVersion: 'agentic.networking.x-k8s.io/v1alpha1',
    kind: 'XAccessPolicy',
    metadata: { name: 'tools', namespace: 'team-a' },
    spec: {
      targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'tools' }],
      action: 'Allow',
      rules: ids.map((spiffe, at) => ({ name: `rule-${at}`, source: { type: 'SPIFFE', spiffe } })),
    },
  }
}

/** Objects of other programs that name the same, and IDs of team-a by a pattern; and a string that does. */
export function namers(): readonly JsonRecord[] {
  const principals = [
    'example.org/ns/team-a/objective/chat',
    'example.org/ns/team-a/*',
    'example.org/nothing',
  ]
  return [
    {
      apiVersion: 'security.istio.io/v1',
      kind: 'AuthorizationPolicy',
      metadata: { name: 'callers', namespace: 'team-a' },
      spec: { rules: [{ from: [{ source: { principals } }] }] },
    },
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'clients', namespace: 'team-b' },
      data: { peers: principals.map((one) => `spiffe://${one}`).join('\n') },
    },
  ]
}

/** A Namespace whose label `env` registrations may ask for. */
export function namespaceWith(name: string, env: string): JsonRecord {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: { env } } }
}

/** The node of every pod. */
export const NODE: JsonRecord = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: NODE_NAME, uid: 'node-uid' },
}

/** Identity tests with an assertion of each sort: some hold, some fail, and some depend on what is hidden. */
export const IDENTITY_TESTS: JsonRecord = {
  apiVersion: 'test.kleym.sonda.red/v1alpha1',
  kind: 'IdentityTest',
  metadata: { name: 'estate' },
  spec: {
    containers: [
      { subject: { namespace: 'team-a', container: 'vllm' }, holds: { atLeast: [CHAT] } },
      { subject: { namespace: 'team-a', container: 'main' }, holds: { none: true } },
    ],
    identities: [{ spiffeID: CHAT, heldBy: { atLeast: [{ namespace: 'team-a' }] } }],
    bindings: [
      { name: 'team-a/chat', ready: true },
      { name: 'team-a/batch', absent: true },
    ],
    rules: [
      { spiffeID: 'spiffe://example.org/ns/team-a/**', neverIn: { namespace: 'team-b' } },
      { everyContainer: { namespace: 'team-b' }, holds: { none: true }, absent: true },
    ],
  },
}
