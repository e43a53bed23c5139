// The registry of the kinds that kleym reads and writes, those of one purpose in its order of preference
// (docs/contract.md §4). Pool and objective kinds of different groups are separate CRDs that share a plural, never versions
// of one another (docs/gaie-facts.md §A1).
import { stringAt } from '../base/json.ts'
import {
  BINDING_GROUP,
  BINDING_KIND,
  BINDING_PLURAL,
  BINDING_VERSION,
  CLUSTER_SPIFFE_ID_KIND,
  CLUSTER_STATIC_ENTRY_KIND,
  SPIRE_GROUP,
  SPIRE_VERSION,
} from './names.ts'

/** A kind in the version in which kleym reads or writes it. */
export interface Kind {
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
}

/** kleym's own kind. */
export const BINDING = {
  group: BINDING_GROUP,
  version: BINDING_VERSION,
  kind: BINDING_KIND,
  plural: BINDING_PLURAL,
} as const satisfies Kind

/** The kind of kleym's output, of the SPIRE Controller Manager. */
export const CLUSTER_SPIFFE_ID = {
  group: SPIRE_GROUP,
  version: SPIRE_VERSION,
  kind: CLUSTER_SPIFFE_ID_KIND,
  plural: 'clusterspiffeids',
} as const satisfies Kind

/** Registrations written by hand, which compete with rendered ones. */
export const CLUSTER_STATIC_ENTRY = {
  group: SPIRE_GROUP,
  version: SPIRE_VERSION,
  kind: CLUSTER_STATIC_ENTRY_KIND,
  plural: 'clusterstaticentries',
} as const satisfies Kind

/** The kinds that SCM makes entries of. */
export const REGISTRATIONS = [CLUSTER_SPIFFE_ID, CLUSTER_STATIC_ENTRY] as const

/** Relationships with servers of other trust domains, whose bundles they bring. */
export const FEDERATED_TRUST_DOMAIN = {
  group: SPIRE_GROUP,
  version: SPIRE_VERSION,
  kind: 'ClusterFederatedTrustDomain',
  plural: 'clusterfederatedtrustdomains',
} as const satisfies Kind

/** Pools of other clusters, as a cluster that routes to them has them. */
export const POOL_IMPORT = {
  group: 'inference.networking.x-k8s.io',
  version: 'v1alpha1',
  kind: 'InferencePoolImport',
  plural: 'inferencepoolimports',
} as const satisfies Kind

/** The name of every pool kind. */
export const POOL_KIND = 'InferencePool'
/** The name of every objective kind. */
export const OBJECTIVE_KIND = 'InferenceObjective'

/** Pool kinds, the preferred one first. */
export const POOL_KINDS = [
  { group: 'inference.networking.k8s.io', version: 'v1', kind: POOL_KIND, plural: 'inferencepools' },
  { group: 'inference.networking.x-k8s.io', version: 'v1alpha2', kind: POOL_KIND, plural: 'inferencepools' },
] as const satisfies readonly Kind[]

/** Objective kinds, the preferred one first. */
export const OBJECTIVE_KINDS = [
  { group: 'llm-d.ai', version: 'v1alpha2', kind: OBJECTIVE_KIND, plural: 'inferenceobjectives' },
  {
    group: 'inference.networking.x-k8s.io',
    version: 'v1alpha2',
    kind: OBJECTIVE_KIND,
    plural: 'inferenceobjectives',
  },
  {
    group: 'inference.networking.k8s.io',
    version: 'v1',
    kind: OBJECTIVE_KIND,
    plural: 'inferenceobjectives',
  },
] as const satisfies readonly Kind[]

/** The access policies that kleym interprets: those of Kube Agentic Networking (KAN v0.1.0, provisional). */
export const ACCESS_POLICY_KIND = {
  group: 'agentic.networking.x-k8s.io',
  version: 'v1alpha1',
  kind: 'XAccessPolicy',
  plural: 'xaccesspolicies',
} as const satisfies Kind

/** The version of `ACCESS_POLICY_KIND` from before v1alpha1, which is named and never interpreted. */
export const OLD_ACCESS_POLICY_VERSION = 'v0alpha0'

/** Access policies from before v1alpha1 under other names, which are named and never interpreted. */
export const OLD_ACCESS_POLICIES: readonly Kind[] = [
  { ...ACCESS_POLICY_KIND, group: 'agentic.prototype.x-k8s.io', version: OLD_ACCESS_POLICY_VERSION },
  ...[ACCESS_POLICY_KIND.group, 'agentic.prototype.x-k8s.io'].map((group) => ({
    group,
    version: OLD_ACCESS_POLICY_VERSION,
    kind: 'AccessPolicy',
    plural: 'accesspolicies',
  })),
]

/** `OLD_ACCESS_POLICIES`, qualified. */
export const OLD_ACCESS_POLICY_KINDS: readonly string[] = OLD_ACCESS_POLICIES.map(qualifiedKind)

/** Objects of others that name identities: kleym reads whom they name, and nothing else of them (`policies/named-in.ts`). */
export const NAMING_KINDS: readonly Kind[] = [
  naming('security.istio.io', 'v1', 'AuthorizationPolicy', 'authorizationpolicies'),
  // It names nobody, and says whether names of the one before can match.
  naming('security.istio.io', 'v1', 'PeerAuthentication', 'peerauthentications'),
  naming('networking.istio.io', 'v1', 'DestinationRule', 'destinationrules'),
  naming('networking.istio.io', 'v1', 'ServiceEntry', 'serviceentries'),
  naming('gateway.networking.k8s.io', 'v1', 'BackendTLSPolicy', 'backendtlspolicies'),
  naming('policy.linkerd.io', 'v1alpha1', 'MeshTLSAuthentication', 'meshtlsauthentications'),
  naming('agentgateway.dev', 'v1alpha1', 'AgentgatewayPolicy', 'agentgatewaypolicies'),
  naming('agentgateway.dev', 'v1alpha1', 'AgentgatewayBackend', 'agentgatewaybackends'),
]

function naming(group: string, version: string, kind: string, plural: string): Kind {
  return { group, version, kind, plural }
}

/** All kinds whose objects name identities, qualified; the one that kleym interprets first. */
export const POLICY_KINDS: readonly string[] = [
  qualifiedKind(ACCESS_POLICY_KIND),
  ...OLD_ACCESS_POLICY_KINDS,
  ...NAMING_KINDS.map(qualifiedKind),
]

/**
 * What OpenShift's operator is to run of SPIRE. There is one object, and its name is `cluster`.
 * https://github.com/openshift/zero-trust-workload-identity-manager, api/v1alpha1
 */
export const OPENSHIFT_SCM = {
  group: 'operator.openshift.io',
  version: 'v1alpha1',
  kind: 'ZeroTrustWorkloadIdentityManager',
  plural: 'zerotrustworkloadidentitymanagers',
} as const satisfies Kind
/** The same of its agents. */
export const OPENSHIFT_AGENT = {
  group: 'operator.openshift.io',
  version: 'v1alpha1',
  kind: 'SpireAgent',
  plural: 'spireagents',
} as const satisfies Kind

/** The group of roles and their bindings. */
export const RIGHTS_GROUP = 'rbac.authorization.k8s.io'

/** A kind, and whether its objects have a namespace. */
export interface ScopedKind extends Kind {
  readonly namespaced: boolean
}

/** What says how SPIRE and kleym run, and which no answer reads otherwise. */
export const INSTALL_KINDS: readonly ScopedKind[] = [
  { ...v1('', 'Service', 'services'), namespaced: true },
  { ...v1('networking.k8s.io', 'NetworkPolicy', 'networkpolicies'), namespaced: true },
  { ...v1('storage.k8s.io', 'CSIDriver', 'csidrivers'), namespaced: false },
  {
    ...v1(
      'admissionregistration.k8s.io',
      'ValidatingWebhookConfiguration',
      'validatingwebhookconfigurations',
    ),
    namespaced: false,
  },
  { ...v1(RIGHTS_GROUP, 'Role', 'roles'), namespaced: true },
  { ...v1(RIGHTS_GROUP, 'RoleBinding', 'rolebindings'), namespaced: true },
  { ...v1(RIGHTS_GROUP, 'ClusterRole', 'clusterroles'), namespaced: false },
  { ...v1(RIGHTS_GROUP, 'ClusterRoleBinding', 'clusterrolebindings'), namespaced: false },
]

function v1(group: string, kind: string, plural: string): Kind {
  return { group, version: 'v1', kind, plural }
}

/** A group that has pools. */
export type PoolGroup = (typeof POOL_KINDS)[number]['group']
/** A group that has objectives. */
export type ObjectiveGroup = (typeof OBJECTIVE_KINDS)[number]['group']

/** The groups of `POOL_KINDS`, in its order. */
export const POOL_GROUPS: readonly PoolGroup[] = POOL_KINDS.map((kind) => kind.group)
/** The groups of `OBJECTIVE_KINDS`, in its order. */
export const OBJECTIVE_GROUPS: readonly ObjectiveGroup[] = OBJECTIVE_KINDS.map((kind) => kind.group)

/** The group whose selector is a flat string map. */
export const FLAT_SELECTOR_GROUP: PoolGroup = 'inference.networking.x-k8s.io'
/** The group that llm-d's endpoint picker reads when it is served, ignoring the others. */
export const LLM_D_GROUP: ObjectiveGroup = 'llm-d.ai'

/** `group/version` of a kind: what an object of it has as `apiVersion`. */
export function apiVersionOf({ group, version }: Pick<Kind, 'group' | 'version'>): string {
  return group === '' ? version : `${group}/${version}`
}

/** The group of an `apiVersion`; empty for the core group. */
export function groupOfApiVersion(apiVersion: string): string {
  return apiVersion.slice(0, Math.max(0, apiVersion.indexOf('/')))
}

/** The kind of an object, and its group; empty where it has none. */
export function kindOf(object: unknown): Pick<Kind, 'kind' | 'group'> {
  return {
    kind: stringAt(object, 'kind') ?? '',
    group: groupOfApiVersion(stringAt(object, 'apiVersion') ?? ''),
  }
}

/** Whether a value has an apiVersion and a kind, as every object has. */
export function isTyped(value: unknown): boolean {
  return stringAt(value, 'apiVersion') !== undefined && stringAt(value, 'kind') !== undefined
}

/** `InferencePool.inference.networking.k8s.io`, or `Pod` for the core group: a kind as users can paste it into kubectl. */
export function qualifiedKind({ kind, group }: Pick<Kind, 'kind' | 'group'>): string {
  return group === '' ? kind : `${kind}.${group}`
}

/** The qualified kind of an object: how kinds are keyed. */
export function kindKey(object: unknown): string {
  return qualifiedKind(kindOf(object))
}
