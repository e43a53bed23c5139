// The fixed names of the contract (docs/contract.md §2 to §8), each written once: labels, annotations, limits, modes, and the
// parts that `kinds.ts` makes kinds from.

/** The group of kleym's own kind, which `BINDING` in `kinds.ts` puts together. */
export const BINDING_GROUP = 'kleym.sonda.red'
/** The version of kleym's own kind. */
export const BINDING_VERSION = 'v1alpha1'
/** The name of kleym's own kind. */
export const BINDING_KIND = 'InferenceIdentityBinding'
/** The plural of kleym's own kind, as in REST paths. */
export const BINDING_PLURAL = 'inferenceidentitybindings'

/** The group of SPIRE's kinds, which `CLUSTER_SPIFFE_ID` and `CLUSTER_STATIC_ENTRY` in `kinds.ts` put together. */
export const SPIRE_GROUP = 'spire.spiffe.io'
/** The version of SPIRE's kinds. */
export const SPIRE_VERSION = 'v1alpha1'
/** The name of the kind of kleym's output. */
export const CLUSTER_SPIFFE_ID_KIND = 'ClusterSPIFFEID'
/** The name of the kind of registrations that are written by hand. */
export const CLUSTER_STATIC_ENTRY_KIND = 'ClusterStaticEntry'

/** The group of identity tests, which stand in files alone (docs/identity-tests.md). */
export const IDENTITY_TEST_GROUP = 'test.kleym.sonda.red'
/** `apiVersion` of identity tests. */
export const IDENTITY_TEST_API_VERSION = `${IDENTITY_TEST_GROUP}/v1alpha1`
/** The kind of identity tests. */
export const IDENTITY_TEST_KIND = 'IdentityTest'
/** The annotation by which kustomize leaves an object out. */
export const LOCAL_CONFIG_ANNOTATION = 'config.kubernetes.io/local-config'

/** The label of every output. Labels are an index for people and watches; decisions read the annotations. */
export const LABEL_MANAGED_BY = 'kleym.sonda.red/managed-by'
/** The label of an output with its binding's name, shortened to a label value. */
export const LABEL_BINDING_NAME = 'kleym.sonda.red/binding-name'
/** The label of an output with its binding's namespace. */
export const LABEL_BINDING_NAMESPACE = 'kleym.sonda.red/binding-namespace'
/** The value of `LABEL_MANAGED_BY`. */
export const MANAGED_BY = 'kleym'
/** The annotation of an output that holds its binding's key. */
export const ANNOTATION_BINDING = 'kleym.sonda.red/binding'
/** The annotation of an output that holds its binding's UID. */
export const ANNOTATION_BINDING_UID = 'kleym.sonda.red/binding-uid'
/** Lists the keys of the labels that `--output-label` set, so that one that is no longer wanted is removed. */
export const ANNOTATION_OUTPUT_LABELS = 'kleym.sonda.red/output-labels'
/** The annotation of an output that holds the install that made it: namespace and name of its Lease. */
export const ANNOTATION_INSTALL = 'kleym.sonda.red/install'
/** The annotation that the Go implementation of the same API group gives to each output that it makes (docs/upstream.md). */
export const ANNOTATION_GO_CLAIM = 'kleym.sonda.red/ownership-claim-id'
/** The label by which SCM's cache finds the objects of its class under `filterByClassName` (SCM v0.7.0). */
export const SCM_CLASS_LABEL = 'spire.spiffe.io/class-name'
/** The prefix of every label and annotation key that belongs to kleym. */
export const OWN_KEY_PREFIX = 'kleym.sonda.red/'

/** Keeps a binding until its output is gone. */
export const FINALIZER = 'kleym.sonda.red/inferenceidentitybinding-finalizer'
/** The field manager of everything that the operator writes. */
export const FIELD_MANAGER = 'kleym-operator'

/** The label that kube-apiserver sets on every namespace. */
export const NAMESPACE_NAME_LABEL = 'kubernetes.io/metadata.name'

/** The byte limit of a SPIFFE ID and of a selector value: SPIRE's columns on PostgreSQL and MySQL. */
export const SPIRE_COLUMN_BYTES = 255
/** The most labels that a pool may select by: the limit of `inference.networking.k8s.io/v1` since GAIE v1.0.2. */
export const POOL_LABELS_MAX = 64
/** The limit of a condition message: what an event's note holds, in bytes. */
export const MESSAGE_BYTES = 1024
/** How many peers a collision message and `status.conflicts` name. */
export const CONFLICTS_NAMED = 10

/** The condition types of a binding, in the order in which `status.conditions` lists them. */
export const DECISION_CONDITIONS = [
  'Ready',
  'Conflict',
  'InvalidRef',
  'UnsafeSelector',
  'RenderFailure',
] as const
/** One of `DECISION_CONDITIONS`. */
export type DecisionCondition = (typeof DECISION_CONDITIONS)[number]
/** Tells whether SCM acts on the output; nothing is decided by it. */
export const IN_FORCE_CONDITION = 'InForce'
/** All conditions of a status, in their order. */
export const CONDITION_TYPES = [...DECISION_CONDITIONS, IN_FORCE_CONDITION] as const
/** One of `CONDITION_TYPES`. */
export type ConditionType = (typeof CONDITION_TYPES)[number]

/** The identity boundaries: values of `.spec.mode`. */
export const MODES = ['PoolOnly', 'PerVariant', 'PerObjective'] as const
/** One of `MODES`. */
export type Mode = (typeof MODES)[number]
/** The key of the pod label that tells the variants of a pool apart, where the install sets no other. */
export const DEFAULT_VARIANT_LABEL_KEY = 'identity.kleym.sonda.red/variant'
/** The operator's flag for that key; a check that cannot do without the key names it. */
export const VARIANT_LABEL_KEY_FLAG = '--variant-label-key'

/** The operator's flag for the class of its output. */
export const CLASS_NAME_FLAG = '--clusterspiffeid-class-name'
