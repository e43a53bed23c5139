// What a map holds, as data: boxes that stand in each other, and what leads from one to another. Types and words alone, since
// the page in the browser reads them too (page/).

/** What becomes of a container, in the order in which legends and tables list it. */
export const CONTAINER_STATES = [
  'issued',
  'several',
  'pending',
  'undetermined',
  'refused',
  'failed',
  'displaced',
  'masked',
  'ignored',
  'dead',
  'none',
] as const
/** One of them. */
export type ContainerState = (typeof CONTAINER_STATES)[number]

/** The state in words, for a legend. */
export const STATE_TEXTS: Readonly<Record<ContainerState, string>> = {
  issued: 'one identity is issued',
  several: 'several identities are issued',
  pending: 'kleym has yet to write what gives it an identity',
  undetermined: 'it is not known whether it gets an identity',
  refused: 'the SPIRE server refuses the entry',
  failed: 'SCM cannot make the entry',
  displaced: 'its fallback gave way to another registration',
  masked: 'another object owns the same entry',
  ignored: 'SCM does not act on what selects it',
  dead: 'no selector of what selects its pod matches it',
  none: 'nothing selects its pod',
}

/** What a change does to a part of the map; null: nothing, or there is nothing to compare with. */
export type MapChange = 'added' | 'removed' | 'changed' | 'uncertain'

interface NodeBase {
  /** Unique in the map. */
  readonly id: string
  readonly label: string
  /** Empty for what has none. */
  readonly namespace: string
  /** The box that it stands in. */
  readonly parent: string | null
  /** The codes of the findings about it, each once. */
  readonly findings: readonly string[]
  readonly change: MapChange | null
}

/** A namespace. */
export interface NamespaceNode extends NodeBase {
  readonly kind: 'namespace'
  /** How many containers there are of each state, every replica counted; without those that are 0. */
  readonly containers: Readonly<Partial<Record<ContainerState, number>>>
  /** How many pods there are, templates among them. */
  readonly pods: number
  /** Why there may be more pods than were read; null: these are all. */
  readonly open: string | null
}

/** A workload that makes pods. */
export interface WorkloadNode extends NodeBase {
  readonly kind: 'workload'
  readonly workload: string
}

/** Pods of one workload that look the same on the map. */
export interface PodsNode extends NodeBase {
  readonly kind: 'pods'
  /** `pod team-a/llama-0`, `Deployment team-a/llama` for a template. */
  readonly pods: readonly string[]
  /** False for the template of a workload, and for a manifest. */
  readonly exists: boolean
  /** Null where it is not known. */
  readonly serviceAccount: string | null
  readonly nodes: readonly string[]
  /** Why it is not certain that there is such a pod. */
  readonly perhaps: string | null
}

/** A container of such pods. */
export interface ContainerNode extends NodeBase {
  readonly kind: 'container'
  readonly name: string
  readonly role: string
  readonly state: ContainerState
  /** How many pods have it. */
  readonly count: number
  /** The SPIFFE IDs that are certainly issued. */
  readonly identities: readonly string[]
  /** Why it may get something else, or more; null where it certainly does not. */
  readonly open: string | null
}

/** A binding. */
export interface BindingNode extends NodeBase {
  readonly kind: 'binding'
  readonly binding: string
  readonly state: 'ready' | 'refused' | 'undetermined' | 'waiting' | 'deleting'
  readonly reason: string
  readonly message: string
  readonly spiffeID: string | null
}

/** A ClusterSPIFFEID that is not an output of a binding here, or a ClusterStaticEntry. */
export interface RegistrationNode extends NodeBase {
  readonly kind: 'ClusterSPIFFEID' | 'ClusterStaticEntry'
  readonly name: string
  /** What SCM does with the object. */
  readonly handling: 'handled' | 'ignored' | 'invalid' | 'undecodable' | 'unknown'
  readonly why: string | null
  /** Whose it is: of a ClusterStaticEntry always `foreign`. */
  readonly ownership: 'ours' | 'orphan' | 'foreign' | 'unknown'
}

/** A SPIFFE ID. */
export interface IdentityNode extends NodeBase {
  readonly kind: 'identity'
  readonly spiffeID: string
  /**
   * Whether a container holds it. `perhaps`: only what is not certain gives it. `unheld`: certainly none here, and `unknown`
   * where something that could not be read, or followed, may give it.
   */
  readonly state: 'held' | 'perhaps' | 'unheld' | 'unknown'
  /** How many containers certainly hold it, every replica counted. */
  readonly holders: number
  /** How many perhaps hold it. */
  readonly perhaps: number
}

/** An access policy. */
export interface PolicyNode extends NodeBase {
  readonly kind: 'policy'
  readonly policy: string
  /** False where kleym cannot interpret it: it may name anything. */
  readonly isInterpreted: boolean
  /** Whether a rule names any principal. */
  readonly namesAny: boolean
  /** What its rules name, a sentence each. */
  readonly says: readonly string[]
}

/** Something that could not be read, or that the cluster does not serve. */
export interface GapNode extends NodeBase {
  readonly kind: 'gap'
  readonly state: 'unknown' | 'not served'
  readonly why: string
}

/** A box of the map. */
export type MapNode =
  | NamespaceNode
  | WorkloadNode
  | PodsNode
  | ContainerNode
  | BindingNode
  | RegistrationNode
  | IdentityNode
  | PolicyNode
  | GapNode

interface EdgeBase {
  /** Ids of nodes. */
  readonly from: string
  readonly to: string
}

/** A registration that selects the pod of a container, and its verdict: the words of `who-selects`. */
export interface RegistrationEdge extends EdgeBase {
  readonly kind: 'registration'
  readonly verdict: string
  readonly spiffeID: string | null
  readonly source: string
  readonly hint: string
  readonly sharesHint: boolean
  readonly why: string | null
  readonly selector: string | null
  readonly by: string | null
  readonly pending: string | null
}

/** A container that holds an identity. */
export interface HoldsEdge extends EdgeBase {
  readonly kind: 'holds'
  /** False: only perhaps. */
  readonly certain: boolean
  /** What a change does to it: `removed` is an identity that the container had. */
  readonly change: MapChange | null
}

/** A binding or a static entry, and the identity that it asks for, whether or not a container gets it. */
export interface AsksEdge extends EdgeBase {
  readonly kind: 'asks'
}

/** A policy, and the identity or the pods that one of its rules names. */
export interface NamesEdge extends EdgeBase {
  readonly kind: 'names'
  readonly rule: string
  readonly how: 'exactly' | 'same path' | 'service account' | 'pattern' | 'mentioned'
}

/** What leads from one box to another. */
export type MapEdge = RegistrationEdge | HoldsEdge | AsksEdge | NamesEdge

/** A whole map. */
export interface MapGraph {
  readonly nodes: readonly MapNode[]
  readonly edges: readonly MapEdge[]
}
