// A binding that does not exist yet: what it would name, its manifest, and the snapshot in which it exists.
import { apiVersionOf, BINDING } from '../../model/kinds.ts'
import type { JsonRecord } from '../../base/json.ts'
import { BINDING_KIND } from '../../model/names.ts'
import { namespacedName, type NamespacedName } from '../../model/namespaced-name.ts'
import { withBindings, withRegistrations, type Snapshot } from '../../snapshot/index.ts'
import { registrationManifest, type Companion, type NamedCompanion } from './companion.ts'

/** What an identity is given to, by the names that its binding would hold. */
export type CandidateBoundary =
  | { readonly mode: 'PoolOnly' }
  | { readonly mode: 'PerVariant'; readonly variant: string }
  | { readonly mode: 'PerObjective'; readonly objective: string; readonly container: string }

/** A binding that could be applied. */
export interface Candidate {
  readonly namespace: string
  readonly name: string
  /** The name of the pool. */
  readonly pool: string
  readonly boundary: CandidateBoundary
  readonly serviceAccountName: string
  /** Registrations to be applied before it; absent: none. */
  readonly companions?: readonly NamedCompanion[]
  /** The bindings that it replaces; absent: none. One of them may have its name: that one is edited, the others are deleted. */
  readonly replaces?: readonly NamespacedName[]
  /** The binding is there and stays as it is: its companions alone are applied. */
  readonly isThere?: boolean
}

/** A candidate without its names. */
export interface UnnamedCandidate extends Omit<Candidate, 'name' | 'companions'> {
  /** What a name is made of, or the name of a binding that is there. */
  readonly nameParts: readonly string[] | string
  readonly companions?: readonly Companion[]
}

/** The key of the binding that a candidate would be. */
export function candidateKey({ namespace, name }: Pick<Candidate, 'namespace' | 'name'>): NamespacedName {
  return namespacedName(namespace, name)
}

/** `PoolOnly`, `PerVariant decode`, `PerObjective chat for container vllm`. */
export function boundaryText(boundary: CandidateBoundary): string {
  switch (boundary.mode) {
    case 'PoolOnly':
      return boundary.mode
    case 'PerVariant':
      return `${boundary.mode} ${boundary.variant}`
    case 'PerObjective':
      return `${boundary.mode} ${boundary.objective} for container ${boundary.container}`
  }
}

/** The manifest, its fields in the order in which the contract lists them (docs/contract.md §2). */
export function candidateManifest({ namespace, name, pool, boundary, serviceAccountName }: Candidate) {
  return {
    apiVersion: apiVersionOf(BINDING),
    kind: BINDING_KIND,
    metadata: { name, namespace },
    spec: {
      mode: boundary.mode,
      poolRef: { name: pool },
      ...(boundary.mode === 'PerObjective' && { objectiveRef: { name: boundary.objective } }),
      serviceAccountName,
      ...(boundary.mode === 'PerObjective' && { containerName: boundary.container }),
      ...(boundary.mode === 'PerVariant' && { identityBoundary: { variant: boundary.variant } }),
    },
  }
}

/** Everything that is applied for candidates, in the order in which to apply it; what several need, once. */
export function manifestsFor(candidates: readonly Candidate[]): readonly JsonRecord[] {
  const named = new Set<string>()
  return candidates.flatMap((candidate) => {
    const companions = (candidate.companions ?? []).filter(({ name }) => !named.has(name))
    for (const { name } of companions) named.add(name)
    const registrations = companions.map(registrationManifest)
    return candidate.isThere === true ? registrations : [...registrations, candidateManifest(candidate)]
  })
}

/** The registrations that are applied before a candidate. */
export function manifestsBefore({ companions = [] }: Candidate): readonly JsonRecord[] {
  return companions.map(registrationManifest)
}

/** The same snapshot with these bindings and their companions applied. Their keys must be free, but for those that they replace. */
export function withCandidates(snapshot: Snapshot, candidates: readonly Candidate[]): Snapshot {
  const there = new Set(snapshot.clusterSpiffeIds.read.map(({ meta }) => meta.name))
  const companions = new Map(
    candidates.flatMap((one) => (one.companions ?? []).map((each) => [each.name, each] as const)),
  )
  return withRegistrations(
    withBindings(
      snapshot,
      new Set(candidates.flatMap(({ replaces = [] }) => replaces)),
      candidates.flatMap((one) => (one.isThere === true ? [] : [candidateManifest(one)])),
    ),
    [...companions.values()].filter(({ name }) => !there.has(name)).map(registrationManifest),
  )
}
