// What a change does to people: which containers gain, lose or change which SPIFFE ID, which bindings change their
// verdict, and which findings are new, fixed, without ground or unchanged.
import type { Pod } from '../objects/pod.ts'
import { deepEqual } from '../plan/drift.ts'
import type { Judgement } from '../plan/plan.ts'
import { judgementWord } from '../plan/judgement-text.ts'
import { unchanged } from '../analysis/analysis.ts'
import type { State } from '../analysis/state.ts'
import { undecidedFor, undecidedText, type UndecidedBinding } from '../analysis/undecided.ts'
import { findingSteps } from '../rules/all.ts'
import type { Finding } from '../findings/finding.ts'
import { getOrCreate } from '../get-or-create.ts'
import { canonicalText, own } from '../json.ts'
import { lazy } from '../lazy.ts'
import { doubtsByKind, type Doubt } from '../snapshot/doubt.ts'
import { identityGap } from '../snapshot/unread.ts'
import { podText } from '../objects/pod-index.ts'
import { containerVerdicts } from '../spire/registration.ts'
import { sourceText, type EntryOutcome } from '../spire/prediction.ts'
import { compareBytes } from '../text/bytes.ts'
import { driveAtOnce, type Drive } from '../steps.ts'
import { holderKey } from '../rules/pod-findings.ts'
import { findingChanges, type FindingChanges } from './finding-changes.ts'

/** A container of a pod: `pod team-a/llama-0` and `vllm`. */
export interface Holder {
  readonly pod: string
  readonly container: string
}

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
  /** Containers that had an identity and are left with none. */
  readonly stranded: readonly Holder[]
  /** Containers of which it is undetermined whether they gain or lose one. */
  readonly uncertain: readonly UncertainHolder[]
  /** Whether some of that rests on a registration that kleym does not follow. */
  readonly unfollowed: boolean
  readonly verdicts: readonly VerdictChange[]
  readonly findings: FindingChanges
}

/** Compares two states, of one snapshot or of two; `drive` is how their findings are worked out. */
export function effectOf(before: State, after: State, drive: Drive = driveAtOnce): Effect {
  const findingsOf = (state: State): readonly Finding[] => drive(findingSteps(unchanged(state)))
  const templates = templatesInQuestion(before, after)
  const held = identitiesOf(before, templates)
  const will = identitiesOf(after, templates)
  const [mayHaveHad, mayStillHold] = [doubtedOnly(before, after), doubtedOnly(after, before)]
  const uncertain = [...new Map([...held, ...will])].flatMap(([key, { holder }]) => {
    const why = openedBy(held.get(key), will.get(key))
    return why.length === 0 ? [] : [{ key, ...holder, why }]
  })
  return {
    gained: changes(will, held, mayHaveHad),
    lost: changes(held, will, mayStillHold),
    stranded: [...held]
      .filter(
        ([key, { ids, namespace }]) =>
          ids.size > 0 && isStranded(ids, will.get(key)) && !mayStillHold(namespace),
      )
      .map(([, { holder }]) => holder)
      .toSorted(compareHolders),
    uncertain: uncertain.map(({ pod, container, why }) => ({ pod, container, why })).toSorted(compareHolders),
    unfollowed: uncertain.some(
      ({ key }) => held.get(key)?.unfollowed === true || will.get(key)?.unfollowed === true,
    ),
    verdicts: verdictChanges(before, after),
    findings: drive(
      findingChanges(
        { state: before, held, findings: findingsOf(before) },
        { state: after, held: will, findings: findingsOf(after) },
        mayStillHold,
      ),
    ),
  }
}

/**
 * Whether pods of a namespace may get an identity from something that only one of two states could not read: what the other
 * one shows there may be so in it as well.
 */
function doubtedOnly(one: State, other: State): (namespace: string) => boolean {
  const [left, right] = [one, other].map(({ base }) => base.snapshot)
  if (left === undefined || right === undefined || left === right) return () => false
  const known = new Set([...right.doubts.values()].flat().map(doubtKey))
  const doubts = doubtsByKind([...left.doubts.values()].flat().filter((doubt) => !known.has(doubtKey(doubt))))
  const gaps = new Map([...left.gaps].filter(([kind]) => !right.gaps.has(kind)))
  if (doubts.size === 0 && gaps.size === 0) return () => false
  return (namespace) => identityGap({ gaps, doubts, namespacesRead: undefined }, namespace) !== undefined
}

function doubtKey({ kind, namespace, name }: Doubt): string {
  return JSON.stringify([kind, namespace, name])
}

interface Held {
  readonly holder: Holder
  readonly namespace: string
  /** Certainly issued. */
  readonly ids: Set<string>
  /** Perhaps issued, the SPIFFE IDs alone. */
  readonly perhaps: Set<string>
  /** The registrations that are perhaps issued, each with what leaves it open. */
  readonly open: Map<string, string>
  /** Whether a registration that kleym does not follow is among them. */
  unfollowed: boolean
}

/** Whether a container is still there, with no certain identity, and not even perhaps with one that it had. */
function isStranded(had: ReadonlySet<string>, will: Held | undefined): boolean {
  return will !== undefined && will.ids.size === 0 && ![...had].some((id) => will.perhaps.has(id))
}

/** What leaves open the registrations of a container that only one of two states has; nothing where both have the same. */
function openedBy(left: Held | undefined, right: Held | undefined): readonly string[] {
  const [before, after] = [left?.open ?? NONE_OPEN, right?.open ?? NONE_OPEN]
  const why = new Set<string>()
  for (const [one, other] of [
    [before, after],
    [after, before],
  ] as const) {
    for (const [registration, text] of one) if (!other.has(registration)) why.add(text)
  }
  return [...why].toSorted(compareBytes).slice(0, REASONS_MOST)
}

/** A container that a thousand registrations may reach has as many reasons, and so have all that are beside it. */
const REASONS_MOST = 20

const NONE_OPEN: Held['open'] = new Map()

/**
 * The templates that only one of two states asks about, or that differ between them: they are asked about in both. Existing pods may
 * represent a template as it was, and not as it is changed to.
 */
function templatesInQuestion(before: State, after: State): ReadonlySet<string> {
  const names = new Set<string>()
  for (const { base } of [before, after])
    for (const pod of base.podsInQuestion) if (!pod.exists) names.add(podText(pod))
  const [left, right] = [before, after].map(({ base }) =>
    base.snapshot.templates.filter((one) => one.isOver !== true),
  )
  if (left === undefined || right === undefined || left === right) return names
  const templates = new Map(left.map((template) => [podText(template), template]))
  for (const template of right) {
    const other = templates.get(podText(template))
    templates.delete(podText(template))
    if (other === undefined || !areAlike(other, template)) names.add(podText(template))
  }
  for (const name of templates.keys()) names.add(name)
  return names
}

function areAlike(left: Pod, right: Pod): boolean {
  return deepEqual(left.metadata, right.metadata) && deepEqual(left.spec, right.spec)
}

/** The identities that are certainly issued, by container; `templates` are asked about even where existing pods represent them. */
function identitiesOf(state: State, templates: ReadonlySet<string>): ReadonlyMap<string, Held> {
  const { podsInQuestion, snapshot } = state.base
  const there = new Set(podsInQuestion)
  const represented = snapshot.templates.filter((one) => !there.has(one) && templates.has(podText(one)))
  const held = new Map<string, Held>()
  // A thousand bindings may be on each of a thousand pods.
  const texts = new Map<UndecidedBinding, ReturnType<typeof textsOf>>()
  const prediction = state.prediction()
  const specs = new Map(state.outputs.map(({ object }) => [object.meta.name, object.rawSpec]))
  // The order of the keys of a mapping is no difference; a registration may be on each of a hundred thousand pods.
  const textOfSpec = textsByName((name) => specs.get(name))
  const selectors = textsByName((name) => {
    const spec = specs.get(name)
    return [own(spec, 'namespaceSelector'), own(spec, 'podSelector')]
  })
  for (const pod of [...podsInQuestion, ...represented]) {
    const conditions = lazy(() => conditionsOf(prediction.entriesOf(pod), selectors))
    const madeFrom = lazy(() => ({ text: canonicalText([pod.metadata, pod.spec]) }))
    for (const container of pod.containers) {
      const holder = { pod: podText(pod), container: container.name }
      const one: Held = getOrCreate(held, holderKey(holder.pod, holder.container), () => ({
        holder,
        namespace: pod.namespace,
        ids: new Set(),
        perhaps: new Set(),
        open: new Map(),
        unfollowed: false,
      }))
      for (const undecided of undecidedFor(state.undecided, pod, container.name)) {
        const { spiffeId } = undecided
        const { registration, why } = getOrCreate(texts, undecided, () => textsOf(undecided))
        one.open.set(registration, why)
        if (spiffeId !== undefined) one.perhaps.add(spiffeId)
      }
      for (const { verdict, why, spiffeId, source } of containerVerdicts(prediction, pod, container)) {
        const open = `${sourceText(source)}: ${why ?? 'not known'}`
        if (verdict === 'issued' && spiffeId !== undefined) one.ids.add(spiffeId)
        if (verdict === 'depends') {
          one.open.set([sourceText(source), spiffeId, ...conditions()].join(' '), open)
          if (spiffeId !== undefined) one.perhaps.add(spiffeId)
        }
        if (verdict !== 'unknown') continue
        // Nothing of it is known but what it is made from: where that changes, its result may.
        one.unfollowed = true
        one.open.set([sourceText(source), textOfSpec(source.name), madeFrom().text].join(' '), open)
      }
    }
  }
  return held
}

function textsOf(undecided: UndecidedBinding): { readonly registration: string; readonly why: string } {
  const { binding, spiffeId, labels } = undecided
  const ordered = [...labels].toSorted(([a], [b]) => compareBytes(a, b))
  return { registration: JSON.stringify([binding, spiffeId, ordered]), why: undecidedText(undecided) }
}

/** Makes a function that gives a value by its name as a text, and makes each text once. */
function textsByName(valueOf: (name: string) => unknown): (name: string) => string {
  const texts = new Map<string, string>()
  return (name) => getOrCreate(texts, name, () => canonicalText(valueOf(name)))
}

/**
 * What decides about the registrations of a pod that depend on something: where that changes, so may what they come to. One of
 * them may displace another.
 */
function conditionsOf(
  outcomes: readonly EntryOutcome[],
  selectorsOf: (name: string) => string,
): readonly string[] {
  return outcomes
    .filter(({ verdict }) => verdict.state === 'depends')
    .map(({ source, entry }) => {
      const selectors = source.kind === 'ClusterSPIFFEID' ? selectorsOf(source.name) : undefined
      return JSON.stringify([source, selectors, entry?.selectors, entry?.parentId])
    })
}

/** The identities of `left` that `right` certainly does not have, by SPIFFE ID; in some namespaces none is certain. */
function changes(
  left: ReadonlyMap<string, Held>,
  right: ReadonlyMap<string, Held>,
  isOpen: (namespace: string) => boolean,
): readonly IdentityChange[] {
  const byId = new Map<string, Holder[]>()
  for (const [key, { holder, namespace, ids }] of left) {
    const other = right.get(key)
    // A container that is not there holds nothing, whatever was not read.
    if (other !== undefined && isOpen(namespace)) continue
    for (const id of ids) {
      if (other?.ids.has(id) === true || other?.perhaps.has(id) === true) continue
      getOrCreate(byId, id, () => []).push(holder)
    }
  }
  return [...byId]
    .toSorted(([a], [b]) => compareBytes(a, b))
    .map(([spiffeId, containers]) => ({ spiffeId, containers: containers.toSorted(compareHolders) }))
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
