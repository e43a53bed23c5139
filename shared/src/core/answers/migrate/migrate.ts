// From a ClusterSPIFFEID that a person wrote to bindings: which bindings give the same containers an identity, what no binding can
// say, what names the old ID, and in which order to go so that no container is left without an identity. docs/migrate.md is its page.
import { namespacesByName, withoutRegistrations } from '../../snapshot/index.ts'
import {
  type Analysis,
  givenByNothing,
  holdersOfIds,
  type PolicyHolder,
  Holdings,
  idsOf,
  type ContainerHolding,
  openVerdicts,
} from '../../analysis/index.ts'
import { effectOf, type Effect } from '../explain/effect.ts'
import { getOrCreate } from '../../base/get-or-create.ts'
import { distinct, compareKeys } from '../../base/text/bytes.ts'
import type { ClusterSpiffeId } from '../../model/objects/clusterspiffeid.ts'
import { holderKey, podText } from '../../model/objects/pod-index.ts'
import type { Container, Pod } from '../../model/objects/pod.ts'
import { workingOn } from '../../model/objects/pods-alike.ts'
import { containersThatMayBe } from '../../model/objects/sidecars.ts'
import { onceScheduledOn } from '../../model/objects/unscheduled.ts'
import type { EntrySource, Registration } from '../../predict/index.ts'
import type { Steps } from '../../base/steps.ts'
import { consumersOf, cutOffsBy, type Consumers, type CutOff, type IdChange } from '../rename/consumers.ts'
import { candidateKey, withCandidates, type Candidate } from '../suggest/candidate.ts'
import { suggesting, type Suggestions } from '../suggest/suggest.ts'
import type { ProofTools } from '../suggest/prove.ts'
import { NameSummary } from '../../base/text/counted.ts'
import { all, any, NO, whyOpenText, YES, type Truth } from '../../model/truth/truth.ts'
import { unknownReasonText } from '../../model/unknown-reason.ts'
import { remainderOf, type Remainder, type RenderedByBindings } from './remainder.ts'
import { idOfReady } from '../../decide/index.ts'

/** What one container holds. */
export interface HeldIdentities {
  /** The SPIFFE IDs that it certainly holds, in byte order. */
  readonly ids: readonly string[]
  /** The further SPIFFE IDs that it may hold, in byte order. */
  readonly perhaps: readonly string[]
  /** Whether it may hold others than these. */
  readonly isOther: boolean
}

/** That one registration gives a container an identity, or may. */
interface Gift {
  readonly pod: Pod
  readonly container: Container
  /** Undefined where it is not known. */
  readonly spiffeId: string | undefined
  readonly given: Truth
}

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
  /** The registrations before it in the same answer whose plans have bindings to apply. */
  readonly following: readonly string[]
  /** What is suggested for the pools that select its pods, with the registration still there. */
  readonly suggestions: Omit<Suggestions, 'world'>
  readonly moves: readonly ContainerMove[]
  readonly uncovered: readonly Uncovered[]
  readonly remainder: readonly Remainder[]
  /** Containers that hold a new ID, and not the old one that it replaces. */
  readonly others: readonly string[]
  /** The ID of a binding that takes the place of an old one on some container; in byte order. */
  readonly changes: readonly IdChange[]
  /** Who names an old ID, and not yet the one that takes its place. */
  readonly consumers: Consumers
  /** The old IDs that something else gives, or may, once the registration is gone. */
  readonly kept: readonly string[]
  /** Consumers that cannot accept both IDs, or may not. */
  readonly cutOffs: readonly CutOff[]
  /** What applying the bindings does, and then what taking the registration away does; `advised`: what the steps come to. */
  readonly effects: { readonly apply: Effect; readonly whole: Effect; readonly advised: Effect }
  /** Why it is not certain what it gives to some containers, a sentence each. */
  readonly open: readonly string[]
}

/** With its worlds, each as large as the estate. */
export interface MigrationInWorlds extends Migration {
  readonly suggestions: Suggestions
  /** The world with the bindings and without the registration. */
  readonly after: Analysis
  /** The containers for which the registration must stay, by their keys. */
  readonly staysFor: ReadonlySet<string>
}

/** What the plans before one come to: their steps are taken in a row, so each begins where those before it end. */
export interface PlansBefore {
  /** The world in which their steps have been taken. */
  readonly analysis: Analysis
  /** The registrations that are there and may go at least in part, with the containers for which they stay. */
  readonly going: ReadonlyMap<string, ReadonlySet<string>>
  /** The registrations whose plans have bindings to apply. */
  readonly applied: readonly string[]
}

/** Works out how a registration becomes bindings, in steps. */
export function* migrating(
  { analysis, going, applied }: PlansBefore,
  object: ClusterSpiffeId,
  tools: ProofTools,
): Steps<MigrationInWorlds> {
  const source: EntrySource = { kind: 'ClusterSPIFFEID', name: object.meta.name }
  const pods = yield* selectedBy(analysis, source)
  const given = yield* givenBy(analysis, pods, source)
  const gifts = given.filter(({ spiffeId }) => spiffeId !== undefined)
  const held = Map.groupBy(gifts, ({ pod }) => pod)
  const suggestions = yield* suggesting(
    analysis,
    {
      isPool: () => true,
      isObjective: undefined,
      isPod: (pod) => held.has(pod),
      held: (pod) => new Set(held.get(pod)?.map(({ container }) => container.name)),
    },
    tools,
  )
  const candidates = suggestions.pools.flatMap(({ suggested }) => suggested.map((one) => one.candidate))
  const after = yield* tools.analyse(
    withCandidates(withoutRegistrations(analysis.snapshot, new Set([object.meta.name])), candidates),
  )
  const oldIds = distinct(gifts.map(({ spiffeId = '' }) => spiffeId))
  const concerned = concernedPods(given, suggestions)
  // What waits for a node is given nothing yet, and would be by the time that it has one.
  const waiting = pods.flatMap(onceScheduledOn(analysis.snapshot.nodes))
  const coming = yield* givenBy(analysis, waiting, source)
  const freed = yield* freedBy(going, { analysis, pods, source, gifts: [...gifts, ...coming] }, tools)
  const then = yield* bindingsAlone(after, [
    ...new Set([...given, ...coming, ...freed].map(({ pod }) => pod)),
  ])
  const coverage = uncoveredBy([...gifts, ...coming, ...freed], then, suggestions, going)
  const unread = analysis.snapshot.rest.pods()
  const open = [...Map.groupBy(given, ({ pod }) => pod)].flatMap(([pod, ofPod]) => {
    const why = ofPod.map((one) => whyOpenText(one.given)).find((text) => text !== undefined)
    return why === undefined ? [] : [`${podText(pod)}: ${why}`]
  })
  const replaced = replacedBy(gifts, then)
  const changes = replaced.filter(({ oldId, newId }) => newId !== oldId)
  const others = othersWith(replaced, given, [analysis, after])
  const rendered = { ...renderedBy(gifts, then, candidates), others }
  const consumers = consumersOf(analysis.settled.policies(), changes)
  const gone = new Set(givenByNothing(after.settled, oldIds))
  // What others give the same containers does not change if no binding gives them another.
  const isKept = (id: string): boolean => rendered.spiffeIds.length === 0 && !coverage.lost.has(id)
  const remainder = remainderOf(
    object,
    oldIds.filter((id) => !isKept(id)),
    rendered,
  )
  const apply = suggestions.effect
  const whole = effectOf(analysis.settled, after.settled, { drive: tools.drive })
  const stays = coverage.uncovered.length > 0 || remainder.some(({ mustStay }) => mustStay)
  return {
    object,
    oldIds,
    newIds: rendered.spiffeIds,
    following: applied,
    suggestions,
    moves: yield* movesOf(concerned, [holdingsIn(analysis), holdingsIn(suggestions.world), then.later]),
    uncovered: coverage.uncovered,
    remainder,
    others,
    changes,
    consumers,
    kept: oldIds.filter((id) => !gone.has(id)),
    cutOffs: cutOffsBy(consumers),
    effects: { apply, whole, advised: stays ? apply : whole },
    after,
    staysFor: coverage.staysFor,
    open: [
      ...open,
      // The same reasons keep open what the registration gives and what bindings do: once is enough.
      ...(open.length > 0 ? [] : coverage.open),
      ...openSidecars(pods, analysis, then, source),
      // It may give an identity to pods that were not read, and no binding is known to give them another.
      ...(unread === undefined ? [] : [`pods that were not read: ${unknownReasonText(unread)}`]),
    ],
  }
}

/** The world with the bindings and without the registration, and what its containers hold. */
interface BindingsAlone {
  readonly after: Analysis
  readonly later: Holdings
  /** Of the pods that the registration gives something. */
  readonly ofGiven: ReadonlyMap<Pod, ReadonlyMap<Container, HeldThen>>
}

type HeldThen = Pick<ContainerHolding, 'held' | 'perhaps' | 'unread'>

function* bindingsAlone(after: Analysis, given: readonly Pod[]): Steps<BindingsAlone> {
  const later = holdingsIn(after)
  const ofGiven = new Map<Pod, ReadonlyMap<Container, HeldThen>>()
  const heldBy = (pod: Pod): ReadonlyMap<Container, HeldThen> =>
    new Map(
      later
        .of(pod)
        .map(({ container, held, perhaps, unread }) => [container, { held, perhaps, unread }] as const),
    )
  yield* workingOn(given, heldBy, (pod, held) => void ofGiven.set(pod, held))
  return { after, later, ofGiven }
}

function heldThen(pod: Pod, container: Container, { later, ofGiven }: BindingsAlone): HeldThen {
  return ofGiven.get(pod)?.get(container) ?? later.ofContainer(pod, container)
}

/** For each container: the identities that bindings give it, or may give it, instead of that of the registration. */
function replacedBy(gifts: readonly Gift[], then: BindingsAlone): readonly IdChange[] {
  const changes = gifts.flatMap(({ pod, container, spiffeId: oldId = '' }) =>
    givenByBindings(pod, container, then).map(({ spiffeId: newId = oldId }) => ({ oldId, newId })),
  )
  return [...new Map(changes.map((one) => [`${one.oldId} ${one.newId}`, one]))]
    .toSorted(compareKeys)
    .map(([, one]) => one)
}

/** The pods that the registration gives an identity, and those that the bindings reach. */
function concernedPods(given: readonly Gift[], { pools }: Suggestions): readonly Pod[] {
  return [
    ...new Set([
      ...given.map(({ pod }) => pod),
      ...pools.flatMap(({ suggested }) =>
        suggested.flatMap(({ reach }) => [...reach.reached, ...reach.perhaps].map(({ pod }) => pod)),
      ),
    ]),
  ]
}

/** What containers hold as an analysis settles. */
function holdingsIn(analysis: Analysis): Holdings {
  return new Holdings(analysis.settled, openVerdicts(analysis))
}

/**
 * What a registration gives to containers as the analysis settles; in the order of the pods. What depends on settings that were not given is
 * not certain, nor is that it gives nothing.
 */
function* givenBy(analysis: Analysis, pods: readonly Pod[], source: EntrySource): Steps<readonly Gift[]> {
  const holdings = holdingsIn(analysis)
  const gifts: Gift[] = []
  const givenTo = (pod: Pod): readonly Omit<Gift, 'pod'>[] =>
    pod.containers
      .flatMap((container) => {
        const there = holdings.there(pod, container)
        return holdings
          .registrationsOf(pod, container)
          .filter((one) => isOf(source, one))
          .map((one) => ({ container, spiffeId: one.spiffeId, given: all(there, holdings.given(one)) }))
      })
      .filter(({ given }) => given !== NO)
  yield* workingOn(pods, givenTo, (pod, given) => void gifts.push(...given.map((one) => ({ pod, ...one }))))
  return gifts
}

/** What else a registration gives once the plans before have taken others away that mask or displace it. */
function* freedBy(
  going: PlansBefore['going'],
  { analysis, pods, source, gifts }: GiftsNow,
  tools: ProofTools,
): Steps<readonly Gift[]> {
  if (going.size === 0) return []
  const without = yield* tools.analyse(withoutRegistrations(analysis.snapshot, new Set(going.keys())))
  const given = yield* givenBy(without, pods, source)
  const known = new Set(gifts.map(({ pod, container }) => keyOf(pod, container.name)))
  return given.filter(({ pod, container }) => {
    const key = keyOf(pod, container.name)
    return !known.has(key) && !going.values().some((staysFor) => staysFor.has(key))
  })
}

/** What a registration gives beside those of the plans before. */
interface GiftsNow {
  readonly analysis: Analysis
  readonly pods: readonly Pod[]
  readonly source: EntrySource
  readonly gifts: readonly Gift[]
}

/** The pods that a registration selects. */
function* selectedBy({ settled, podsInQuestion }: Analysis, source: EntrySource): Steps<readonly Pod[]> {
  const prediction = settled.prediction()
  const selected: Pod[] = []
  const isSelected = (pod: Pod): boolean => prediction.entriesOf(pod).some((one) => isOf(source, one))
  yield* workingOn(podsInQuestion, isSelected, (pod, is) => void (is && selected.push(pod)))
  return selected
}

function isOf({ kind, name }: EntrySource, { source }: { readonly source: EntrySource }): boolean {
  return source.kind === kind && source.name === name
}

function* movesOf(
  pods: readonly Pod[],
  [before, during, after]: readonly [before: Holdings, during: Holdings, after: Holdings],
): Steps<readonly ContainerMove[]> {
  const moves = new Map<string, ContainerMove>()
  const movesOfPod = (pod: Pod): readonly (readonly [key: string, Omit<ContainerMove, 'pods'>])[] =>
    pod.containers.map((one) => {
      const move = {
        container: one.name,
        before: heldOf(before.ofContainer(pod, one)),
        during: heldOf(during.ofContainer(pod, one)),
        after: heldOf(after.ofContainer(pod, one)),
      }
      return [JSON.stringify(move), move]
    })
  yield* workingOn(pods, movesOfPod, (pod, own) => {
    for (const [key, move] of own)
      getOrCreate(moves, key, () => ({ ...move, pods: new NameSummary() })).pods.add(podText(pod))
  })
  return [...moves.values()]
}

function heldOf({ there, held, perhaps, other }: ContainerHolding): HeldIdentities {
  const ids = there === YES ? distinct(idsOf(held)) : []
  const may = distinct(idsOf([...held, ...perhaps])).filter((id) => !ids.includes(id))
  return { ids, perhaps: may, isOther: other !== NO }
}

/** What bindings give a container, or may give it, if it is there. */
function givenByBindings(pod: Pod, container: Container, then: BindingsAlone): readonly Registration[] {
  const ours = then.after.settled.bindingsByOutput()
  const { held, perhaps } = heldThen(pod, container, then)
  return [...held, ...perhaps].filter(
    ({ source }) => source.kind === 'ClusterSPIFFEID' && ours.has(source.name),
  )
}

/** What the containers of a registration hold without it. */
interface Coverage {
  /** Those that lose what it gave them and get nothing of kleym's. */
  readonly uncovered: readonly Uncovered[]
  /** The same, by their keys. */
  readonly staysFor: ReadonlySet<string>
  /** The old IDs that some container may lose. */
  readonly lost: ReadonlySet<string>
  /** Why it is not certain of others. */
  readonly open: readonly string[]
}

function uncoveredBy(
  gifts: readonly Gift[],
  then: BindingsAlone,
  { pools }: Suggestions,
  going: PlansBefore['going'],
): Coverage {
  const selected = new Map<Pod, string>()
  for (const { pool, suggested } of pools)
    for (const { reach } of suggested)
      for (const { pod } of [...reach.reached, ...reach.missed, ...reach.perhaps])
        selected.set(pod, pool.name)
  const groups = new Map<string, Uncovered>()
  const open = new Set<string>()
  const staysFor = new Set<string>()
  const lost = new Set<string>()
  for (const { pod, container, spiffeId = '' } of gifts) {
    const { held, perhaps, unread } = heldThen(pod, container, then)
    const key = keyOf(pod, container.name)
    // A plan before this one takes the registration away from the container because this one is there.
    const { stays: same = [], goes = [] } = Object.groupBy(
      [...held, ...perhaps].filter((one) => one.spiffeId === spiffeId),
      ({ source: { kind, name } }) =>
        kind === 'ClusterSPIFFEID' && going.get(name)?.has(key) === false ? 'goes' : 'stays',
    )
    if (any(...same.map((one) => then.later.given(one))) !== YES) lost.add(spiffeId)
    const covering = [...givenByBindings(pod, container, then), ...same]
    const isCovered = any(unread, ...covering.map((one) => then.later.given(one)))
    if (isCovered !== NO) {
      const why = whyOpenText(isCovered)
      if (why !== undefined) open.add(`${podText(pod)}, and what bindings give it: ${why}`)
      continue
    }
    const [other] = goes
    const why =
      other === undefined
        ? whyUncovered(pod, selected.get(pod), pools)
        : `beside it ClusterSPIFFEID/${other.source.name} alone gives the ID, and by its plan that one may go`
    staysFor.add(key)
    const group = JSON.stringify([container.name, why])
    getOrCreate(groups, group, () => ({ container: container.name, pods: new NameSummary(), why })).pods.add(
      podText(pod),
    )
  }
  return { uncovered: [...groups.values()], staysFor, lost, open: [...open] }
}

/**
 * The namespaces that were not given and may ask for a sidecar, if the registration gives that an identity and no binding does. That
 * none is asked for is a premise elsewhere; a deletion rests on none.
 */
function openSidecars(
  pods: readonly Pod[],
  analysis: Analysis,
  then: BindingsAlone,
  source: EntrySource,
): readonly string[] {
  const namespaces = namespacesByName(analysis.snapshot)
  const before = holdingsIn(analysis)
  const isUncovered = (pod: Pod, sidecar: Container): boolean => {
    const { held, perhaps } = before.ofContainer(pod, sidecar)
    const isGiven = [...held, ...perhaps].some((one) => isOf(source, one))
    return isGiven && givenByBindings(pod, sidecar, then).length === 0
  }
  return pods.flatMap((pod) => {
    const namespace = namespaces.get(pod.namespace)
    if (namespace?.complete === true) return []
    const sidecar = containersThatMayBe(pod, namespace).find(
      (one) => one.injectedBy !== undefined && isUncovered(pod, one),
    )
    return sidecar === undefined
      ? []
      : `Namespace/${pod.namespace} is not given: it may ask for a sidecar, such as ${sidecar.name}, which no binding gives an identity`
  })
}

function whyUncovered(pod: Pod, pool: string | undefined, pools: Suggestions['pools']): string {
  if (pod.getsNode === true) return 'the pod waits for its node, and no binding is suggested for it before'
  if (pool !== undefined) return `the binding of InferencePool ${pool} is for another container`
  const near = pools.filter((one) => one.pool.namespace === pod.namespace)
  const refused = near.flatMap(({ not }) => not.filter(({ state }) => state !== 'open'))
  if (refused.length > 0) return `no binding is suggested: ${refused[0]?.why ?? ''}`
  const existing = near.flatMap((one) => one.existing)
  if (existing.length > 0)
    return `the bindings that there are (${existing.map(({ key }) => key).join(', ')}) do not give it one`
  return 'no InferencePool selects the pod, and pools are never invented'
}

/** The containers that hold a new ID with the bindings alone, and do not hold the old one now. */
function othersWith(
  replaced: readonly IdChange[],
  given: readonly Gift[],
  [now, after]: readonly [now: Analysis, after: Analysis],
): readonly string[] {
  const held = holdersOfIds(
    after.settled,
    replaced.map(({ newId }) => newId),
  )
  const before = holdersOfIds(
    now.settled,
    replaced.map(({ oldId }) => oldId),
  )
  const gifts = Map.groupBy(given, ({ spiffeId }) => spiffeId)
  const others = replaced.flatMap(({ oldId, newId }) => {
    const own = new Set([
      ...(gifts.get(oldId) ?? []).map(({ pod, container }) => keyOf(pod, container.name)),
      ...containersOf(before.get(oldId)).map(({ pod, container }) => keyOf(pod, container)),
    ])
    return containersOf(held.get(newId))
      .filter(({ pod, container }) => !own.has(keyOf(pod, container)))
      .map(({ pod, container }) => `${container} of ${podText(pod)}`)
  })
  return distinct(others)
}

function containersOf(
  holders: readonly PolicyHolder[] = [],
): readonly { readonly pod: Pod; readonly container: string }[] {
  return holders.flatMap(({ pod, containers }) => containers.map((container) => ({ pod, container })))
}

function keyOf(pod: Pod, container: string): string {
  return holderKey({ pod: podText(pod), container })
}

/** What the outputs that give the same containers an identity render: those of new bindings, and of bindings that are there. */
function renderedBy(
  gifts: readonly Gift[],
  then: BindingsAlone,
  candidates: readonly Candidate[],
): Omit<RenderedByBindings, 'others'> {
  const { config, settled } = then.after
  const given = gifts.flatMap(({ pod, container }) => givenByBindings(pod, container, then))
  const suggested = candidates.flatMap((one) => idOfReady(settled.judgements.get(candidateKey(one))) ?? [])
  return {
    spiffeIds: distinct([...given.map(({ spiffeId = '' }) => spiffeId), ...suggested]),
    hints: distinct(given.map(({ hint }) => hint)),
    className: config.className,
  }
}
