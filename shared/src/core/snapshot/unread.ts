// What could not be read, by what it would have been for: a registration, a binding with all that it names, a pod.
import {
  BINDING,
  CLUSTER_SPIFFE_ID,
  CLUSTER_STATIC_ENTRY,
  FEDERATED_TRUST_DOMAIN,
  POOL_IMPORT,
  OBJECTIVE_KINDS,
  POOL_KINDS,
  qualifiedKind,
} from '../model/kinds.ts'
import { KINDS_WITH_PODS } from '../model/objects/workload.ts'
import type { UnknownReason } from '../model/unknown-reason.ts'
import { doubtAt, type Doubt, type Doubts } from './doubt.ts'
import { firstGap, type Snapshot } from './snapshot.ts'

/** How much of the cluster and of the files a snapshot shows. */
export type SnapshotReading = Pick<Snapshot, 'gaps' | 'doubts' | 'namespacesRead'>

const CLUSTER_SPIFFE_IDS = qualifiedKind(CLUSTER_SPIFFE_ID)
const REGISTRATION_KINDS: readonly string[] = [CLUSTER_SPIFFE_IDS, qualifiedKind(CLUSTER_STATIC_ENTRY)]
/** A binding, and what it is resolved with. */
const BINDING_KINDS: readonly string[] = [
  qualifiedKind(BINDING),
  ...POOL_KINDS.map(qualifiedKind),
  ...OBJECTIVE_KINDS.map(qualifiedKind),
]
/** What pods come from. */
const SUBJECT_KINDS: readonly string[] = [...KINDS_WITH_PODS]

/**
 * The kinds that files leave out, as a rule: without a Namespace its labels are open, without a Node the UID and the labels of the node, and
 * without a FederatedTrustDomain what SCM federates with, without an InferencePoolImport whose pools a cluster routes to. Whatever rests on them says so itself, so that they leave nothing else open.
 */
const DETAILS: ReadonlySet<string> = new Set([
  'Namespace',
  'Node',
  qualifiedKind(FEDERATED_TRUST_DOMAIN),
  qualifiedKind(POOL_IMPORT),
])

/** The reads that failed, and may hide anything; in the order of their kinds. */
export function gapsOf({ gaps }: Pick<Snapshot, 'gaps'>): readonly UnknownReason[] {
  return [...gaps].flatMap(([kind, why]) => (DETAILS.has(kind) ? [] : [why]))
}

/** Why there may be a registration that was not read; it may be for any pod. */
export function registrationGap(reading: SnapshotReading): UnknownReason | undefined {
  return firstGap(reading, REGISTRATION_KINDS)
}

/** Why there may be a binding in a namespace that was not read, or that cannot be resolved because of what was not. */
export function bindingGap(reading: SnapshotReading, namespace: string): UnknownReason | undefined {
  return firstGap(reading, BINDING_KINDS, namespace)
}

/** The same of any namespace. */
export function anyBindingGap(reading: SnapshotReading): UnknownReason | undefined {
  return firstGap(reading, BINDING_KINDS)
}

/** Why a pod of a namespace may get an identity from something that was not read. */
export function identityGap(reading: SnapshotReading, namespace: string): UnknownReason | undefined {
  return registrationGap(reading) ?? bindingGap(reading, namespace)
}

/**
 * Why there may be a ClusterSPIFFEID for the pods of a namespace in what could not be read of the files: one that stands
 * there, or what kleym renders for a binding of the namespace.
 */
export function displacementGap(
  { gaps, doubts }: SnapshotReading,
  namespace: string,
): UnknownReason | undefined {
  const registration = doubtAt(doubts, [CLUSTER_SPIFFE_IDS])
  return (registration ?? doubtAt(doubts, BINDING_KINDS, { namespace }))?.why ?? gaps.get('*')
}

/** Why there may be more pods than were read, or other ones; in any namespace, or in one. */
export function subjectGap({ gaps, doubts }: SnapshotReading, namespace?: string): UnknownReason | undefined {
  return gaps.get('Pod') ?? subjectDoubt(doubts, namespace)?.why ?? gaps.get('*')
}

/** The first doubt about the pods of a namespace, or of any. */
export function subjectDoubt(doubts: Doubts, namespace?: string): Doubt | undefined {
  return doubtAt(doubts, SUBJECT_KINDS, { namespace })
}
