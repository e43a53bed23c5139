// From a ClusterSPIFFEID that a person wrote to bindings: which bindings give the same containers an identity, what no binding can
// say, what names the old ID, and in which order to go so that no container is left without an identity. docs/migrate.md is its page.
import type { Analysis } from '../analysis/analysis.ts'
import { bindingsByOutput } from '../analysis/state.ts'
import { effectOf, type Effect } from '../explain/effect.ts'
import { getOrCreate } from '../get-or-create.ts'
import type { ClusterSpiffeId } from '../objects/clusterspiffeid.ts'
import { podText } from '../objects/pod-index.ts'
import type { Container, Pod } from '../objects/pod.ts'
import type { NamedBy } from '../policies/resolution.ts'
import type { Snapshot } from '../snapshot/snapshot.ts'
import { containerVerdicts } from '../spire/registration.ts'
import type { EntrySource } from '../spire/prediction.ts'
import type { Steps } from '../steps.ts'
import { candidateKey, withCandidates, type Candidate } from '../suggest/candidate.ts'
import { distinct } from '../suggest/binding-names.ts'
import { suggesting, type Suggestions } from '../suggest/suggest.ts'
import type { ProofTools } from '../suggest/prove.ts'
import { NameSummary } from '../text/counted.ts'
import { givenBy, holdingsIn, type HeldIdentities, type GivenIds } from './holdings.ts'
import { remainderOf, type Remainder } from './remainder.ts'

/** Containers of one name to which the same happens. */
export interface ContainerMove {
  readonly container: string
  readonly pods: NameSummary
  readonly before: HeldIdentities
  /** With the bindings, and the registration still there. */
  readonly during: HeldIdentities
  /** With the bindings alone. */
  readonly after: HeldIdentities
}

/** Containers that the registration gives an identity, and no binding does. */
export interface Uncovered {
  readonly container: string
  readonly pods: NameSummary
  readonly why: string
}

/** How one registration becomes bindings. */
export interface Migration {
  readonly object: ClusterSpiffeId
  /** The IDs that it gives to containers, or may give, in byte order. */
  readonly oldIds: readonly string[]
  /** The IDs that bindings give the same containers in its place, in byte order. */
  readonly newIds: readonly string[]
  /** What is suggested for the pools that select its pods, with the registration still there. */
  readonly suggestions: Suggestions
  readonly moves: readonly ContainerMove[]
  readonly uncovered: readonly Uncovered[]
  readonly remainder: readonly Remainder[]
  /** Which access policies name an old ID. */
  readonly namedBy: NamedBy
  /** What applying the bindings does, and then what taking the registration away does. */
  readonly effects: { readonly apply: Effect; readonly whole: Effect }
  /** The world with the bindings and without the registration. */
  readonly after: Analysis
  /** Why it is not certain what it gives to some containers, a sentence each. */
  readonly open: readonly string[]
}

/** Works out how a registration becomes bindings, in steps. */
export function* migrating(analysis: Analysis, object: ClusterSpiffeId, tools: ProofTools): Steps<Migration> {
  const source: EntrySource = { kind: 'ClusterSPIFFEID', name: object.meta.name }
  const given = givenBy(analysis, source)
  const held = new Map(given.map((one) => [one.pod, new Set(idsOf(one).keys())]))
  const suggestions = yield* suggesting(
    analysis,
    {
      isPool: () => true,
      isObjective: undefined,
      isPod: (pod) => (held.get(pod)?.size ?? 0) > 0,
      held: (pod) => held.get(pod) ?? NO_CONTAINERS,
    },
    tools,
  )
  const candidates = suggestions.pools.flatMap(({ suggested }) => suggested.map((one) => one.candidate))
  const after = yield* tools.analyse(withCandidates(without(analysis.snapshot, object), candidates))
  const oldIds = distinct(given.flatMap((one) => [...idsOf(one).values()]))
  const concerned = concernedPods(given, suggestions)
  const rendered = renderedBy(analysis, given, after, candidates)
  return {
    object,
    oldIds,
    newIds: rendered.spiffeIds,
    suggestions,
    moves: movesOf(concerned, [analysis, suggestions.world, after]),
    uncovered: uncoveredBy(given, after, suggestions),
    remainder: remainderOf(object, oldIds, rendered),
    namedBy: namedIn(analysis, oldIds),
    effects: {
      apply: suggestions.effect,
      whole: effectOf(analysis.settled, after.settled, tools.drive),
    },
    after,
    open: [
      ...new Set(given.flatMap(({ pod, open }) => (open === undefined ? [] : [`${podText(pod)}: ${open}`]))),
    ],
  }
}

/** What a registration gives, or may give, to the containers of a pod. */
function idsOf({ ids, perhaps }: Pick<GivenIds, 'ids' | 'perhaps'>): ReadonlyMap<string, string> {
  return new Map([...perhaps, ...ids])
}

/** The rules that name one of these IDs; those that name any principal, or a service account, go on as they are. */
function namedIn({ settled }: Analysis, ids: readonly string[]): NamedBy {
  const named = settled.policies().namedBy(ids, [])
  return { ...named, namings: named.namings.filter(({ way }) => way === 'exactly' || way === 'same path') }
}

const NO_CONTAINERS: ReadonlySet<string> = new Set()

function without(snapshot: Snapshot, { meta }: ClusterSpiffeId): Snapshot {
  return {
    ...snapshot,
    clusterSpiffeIds: snapshot.clusterSpiffeIds.filter((one) => one.meta.name !== meta.name),
  }
}

/** The pods that the registration gives an identity, and those that the bindings reach. */
function concernedPods(given: readonly GivenIds[], { pools }: Suggestions): readonly Pod[] {
  return [
    ...new Set([
      ...given.filter(({ ids, open }) => ids.size > 0 || open !== undefined).map(({ pod }) => pod),
      ...pools.flatMap(({ suggested }) =>
        suggested.flatMap(({ reach }) => [...reach.reached, ...reach.perhaps].map(({ pod }) => pod)),
      ),
    ]),
  ]
}

function movesOf(
  pods: readonly Pod[],
  [before, during, after]: readonly [Analysis, Analysis, Analysis],
): readonly ContainerMove[] {
  const moves = new Map<string, ContainerMove>()
  const holdings = { before: holdingsIn(before), during: holdingsIn(during), after: holdingsIn(after) }
  for (const pod of pods) {
    for (const container of pod.containers) {
      const held = {
        before: holdings.before(pod, container),
        during: holdings.during(pod, container),
        after: holdings.after(pod, container),
      }
      const key = JSON.stringify([container.name, held])
      getOrCreate(moves, key, () => ({
        container: container.name,
        pods: new NameSummary(),
        ...held,
      })).pods.add(podText(pod))
    }
  }
  return [...moves.values()]
}

/** The containers that lose what the registration gave them and get nothing of kleym's. */
function uncoveredBy(
  given: readonly GivenIds[],
  after: Analysis,
  { pools }: Suggestions,
): readonly Uncovered[] {
  const ours = bindingsByOutput(after.settled)
  const selected = new Map<Pod, string>()
  for (const { pool, suggested } of pools)
    for (const { reach } of suggested)
      for (const { pod } of [...reach.reached, ...reach.missed, ...reach.perhaps])
        selected.set(pod, pool.name)
  const groups = new Map<string, Uncovered>()
  for (const { pod, ...one } of given) {
    const ids = idsOf(one)
    for (const container of pod.containers) {
      if (!ids.has(container.name) || isGiven(after, ours, pod, container)) continue
      const why = whyUncovered(pod, selected.get(pod), pools)
      const key = JSON.stringify([container.name, why])
      getOrCreate(groups, key, () => ({ container: container.name, pods: new NameSummary(), why })).pods.add(
        podText(pod),
      )
    }
  }
  return [...groups.values()]
}

function isGiven(
  { settled }: Analysis,
  ours: ReadonlyMap<string, unknown>,
  pod: Pod,
  container: Container,
): boolean {
  return containerVerdicts(settled.prediction(), pod, container).some(
    ({ verdict, source }) =>
      verdict === 'issued' && source.kind === 'ClusterSPIFFEID' && ours.has(source.name),
  )
}

function whyUncovered(pod: Pod, pool: string | undefined, pools: Suggestions['pools']): string {
  if (pool !== undefined) return `the binding of InferencePool ${pool} is for another container`
  const near = pools.filter((one) => one.pool.namespace === pod.namespace)
  const refused = near.flatMap(({ not }) => not.filter(({ state }) => state !== 'open'))
  if (refused.length > 0) return `no binding is suggested: ${refused[0]?.why ?? ''}`
  const existing = near.flatMap((one) => one.existing)
  if (existing.length > 0)
    return `the bindings that there are (${existing.map(({ key }) => key).join(', ')}) do not give it one`
  return 'no InferencePool selects the pod, and pools are never invented'
}

/** What the outputs that give the same containers an identity render: those of new bindings, and of bindings that are there. */
function renderedBy(
  { config }: Analysis,
  given: readonly GivenIds[],
  after: Analysis,
  candidates: readonly Candidate[],
): { readonly spiffeIds: readonly string[]; readonly hints: readonly string[]; readonly className: string } {
  const ours = bindingsByOutput(after.settled)
  const prediction = after.settled.prediction()
  const ids = new Set<string>()
  const hints = new Set<string>()
  for (const { pod, ...one } of given) {
    const containers = idsOf(one)
    for (const container of pod.containers) {
      if (!containers.has(container.name)) continue
      for (const { verdict, source, spiffeId, hint } of containerVerdicts(prediction, pod, container)) {
        if (verdict !== 'issued' || !ours.has(source.name) || spiffeId === undefined) continue
        ids.add(spiffeId)
        hints.add(hint)
      }
    }
  }
  for (const candidate of candidates) {
    const judgement = after.settled.judgements.get(candidateKey(candidate))
    if (judgement?.state === 'ready') ids.add(judgement.resolved.identity.spiffeId)
  }
  return { spiffeIds: distinct(ids), hints: distinct(hints), className: config.className }
}
