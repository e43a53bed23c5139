// Everything there is to say about one binding: verdict, derivation, proof, collisions, output, reach. The text view, the
// JSON and the findings of `explain` all come from this.
import { inForceOf, type Binding } from '../../model/objects/binding.ts'
import type { Condition } from '../../model/objects/binding-status.ts'
import type { NamespacedName } from '../../model/namespaced-name.ts'
import type { Analysis } from '../../analysis/index.ts'
import {
  claimsContainerOf,
  declaredClaim,
  type Relation,
  type Identity,
  type SelectorOrigin,
  type Action,
  type Judgement,
  verdictOf,
  type StatusVerdict,
} from '../../decide/index.ts'
import { labelsText } from '../../findings/index.ts'
import type { PoolLabels } from '../../model/objects/pool-selector.ts'
import type { UnknownReason } from '../../model/unknown-reason.ts'
import type { Pod } from '../../model/objects/pod.ts'
import type { Steps } from '../../base/steps.ts'
import { reachesOf, type Reach } from './reach.ts'
import { stepsOf, type DerivationStep } from './steps.ts'

/** A declared peer of a colliding binding. */
export interface PeerExplanation {
  readonly binding: string
  readonly relation: Relation
  readonly spiffeId: string
  /** Which label set contains which. */
  readonly proof: string
  /** A pod that both select, preferring one that runs the container. */
  readonly witness: Pod | undefined
}

/** The output of a ready binding, and what kleym must still do to it. */
export interface OutputExplanation {
  readonly name: string
  readonly state: 'up to date' | 'to be created' | 'to be updated'
  /** The paths that differ, for an update. */
  readonly drift: readonly string[]
}

/** What `explain` says of one binding by itself. */
export interface Derivation {
  readonly key: NamespacedName
  readonly judgement: Judgement
  readonly verdict: StatusVerdict
  /** The verdict once everything has settled, where it differs. */
  readonly afterwards: StatusVerdict | undefined
  readonly steps: readonly DerivationStep[]
  readonly identity: Identity | undefined
  readonly selectors: readonly SelectorOrigin[]
  readonly peers: readonly PeerExplanation[]
  readonly output: OutputExplanation | undefined
  /** ClusterSPIFFEIDs that will be deleted on behalf of the binding. */
  readonly withdrawn: readonly { readonly name: string; readonly because: string }[]
  /** What the status says of `InForce`; undefined where it says nothing. */
  readonly inForce: Pick<Condition, 'status' | 'reason' | 'message'> | undefined
  /** Why there may be more pods in its namespace than were read; undefined where all pods are known. */
  readonly podsUnknown: UnknownReason | undefined
}

/** What `explain` says of one binding. */
export interface Explanation extends Derivation {
  /** Which pods it reaches; undefined if it has no output. */
  readonly reach: Reach | undefined
}

/**
 * Explains bindings, in steps; those that are not in the snapshot are left out. `naming` is called with how many pods and identities
 * are about to be named, and may throw.
 */
export function* explaining(
  analysis: Analysis,
  bindings: readonly Binding[],
  naming?: (count: number) => void,
): Steps<readonly Explanation[]> {
  const prediction = analysis.settled.prediction()
  const outputs = analysis.settled.bindingsByOutput()
  const derived: Derivation[] = []
  for (const binding of bindings) {
    yield
    const one = derivationOf(analysis, binding)
    if (one !== undefined) derived.push(one)
  }
  const reaches = new Map<string, ReadonlyMap<string, Reach>>()
  for (const [namespace, ofNamespace] of Map.groupBy(derived, namespaceOf)) {
    const names = new Set(ofNamespace.flatMap(({ output }) => output?.name ?? []))
    reaches.set(namespace, yield* reachesOf(prediction, namespace, names, { outputs }, naming))
  }
  return derived.map((one) => ({
    ...one,
    reach: one.output === undefined ? undefined : reaches.get(namespaceOf(one))?.get(one.output.name),
  }))
}

function namespaceOf({ judgement }: Derivation): string {
  return judgement.compiled.binding.meta.namespace
}

/** Explains one binding without the pods that it reaches; undefined for one that is not in the snapshot. */
export function derivationOf(analysis: Analysis, binding: Binding): Derivation | undefined {
  const { key } = binding
  const judgement = analysis.now.judgements.get(key)
  if (judgement === undefined) return undefined
  const settled = analysis.settled.judgements.get(key) ?? judgement
  const verdict = verdictOf(judgement)
  const later = verdictOf(settled)
  const resolved =
    settled.state === 'ready' || settled.state === 'waiting' ? settled.resolved : resolvedOf(judgement)
  const output = settled.state === 'ready' ? settled.resolved.output.metadata.name : undefined
  const changes = analysis.changes.of(key)
  return {
    key,
    judgement,
    verdict,
    afterwards: later.reason === verdict.reason ? undefined : later,
    steps: stepsOf(judgement),
    identity: resolved?.identity,
    selectors: resolved?.identity.selectors ?? [],
    peers: peersOf(analysis, judgement),
    output: output === undefined ? undefined : outputOf(output, changes),
    withdrawn: changes.flatMap((change) =>
      change.kind === 'delete' ? [{ name: change.live.object.meta.name, because: change.because }] : [],
    ),
    inForce: inForceOf(binding),
    podsUnknown: analysis.snapshot.rest.pods(binding.meta.namespace),
  }
}

function resolvedOf(judgement: Judgement): { readonly identity: Identity } | undefined {
  const { result } = judgement.compiled
  return result.kind === 'resolved' ? result : undefined
}

function outputOf(name: string, changes: readonly Action[]): OutputExplanation {
  const change = changes.find((one) => one.kind !== 'delete' && one.output.metadata.name === name)
  if (change?.kind === 'create') return { name, state: 'to be created', drift: [] }
  if (change?.kind === 'update') return { name, state: 'to be updated', drift: change.drift }
  return { name, state: 'up to date', drift: [] }
}

function peersOf(analysis: Analysis, judgement: Judgement): readonly PeerExplanation[] {
  if (judgement.state !== 'refused' || judgement.collision === undefined) return []
  const own = declaredClaim(judgement.compiled)
  if (own === undefined) return []
  return judgement.collision.all().map(({ claim, relation }) => {
    const common = relation === 'Contains' ? claim.labels : own.labels
    const candidates = analysis.pods().withLabels(own.namespace, common)
    const runs = candidates.find((pod) => claimsContainerOf(own, pod))
    return {
      binding: claim.owner,
      relation,
      spiffeId: claim.spiffeId,
      proof: proofText(relation, own.labels, claim.labels),
      witness: runs ?? candidates[0],
    }
  })
}

function proofText(relation: Relation, own: PoolLabels, peer: PoolLabels): string {
  switch (relation) {
    case 'SamePods':
      return `both select ${labelsText(own)}`
    case 'Contains':
      return `every pod of ${labelsText(peer)} is also a pod of ${labelsText(own)}`
    case 'ContainedBy':
      return `every pod of ${labelsText(own)} is also a pod of ${labelsText(peer)}`
  }
}
