// From compiled bindings and live outputs to a judgement per binding and the writes that follow (docs/contract.md §6
// and §8). One pass decides from what is there now; `settle.ts` repeats it until nothing is left to do.
import type { NamespacedName } from '../../model/namespaced-name.ts'
import type { Compiled, Resolved } from '../compile/compile.ts'
import type { Identity } from '../compile/identity.ts'
import { isOutputName, type Output } from '../compile/output.ts'
import { declaredClaim, liveClaims, type Claim } from '../collide/claim.ts'
import { indexClaims, type ClaimIndex } from '../collide/claim-index.ts'
import { collisionMessage, collisionOf, waitsOf, type Collision, type Peer } from '../collide/conflict.ts'
import type { UnknownReason } from '../../model/unknown-reason.ts'
import { ANNOTATION_BINDING, CLUSTER_SPIFFE_ID_KIND } from '../../model/names.ts'
import type { ClusterSpiffeId } from '../../model/objects/clusterspiffeid.ts'
import type { PoolLabels } from '../../model/objects/pool-selector.ts'
import type { CheckName } from '../compile/checks.ts'
import type { RefusalReason } from '../reasons/reasons.ts'
import type { Steps } from '../../base/steps.ts'
import { alteredFields, isAsProven, isWidened } from './altered-fields.ts'
import { driftOf } from './drift.ts'
import type { Ownership } from './ownership.ts'

/** A ClusterSPIFFEID that is there, and whose it is. */
export interface LiveOutput {
  readonly object: ClusterSpiffeId
  readonly ownership: Ownership
}

/** What a binding comes to among the others. */
export type Judgement =
  | { readonly state: 'ready'; readonly compiled: Compiled; readonly resolved: Resolved }
  | {
      readonly state: 'refused'
      readonly compiled: Compiled
      readonly check: CheckName
      readonly reason: RefusalReason
      readonly message: string
      /** Set when the reason is IdentityCollision. */
      readonly collision: Collision | undefined
    }
  | {
      readonly state: 'undetermined'
      readonly compiled: Compiled
      readonly check: CheckName
      readonly why: UnknownReason
      /** Its namespace has as many outputs as it may: this many. In the operator only. */
      readonly full?: number
    }
  | {
      readonly state: 'waiting'
      readonly compiled: Compiled
      readonly resolved: Resolved
      /** What is waited for, as sentences in a total order. */
      readonly waitsFor: readonly string[]
      readonly peers: readonly Peer[]
    }
  | { readonly state: 'deleting'; readonly compiled: Compiled }

/** One write to a ClusterSPIFFEID, on behalf of a binding. */
export type Action =
  | { readonly kind: 'create'; readonly binding: NamespacedName; readonly output: Output }
  | {
      readonly kind: 'update'
      readonly binding: NamespacedName
      readonly live: LiveOutput
      readonly output: Output
      /** The paths that differ. */
      readonly drift: readonly string[]
    }
  | { readonly kind: 'delete'; readonly binding: string; readonly live: LiveOutput; readonly because: string }

/** What one pass decides. */
export interface Pass {
  readonly judgements: ReadonlyMap<string, Judgement>
  readonly actions: readonly Action[]
  readonly claims: ClaimIndex
}

/** Whether all ClusterSPIFFEIDs are known; else that they are not served, or why they are not known. */
export type OutputsKnown = 'known' | 'not served' | UnknownReason

/**
 * Why a binding that would be ready cannot be decided: what could not be read may collide with it, or hold its output's
 * name. Undefined: nothing of the kind.
 */
export type OpenOf = (compiled: Compiled) => OpenDecision | undefined

/** A check that cannot be decided. */
export interface OpenDecision {
  readonly check: CheckName
  readonly why: UnknownReason
}

const NOTHING_OPEN: OpenOf = () => undefined

/** One pass, some steps for each binding and output. Where not all live outputs are known, no binding is ready, and there is nothing to write. */
export function* planning(
  compiled: readonly Compiled[],
  outputs: readonly LiveOutput[],
  known: OutputsKnown,
  openOf: OpenOf = NOTHING_OPEN,
): Steps<Pass> {
  const declared = declaredClaims(compiled)
  const live: Claim[] = []
  for (const output of outputs) {
    yield
    live.push(...claimsOfOutput(output))
  }
  const claims = indexClaims([...declared.values(), ...live])
  const byName = new Map(outputs.map((output) => [output.object.meta.name, output]))
  const byOwner = Map.groupBy(
    outputs.filter(({ ownership }) => ownership.kind === 'ours'),
    ({ ownership }) => (ownership.kind === 'ours' ? ownership.binding : ''),
  )
  const judgements = new Map<string, Judgement>()
  const actions: Action[] = []
  for (const one of compiled) {
    yield
    const own = byOwner.get(one.binding.key) ?? []
    const candidate = { compiled: one, claim: declared.get(one), own }
    const decided = decide(candidate, (name) => byName.get(name), claims)
    const open = isPositive(decided.judgement) ? openOf(one) : undefined
    if (open !== undefined) judgements.set(one.binding.key, { state: 'undetermined', compiled: one, ...open })
    else {
      judgements.set(one.binding.key, asFarAs(known, decided.judgement))
      actions.push(...decided.actions)
    }
  }
  for (const output of outputs) {
    if (output.ownership.kind !== 'orphan' || isTerminating(output)) continue
    const { binding, why } = output.ownership
    actions.push({ kind: 'delete', binding, live: output, because: why })
  }
  return { judgements, actions: known === 'known' ? actions : [], claims }
}

function asFarAs(known: OutputsKnown, judgement: Judgement): Judgement {
  if (known === 'known') return judgement
  if (known === 'not served') return withoutOutputs(judgement)
  if (!isPositive(judgement)) return judgement
  return { state: 'undetermined', compiled: judgement.compiled, check: 'output', why: known }
}

function isPositive({ state }: Judgement): boolean {
  return state === 'ready' || state === 'waiting'
}

/** Where ClusterSPIFFEIDs are not served, nothing can be in force, and nothing is left to withdraw. */
export function withoutOutputs(judgement: Judgement): Judgement {
  if (judgement.state !== 'ready' && judgement.state !== 'waiting') return judgement
  const message = `the API server does not serve ${CLUSTER_SPIFFE_ID_KIND}`
  return refuseOutput(judgement.compiled, [], 'ClusterSPIFFEIDCRDMissing', message).judgement
}

/**
 * What outputs of ours, orphans and outputs of unknown ownership keep in force. So does a foreign one whose name has the
 * shape of kleym's: it may be an output of ours whose annotations a webhook or a hand has taken away (docs/contract.md §6).
 */
export function claimsOfOutput({
  object,
  ownership,
}: {
  readonly object: Pick<ClusterSpiffeId, 'meta' | 'spec'>
  readonly ownership: Ownership
}): readonly Claim[] {
  if (ownership.kind === 'foreign' && !isOutputName(object.meta.name)) return []
  const owner = ownership.kind === 'ours' ? ownership.binding : ''
  // One that names a binding was an output of ours, whatever has become of the binding.
  const isForeign = ownership.kind === 'foreign' && !object.meta.annotations.has(ANNOTATION_BINDING)
  return liveClaims(object, owner, isForeign)
}

function declaredClaims(compiled: Iterable<Compiled>): ReadonlyMap<Compiled, Claim> {
  const claims = new Map<Compiled, Claim>()
  for (const one of compiled) {
    const claim = declaredClaim(one)
    if (claim !== undefined) claims.set(one, claim)
  }
  return claims
}

/** A binding, what it declares, and the outputs that are there for it. */
export interface PlanCandidate {
  readonly compiled: Compiled
  /** What it declares: the very object that the index holds. */
  readonly claim: Claim | undefined
  /** The live outputs that are its own, terminating ones included. */
  readonly own: readonly LiveOutput[]
  /** Those that another install of kleym has made for it. */
  readonly ofOthers?: readonly LiveOutput[]
}

/** What is decided of one binding. */
export interface Decision {
  readonly judgement: Judgement
  /** In the order in which they are to be carried out. */
  readonly actions: readonly Action[]
}

/** Decides one binding among the others: its verdict, and what must be written for it now. */
export function decide(
  { compiled, claim, own, ofOthers = [] }: PlanCandidate,
  holderOf: (name: string) => LiveOutput | undefined,
  claims: ClaimIndex,
): Decision {
  const { binding, result } = compiled
  if (binding.meta.deletedAt !== undefined) {
    return decision(
      { state: 'deleting', compiled },
      withdraw(own, binding.key, 'its binding is being deleted'),
    )
  }
  if (result.kind === 'undetermined') {
    return decision({ state: 'undetermined', compiled, check: result.check, why: result.why })
  }
  if (result.kind === 'refused') {
    const { check, reason, message } = result
    return refuse(compiled, own, { check, reason, message, collision: undefined })
  }
  const collision = claim === undefined ? undefined : collisionOf(claims, claim)
  if (collision !== undefined) {
    const message = collisionMessage(collision)
    return refuse(compiled, own, { check: 'collision', reason: 'IdentityCollision', message, collision })
  }
  if (ofOthers.length > 0) return wait(compiled, result, own, ofOthers.map(installText), [], claim)
  const { name } = result.output.metadata
  const holder = holderOf(name)
  const peers = claim === undefined ? [] : waitsOf(claims, claim).filter(isInTheWay(holder))
  if (peers.length > 0) {
    const texts = peers.map((peer) => waitText(peer, holderOf))
    return wait(compiled, result, own, [...new Set(texts)], peers, claim)
  }
  return place(compiled, result, own, holder)
}

/** What is foreign and holds the binding's own name refuses the binding, rather than letting it wait: `place` says so. */
function isInTheWay(holder: LiveOutput | undefined): (peer: Peer) => boolean {
  if (holder?.ownership.kind !== 'foreign') return () => true
  return ({ claim }) => claim.output !== holder.object.meta.name
}

/** The output stage: no other claim is in the way, so what holds the name decides. */
function place(
  compiled: Compiled,
  resolved: Resolved,
  own: readonly LiveOutput[],
  holder: LiveOutput | undefined,
): Decision {
  const { key } = compiled.binding
  const { output } = resolved
  const stale = own.filter((live) => live !== holder)
  const ready: Judgement = { state: 'ready', compiled, resolved }
  const retire = withdraw(stale, key, OTHER_ID)
  if (holder === undefined) return decision(ready, [{ kind: 'create', binding: key, output }, ...retire])
  if (holder.ownership.kind === 'unknown') {
    return decision({ state: 'undetermined', compiled, check: 'output', why: holder.ownership.why })
  }
  if (holder.ownership.kind === 'orphan') {
    return wait(
      compiled,
      resolved,
      own,
      [`ClusterSPIFFEID ${output.metadata.name}, an orphan that holds the name`],
      [],
    )
  }
  if (holder.ownership.kind === 'foreign' || holder.ownership.binding !== key) {
    const why =
      holder.ownership.kind === 'foreign' ? holder.ownership.why : `it belongs to ${holder.ownership.binding}`
    const message = `ClusterSPIFFEID ${output.metadata.name} exists and is not kleym's: ${why}; delete it if no workload needs it`
    return refuseOutput(compiled, own, 'OutputNotOwned', message)
  }
  if (isTerminating(holder)) {
    return wait(
      compiled,
      resolved,
      own,
      [`ClusterSPIFFEID ${output.metadata.name}, which is being deleted`],
      [],
    )
  }
  const drift = driftOf(holder.object, output)
  if (drift.length === 0) return decision(ready, retire)
  return decision(ready, [{ kind: 'update', binding: key, live: holder, output, drift }, ...retire])
}

/** The refusal of an output that a binding was to have, for a reason that only writing it has shown. */
export function refuseOutput(
  compiled: Compiled,
  own: readonly LiveOutput[],
  reason: RefusalReason,
  message: string,
): Decision {
  return refuse(compiled, own, { check: 'output', reason, message, collision: undefined })
}

/**
 * What follows from a write that the API server refuses. An output that is live as it is proven now stays, and what else the
 * update was to change is not known to be right; anything else is withdrawn (docs/contract.md §8).
 */
export function refuseWrite(
  compiled: Compiled,
  own: readonly LiveOutput[],
  action: Exclude<Action, { kind: 'delete' }>,
  message: string,
): Decision {
  if (action.kind === 'create' || !isAsProven(action.live.object, action.output)) {
    return refuseOutput(compiled, own, 'ManagedOutputApplyFailed', message)
  }
  const { name } = action.output.metadata
  const what = `${action.drift.join(', ')} of ${CLUSTER_SPIFFE_ID_KIND} ${name}`
  const others = own.filter(({ object }) => object.meta.name !== name)
  return decision(
    { state: 'undetermined', compiled, check: 'output', why: { verb: 'update', what, cause: 'refused' } },
    withdraw(others, compiled.binding.key, OTHER_ID),
  )
}

/** Fields of an output that the CRD of ClusterSPIFFEIDs drops, and whether an output without them reaches no more pods. */
export interface Pruned {
  readonly fields: readonly string[]
  readonly isSafe: boolean
}

/**
 * What follows if the API server drops fields of an output. Nothing is written. An output that is live as it is proven, but for
 * fields without which it is not wider, stays; anything else is withdrawn (docs/contract.md §8).
 */
export function refusePruned(
  { compiled, resolved }: Extract<Judgement, { state: 'ready' | 'waiting' }>,
  own: readonly LiveOutput[],
  { fields, isSafe }: Pruned,
): Decision {
  const { output } = resolved
  const { name } = output.metadata
  const what = fields.join(', ')
  const holder = own.find(({ object }) => object.meta.name === name)
  const stays = isSafe && (holder === undefined || !hasOtherAlteration(holder.object, output, fields))
  if (!stays) {
    const message = `the CRD of ${CLUSTER_SPIFFE_ID_KIND} has no ${what}, so the API server drops it, and without it the output is not what was proven; install the CRD of a SPIRE controller manager that has it`
    return refuseOutput(compiled, own, 'ManagedOutputApplyFailed', message)
  }
  const why = {
    verb: holder === undefined ? 'create' : 'update',
    what: `${what} of ${CLUSTER_SPIFFE_ID_KIND} ${name}`,
    cause: 'not in its CRD',
  } as const
  const others = own.filter((live) => live !== holder)
  return decision(
    { state: 'undetermined', compiled, check: 'output', why },
    withdraw(others, compiled.binding.key, OTHER_ID),
  )
}

function hasOtherAlteration(live: ClusterSpiffeId, wanted: Output, fields: readonly string[]): boolean {
  return alteredFields(live, wanted).some((field) => !fields.includes(field))
}

/** Why an output of another name goes. */
const OTHER_ID = 'its binding now has another SPIFFE ID'

function decision(judgement: Judgement, actions: readonly Action[] = []): Decision {
  return { judgement, actions }
}

function refuse(
  compiled: Compiled,
  own: readonly LiveOutput[],
  why: Pick<Extract<Judgement, { state: 'refused' }>, 'check' | 'reason' | 'message' | 'collision'>,
): Decision {
  const because = `its binding is refused (${why.reason})`
  return decision({ state: 'refused', compiled, ...why }, withdraw(own, compiled.binding.key, because))
}

/** Waiting keeps an output that still says what the binding declares, and withdraws one that does not. */
function wait(
  compiled: Compiled,
  resolved: Resolved,
  own: readonly LiveOutput[],
  waitsFor: readonly string[],
  peers: readonly Peer[],
  claim: Claim | undefined = declaredClaim(compiled),
): Decision {
  const outdated = own.filter((live) => !saysWhatIsDeclared(live, resolved, claim))
  const because = 'it no longer says what its waiting binding declares'
  return decision(
    { state: 'waiting', compiled, resolved, waitsFor, peers },
    withdraw(outdated, compiled.binding.key, because),
  )
}

function saysWhatIsDeclared(live: LiveOutput, resolved: Resolved, claim: Claim | undefined): boolean {
  const { meta, spec } = live.object
  if (spec.spiffeIDTemplate !== resolved.identity.spiffeId || isWidened(live.object, resolved.output))
    return false
  const kept = liveClaims({ meta, spec }, '')
  if (claim === undefined) return kept.length === 0
  const [only, ...rest] = kept
  return (
    only !== undefined &&
    rest.length === 0 &&
    only.namespace === claim.namespace &&
    only.serviceAccountName === claim.serviceAccountName &&
    only.containerName === claim.containerName &&
    saysLabels(only.labels, resolved.identity)
  )
}

/**
 * Whether live labels are those of an identity. The variant's may stand under another key: while the operator's
 * `--variant-label-key` changes, outputs are rewritten one after another, and a waiting binding keeps its own until then.
 */
function saysLabels(labels: PoolLabels, { poolLabels, variant }: Identity): boolean {
  const further = [...labels].filter(([key]) => !poolLabels.has(key))
  const holdsPool = [...poolLabels].every(([key, value]) => labels.get(key) === value)
  if (!holdsPool || further.length > 1) return false
  const [, value] = further[0] ?? []
  return variant === undefined
    ? value === undefined
    : (value ?? poolLabels.get(variant.key)) === variant.value
}

function withdraw(outputs: readonly LiveOutput[], binding: string, because: string): readonly Action[] {
  return outputs
    .filter((live) => !isTerminating(live))
    .map((live) => ({ kind: 'delete' as const, binding, live, because }))
}

function isTerminating({ object }: LiveOutput): boolean {
  return object.meta.deletedAt !== undefined
}

function installText({ object, ownership }: LiveOutput): string {
  const install = ownership.kind === 'foreign' ? ownership.install : undefined
  return `ClusterSPIFFEID ${object.meta.name}, which the install ${install} of kleym has made: uninstall that, or start this one with --take-over=${install}`
}

function waitText({ claim }: Peer, holderOf: (name: string) => LiveOutput | undefined): string {
  if (claim.basis === 'tentative') return `binding ${claim.owner}, whose own checks cannot be decided`
  const { output = '', owner, containerName } = claim
  const what = containerName === undefined ? 'pods' : 'container'
  if (holderOf(output)?.ownership.kind === 'foreign')
    return `ClusterSPIFFEID ${output}, which claims the same ${what} and has a name of kleym's, but is not kleym's: delete it if no workload needs it`
  const whose = owner === '' ? 'an orphan' : `of binding ${owner}`
  return `ClusterSPIFFEID ${output}, ${whose}, which claims the same ${what}`
}
