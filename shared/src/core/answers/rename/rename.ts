// From one name of a binding, pool or objective to another, so that no container is cut off in between: who holds the old ID and will
// hold the new one, whether a second binding can give it beside the first or a registration by hand must, what each step does to
// containers, and who names the IDs. docs/rename.md is its page. The core that the operator runs decides each step.
import { onceBy } from '../../base/groups.ts'
import { type Analysis, type State, Holdings, idsOf, holdersOfIds } from '../../analysis/index.ts'
import { labelsForScm, judgementWord, type Judgement, idOfReady } from '../../decide/index.ts'
import { effectByHolder, effectOf, type Effect } from '../explain/effect.ts'
import { type Finding, RULES_BESIDE_POLICIES } from '../../findings/index.ts'
import { canonicalText, type JsonRecord } from '../../base/json.ts'
import { lazy } from '../../base/lazy.ts'
import { BINDING_KIND } from '../../model/names.ts'
import { namespacedName, type NamespacedName } from '../../model/namespaced-name.ts'
import type { Binding } from '../../model/objects/binding.ts'
import { holderKey, podText, type Holder } from '../../model/objects/pod-index.ts'
import {
  type Snapshot,
  bindingsConcerned,
  isToBeMade,
  keyIn,
  manifestAfter,
  withBindings,
  withRegistrations,
  withoutRegistrations,
  withNew,
  withoutOld,
  withReferences,
  type RenameQuestion,
} from '../../snapshot/index.ts'
import type { Steps } from '../../base/steps.ts'
import { BindingNames, CompanionNames } from '../suggest/binding-names.ts'
import type { ProofTools } from '../suggest/prove.ts'
import { compareBytes } from '../../base/text/bytes.ts'
import { summaryText } from '../../base/text/counted.ts'
import { unknownReasonText } from '../../model/unknown-reason.ts'
import { consumersOf, cutOffsBy, type Consumers, type CutOff, type IdChange } from './consumers.ts'
import { registrationManifest } from '../suggest/companion.ts'

/** A registration by hand that gives an ID in the meantime. */
export interface Bridge {
  readonly name: string
  readonly manifest: JsonRecord
  /** Whether it is there already. */
  readonly isThere: boolean
  /** Why no second binding can give the ID: the reason of the operator's condition. */
  readonly because: string
}

/** What becomes of one binding. */
export interface RenamedBinding {
  readonly binding: Binding
  /** The binding that takes its place: the same one if it is edited. */
  readonly next: NamespacedName
  /** Undefined: it gives no ID now, and why. */
  readonly oldId: string | undefined
  readonly newId: string | undefined
  /** Why it gives no ID now, or none after the rename. */
  readonly why: string | undefined
  /** How both IDs are issued: the next binding stands beside it, a bridge does it, or nothing is to be held. */
  readonly how: 'beside' | 'bridge' | 'nothing'
  readonly bridge: Bridge | undefined
  /** The binding that takes its place, to be applied; undefined if it is there as it should be. */
  readonly manifest: JsonRecord | undefined
}

/** The plan of a rename. */
export interface Rename {
  readonly question: RenameQuestion
  readonly renamed: readonly RenamedBinding[]
  /** Whether the pool or objective of the new name does not exist yet. */
  readonly isToBeMade: boolean
  /** The IDs that change, each once. */
  readonly changes: readonly IdChange[]
  /** By old ID: the containers that lose it in the end. */
  readonly holders: ReadonlyMap<string, readonly Holder[]>
  /** Of each change, those of them that hold both IDs while both are issued. */
  readonly withBoth: readonly (readonly Holder[])[]
  readonly consumers: Consumers
  /** The new IDs that other containers hold now than those that hold the old one. */
  readonly heldElsewhere: readonly string[]
  /** What the steps do, each compared with what is there now: both issued, switched, and all done. */
  readonly effects: { readonly both: Effect; readonly switched: Effect; readonly done: Effect }
  /** The findings that the whole of it brings, but for those about names in policies, which its first and its last step are about. */
  readonly brings: readonly Finding[]
  /** The world in which all is done. */
  readonly done: Analysis
  /** Empty: no container is cut off in between, as far as its consumers were read. What is certain comes first. */
  readonly cutOffs: readonly CutOff[]
}

/** Works out a rename, in steps. */
export function* renaming(analysis: Analysis, question: RenameQuestion, tools: ProofTools): Steps<Rename> {
  const { snapshot, settled } = analysis
  const asked = askedOf(analysis, question)
  const withSeconds = (some: readonly Asked[]): Snapshot =>
    withBindings(
      withNew(snapshot, question),
      NONE,
      some.map(({ second }) => second).filter((one) => one !== undefined),
    )
  const trial = yield* tools.analyse(withSeconds(asked))
  const standing = asked.filter(({ binding: { key }, beside }) => {
    const { judgements } = trial.settled
    return [settled.judgements.get(key), judgements.get(key), judgements.get(beside)].every(
      (one) => one?.state === 'ready',
    )
  })
  const isBeside = (one: Asked): boolean => standing.includes(one)
  const nextOf = (one: Asked): NamespacedName =>
    isBeside(one) || question.kind === 'binding' ? one.beside : one.binding.key
  const manifestOf = (one: Asked): JsonRecord | undefined =>
    nextOf(one) === one.beside ? one.second : one.edited
  const without = new Set(asked.map(({ binding: { key } }) => key))
  const switchedSnapshot = withReferences(
    withBindings(
      withNew(snapshot, question),
      without,
      asked.map(manifestOf).filter((one) => one !== undefined),
    ),
    question,
  )
  const renamedIn = function* (bridges: ReadonlySet<string>): Steps<Analysis> {
    return yield* tools.analyse(withoutOld(withoutRegistrations(switchedSnapshot, bridges), question))
  }
  const first = yield* renamedIn(NONE)
  const names = new CompanionNames(analysis.now.outputs.map(({ object }) => object))
  const renamed = asked.map((one): RenamedBinding => {
    const next = nextOf(one)
    const [now, then] = [settled.judgements.get(one.binding.key), first.settled.judgements.get(next)]
    const bridge =
      isBeside(one) || now?.state !== 'ready' || then?.state !== 'ready'
        ? undefined
        : bridgeOf(now, then, analysis, names, trial.settled.judgements.get(one.beside))
    return {
      binding: one.binding,
      next,
      oldId: idOfReady(now),
      newId: idOfReady(then),
      why: whyNone(now) ?? whyNone(then),
      how: isBeside(one) ? 'beside' : bridge === undefined ? 'nothing' : 'bridge',
      bridge,
      manifest: manifestOf(one),
    }
  })
  const bridges = renamed.flatMap(({ bridge }) => bridge ?? [])
  const temporary = bridges.filter(({ isThere }) => !isThere).map(({ manifest }) => manifest)
  const isBridged = bridges.length > temporary.length
  const done = isBridged ? yield* renamedIn(new Set(bridges.map(({ name }) => name))) : first
  const both =
    temporary.length === 0 && standing.length === asked.length
      ? trial
      : yield* tools.analyse(withRegistrations(withSeconds(standing), temporary))
  const switched =
    bridges.length === 0 ? done : yield* tools.analyse(withRegistrations(switchedSnapshot, temporary))
  // Whenever a pod that waits for a node gets one, it holds what the others of its kind hold in that step.
  const compare = ({ settled: after }: Analysis): Effect =>
    effectOf(settled, after, { drive: tools.drive, isOfWaiting: false, rules: RULES_BESIDE_POLICIES })
  const [ofBoth, ofDone] = [compare(both), compare(done)]
  const effects = { both: ofBoth, switched: switched === done ? ofDone : compare(switched), done: ofDone }
  const holdsBoth = holding(both, effects.both)
  const steps = [
    [effects.both, holdsBoth],
    [effects.switched, holding(switched, effects.switched)],
    [effects.done, holding(done, effects.done)],
  ] as const
  const changes = changesOf(renamed)
  const policies = settled.policies()
  const consumers = consumersOf(policies, changes)
  const holders = new Map(effects.done.lost.map(({ spiffeId, containers }) => [spiffeId, containers]))
  const heldElsewhere = heldByOthers(settled, changes, holders)
  return {
    question,
    renamed,
    isToBeMade: isToBeMade(snapshot, question),
    changes,
    holders,
    withBoth: withBothOf(changes, holders, holdsBoth),
    heldElsewhere,
    consumers,
    effects,
    brings: broughtBy(renamed, effects.done.findings),
    done,
    cutOffs: cutOffsOf(renamed, { analysis, steps, changes, effects, consumers, heldElsewhere }),
  }
}

const NONE: ReadonlySet<never> = new Set()

/** A binding that is concerned, and the manifests that it may become. */
interface Asked {
  readonly binding: Binding
  /** The key of a binding that would stand beside it. */
  readonly beside: NamespacedName
  /** The manifest of that one; undefined if it is there, or if the spec cannot be read. */
  readonly second: JsonRecord | undefined
  /** The same binding, edited. */
  readonly edited: JsonRecord | undefined
}

function askedOf({ snapshot, compiled }: Analysis, question: RenameQuestion): readonly Asked[] {
  const concerned = bindingsConcerned(snapshot, question)
  const bindings = compiled.map(({ binding }) => binding)
  const keys = new Set(concerned.map(({ key }) => key))
  const others = bindings.filter((one) => one.meta.namespace === question.namespace && !keys.has(one.key))
  const bySpec = lazy(
    () =>
      new Map(
        others
          .toReversed()
          .map((one) => [specText(manifestAfter(one, one.meta.name, question)), one] as const),
      ),
  )
  const names = new BindingNames(bindings.map(({ key }) => key))
  return concerned.map((binding): Asked => {
    const { name } = binding.meta
    const after = manifestAfter(binding, name, question)
    const there =
      question.kind === 'binding'
        ? others.find(({ meta }) => meta.name === question.to)
        : bySpec().get(specText(after))
    const edited = question.kind === 'binding' ? undefined : after
    if (there !== undefined) return { binding, beside: there.key, second: undefined, edited }
    const parts = name === question.from ? [question.to] : [name, question.to]
    const second = question.kind === 'binding' ? question.to : names.nameOf(question.namespace, parts)
    return {
      binding,
      beside: keyIn(question, second),
      second: manifestAfter(binding, second, question),
      edited,
    }
  })
}

function specText(manifest: JsonRecord | undefined): string {
  return canonicalText(manifest?.['spec'])
}

/** Why a binding gives no ID; undefined for one that does. */
export function whyNone(judgement: Judgement | undefined): string | undefined {
  switch (judgement?.state) {
    case 'ready':
      return undefined
    case 'refused':
      return `refused (${judgement.reason}): ${judgement.message}`
    case 'undetermined':
      return `not known: ${unknownReasonText(judgement.why)}`
    case 'waiting':
    case 'deleting':
      return judgementWord(judgement.state)
    case undefined:
      return 'its spec cannot be read'
  }
}

type Ready = Extract<Judgement, { readonly state: 'ready' }>

/**
 * A registration with the new ID for what the old output selects. It has the hint of the output that follows it: of two with one hint the
 * Workload API hands out the older, so that a client which goes by the hint sees one ID at any time.
 */
function bridgeOf(
  now: Ready,
  then: Ready,
  { config, now: there }: Analysis,
  names: CompanionNames,
  beside: Judgement | undefined,
): Bridge {
  const { output, identity } = now.resolved
  const spec: JsonRecord = {
    ...output.spec,
    spiffeIDTemplate: then.resolved.identity.spiffeId,
    hint: then.resolved.output.spec.hint,
  }
  const parts = ['rename', identity.namespace, then.resolved.identity.binding]
  const name = names.nameOf({ nameParts: parts, spec })
  return {
    name,
    manifest: registrationManifest({ name, labels: labelsForScm(config), spec }),
    isThere: there.outputs.some(({ object }) => object.meta.name === name),
    because:
      beside?.state === 'refused'
        ? `two bindings there would be refused (${beside.reason})`
        : 'whether two bindings would be accepted there is not known',
  }
}

function changesOf(renamed: readonly RenamedBinding[]): readonly IdChange[] {
  const changes = renamed.flatMap(({ oldId, newId }) =>
    oldId === undefined || newId === undefined || oldId === newId ? [] : [{ oldId, newId }],
  )
  return onceBy(changes, canonicalText)
}

/** What is said of a binding under its old name is not new under the other. */
function broughtBy(
  renamed: readonly RenamedBinding[],
  { added, fixed, noLongerApply }: Effect['findings'],
): readonly Finding[] {
  const former = new Map(renamed.map(({ binding, next }) => [next, binding.key]))
  const keyOfFinding = ({ code, subject, related }: Finding): string =>
    canonicalText([
      code,
      ...[subject, ...related]
        .map(({ kind, namespace, name, container }) => {
          const key = namespacedName(namespace, name)
          return canonicalText([kind, kind === BINDING_KIND ? (former.get(key) ?? key) : key, container])
        })
        .toSorted(compareBytes),
    ])
  const gone = new Set([...fixed, ...noLongerApply].map(keyOfFinding))
  return added.filter((one) => !gone.has(keyOfFinding(one)))
}

function withBothOf(
  changes: readonly IdChange[],
  losing: Rename['holders'],
  holds: Holds,
): Rename['withBoth'] {
  return changes.map(({ oldId, newId }) => (losing.get(oldId) ?? []).filter((one) => holds(one, newId)))
}

function heldByOthers(
  settled: State,
  changes: readonly IdChange[],
  losing: Rename['holders'],
): readonly string[] {
  const held = holdersOfIds(
    settled,
    changes.map(({ newId }) => newId),
  )
  const found = changes.filter(({ oldId, newId }) => {
    const losers = new Set((losing.get(oldId) ?? []).map(holderKey))
    return (held.get(newId) ?? []).some(({ pod, containers }) =>
      containers.some((container) => !losers.has(holderKey({ pod: podText(pod), container }))),
    )
  })
  return [...new Set(found.map(({ newId }) => newId))]
}

/** What the sentences about containers that are cut off are made from. */
interface CutOffFacts {
  readonly analysis: Analysis
  readonly steps: readonly (readonly [Effect, Holds])[]
  readonly changes: readonly IdChange[]
  readonly effects: Rename['effects']
  readonly consumers: Consumers
  readonly heldElsewhere: readonly string[]
}

function cutOffsOf(renamed: readonly RenamedBinding[], facts: CutOffFacts): readonly CutOff[] {
  const { effects, consumers, heldElsewhere } = facts
  const all = [
    ...renamed.flatMap(({ next, oldId, newId, why }) =>
      oldId !== undefined && newId === undefined ? [certain(`${next} would give no ID: ${why ?? ''}`)] : [],
    ),
    ...renamed.flatMap(({ binding: { key }, oldId, why }) =>
      oldId === undefined && facts.analysis.settled.judgements.get(key)?.state !== 'refused'
        ? [open(`what ${key} gives now is not known: ${why ?? ''}`)]
        : [],
    ),
    ...losses(facts),
    ...newcomers(facts),
    ...cutOffsBy(consumers),
    ...consumers.edits.flatMap(({ kind, consumer, where, newId, isRefusal }) =>
      isRefusal && heldElsewhere.includes(newId)
        ? [open(`${kind} ${consumer} ${where} refuses the old ID, and then others that hold ${newId} too`)]
        : [],
    ),
    ...uncertain([effects.both, effects.switched, effects.done]),
  ]
  return onceBy(all, ({ text }) => text).toSorted((left, right) => Number(left.isOpen) - Number(right.isOpen))
}

function certain(text: string): CutOff {
  return { text, isOpen: false }
}

function open(text: string): CutOff {
  return { text, isOpen: true }
}

function holdersText(holders: readonly Holder[]): string {
  return summaryText(holders.map(({ pod, container }) => `${container} of ${pod}`))
}

/** Containers that lose an ID before they hold the one that takes its place, or without it. */
function losses({ steps, changes }: CutOffFacts): readonly CutOff[] {
  const successors = Map.groupBy(changes, ({ oldId }) => oldId)
  return steps.flatMap(([effect, holds], at) =>
    effect.lost.flatMap(({ spiffeId, containers }) => {
      const next = at === 0 ? [] : (successors.get(spiffeId) ?? [])
      const left = containers.filter((one) => !next.some(({ newId }) => holds(one, newId)))
      return left.length === 0
        ? []
        : [certain(`${spiffeId} is lost, and nothing takes its place: ${holdersText(left)}`)]
    }),
  )
}

/** Whether a container certainly holds an ID after a step. */
type Holds = (one: Holder, spiffeId: string) => boolean

function holding(after: Analysis, effect: Effect): Holds {
  const holds = idsOfHolders(after)
  const effectOn = effectByHolder(effect)
  return (one, spiffeId) => effectOn(one).gained.includes(spiffeId) || holds(one).has(spiffeId)
}

/** Containers that get a new ID without having held the old one, beside another that they hold: they may present either. */
function newcomers({ analysis, changes, effects: { done } }: CutOffFacts): readonly CutOff[] {
  const holds = idsOfHolders(analysis)
  return done.gained.flatMap(({ spiffeId, containers }) => {
    const before = changes.filter(({ newId }) => newId === spiffeId)
    const others = containers.filter((one) => {
      const ids = holds(one)
      return ids.size > 0 && !before.some(({ oldId }) => ids.has(oldId))
    })
    return others.length === 0
      ? []
      : certain(
          `${spiffeId} also goes to containers that do not hold the old ID and are known by another: ${holdersText(others)}`,
        )
  })
}

/** What containers certainly hold in a world, each worked out when it is asked about. */
function idsOfHolders({ settled, podsInQuestion }: Analysis): (holder: Holder) => ReadonlySet<string> {
  const pods = lazy(() => new Map(podsInQuestion.map((pod) => [podText(pod), pod])))
  const holdings = lazy(() => new Holdings(settled))
  return ({ pod: text, container: name }) => {
    const pod = pods().get(text)
    const container =
      pod &&
      holdings()
        .containersOf(pod)
        .find((one) => one.name === name)
    if (pod === undefined || container === undefined) return NONE
    return new Set(idsOf(holdings().ofContainer(pod, container).held))
  }
}

function uncertain(effects: readonly Effect[]): readonly CutOff[] {
  const all = new Map(effects.flatMap((one) => one.uncertain.map((each) => [holderKey(each), each] as const)))
  const [first] = all.values()
  return first === undefined
    ? []
    : [open(`what is held by ${holdersText([...all.values()])}: ${first.why.join('; ')}`)]
}
