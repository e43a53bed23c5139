// Every condition reason (docs/contract.md §7), once: which condition it belongs to, what it means and how to fix it.
// The docs table, the plugin's hints and the tests are made from this.
import { keysOf } from '../../base/json.ts'
import type { DecisionCondition } from '../../model/names.ts'

/** What the registry says of a reason. */
export interface ReasonEntry {
  readonly condition: DecisionCondition
  /** The `status` that `Ready` has under this reason. */
  readonly ready: 'True' | 'False' | 'Unknown'
  /** One sentence: what is the case. */
  readonly meaning: string
  /** One imperative sentence: what to do about it; empty where nothing is wrong. */
  readonly fix: string
}

/** A reason of a refusal. */
function refused<Condition extends DecisionCondition>(
  condition: Condition,
  text: Pick<ReasonEntry, 'meaning' | 'fix'>,
) {
  return { condition, ready: 'False', ...text } as const
}

/** The registry of condition reasons. */
export const REASONS = {
  Reconciled: {
    condition: 'Ready',
    ready: 'True',
    meaning: 'The ClusterSPIFFEID that the binding asks for is written. InForce says whether SCM acts on it.',
    fix: '',
  },
  Undetermined: {
    condition: 'Ready',
    ready: 'Unknown',
    meaning:
      'Something that the decision needs could not be read, or the API server refuses to update an output whose identity is right. What is there stays.',
    fix: 'Give the operator the read or the update that the message names; it tries again by itself.',
  },
  WaitingForPeer: {
    condition: 'Ready',
    ready: 'Unknown',
    meaning:
      'Another binding still has a registration on the same pods and container, or an object that must be deleted first has the name of the output.',
    fix: 'Wait; if it stays, look at what holds the ClusterSPIFFEID that the message names.',
  },
  NamespaceFull: {
    condition: 'Ready',
    ready: 'Unknown',
    meaning:
      'The namespace has as many bindings with an output as --bindings-per-namespace allows, so this binding gets none. Outputs that are there stay.',
    fix: 'Delete bindings of the namespace that are no longer used, or start the operator with a higher --bindings-per-namespace.',
  },
  Deleting: {
    condition: 'Ready',
    ready: 'Unknown',
    meaning: 'The binding is being deleted, and a finalizer still keeps it or its output.',
    fix: 'Wait, and make the binding again if it is still wanted; if it stays, remove the finalizer, or what has put it there.',
  },
  InvalidPoolRef: refused('InvalidRef', {
    meaning: 'The reference to the pool is malformed.',
    fix: 'Correct .spec.poolRef: its name must be a DNS-1123 subdomain, and its group, if it has one, a group of InferencePool.',
  }),
  TargetPoolNotFound: refused('InvalidRef', {
    meaning: 'No InferencePool of that name is in the namespace of the binding.',
    fix: 'Create the pool in the namespace of the binding, or correct .spec.poolRef.',
  }),
  AmbiguousPoolRef: refused('InvalidRef', {
    meaning:
      'Both pool groups have that name, and select different pods. The binding names no group, or the less preferred one, and the SPIFFE ID names none.',
    fix: 'Remove or rename one of the pools. If the pool of inference.networking.k8s.io is meant, it is enough to name that group in .spec.poolRef.group.',
  }),
  InferencePoolCRDMissing: refused('InvalidRef', {
    meaning: 'The API server serves no InferencePool kind that the reference could mean.',
    fix: 'Install the InferencePool CRD of the Gateway API Inference Extension.',
  }),
  InvalidObjectiveRef: refused('InvalidRef', {
    meaning:
      'The reference to the objective is malformed, or the objective targets another pool, or an objective of that name in a more preferred group does.',
    fix: 'Correct .spec.objectiveRef, or let .spec.poolRef of the objective and of the binding name the same pool.',
  }),
  TargetObjectiveNotFound: refused('InvalidRef', {
    meaning: 'No InferenceObjective of that name is in the namespace of the binding.',
    fix: 'Create the objective in the namespace of the binding, or correct .spec.objectiveRef.',
  }),
  InferenceObjectiveCRDMissing: refused('InvalidRef', {
    meaning: 'The API server serves no InferenceObjective kind that the reference could mean.',
    fix: 'Install the InferenceObjective CRD (llm-d.ai, or GAIE up to v1.5), or use mode PoolOnly without objectiveRef.',
  }),
  InvalidPoolSelector: refused('UnsafeSelector', {
    meaning: 'The selector of the pool is missing, empty or malformed.',
    fix: 'Give the pool a selector of one to 64 plain labels with non-empty values.',
  }),
  UnsafeSelector: refused('UnsafeSelector', {
    meaning:
      "The selectors cannot be proven to stay within the binding's namespace, service account and pods.",
    fix: 'Select pods by matchLabels alone, and keep every selector value within 255 bytes.',
  }),
  InvalidIdentityBoundary: refused('UnsafeSelector', {
    meaning:
      'Mode PerVariant needs a variant, and it is missing or is no label value; or another mode has a variant.',
    fix: 'Set .spec.identityBoundary.variant to the value that the pods of the role carry, with mode PerVariant alone.',
  }),
  IdentityCollision: refused('Conflict', {
    meaning:
      'Another PerObjective binding claims the same container of provably common pods, or another PerVariant binding the same pods.',
    fix: 'If one container serves both, keep one PoolOnly binding. Else give one of them its own containerName or service account, or pools that share no pod.',
  }),
  UnsupportedMode: refused('RenderFailure', {
    meaning:
      'The mode is none of PoolOnly, PerVariant and PerObjective, or is left out while other fields mean two of them.',
    fix: 'Set .spec.mode to PoolOnly, PerVariant or PerObjective, and name the boundary of that mode alone.',
  }),
  MissingObjectiveRef: refused('RenderFailure', {
    meaning:
      'Mode PerObjective needs an objective, and none is named; a binding that names no boundary at all counts as one.',
    fix: 'Set .spec.objectiveRef.name, or set .spec.mode to PoolOnly, or name the role of the pool in .spec.identityBoundary.',
  }),
  InvalidServiceAccountName: refused('RenderFailure', {
    meaning: 'The service account name is missing or is no DNS-1123 subdomain.',
    fix: 'Set .spec.serviceAccountName to the service account that the pods run under.',
  }),
  InvalidContainerName: refused('RenderFailure', {
    meaning: 'Mode PerObjective needs a container, and its name is missing or is no DNS-1123 label.',
    fix: "Set .spec.containerName to a container of the pool's pods.",
  }),
  UnexpectedContainerName: refused('RenderFailure', {
    meaning: 'Modes PoolOnly and PerVariant are for whole pods, and a container is named.',
    fix: 'Remove .spec.containerName, or set .spec.mode to PerObjective.',
  }),
  InvalidSPIFFEID: refused('RenderFailure', {
    meaning: 'The SPIFFE ID would be invalid or longer than 255 bytes.',
    fix: 'Shorten the name of the pool or objective, the namespace, or the trust domain.',
  }),
  MissingTrustDomain: refused('RenderFailure', {
    meaning: 'kleym was started without a trust domain.',
    fix: 'Start the operator with --trust-domain or KLEYM_TRUST_DOMAIN.',
  }),
  ClusterSPIFFEIDCRDMissing: refused('RenderFailure', {
    meaning: 'The API server does not serve ClusterSPIFFEID.',
    fix: 'Install the CRDs of the SPIRE controller manager.',
  }),
  OutputNotOwned: refused('RenderFailure', {
    meaning: "An object that is not kleym's holds the name of the ClusterSPIFFEID that the binding needs.",
    fix: 'Look at who made that ClusterSPIFFEID, and delete it if no workload needs it; kleym never takes it over.',
  }),
  ManagedOutputApplyFailed: refused('RenderFailure', {
    meaning:
      'The API server refuses the ClusterSPIFFEID for good (invalid, denied, over a quota), or a webhook, a policy or its CRD changes what was proven safe.',
    fix: "Read the API server's answer, or the fields that were changed, in the message, and change the policy, webhook, quota or CRD that stands in the way.",
  }),
} as const satisfies Record<string, ReasonEntry>

/** A condition reason. */
export type Reason = keyof typeof REASONS
/** The reasons of a refusal: `Ready=False`. */
export type RefusalReason = {
  [Name in Reason]: (typeof REASONS)[Name]['ready'] extends 'False' ? Name : never
}[Reason]

/** All reasons, in the order of the registry. */
export const REASON_NAMES: readonly Reason[] = keysOf(REASONS)

/** Whether a text is a reason of `Ready`. */
export function isReason(text: string): text is Reason {
  return Object.hasOwn(REASONS, text)
}
