// What the containers of a state hold, for a comparison with another state: worked out once for pods that are alike.
import { mayMeet } from '../../base/go/template/mentions.ts'
import { canonicalText, own } from '../../base/json.ts'
import { getOrCreate } from '../../base/get-or-create.ts'
import { lazy } from '../../base/lazy.ts'
import type { Steps } from '../../base/steps.ts'
import { compareKeys, distinct } from '../../base/text/bytes.ts'
import { sha256Hex } from '../../base/text/sha256.ts'
import { Holdings, undecidedText, type State, type UndecidedBinding } from '../../analysis/index.ts'
import type { Container, Pod } from '../../model/objects/pod.ts'
import { holderKey, podText, unnumberedText, type Holder } from '../../model/objects/pod-index.ts'
import { workingOn } from '../../model/objects/pods-alike.ts'
import { enforcedLevel } from '../../model/objects/pod-security.ts'
import { partsText } from '../../model/objects/spire-makeup.ts'
import { setupText } from '../../model/objects/spire-setup.ts'
import { all, NO, whyOpenText, YES } from '../../model/truth/truth.ts'
import {
  factsBehind,
  sourceText,
  type EntryOutcome,
  type EntrySource,
  type PodSurroundings,
  type Registration,
} from '../../predict/index.ts'
import { CHOOSING_NODES, namespacesByName, readsNode, type Snapshot } from '../../snapshot/index.ts'

/** What a container holds, whichever pod it is of. */
interface HeldByContainer {
  /** Certainly issued. */
  readonly ids: ReadonlySet<string>
  /** The SPIFFE IDs that are perhaps issued, each with what leaves it open. */
  readonly perhaps: ReadonlyMap<string, string>
  /** The registrations that are perhaps issued, each with what leaves it open. */
  readonly open: ReadonlyMap<string, string>
  /** Of the SPIFFE IDs that stand for one on each node where the pod may run: what decides about these nodes. */
  readonly byNode: ReadonlyMap<string, string>
  /** Whether a registration that kleym does not follow is among them. */
  readonly unfollowed: boolean
}

/** What one container holds. */
export interface HolderState extends HeldByContainer {
  readonly holder: Holder
  readonly namespace: string
  /** The `unnumberedText` of its pod. */
  readonly workload: string
  /** Whether it stands for any number of pods. */
  readonly isOfMany: boolean
  /** Why its pod may be another one than was read, which may hold anything. */
  readonly doubt: string | undefined
}

/** The names of containers that are asked to be added, by the `podText` of the template. */
export type AddedContainers = ReadonlyMap<string, ReadonlySet<string>>

/** What a comparison asks about beside the pods in question. */
export interface IdentityQuestion {
  /** By `podText`: asked about even where existing pods represent them. */
  readonly templates: ReadonlySet<string>
  readonly added: AddedContainers
  /** By `podText`: those whose workloads ask for no pods on one side alone. */
  readonly emptied: ReadonlySet<string>
  /** By `refusalKey`: what may refuse pods on one side alone. */
  readonly refusing: ReadonlySet<string>
  /** Whether what pods that wait for a node will hold counts as what they may hold. */
  readonly isOfWaiting: boolean
  /** Whether entries of ClusterSPIFFEIDs have other parents on the other side. */
  readonly areParentsOther: boolean
  /** In what SPIRE is set up otherwise on the other side; undefined: in nothing. */
  readonly setup: string | undefined
}

/** A namespace, and what it enforces of pod security there. */
export function refusalKey(namespace: string, enforced: string): string {
  return `${namespace} ${enforced}`
}

/** What containers hold, by `holderKey`. */
export function* identitiesOf(
  state: State,
  { templates, added, emptied, refusing, isOfWaiting, areParentsOther, setup }: IdentityQuestion,
): Steps<ReadonlyMap<string, HolderState>> {
  const { podsInQuestion, snapshot } = state.base
  const asked = new Set(podsInQuestion)
  const represented = snapshot.templates.read.filter((one) => !asked.has(one) && templates.has(podText(one)))
  const held = new Map<string, HolderState>()
  // A thousand bindings may be on each of a thousand pods.
  const texts = new Map<UndecidedBinding, ReturnType<typeof textsOf>>()
  const prediction = state.prediction()
  const holdings = new Holdings(state)
  const objects = new Map(state.outputs.map(({ object }) => [object.meta.name, object]))
  // The order of the keys of a mapping is no difference; a registration may be on each of a hundred thousand pods.
  const textOfSpec = textsByName((name) => objects.get(name)?.rawSpec)
  const { parentIDTemplate, trustDomain, clusterName, clusterDomain } = state.base.settings
  const parents = canonicalText([parentIDTemplate, clusterName])
  const shownToTemplates = [trustDomain, clusterName, clusterDomain]
  const ofSetup =
    setup &&
    sha256Hex(
      [
        setupText(snapshot.spireSetup),
        partsText(snapshot.spireMakeup),
        canonicalText([...(state.base.settings.unfollowed ?? [])]),
      ].join('\n'),
    )
  const selectors = textsByName((name) => {
    const spec = objects.get(name)?.rawSpec
    return [own(spec, 'namespaceSelector'), own(spec, 'podSelector')]
  })
  const nodeReaders = new Map<string, boolean>()
  const isNodeReader = ({ kind, name }: EntrySource): boolean => {
    const spec = kind === 'ClusterSPIFFEID' ? objects.get(name)?.spec : undefined
    return spec !== undefined && getOrCreate(nodeReaders, name, () => readsNode(spec))
  }
  const surroundingsOf = surroundingsIn(snapshot)
  const namespaces = namespacesByName(snapshot)
  const decidedBy = ({ source, outcome }: Registration, of: Pod, container: Container): string => {
    const pod = outcome.pod ?? of
    const around = surroundingsOf(pod)
    const facts = [factsBehind(outcome, pod, container, around), admitted(pod), pod.perhaps?.marks ?? null]
    return canonicalText(isNodeReader(source) ? [...facts, around.nodes()] : facts)
  }
  const outcomesOf = (pod: Pod): readonly EntryOutcome[] =>
    (isOfWaiting ? [pod, ...holdings.scheduled(pod)] : [pod]).flatMap((one) => prediction.entriesOf(one))
  // A part of the key of each registration of the pod: as text they would stand in it as often as there are registrations.
  const digestOf = (of: readonly EntryOutcome[]): string => sha256Hex(conditionsOf(of, selectors).join(' '))
  /** Nothing displaces a static entry: only what may be the same entry can decide about it. */
  const digestOfSame = (pod: Pod, id: string): string =>
    digestOf(outcomesOf(pod).filter(({ entry }) => entry === undefined || mayMeet(entry.spiffeId, id)))
  const heldBy = (pod: Pod, differing?: ReadonlySet<string>): readonly HeldOfPod[] => {
    // No more is made for each pod than is needed: it is called for a hundred thousand of them.
    const conditions = lazy(() => ({ digest: digestOf(outcomesOf(pod)) }))
    const madeFrom = lazy(() => ({ text: canonicalText([pod.metadata, pod.spec, shownToTemplates]) }))
    const more = differing && holdings.addedTo(pod).filter(({ name }) => differing.has(name))
    const containers = [...pod.containers, ...(more ?? [])]
    return holdings.of(pod, containers).map(({ container, there, undecided, registrationsOf }) => {
      const ids = new Set<string>()
      const perhaps = new Map<string, string>()
      const open = new Map<string, string>()
      let byNode = NONE
      let unfollowed = false
      for (const one of undecided) {
        const { registration, why } = getOrCreate(texts, one, () => textsOf(one))
        open.set(registration, why)
        if (one.spiffeId !== undefined) perhaps.set(one.spiffeId, why)
      }
      for (const registration of [
        ...registrationsOf(pod, container),
        ...(isOfWaiting ? holdings.onceScheduled(pod, container) : []),
      ]) {
        const { verdict, spiffeId, source } = registration
        const given = all(there, holdings.given(registration))
        if (given === NO) continue
        if (areParentsOther && source.kind === 'ClusterSPIFFEID')
          open.set(`${sourceText(source)} ${parents}`, `${sourceText(source)}: ${OTHER_PARENTS}`)
        if (setup !== undefined)
          open.set(`${sourceText(source)} ${ofSetup}`, `${sourceText(source)}: ${setup}`)
        if (given === YES) {
          if (spiffeId !== undefined) ids.add(spiffeId)
          if (spiffeId?.includes('<') === true && isNodeReader(source))
            byNode = new Map([...byNode, [spiffeId, decidedBy(registration, pod, container)]])
          continue
        }
        const text = `${sourceText(source)}: ${whyOpenText(given) ?? 'not known'}`
        const facts = decidedBy(registration, pod, container)
        if (verdict !== 'unknown') {
          const isStatic = source.kind === 'ClusterStaticEntry' && spiffeId !== undefined
          const digest = isStatic ? digestOfSame(pod, spiffeId) : conditions().digest
          open.set([sourceText(source), spiffeId, facts, digest].join(' '), text)
          if (spiffeId !== undefined) perhaps.set(spiffeId, text)
          continue
        }
        // Nothing of it is known but what it is made from: where that changes, its result may.
        unfollowed = true
        open.set([sourceText(source), textOfSpec(source.name), facts, madeFrom().text].join(' '), text)
      }
      return { container: container.name, held: { ids, perhaps, open, byNode, unfollowed } }
    })
  }
  const take = (pod: Pod, containers: readonly HeldOfPod[]): void => {
    const { namespace } = pod
    const isOfMany = !pod.exists && pod.name === undefined
    const text = podText(pod)
    const workload = pod.unnumbered === undefined ? text : unnumberedText(pod)
    const isEmptied = pod.asked?.count === 0 && emptied.has(text)
    // What runs stays.
    const described = pod.exists || refusing.size === 0 ? undefined : namespaces.get(namespace)
    const level = described === undefined ? undefined : enforcedLevel(described)
    const isRefused = level !== undefined && refusing.has(refusalKey(namespace, level))
    const why = isEmptied
      ? `${text} asks for no pods on one side`
      : isRefused
        ? `namespace ${namespace} enforces ${level} on one side, and may refuse its pods`
        : undefined
    for (const { container, held: found } of containers) {
      const now = why === undefined ? found : perhapsLater(found, why)
      const holder = { pod: text, container }
      const key = holderKey(holder)
      const before = held.get(key)
      held.set(key, {
        holder,
        namespace,
        workload,
        isOfMany,
        doubt: before?.doubt ?? whyOpenText(holdings.asRead(pod)),
        ...(before === undefined ? now : both(before, now)),
      })
    }
  }
  const pods = [...podsInQuestion, ...represented]
  const apart = new Set(added.size === 0 ? [] : pods.filter((pod) => added.has(podText(pod))))
  for (const pod of apart) take(pod, heldBy(pod, added.get(podText(pod))))
  yield* workingOn(apart.size === 0 ? pods : pods.filter((pod) => !apart.has(pod)), heldBy, take)
  return held
}

/** What one container of a pod holds, by its name. */
interface HeldOfPod {
  readonly container: string
  readonly held: HeldByContainer
}

/** For all that stand for no other ID: most do. */
const NONE: ReadonlyMap<string, string> = new Map()

/** What a container of a template holds that makes no pods, or perhaps none. */
function perhapsLater(held: HeldByContainer, why: string): HeldByContainer {
  const ids = [...held.ids].map((id) => [id, why] as const)
  return {
    ...held,
    ids: new Set(),
    perhaps: new Map([...held.perhaps, ...ids]),
    open: new Map([...held.open, ...ids]),
  }
}

/** Of a pod that is there twice: what either of them holds. */
function both(one: HeldByContainer, other: HeldByContainer): HeldByContainer {
  return {
    ids: one.ids.union(other.ids),
    perhaps: new Map([...one.perhaps, ...other.perhaps]),
    open: new Map([...one.open, ...other.open]),
    byNode: one.byNode.size + other.byNode.size === 0 ? NONE : new Map([...one.byNode, ...other.byNode]),
    unfollowed: one.unfollowed || other.unfollowed,
  }
}

/** What policies may make of the labels and the annotations of a pod. */
function admitted({ labelChoices, annotationChoices }: Pod): unknown {
  return [labelChoices, annotationChoices].map((choices) =>
    [...(choices ?? [])]
      .toSorted(compareKeys)
      .map(([key, values]) => [
        key,
        values?.has(undefined),
        distinct([...(values ?? [])].filter((one) => one !== undefined)),
      ]),
  )
}

/** Makes a function that tells what is around a pod: where it may run is all Nodes, until it is on one. */
function surroundingsIn(snapshot: Pick<Snapshot, 'namespaces' | 'nodes'>): (pod: Pod) => PodSurroundings {
  const namespaces = namespacesByName(snapshot)
  const nodes = new Map(
    snapshot.nodes?.map(({ name, uid, metadata, spec }) => [
      name,
      [name, uid, own(metadata, 'labels'), own(metadata, 'annotations'), spec],
    ]),
  )
  const everyNode = lazy(() => ({ text: canonicalText([...nodes.values()]) }))
  return ({ namespace, nodeName, spec }) => ({
    namespace: () => [...(namespaces.get(namespace)?.labels ?? [])],
    nodes: () =>
      nodes.get(nodeName ?? '') ?? [CHOOSING_NODES.map((field) => own(spec, field)), everyNode().text],
  })
}

const OTHER_PARENTS =
  "SCM's settings give its entries another parent, and whether an agent has that ID is not known"

function textsOf(undecided: UndecidedBinding): { readonly registration: string; readonly why: string } {
  const { binding, spiffeId, labels } = undecided
  const ordered = [...labels].toSorted(compareKeys)
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
