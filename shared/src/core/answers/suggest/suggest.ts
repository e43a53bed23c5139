// Which bindings there could be for the pools of a snapshot: proven ones, and why there is none where there is none.
// The page for its readers is docs/suggest.md.
import { groupsBy, type Group } from '../../base/groups.ts'
import { present } from '../../base/present.ts'
import { namespacesByName, madeBy } from '../../snapshot/index.ts'
import {
  type Analysis,
  type Assumption,
  assumptionsThatCount,
  dependsText,
  probablyText,
} from '../../analysis/index.ts'
import { reachesOf, type Reach } from '../explain/reach.ts'
import { effectByHolder, verdictText, type Effect, type HolderEffect } from '../explain/effect.ts'
import type { Subject } from '../../model/objects/subject.ts'
import { BINDING, qualifiedKind } from '../../model/kinds.ts'
import { getOrCreate } from '../../base/get-or-create.ts'
import { own } from '../../base/json.ts'
import type { Binding } from '../../model/objects/binding.ts'
import { namespacedName, type NamespacedName } from '../../model/namespaced-name.ts'
import type { Objective, Pool } from '../../model/objects/inference.ts'
import { holderKey, PodCount, podText, type Holder } from '../../model/objects/pod-index.ts'
import type { Pod } from '../../model/objects/pod.ts'
import { REASONS } from '../../decide/index.ts'
import { driveAtOnce, type Steps } from '../../base/steps.ts'
import { distinct, compareKeys } from '../../base/text/bytes.ts'
import { summaryText } from '../../base/text/counted.ts'
import { unknownReasonText, type UnknownReason } from '../../model/unknown-reason.ts'
import { boundaryText, candidateKey, type Candidate } from './candidate.ts'
import { companionsOf, type CompanionContext } from './companion.ts'
import { lostBy } from './losses.ts'
import { needsOf, poolSubject, type Need, type PoolContext } from './plans.ts'
import { PodsOfPools, type PoolPods } from './pool-pods.ts'
import { ProxyHarms } from './proxy-harms.ts'
import { provingInstead } from './instead.ts'
import type { NotSuggested } from './not-suggested.ts'
import { proving, type Proof, type ProofTools, type ProvenNeed } from './prove.ts'

/** What a question about suggestions is limited to. */
export interface SuggestQuestion {
  readonly isPool: (pool: Pool) => boolean
  /** Undefined: the question names no objective. */
  readonly isObjective: ((objective: Objective) => boolean) | undefined
  /** Undefined: the question names no pod. */
  readonly isPod: ((pod: Pod) => boolean) | undefined
  /** The containers of a pod that are to get an identity; undefined: those that a binding can best be proven for. */
  readonly held?: (pod: Pod) => ReadonlySet<string>
}

/** A binding that is proven Ready, with what it would do. */
export interface SuggestedBinding {
  readonly candidate: Candidate
  readonly key: NamespacedName
  readonly spiffeId: string
  /** Why this one, a sentence each. */
  readonly why: readonly string[]
  /** What the pods gain, lose and also hold. If that depends on settings that were not given, they may gain it. */
  readonly reach: Reach
  /** The containers among them that have the identity without it, or may: they gain nothing, or perhaps nothing. */
  readonly heldBefore: readonly HeldBefore[]
  /** `depends on SCM's settings`; undefined where it rests on no assumption. */
  readonly dependsOn: string | undefined
}

/** Containers of a pod that have an identity already, for certain or perhaps. */
export interface HeldBefore {
  readonly pod: Pod
  readonly containers: readonly string[]
  readonly isCertain: boolean
}

/** Registrations for proxies beside a binding that is there, proven to keep the identity of their mesh. */
export interface SuggestedRegistrations {
  /** The binding, and its companions. */
  readonly candidate: Candidate
  readonly key: NamespacedName
  /** Why, a sentence each. */
  readonly why: readonly string[]
  /** `depends on SCM's settings`; undefined where it rests on no assumption. */
  readonly dependsOn: string | undefined
}

/** A binding that a pool has. */
export interface ExistingBinding {
  readonly key: NamespacedName
  /** `ready`, `refused (IdentityCollision)`. */
  readonly verdict: string
  /** What to do about a binding that is refused. */
  readonly fix: string | undefined
}

/** What there is to say of one pool. */
export interface PoolSuggestions {
  readonly pool: Subject
  /** The pods and pod templates that it certainly selects. */
  readonly pods: PodCount
  readonly existing: readonly ExistingBinding[]
  readonly suggested: readonly SuggestedBinding[]
  /** What is applied beside bindings that are there. */
  readonly registrations: readonly SuggestedRegistrations[]
  readonly not: readonly NotSuggested[]
  /** What cannot be had, and what to look at. */
  readonly remarks: readonly string[]
}

/** The whole answer. */
export interface Suggestions {
  /** In byte order of namespace and name. */
  readonly pools: readonly PoolSuggestions[]
  /** The snapshot with all suggested bindings. */
  readonly world: Analysis
  /** What applying all of them does. */
  readonly effect: Effect
  /** What could not be read, and would settle what is unproven. */
  readonly missing: readonly UnknownReason[]
}

/** Finds suggestions, in steps. */
export function* suggesting(
  analysis: Analysis,
  question: SuggestQuestion,
  tools: ProofTools,
): Steps<Suggestions> {
  const index = indexOf(analysis)
  const proxies = yield* ProxyHarms.of(analysis)
  const companions = companionContext(analysis)
  const drafts: PoolDraft[] = []
  for (const pools of poolsByName(analysis.snapshot.pools.read)) {
    yield
    if (!pools.some(question.isPool)) continue
    const draft = draftOf(analysis, pools, question, { ...index, proxies, companions })
    if (draft !== undefined) drafts.push(draft)
  }
  const proof = yield* proving(
    drafts.flatMap(({ needs }) => needs),
    analysis,
    tools,
  )
  const proven = new Map(proof.needs.map((one) => [one.need, one]))
  const instead = yield* provingInstead(proof, analysis, tools)
  const applied = appliedBy(proof)
  const reasons: UnknownReason[] = []
  const pools = drafts.map((draft) => {
    const needs = draft.needs.flatMap((need) => proven.get(need) ?? [])
    reasons.push(
      ...draft.missing,
      ...needs.flatMap(({ failed }) => failed.flatMap(({ missing }) => missing ?? [])),
    )
    const { not, ...others } = poolSuggestions(draft, needs, analysis, applied)
    return { ...others, not: [...not, ...needs.flatMap(({ need }) => instead.get(need) ?? [])] }
  })
  return { pools, world: proof.world, effect: proof.effect, missing: distinctReasons(reasons) }
}

/** All that is suggested, as it is applied. */
interface Applied extends Proof {
  readonly effectOn: (one: Holder) => HolderEffect
  /** The names of all registrations. */
  readonly together: ReadonlySet<string>
}

function appliedBy(proof: Proof): Applied {
  const together = proof.needs.flatMap(({ bindings }) =>
    bindings.flatMap(({ companions = [] }) => companions.map(({ name }) => name)),
  )
  return { ...proof, effectOn: effectByHolder(proof.effect), together: new Set(together) }
}

function companionContext({ snapshot, settled, config }: Analysis): CompanionContext {
  const namespaces = namespacesByName(snapshot)
  const registrations = new Map(settled.outputs.map(({ object }) => [object.meta.name, object]))
  return {
    prediction: settled.prediction(),
    namespaceOf: (name) => namespaces.get(name),
    registrationOf: (name) => registrations.get(name),
    outputLabels: config.outputLabels,
  }
}

/** What pools are looked up in. */
interface PoolIndex {
  readonly pods: PodsOfPools
  readonly namespaces: ReturnType<typeof namespacesByName>
  /** By the key of the pool that they name; without those that are being deleted. */
  readonly bindings: ReadonlyMap<string, readonly Binding[]>
  /** By the key of each pool of their namespace that they name; without those that are being deleted. */
  readonly objectives: ReadonlyMap<string, readonly Objective[]>
}

function indexOf(analysis: Analysis): PoolIndex {
  const { bindings, objectives } = analysis.snapshot
  const byPool = new Map<string, Objective[]>()
  for (const objective of objectives.read) {
    const { meta, poolRef, poolRefs } = objective
    if (meta.deletedAt !== undefined) continue
    const names = new Set([own(poolRef, 'name'), ...(poolRefs?.entries ?? []).map(({ name }) => name)])
    for (const name of names)
      if (typeof name === 'string')
        getOrCreate(byPool, namespacedName(meta.namespace, name), () => []).push(objective)
  }
  return {
    pods: new PodsOfPools(analysis),
    namespaces: namespacesByName(analysis.snapshot),
    bindings: Map.groupBy(
      bindings.read.filter(({ meta }) => meta.deletedAt === undefined),
      ({ meta, poolRef }) => (poolRef.ok ? namespacedName(meta.namespace, poolRef.value.name) : ''),
    ),
    objectives: byPool,
  }
}

interface PoolDraft {
  readonly context: PoolContext
  readonly needs: readonly Need[]
  readonly not: readonly NotSuggested[]
  readonly remarks: readonly string[]
  readonly missing: readonly UnknownReason[]
}

/** Pools of one name stand for one another: a binding names the pool, and need not name its group. */
function poolsByName(pools: Iterable<Pool>): readonly Group<Pool>[] {
  return groupsBy([...pools], ({ meta }) => namespacedName(meta.namespace, meta.name))
}

const NO_PODS: PoolPods = { certain: [], accounts: [], perhaps: [] }

/** Undefined where a pool has none of the pods that the question names. */
function draftOf(
  analysis: Analysis,
  pools: Group<Pool>,
  question: SuggestQuestion,
  index: PoolIndex & Pick<PoolContext, 'proxies'> & { readonly companions: CompanionContext },
): PoolDraft | undefined {
  const [pool] = pools
  const { snapshot, config } = analysis
  const { namespace, name } = pool.meta
  const pods = pool.selector.ok ? index.pods.of(pool, pool.selector.labels) : NO_PODS
  const isPod = question.isPod ?? (() => true)
  const isNamed = [...pods.certain, ...pods.perhaps].some(isPod)
  if (question.isPod !== undefined && !isNamed) return undefined
  const key = namespacedName(namespace, name)
  const context: PoolContext = {
    pools,
    pods,
    bindings: index.bindings.get(key) ?? [],
    objectives: index.objectives.get(key) ?? [],
    isAsked: question.isObjective,
    isPod,
    held: question.held,
    proxies: index.proxies,
    companions: pool.selector.ok
      ? companionsOf(pool, pool.selector.labels, pods.certain, index.companions)
      : [],
    config,
  }
  const goes = whatGoes(index.namespaces, pool)
  if (goes !== undefined) {
    const not = context.bindings.length > 0 ? [] : [{ ...unproven(goes), state: 'impossible' as const }]
    return { context, needs: [], not, remarks: [], missing: [] }
  }
  const unread = snapshot.rest.of(qualifiedKind(BINDING), { namespace })
  if (unread !== undefined) {
    const why = `a binding that was not read may have the name of a suggested one, or its pods (${unknownReasonText(unread)})`
    return { context, needs: [], not: [unproven(why)], remarks: [], missing: [unread] }
  }
  const needs = needsOf(context)
  const remarks = perhapsRemarks(pods)
  if (needs.length > 0) return { context, needs, not: [], remarks, missing: madeByOthers(pods) }
  if (context.bindings.length > 0) return { context, needs, not: [], remarks, missing: [] }
  return { context, needs, remarks: [], ...nothingSelected(analysis, context) }
}

/** Why no new binding of a pool lasts; undefined where one may. */
function whatGoes(
  namespaces: PoolIndex['namespaces'],
  { meta: { namespace, name, deletedAt } }: Pool,
): string | undefined {
  if (namespaces.get(namespace)?.isTerminating === true)
    return `namespace ${namespace} is being deleted, and the API server takes no new object there`
  return deletedAt === undefined
    ? undefined
    : `InferencePool ${name} is being deleted, and a binding is refused once it is gone`
}

/** Why no service account is known under which the pods of a pool run. */
function nothingSelected(
  { snapshot }: Analysis,
  { pods, pools: [pool] }: PoolContext,
): Pick<PoolDraft, 'not' | 'missing'> {
  const [first] = pods.perhaps
  if (first !== undefined) {
    const whys = madeByOthers(pods)
    const [why] = whys
    const text =
      why === undefined
        ? `${podText(first)} carries labels that are not known yet, so it may be a pod of this pool or not`
        : `labels, service account and containers of its pods are not certain before they run (${unknownReasonText(why)})`
    return { not: [{ ...unproven(text), fix: 'ask again once the pods run' }], missing: whys }
  }
  const gap = snapshot.rest.pods(pool.meta.namespace)
  if (gap !== undefined)
    return {
      not: [unproven(`its pods may be among those that were not read (${unknownReasonText(gap)})`)],
      missing: [gap],
    }
  const labels = pool.selector.ok
    ? [...pool.selector.labels].map(([key, value]) => `${key}=${value}`).join(',')
    : ''
  const lacking = `no pod and no pod template has its labels (${labels}), so nothing says under which service account its pods run, and a binding must name one`
  const byHand = 'or write the binding by hand with the service account that it will have'
  const one = snapshot.arePodsListed
    ? { ...unproven(lacking), state: 'impossible' as const, fix: `deploy the workload first, ${byHand}` }
    : { ...unproven(`its pods are not among the files: ${lacking}`), fix: `give the workload too, ${byHand}` }
  return { missing: [], not: [one] }
}

function unproven(why: string): NotSuggested {
  return { state: 'unproven', mode: undefined, what: '', tried: [], reason: undefined, why, fix: undefined }
}

function perhapsRemarks({ perhaps }: PoolPods): readonly string[] {
  if (perhaps.length === 0) return []
  return [`perhaps it selects ${summaryText(perhaps.map(podText))} too: what these would hold is not known`]
}

/** The objects of kinds that are not read whose pods a pool may select. */
function madeByOthers({ perhaps }: PoolPods): readonly UnknownReason[] {
  return distinctReasons(
    perhaps.flatMap((pod) => (pod.perhaps === undefined ? [] : madeBy(pod.ref, 'the pods'))),
  )
}

function distinctReasons(all: readonly UnknownReason[]): readonly UnknownReason[] {
  const byText = new Map(all.map((why) => [unknownReasonText(why), why]))
  return [...byText].toSorted(compareKeys).map(([, why]) => why)
}

function poolSuggestions(
  { context, not, remarks }: PoolDraft,
  needs: readonly ProvenNeed[],
  analysis: Analysis,
  proof: Applied,
): PoolSuggestions {
  const [pool] = context.pools
  const accounts = distinct(needs.map(({ need }) => need.serviceAccountName))
  return {
    pool: poolSubject(pool),
    pods: PodCount.of(context.pods.certain),
    existing: context.bindings.map(({ key }) => {
      const judgement = analysis.settled.judgements.get(key)
      const verdict = judgement === undefined ? 'unknown' : verdictText(judgement)
      const fix = judgement?.state === 'refused' ? REASONS[judgement.reason].fix : undefined
      return { key, verdict, fix }
    }),
    suggested: needs.flatMap((one) => suggestedOf(one, analysis, proof)),
    registrations: needs.flatMap((one) => registrationsOf(one, proof)),
    not: [
      ...not,
      ...needs.flatMap(({ need, failed }) => [...(need.open === undefined ? [] : [need.open]), ...failed]),
    ],
    remarks: present(
      accounts.length > 1 &&
        !needs.every((need) => isPerVariant(need, context)) &&
        `its pods run under several service accounts (${accounts.join(', ')}): each needs its own binding, and PoolOnly bindings of one pool give one SPIFFE ID`,
      ...new Set(needs.flatMap(({ need }) => need.remarks)),
      ...remarks,
    ),
  }
}

/** Whether the pods of an account get an identity for each of their variants, or have one. */
function isPerVariant({ plan, failed }: ProvenNeed, { bindings }: PoolContext): boolean {
  if (plan !== undefined) return plan.candidates.every(({ boundary }) => boundary.mode === 'PerVariant')
  const isBound = failed.length === 0 && bindings.length > 0
  return isBound && bindings.every(({ mode }) => mode.ok && mode.value === 'PerVariant')
}

function suggestedOf(
  { bindings, plan }: ProvenNeed,
  before: Analysis,
  { world, effectOn, together }: Applied,
): readonly SuggestedBinding[] {
  const { settled } = world
  const prediction = settled.prediction()
  const dependsOn = dependsOnIn(world)
  return bindings.flatMap((candidate) => {
    const key = candidateKey(candidate)
    const judgement = settled.judgements.get(key)
    if (judgement?.state !== 'ready' || plan === undefined || candidate.isThere === true) return []
    const { identity, output } = judgement.resolved
    const { spiffeId } = identity
    const { name } = output.metadata
    const among = { outputs: settled.bindingsByOutput(), together }
    const reaches = driveAtOnce(reachesOf(prediction, candidate.namespace, new Set([name]), among))
    const found = reaches.get(name)
    if (found === undefined) return []
    const reach = { ...found, lost: lostBy(found, effectOn, before.settled.prediction()) }
    return {
      candidate,
      key,
      spiffeId,
      why: plan.why,
      reach: asAssumed(reach, assumptionsThatCount(world.openSettings)),
      heldBefore: dependsOn === undefined ? heldBefore(reach, spiffeId, effectOn) : [],
      dependsOn,
    }
  })
}

function dependsOnIn({ openSettings }: Analysis): string | undefined {
  const assumptions = assumptionsThatCount(openSettings)
  return assumptions.length === 0 ? undefined : dependsText(assumptions)
}

function registrationsOf(
  { bindings, plan }: ProvenNeed,
  { world }: Proof,
): readonly SuggestedRegistrations[] {
  return bindings.flatMap((candidate) =>
    plan === undefined || candidate.isThere !== true
      ? []
      : [{ candidate, key: candidateKey(candidate), why: plan.why, dependsOn: dependsOnIn(world) }],
  )
}

function asAssumed(reach: Reach, assumptions: readonly Assumption[]): Reach {
  if (assumptions.length === 0) return reach
  // What cannot match is never issued, whatever SCM's settings are.
  const { dead = [], others = [] } = Object.groupBy(reach.missed, ({ verdict }) =>
    verdict === 'dead' ? 'dead' : 'others',
  )
  const assumed = [...reach.reached.map(({ pod }) => ({ pod, verdict: 'issued' })), ...others]
  const perhaps = assumed.map((one) => ({
    pod: one.pod,
    verdict: 'depends' as const,
    why: probablyText(one, assumptions),
  }))
  const lost = reach.lost.map((one) => ({ ...one, open: one.open ?? dependsText(assumptions) }))
  return { ...reach, reached: [], missed: dead, perhaps: [...perhaps, ...reach.perhaps], lost }
}

/** The reached containers to which the effect counts no gain: something else gives them the identity, or may. */
function heldBefore(
  { reached, alsoHeld }: Reach,
  spiffeId: string,
  effectOn: Applied['effectOn'],
): readonly HeldBefore[] {
  const held = new Set(
    alsoHeld
      .filter((one) => one.spiffeId === spiffeId)
      .map(({ pod, container }) => holderKey({ pod: podText(pod), container })),
  )
  return reached.flatMap(({ pod, containers }) => {
    const others = containers
      .map((container) => ({ pod: podText(pod), container }))
      .filter((one) => !effectOn(one).gained.includes(spiffeId))
    return [...Map.groupBy(others, (one) => held.has(holderKey(one)))].map(([isCertain, same]) => ({
      pod,
      containers: same.map(({ container }) => container),
      isCertain,
    }))
  })
}

/** What a suggested binding is, as a person reads it: `PoolOnly`, `PerVariant decode`. */
export function suggestedText({ candidate }: SuggestedBinding): string {
  return boundaryText(candidate.boundary)
}
