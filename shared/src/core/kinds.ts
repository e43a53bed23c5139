// The kinds that kleym reads, in its order of preference (contract §4). Pool and objective kinds of different groups
// are separate CRDs that share a plural, never versions of one another (facts: GAIE tags v0.1 to v1.6).

export interface Kind {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
}

/** Pool kinds, the preferred one first. */
export const POOL_KINDS = [
  { group: 'inference.networking.k8s.io', version: 'v1', kind: 'InferencePool', plural: 'inferencepools' },
  {
    group: 'inference.networking.x-k8s.io',
    version: 'v1alpha2',
    kind: 'InferencePool',
    plural: 'inferencepools',
  },
] as const satisfies readonly Kind[]

/** Objective kinds, the preferred one first. */
export const OBJECTIVE_KINDS = [
  { group: 'llm-d.ai', version: 'v1alpha2', kind: 'InferenceObjective', plural: 'inferenceobjectives' },
  {
    group: 'inference.networking.x-k8s.io',
    version: 'v1alpha2',
    kind: 'InferenceObjective',
    plural: 'inferenceobjectives',
  },
  {
    group: 'inference.networking.k8s.io',
    version: 'v1',
    kind: 'InferenceObjective',
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

/** The same, qualified. */
export const OLD_ACCESS_POLICY_KINDS: readonly string[] = OLD_ACCESS_POLICIES.map(qualifiedKind)

export type PoolGroup = (typeof POOL_KINDS)[number]['group']
export type ObjectiveGroup = (typeof OBJECTIVE_KINDS)[number]['group']

export const POOL_GROUPS: readonly PoolGroup[] = POOL_KINDS.map((kind) => kind.group)
export const OBJECTIVE_GROUPS: readonly ObjectiveGroup[] = OBJECTIVE_KINDS.map((kind) => kind.group)

/** The group whose selector is a flat string map. */
export const FLAT_SELECTOR_GROUP: PoolGroup = 'inference.networking.x-k8s.io'
/** The group that llm-d's endpoint picker reads when it is served, ignoring the others. */
export const LLM_D_GROUP: ObjectiveGroup = 'llm-d.ai'

/** `group/version` of a kind. */
export function apiVersionOf(kind: Kind): string {
  return `${kind.group}/${kind.version}`
}

/** `InferencePool.inference.networking.k8s.io`: a kind as users can paste it into kubectl. */
export function qualifiedKind(kind: Kind): string {
  return `${kind.kind}.${kind.group}`
}

/** All kinds of access policies, qualified; the one that kleym interprets first. */
export const POLICY_KINDS: readonly string[] = [qualifiedKind(ACCESS_POLICY_KIND), ...OLD_ACCESS_POLICY_KINDS]
