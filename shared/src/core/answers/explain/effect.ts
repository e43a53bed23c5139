// What a change does to people: which containers gain, lose or change which SPIFFE ID, which bindings change their
// verdict, and which findings are new, fixed, without ground or unchanged.
import { groupsBy } from '../../base/groups.ts'
import type { Pod, PodsAsked } from '../../model/objects/pod.ts'
import { deepEqual } from '../../base/json.ts'
import { type Judgement, judgementWord } from '../../decide/index.ts'
import { asSeenBeside, unchanged, dependsText, inWorlds, type State, Holdings } from '../../analysis/index.ts'
import { findingSteps, RULES, type Finding } from '../../findings/index.ts'
import { mayMeet } from '../../base/go/template/mentions.ts'
import { getOrCreate } from '../../base/get-or-create.ts'
import { lazy } from '../../base/lazy.ts'
import { holderKey, podText, type Holder } from '../../model/objects/pod-index.ts'
import { partsDifference } from '../../model/objects/spire-makeup.ts'
import { enforcedLevel, isStricter } from '../../model/objects/pod-security.ts'
import { setupDifference } from '../../model/objects/spire-setup.ts'
import {
  DEFAULT_PARENT_ID_TEMPLATE,
  unfollowedDifference,
  settingsText,
  type ScmSettings,
} from '../../model/objects/scm-settings.ts'
import { whyEntriesStay } from '../../predict/index.ts'
import { namespacesByName } from '../../snapshot/index.ts'
import { compareBytes, compareKeys, distinct } from '../../base/text/bytes.ts'
import { driveAtOnce, type Drive } from '../../base/steps.ts'
import { editedRegistrations, type EditedRegistration } from './edited.ts'
import { findingChanges, type FindingChanges } from './finding-changes.ts'
import { identitiesOf, refusalKey, type AddedContainers, type HolderState } from './held-identities.ts'
import { OneSided, type UnreadSides } from './one-sided.ts'

/** A container that perhaps gains or loses an identity. */
export interface UncertainHolder extends Holder {
  /** What leaves it open, each a plain sentence fragment of one line: the first 20 in byte order, and each once. */
  readonly why: readonly string[]
}

/** The containers that gain or lose one SPIFFE ID. */
export interface IdentityChange {
  readonly spiffeId: string
  /** In byte order of pod and container. */
  readonly containers: readonly Holder[]
}

/** A binding whose verdict changes; undefined where there is no binding on that side. */
export interface VerdictChange {
  readonly binding: string
  readonly before: string | undefined
  readonly after: string | undefined
}

/** What a change does: to containers, to the verdicts of bindings, and to findings. */
export interface Effect {
  readonly gained: readonly IdentityChange[]
  readonly lost: readonly IdentityChange[]
  /** By `holderKey`, of those that lose one: the SPIFFE IDs that they keep, in byte order. */
  readonly kept: ReadonlyMap<string, readonly string[]>
  /** Containers that had an identity and are left with none. */
  readonly stranded: readonly Holder[]
  /** Containers that may gain or lose one. */
  readonly uncertain: readonly UncertainHolder[]
  /** Whether some of that rests on a registration that kleym does not follow. */
  readonly unfollowed: boolean
  readonly verdicts: readonly VerdictChange[]
  /** Registrations of others whose spec it changes. */
  readonly edited: readonly EditedRegistration[]
  readonly findings: FindingChanges
}

/** How two states are compared, beside what they are. */
export interface EffectOptions {
  /** How their findings are worked out. */
  readonly drive?: Drive
  /** What only one of them leaves unread; absent: what their snapshots say. */
  readonly unread?: UnreadSides
  /** Whether pods that wait for a node are asked about as well: what they will hold is not certain. */
  readonly isOfWaiting?: boolean
  /** Whose findings are compared; absent: those of all rules. */
  readonly rules?: typeof RULES
}

/** Compares two states, of one snapshot or of two. */
export function effectOf(
  before: State,
  after: State,
  {
    drive = driveAtOnce,
    unread = unreadSides(before, after),
    isOfWaiting = true,
    rules = RULES,
  }: EffectOptions = {},
): Effect {
  const [found, willFind] = ofBoth(before, after, (state) =>
    getOrCreate(
      getOrCreate(FOUND, state, () => new Map()),
      rules,
      () => drive(findingSteps(unchanged(state), rules)),
    ),
  )
  const added = addedOnOneSide(before, after)
  const emptied = emptiedOnOneSide(before, after)
  const asked = {
    templates: templatesInQuestion(before, after, added).union(emptied),
    emptied,
    refusing: refusingOnOneSide(before, after),
    added,
    isOfWaiting,
  }
  const unreadBefore = new OneSided(unread.before, before.base)
  const whyStays = whyEntriesStay(before.base.settings, after.base.settings)
  const unreadAfter = new OneSided(unread.after, after.base, whyStays)
  const compare = (left: State, right: State): Comparison => {
    const question = {
      ...asked,
      areParentsOther: giveOtherParents(left, right),
      setup: installDifference(left.base, right.base),
    }
    const sides = ofBoth(left, right, (state) => drive(identitiesOf(state, question)))
    return compared(...sides, { unreadBefore, unreadAfter })
  }
  const assumed = compare(before, after)
  const worlds = worldsOfBoth(before, after)
  const others = worlds.slice(1).map(({ statesOf }) => changesOnly(compare(...statesOf())))
  const beside = besideBoth(before, after).map(({ statesOf, why }) => ({
    ...changesOnly(compare(...statesOf())),
    why,
  }))
  const { held, will } = assumed
  return {
    ...withBeside(acrossWorlds([changesOnly(assumed), ...others], worlds), assumed, beside),
    kept: new Map([...assumed.lost].map(([key, one]) => [key, one.kept])),
    unfollowed: [...assumed.uncertain.keys()].some(
      (key) => held.get(key)?.unfollowed === true || will.get(key)?.unfollowed === true,
    ),
    verdicts: verdictChanges(before, after),
    edited: editedRegistrations(before, after),
    findings: drive(
      findingChanges(
        { state: before, held, findings: found, unread: unreadBefore },
        { state: after, held: will, findings: willFind, unread: unreadAfter },
      ),
    ),
  }
}

/** A state is compared with several others: with each that a suggestion tries, and with the one that it ends in. */
const FOUND = new WeakMap<State, Map<typeof RULES, readonly Finding[]>>()

/** What two states come to; if they are one, it is worked out once. */
function ofBoth<T>(left: State, right: State, of: (state: State) => T): readonly [T, T] {
  const one = of(left)
  return [one, left === right ? one : of(right)]
}

/** What containers gain and lose, each by a key of its own. */
interface HolderChanges {
  readonly gained: ReadonlyMap<string, HolderIds>
  readonly lost: ReadonlyMap<string, HolderIds>
  readonly stranded: ReadonlyMap<string, Holder>
  readonly uncertain: ReadonlyMap<string, UncertainHolder>
}

interface HolderIds {
  readonly holder: Holder
  readonly ids: readonly string[]
  /** The SPIFFE IDs that it has on both sides, in byte order. */
  readonly kept: readonly string[]
}

/** What two states come to in one world, and what their containers hold there. */
interface Comparison extends HolderChanges {
  readonly held: ReadonlyMap<string, HolderState>
  readonly will: ReadonlyMap<string, HolderState>
}

function compared(
  held: ReadonlyMap<string, HolderState>,
  will: ReadonlyMap<string, HolderState>,
  { unreadBefore, unreadAfter }: { readonly unreadBefore: OneSided; readonly unreadAfter: OneSided },
): Comparison {
  const gained = changes(will, held, unreadBefore)
  const lost = changes(held, will, unreadAfter)
  const uncertain = new Map<string, UncertainHolder>()
  const note = (key: string, { holder }: HolderState): void => {
    const moved = onOtherNodes(held.get(key), will.get(key))
    const open = openedBy(held.get(key), will.get(key))
    const opened = moved.length === 0 ? open : [...open, ...moved]
    const why = [...opened, ...(gained.open.get(key) ?? []), ...(lost.open.get(key) ?? [])]
    if (why.length > 0) uncertain.set(key, { ...holder, why: [...new Set(why)].slice(0, REASONS_MOST) })
  }
  for (const [key, one] of held) note(key, one)
  for (const [key, one] of will) if (!held.has(key)) note(key, one)
  const stranded = new Map<string, Holder>()
  for (const [key, { ids, holder }] of held)
    if (ids.size > 0 && isStranded(ids, will.get(key), unreadAfter)) stranded.set(key, holder)
  return { held, will, gained: gained.certain, lost: lost.certain, stranded, uncertain }
}

/** Without what containers hold: no two worlds of that are kept. */
function changesOnly({ gained, lost, stranded, uncertain }: Comparison): HolderChanges {
  return { gained, lost, stranded, uncertain }
}

/** What all worlds show is certain. What some show is not, and the settings in which they differ are the reason. */
function acrossWorlds(
  shown: readonly HolderChanges[],
  worlds: readonly WorldOfBoth[],
): Pick<Effect, 'gained' | 'lost' | 'stranded' | 'uncertain'> {
  const uncertain = new Map(shown.flatMap((one) => [...one.uncertain]))
  const note = (key: string, holder: Holder, shows: (one: HolderChanges) => boolean): void => {
    const other = shown.findIndex((one) => shows(one) !== shows(shown[0] ?? one))
    const why = worlds[other]?.why ?? []
    const known = uncertain.get(key)
    uncertain.set(key, {
      ...holder,
      why: [...new Set([...(known?.why ?? []), ...why])].slice(0, REASONS_MOST),
    })
  }
  const inAll = (way: 'gained' | 'lost'): readonly IdentityChange[] => {
    const byId = new Map<string, Holder[]>()
    for (const [key, holder] of new Map(
      shown.flatMap((one) => [...one[way]].map(([at, { holder: of }]) => [at, of] as const)),
    )) {
      for (const id of new Set(shown.flatMap((one) => one[way].get(key)?.ids ?? []))) {
        const shows = (one: HolderChanges): boolean => one[way].get(key)?.ids.includes(id) === true
        if (shown.every(shows)) getOrCreate(byId, id, () => []).push(holder)
        else note(key, holder, shows)
      }
    }
    return [...byId]
      .toSorted(compareKeys)
      .map(([spiffeId, containers]) => ({ spiffeId, containers: containers.toSorted(compareHolders) }))
  }
  return {
    gained: inAll('gained'),
    lost: inAll('lost'),
    stranded: [...(shown[0]?.stranded ?? [])]
      .filter(([key]) => shown.every((one) => one.stranded.has(key)))
      .map(([, holder]) => holder)
      .toSorted(compareHolders),
    uncertain: [...uncertain.values()].toSorted(compareHolders),
  }
}

/** What other SCMs make of both states: what such an SCM alone gives or takes is not certain, since nothing shows whose nodes are whose. */
function withBeside<Shown extends Pick<Effect, 'uncertain' | 'stranded'>>(
  shown: Shown,
  assumed: HolderChanges,
  beside: readonly (HolderChanges & { readonly why: string })[],
): Shown {
  const uncertain = new Map(shown.uncertain.map((one) => [holderKey(one), one]))
  const known = uncertain.size
  for (const { gained, lost, uncertain: open, why } of beside) {
    const found = [
      ...newIn(gained, assumed.gained),
      ...newIn(lost, assumed.lost),
      ...[...open].flatMap(([key, { pod, container }]) =>
        assumed.uncertain.has(key) ? [] : [[key, { pod, container }] as const],
      ),
    ]
    for (const [key, holder] of found)
      uncertain.set(key, uncertain.get(key) ?? { pod: holder.pod, container: holder.container, why: [why] })
  }
  return uncertain.size === known
    ? shown
    : {
        ...shown,
        stranded: shown.stranded.filter((one) => !uncertain.has(holderKey(one))),
        uncertain: [...uncertain.values()].toSorted(compareHolders),
      }
}

/** The containers that have an ID among some changes which they do not have among others. */
function newIn(
  some: ReadonlyMap<string, HolderIds>,
  others: ReadonlyMap<string, HolderIds>,
): readonly (readonly [key: string, holder: Holder])[] {
  return [...some].flatMap(([key, { ids, holder }]) => {
    const known = others.get(key)?.ids ?? []
    return ids.every((id) => known.includes(id)) ? [] : [[key, holder] as const]
  })
}

/** Both states as each SCM beside the one of these answers sees them; one that only one state has handles nothing in the other. */
function besideBoth(
  before: State,
  after: State,
): readonly {
  readonly statesOf: () => readonly [before: State, after: State]
  readonly why: string
}[] {
  const [left, right] = [before, after].map(
    ({ base }) => new Map(base.openSettings.beside.map((one) => [placeOf(one), one])),
  )
  const places = distinct([...(left?.keys() ?? []), ...(right?.keys() ?? [])])
  return places.flatMap((place) => {
    const [one, other] = [left?.get(place), right?.get(place)]
    const given = one ?? other
    if (given === undefined) return []
    const none = { ...given, reconcileClusterSPIFFEIDs: false, reconcileClusterStaticEntries: false }
    const seen = (state: State, settings: ScmSettings = none): State =>
      getOrCreate(
        getOrCreate(SEEN, state, () => new Map()),
        settings,
        () => asSeenBeside(unchanged(state), settings).settled,
      )
    return {
      statesOf: () => [seen(before, one), seen(after, other)] as const,
      why: `the SCM of ${place} may serve its node, and the change does something to what that SCM gives it`,
    }
  })
}

/** A state is compared with several others. */
const SEEN = new WeakMap<State, Map<ScmSettings, State>>()

/** The object that an SCM is configured by, without its place in files: each side has its own. */
function placeOf({ source }: ScmSettings): string {
  return source.replace(/ \(.*\)$/, '')
}

/** Both states in one world of settings, and what is otherwise in it than in the one that is assumed. */
interface WorldOfBoth {
  /** Made anew at each call, so that what is predicted in it is not kept. */
  readonly statesOf: () => readonly [before: State, after: State]
  readonly why: readonly string[]
}

/**
 * The worlds in which kleym's outputs are handled, the one that is assumed first: that they are not is said once (KLM401). A setting
 * that both states leave open has one value in both.
 */
function worldsOfBoth(before: State, after: State): readonly WorldOfBoth[] {
  const right = handledWorlds(after)
  return handledWorlds(before).flatMap((one) =>
    right
      .filter((other) => agree(one, other))
      .map((other) => ({
        statesOf: () => [one.stateOf(), other.stateOf()] as const,
        why: [...new Set([...one.why, ...other.why])],
      })),
  )
}

interface WorldOfOne {
  readonly stateOf: () => State
  readonly why: readonly string[]
  /** The value of each setting that is open; empty: as it is assumed. */
  readonly values: ReadonlyMap<string, string>
}

function handledWorlds(state: State): readonly WorldOfOne[] {
  const { worlds, assumptions } = state.base.openSettings
  if (worlds.length === 0) return [{ stateOf: () => state, why: [], values: new Map() }]
  const settings = [...new Set(worlds.flatMap(({ values }) => [...values.keys()]))]
  return worlds.flatMap(({ values, when, areOutputsHandled }, at) => {
    if (at > 0 && !areOutputsHandled) return []
    const on = assumptions.filter(({ setting }) => values.has(setting))
    return {
      stateOf: () => [...inWorlds(unchanged(state))][at]?.settled ?? state,
      why: [`${dependsText(on)}${when === '' ? '' : `: not so if ${when}`}`],
      values: new Map(settings.map((name) => [name, values.get(name) ?? ''])),
    }
  })
}

function agree({ values: left }: WorldOfOne, { values: right }: WorldOfOne): boolean {
  return [...left].every(([name, value]) => (right.get(name) ?? value) === value)
}

function unreadSides({ base: left }: State, { base: right }: State): UnreadSides {
  return {
    before: left.snapshot.rest.beyond(right.snapshot.rest),
    after: right.snapshot.rest.beyond(left.snapshot.rest),
  }
}

/** Whether a container is still there, with no certain identity, and not even perhaps with one that it had. */
function isStranded(had: ReadonlySet<string>, will: HolderState | undefined, unread: OneSided): boolean {
  return (
    will !== undefined &&
    will.ids.size === 0 &&
    ![...had].some((id) => will.perhaps.has(id)) &&
    whyMayHold(will, unread) === undefined
  )
}

/** Why a container that is there may hold an identity that nothing shows. */
function whyMayHold({ namespace, doubt }: HolderState, unread: OneSided): string | undefined {
  return unread.identities(namespace) ?? doubt
}

/** What leaves open the registrations of a container that only one of two states has; nothing where both have the same. */
function openedBy(left: HolderState | undefined, right: HolderState | undefined): readonly string[] {
  const [before, after] = [left?.open ?? NONE_OPEN, right?.open ?? NONE_OPEN]
  if (before.size === 0 && after.size === 0) return []
  const onOneSide = new Set(before.keys()).symmetricDifference(after)
  const why = [...onOneSide].flatMap(
    (registration) => before.get(registration) ?? after.get(registration) ?? [],
  )
  return distinct(why).slice(0, REASONS_MOST)
}

const NO_TEXTS: readonly string[] = []

/** The SPIFFE IDs that stand for those of other nodes before than after. */
function onOtherNodes(left: HolderState | undefined, right: HolderState | undefined): readonly string[] {
  // Nothing is made where there are none: it is asked of each container of a hundred thousand pods.
  if (left === undefined || left.byNode.size === 0) return NO_TEXTS
  return [...left.byNode].flatMap(([id, nodes]) => {
    const others = right?.byNode.get(id) ?? nodes
    return others === nodes
      ? []
      : [`${id} is that of each node where the pod may run, and the change chooses nodes otherwise`]
  })
}

/** A container that a thousand registrations may reach has as many reasons, and so have all that are beside it. */
const REASONS_MOST = 20

const NONE_OPEN: HolderState['open'] = new Map()

/**
 * The templates that only one of two states asks about, or that differ between them: they are asked about in both. Existing pods may
 * represent a template as it was, and not as it is changed to.
 */
function templatesInQuestion(before: State, after: State, added: AddedContainers): ReadonlySet<string> {
  const names = new Set(added.keys())
  for (const { base } of [before, after])
    for (const pod of base.podsInQuestion) if (!pod.exists) names.add(podText(pod))
  const templates = new Map(templatesOf(before).map((template) => [podText(template), template]))
  for (const template of templatesOf(after)) {
    const other = templates.get(podText(template))
    templates.delete(podText(template))
    if (other === undefined || !areAlike(other, template)) names.add(podText(template))
  }
  for (const name of templates.keys()) names.add(name)
  return names
}

/** The templates of workloads that ask for pods on one side, and for none on the other. */
function emptiedOnOneSide(before: State, after: State): ReadonlySet<string> {
  const templates = new Map(templatesOf(before).map((template) => [podText(template), template]))
  return new Set(
    templatesOf(after).flatMap((template) => {
      const text = podText(template)
      const [left, right] = [templates.get(text)?.asked, template.asked]
      if (left === undefined || right === undefined) return []
      return asksForNone(left, right) === asksForNone(right, left) ? [] : [text]
    }),
  )
}

/** What namespaces enforce on one side that may refuse pods there, by `refusalKey`: of two versions of one level, the later side's. */
function refusingOnOneSide(before: State, after: State): ReadonlySet<string> {
  const levels = enforcedIn(before)
  return new Set(
    [...enforcedIn(after)].flatMap(([namespace, level]) => {
      const other = levels.get(namespace) ?? level
      if (other === level) return []
      return [refusalKey(namespace, isStricter(other, level) ? other : level)]
    }),
  )
}

function enforcedIn({ base }: State): ReadonlyMap<string, string> {
  const given = [...namespacesByName(base.snapshot).values()].filter(({ complete }) => complete)
  return new Map(given.map((one) => [one.name, enforcedLevel(one)]))
}

/** Whether a workload asks for no pods: one between two manifests that do not say it asks for one. */
function asksForNone({ count, isManifest }: PodsAsked, other: PodsAsked): boolean {
  return (count ?? (isManifest && other.isManifest ? 1 : other.count)) === 0
}

function templatesOf({ base }: State): State['base']['snapshot']['templates']['read'] {
  return base.snapshot.templates.read
}

/**
 * The containers that webhooks and policies are asked to add to a template on one side alone. Whether they are there is not known; that the
 * change asks for them is. What is asked on both sides is no change. Of a template of one side alone its own containers are the answer.
 */
function addedOnOneSide(before: State, after: State): AddedContainers {
  const right = addedByTemplate(after)
  return new Map(
    [...addedByTemplate(before)].flatMap(([template, names]) => {
      const differing = names.symmetricDifference(right.get(template) ?? names)
      return differing.size === 0 ? [] : [[template, differing] as const]
    }),
  )
}

function addedByTemplate(state: State): AddedContainers {
  const holdings = new Holdings(state)
  const asked = state.base.podsInQuestion.filter(({ exists }) => !exists)
  return new Map(
    [...asked, ...templatesOf(state)].map((pod) => [
      podText(pod),
      new Set(holdings.addedTo(pod).map(({ name }) => name)),
    ]),
  )
}

function areAlike(left: Pod, right: Pod): boolean {
  return deepEqual(left.metadata, right.metadata) && deepEqual(left.spec, right.spec)
}

/** Whether SCM's settings give entries other parents; which agents there are, they do not say. */
function giveOtherParents(before: State, after: State): boolean {
  const [left, right] = [before.base.settings, after.base.settings]
  if (left.clusterName === undefined || right.clusterName === undefined) return false
  const [from, to] = [left, right].map(({ parentIDTemplate = DEFAULT_PARENT_ID_TEMPLATE, clusterName }) =>
    parentIDTemplate.includes('ClusterName') ? [parentIDTemplate, clusterName] : [parentIDTemplate],
  )
  return !deepEqual(from, to)
}

/** Whether a change is about all that there is, in whichever namespace: it is of the install, or of settings. */
export function concernsAll(before: State, after: State): boolean {
  if (before.base === after.base) return false
  return (
    installDifference(before.base, after.base) !== undefined ||
    textOfSettings(before) !== textOfSettings(after)
  )
}

function textOfSettings({ base: { settings, config } }: State): string {
  return settingsText([{ ...settings, source: '' }, config])
}

/** In what SPIRE, or the rights of kleym, are otherwise; undefined: in nothing that both sides show. */
function installDifference(before: State['base'], after: State['base']): string | undefined {
  const [left, right] = [before.snapshot, after.snapshot]
  return (
    setupDifference(left.spireSetup, right.spireSetup) ??
    unfollowedDifference(before.settings, after.settings) ??
    partsDifference(left.spireMakeup, right.spireMakeup)
  )
}

/** The identities that containers have on one side alone, by `holderKey`. */
interface SideChanges {
  readonly certain: ReadonlyMap<string, HolderIds>
  /** Why it is not known of a container. */
  readonly open: ReadonlyMap<string, readonly string[]>
}

/** The identities of `left` that `right` does not have; `unread` is what `right` alone leaves unread. */
function changes(
  left: ReadonlyMap<string, HolderState>,
  right: ReadonlyMap<string, HolderState>,
  unread: OneSided,
): SideChanges {
  const certain = new Map<string, HolderIds>()
  const open = new Map<string, readonly string[]>()
  // Pods that one side tells apart by their numbers, and the other does not: there the template stands for all of them.
  const instead = lazy(() =>
    Map.groupBy(
      [...right].flatMap(([key, one]) => (left.has(key) ? [] : [one])),
      ({ workload, holder }) => holderKey({ ...holder, pod: workload }),
    ),
  )
  for (const [key, { holder, namespace, workload, isOfMany, ids }] of left) {
    const other = right.get(key)
    // There may be hundreds of thousands, and hardly any change.
    if (other !== undefined && ids.isSubsetOf(other.ids)) continue
    const others =
      other === undefined
        ? (instead().get(holderKey({ ...holder, pod: workload })) ?? []).filter(
            (one) => isOfMany || one.isOfMany,
          )
        : []
    const isHeld = (id: string): boolean =>
      other?.ids.has(id) ?? (others.length > 0 && !id.includes('<') && others.every((one) => one.ids.has(id)))
    const whyOpen = (id: string): string | undefined => {
      const same = others.find((one) => [...one.ids, ...one.perhaps.keys()].some((its) => mayMeet(its, id)))
      return other?.perhaps.get(id) ?? (same && `${same.holder.pod} may be the same pod`)
    }
    const missing = [...ids].filter((id) => !isHeld(id))
    const unsure = missing.flatMap((id) => whyOpen(id) ?? [])
    if (unsure.length > 0) open.set(key, unsure)
    const gone = missing.filter((id) => whyOpen(id) === undefined)
    if (gone.length === 0) continue
    // A container that is not there holds nothing, whatever else was not read; but it may be there.
    const why = other === undefined ? unread.pods(namespace) : whyMayHold(other, unread)
    const kept = [...ids].filter((id) => other?.ids.has(id)).toSorted(compareBytes)
    if (why === undefined) certain.set(key, { holder, ids: gone, kept })
    else open.set(key, [...unsure, why])
  }
  return { certain, open }
}

function compareHolders(left: Holder, right: Holder): number {
  return compareBytes(left.pod, right.pod) || compareBytes(left.container, right.container)
}

function verdictChanges(before: State, after: State): readonly VerdictChange[] {
  const keys = new Set([...before.judgements.keys(), ...after.judgements.keys()])
  return [...keys].toSorted(compareBytes).flatMap((binding) => {
    const [left, right] = [before, after].map(({ judgements }) => judgements.get(binding))
    const change = {
      binding,
      before: left === undefined ? undefined : verdictText(left),
      after: right === undefined ? undefined : verdictText(right),
    }
    return change.before === change.after ? [] : [change]
  })
}

/** `ready`, `refused (TargetPoolNotFound)`, `waiting`, `undetermined`, `being deleted`. */
export function verdictText(judgement: Judgement): string {
  const word = judgementWord(judgement.state)
  return judgement.state === 'refused' ? `${word} (${judgement.reason})` : word
}

/** The containers that lose one SPIFFE ID, what they gain instead, and what they keep: empty if that is nothing. */
export interface LostIdentity extends IdentityChange {
  readonly instead: readonly string[]
  readonly kept: readonly string[]
}

/** The losses of an effect, each with what the same containers gain, and the gains of the other containers. */
export function exchangesOf(effect: Pick<Effect, 'gained' | 'lost' | 'kept' | 'uncertain'>): {
  readonly lost: readonly LostIdentity[]
  readonly gained: readonly IdentityChange[]
} {
  const effectOn = effectByHolder(effect)
  const thenOf = (one: Holder): Pick<LostIdentity, 'instead' | 'kept'> => ({
    instead: effectOn(one).gained,
    kept: effect.kept.get(holderKey(one)) ?? [],
  })
  return {
    lost: effect.lost.flatMap(({ spiffeId, containers }) =>
      groupsBy(containers, (one) => JSON.stringify(thenOf(one))).map((alike) => ({
        spiffeId,
        containers: alike,
        ...thenOf(alike[0]),
      })),
    ),
    gained: effect.gained.flatMap(({ spiffeId, containers }) => {
      const others = containers.filter((one) => effectOn(one).lost.length === 0)
      return others.length === 0 ? [] : [{ spiffeId, containers: others }]
    }),
  }
}

/** What an effect does to one container. */
export interface HolderEffect {
  /** SPIFFE IDs. */
  readonly gained: readonly string[]
  readonly lost: readonly string[]
  /** Why it may gain or lose others; empty: it does not. */
  readonly why: readonly string[]
}

/** That it does nothing. */
export const NOTHING_DONE: HolderEffect = { gained: [], lost: [], why: [] }

/** Tells what an effect does to each container. */
export function effectByHolder({
  gained,
  lost,
  uncertain,
}: Pick<Effect, 'gained' | 'lost' | 'uncertain'>): (one: Holder) => HolderEffect {
  const effects = new Map<string, { gained: string[]; lost: string[]; why: readonly string[] }>()
  const on = (one: Holder) => getOrCreate(effects, holderKey(one), () => ({ gained: [], lost: [], why: [] }))
  for (const { spiffeId, containers } of gained) for (const one of containers) on(one).gained.push(spiffeId)
  for (const { spiffeId, containers } of lost) for (const one of containers) on(one).lost.push(spiffeId)
  for (const one of uncertain) on(one).why = one.why
  return (one) => effects.get(holderKey(one)) ?? NOTHING_DONE
}
