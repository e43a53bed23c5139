// Findings that pods show. One pass over all pods, for all rules and for how far each binding reaches.
import { groupsBy } from '../../base/groups.ts'
import { type Analysis, type State, Holdings, isMade, asSeenBeside } from '../../analysis/index.ts'
import {
  judgeContainer,
  NamespaceFilter,
  judgeSelector,
  splitSelector,
  whyOpen,
  type EntrySelector,
  podIdentitiesOf,
  type PodIdentities,
} from '../../predict/index.ts'
import { getOrCreate } from '../../base/get-or-create.ts'
import { remembered } from '../../base/remembered.ts'
import { holderKey, podText, PodCount } from '../../model/objects/pod-index.ts'
import type { Binding, DeclaredBinding } from '../../model/objects/binding.ts'
import type { Pod } from '../../model/objects/pod.ts'
import { isAsShown } from '../../model/objects/unscheduled.ts'
import { workingOn } from '../../model/objects/pods-alike.ts'
import { driveAtOnce, type Steps } from '../../base/steps.ts'
import { bindingSubject } from '../../model/objects/subject.ts'
import {
  asFarAs,
  finding,
  findingKey,
  type Finding,
  type ShownByNamespace,
  type ShownWithin,
} from '../finding/finding.ts'
import { type Rule } from '../finding/rule.ts'
import { areAllPodsRead, isAnyOfPool } from './pods-of-pool.ts'
import { all, not, openOn, YES } from '../../model/truth/truth.ts'
import { judged, morePods } from './pod-driver.ts'
import { noteKey, podLookupsOf, type Note } from './pod-note.ts'
import { POD_CODES, POD_RULES } from './pod-rules.ts'
import { NameSummary, summaryText } from '../../base/text/counted.ts'
import { didYouMean } from '../../base/text/suggest.ts'
import { findingStepsInWorlds } from './in-worlds.ts'

/** Which pods of its pool the output of one binding meets. */
interface Reach {
  /** The pods that it selects. */
  readonly selected: PodCount
  /** Whether one of them is there for certain. */
  isCertain: boolean
  /** The first of them that a controller makes in its own way. */
  made: Pod | undefined
  /** How many of them have a container that all selectors match. */
  reached: number
  /** How many of the selected ones SCM does not see. */
  unseen: number
  /** Of how many pods, or containers, it is not certain whether they are there. */
  perhaps: number
  /** Why it is not certain that the identity reaches an existing container. */
  open: string | undefined
  /** Undefined: none. */
  missed: Missed | undefined
}

/** The pods that an output selects and misses, by the reason; their service accounts and containers: one may have been meant. */
interface Missed {
  readonly pods: Map<string, NameSummary>
  readonly accounts: Set<string>
  readonly containers: Set<string>
}

/** What is found about pods. Those that are not read, and containers that webhooks add, may show more. */
export const podRule: Rule = {
  codes: [...POD_CODES, 'KLM404', 'KLM409', 'KLM412'],
  find: podFindings,
  more: morePods,
}

/** The findings of all pods, and of bindings that reach none; a step for each pod. Each analysis is asked once. */
function* podFindings(analysis: Analysis): Steps<readonly Finding[]> {
  const known = FOUND.get(analysis)
  if (known !== undefined) return known
  const found = yield* allPodFindings(analysis)
  FOUND.set(analysis, found)
  return found
}

const FOUND = new WeakMap<Analysis, readonly Finding[]>()

function* allPodFindings(analysis: Analysis): Steps<readonly Finding[]> {
  const reaches = new Map<string, Reach>()
  const pods = analysis.podsInQuestion
  const selectors = selectorsByOutput(analysis)
  const namespaces = new NamespaceFilter(analysis.settings)
  const notes = yield* notesOf(analysis, pods, {
    meetingsOf: (facts) => meetingsOf(facts, selectors),
    visit: (pod, meetings) =>
      recordReach(pod, meetings, reaches, namespaces.whyPodIgnored(pod)?.state !== 'ignored'),
  })
  return [
    ...(yield* withOtherScms(analysis, pods, notes)),
    ...(yield* unreached(analysis, reaches, namespaces)),
  ]
}

/** The findings that some pods show by themselves. */
export function podNotes(analysis: Analysis, pods: readonly Pod[]): readonly Finding[] {
  return driveAtOnce(
    findingStepsInWorlds(analysis, function* (world) {
      return yield* withOtherScms(world, pods, yield* notesOf(world, pods))
    }),
  )
}

/** The findings, and those about an SCM that runs beside ours. A namespace has each finding once. */
function* withOtherScms(
  analysis: Analysis,
  pods: readonly Pod[],
  notes: readonly Finding[],
): Steps<readonly Finding[]> {
  const found = [...notes]
  const told = new Map<string, ReadonlySet<string>>()
  const tell = (one: Finding): void => {
    const key = findingKey(one)
    told.set(key, (told.get(key) ?? new Set()).union(one.namespaces ?? new Set()))
  }
  for (const one of notes) tell(one)
  for (const settings of analysis.openSettings.beside) {
    const theirs = yield* notesOf(asSeenBeside(analysis, settings), pods, undefined, told)
    for (const one of theirs) {
      // What else it does is none of the business of bindings.
      if (one.parts === undefined) continue
      tell(one)
      found.push({ ...one, evidence: [...one.evidence, `by the SCM of ${settings.source}`] })
    }
  }
  return found
}

/** The containers that show findings of pods, as `holderKey` has them, by `findingKey`: only the findings of `keys`, and pods of some namespaces. */
export function* holdersOfNotes(
  state: State,
  { keys, namespaces }: { readonly keys: ReadonlySet<string>; readonly namespaces: ReadonlySet<string> },
): Steps<ReadonlyMap<string, readonly string[]>> {
  const holders = new Map<string, string[]>()
  const pods = state.base.podsInQuestion.filter(({ namespace }) => namespaces.has(namespace))
  if (pods.length === 0) return holders
  const prediction = state.prediction()
  const lookups = podLookupsOf(state)
  const shown = (pod: Pod): readonly { readonly key: string; readonly containers: readonly string[] }[] => {
    const facts = podIdentitiesOf(prediction, pod)
    if (facts.outcomes.length === 0) return []
    const names = facts.containers.map(({ container }) => container.name)
    return POD_RULES.flatMap((rule) => rule(facts, lookups))
      .map((note) => ({ key: keyOf(note), containers: note.containers ?? names }))
      .filter(({ key }) => keys.has(key))
  }
  yield* workingOn(pods, shown, (pod, notes) => {
    for (const { key, containers } of notes)
      getOrCreate(holders, key, () => []).push(
        ...containers.map((container) => holderKey({ pod: podText(pod), container })),
      )
  })
  return holders
}

/**
 * A note, and the pods that show it: all of them, or those of one namespace if the note is not certain. There may be ten
 * thousand findings, and each keeps its note, so everything else is computed on demand.
 */
interface ShownNote {
  readonly note: Note
  /** One number for all notes with one `noteKey`. */
  readonly sameAs: number
  readonly pods: Pod[]
}

/**
 * The findings that pods show, without those that `told` already has for a namespace, by `findingKey`. Certain and uncertain
 * pods give two findings, whatever the number of reasons.
 */
function* notesOf(
  analysis: Analysis,
  pods: readonly Pod[],
  visitor?: Visitor,
  told: ReadonlyMap<string, ReadonlySet<string>> = new Map(),
): Steps<readonly Finding[]> {
  const prediction = analysis.settled.prediction()
  const lookups = podLookupsOf(analysis.settled)
  const holdings = new Holdings(analysis.settled)
  const numbers = new Map<string, number>()
  const certain = new Map<number, ShownNote>()
  const perhaps = new Map<string, ShownNote>()
  const shows = (pod: Pod): ShownByPod => {
    const facts = podIdentitiesOf(prediction, pod)
    if (facts.outcomes.length === 0) return NOTHING_SHOWN
    const notes = judged(facts, lookups, all(holdings.asRead(pod), isAsShown(pod))).map((note) => ({
      note,
      sameAs: getOrCreate(numbers, noteKey(note), () => numbers.size),
      told: told.size === 0 ? undefined : told.get(keyOf(note)),
    }))
    return { notes, meetings: visitor?.meetingsOf(facts) ?? [] }
  }
  const take = (pod: Pod, { notes }: ShownByPod): void => {
    for (const { note, sameAs, told: toldOf } of notes) {
      if (toldOf?.has(pod.namespace) === true) continue
      const newNote = (): ShownNote => ({ note, sameAs, pods: [] })
      const seen =
        note.holds === YES
          ? getOrCreate(certain, sameAs, newNote)
          : getOrCreate(perhaps, `${pod.namespace} ${sameAs}`, newNote)
      seen.pods.push(pod)
    }
  }
  yield* workingOn(pods, shows, (pod, shown) => {
    take(pod, shown)
    visitor?.visit(pod, shown.meetings)
  })
  // The same pods as they will be once their nodes are there.
  const later = new Map(pods.flatMap((pod) => holdings.scheduled(pod).map((one) => [one, pod] as const)))
  yield* workingOn([...later.keys()], shows, (one, shown) => take(later.get(one) ?? one, shown))
  const found: Finding[] = []
  const sure = byFinding(certain.values())
  const left = [...sure.values(), ...withoutCertain(byFinding(perhaps.values()), sure)]
  // Of each finding the notes go as it is made: there may be ten thousand.
  for (const kept of [numbers, certain, perhaps, sure]) kept.clear()
  for (const [at, shown] of left.entries()) {
    yield
    found.push(...findingOf(shown))
    left[at] = []
  }
  return found
}

/** What a pod shows, and the outputs that it meets: nothing in it is about the one pod. */
interface ShownByPod {
  readonly notes: readonly {
    readonly note: Note
    readonly sameAs: number
    /** The namespaces that were told of it. */
    readonly told: ReadonlySet<string> | undefined
  }[]
  readonly meetings: readonly Meeting[]
}

const NOTHING_SHOWN: ShownByPod = { notes: [], meetings: [] }

/** Sees which outputs pods meet. */
interface Visitor {
  readonly meetingsOf: (facts: PodIdentities) => readonly Meeting[]
  readonly visit: (pod: Pod, meetings: readonly Meeting[]) => void
}

type ByFinding = Map<string, readonly ShownNote[]>

function byFinding(shown: Iterable<ShownNote>): ByFinding {
  return Map.groupBy(shown, ({ note }) => keyOf(note))
}

/** As `findingKey` has it. */
function keyOf({ code, subject, related }: Pick<Note, 'code' | 'subject' | 'related'>): string {
  return findingKey(finding(code, { subject, related, summary: '' }))
}

/** What some pods of a namespace show for certain is not told of others there as perhaps. */
function withoutCertain(perhaps: ByFinding, certain: ByFinding): readonly (readonly ShownNote[])[] {
  return [...perhaps].flatMap(([key, unsure]) => {
    const sure = namespacesOf(certain.get(key)?.flatMap(({ pods }) => pods) ?? [])
    const left = unsure.filter(({ pods }) => pods.every(({ namespace }) => !sure.has(namespace)))
    return left.length === 0 ? [] : [left]
  })
}

/** So many reasons of one finding are listed, each once with its pods. */
const REASONS_MAX = 5

/** One finding from notes that differ in their reasons, and perhaps in their sentences: the first sentence is shown. */
function findingOf(shown: readonly ShownNote[]): readonly Finding[] {
  const [whole] = together(shown)
  if (whole === undefined) return []
  const reasons = groupsOf(shown, ({ sameAs }) => sameAs)
  const [first = '', ...sentences] = groupsOf(reasons, ({ note }) => note.summary('', '')).map(sentenceOf)
  const told = reasons.slice(0, REASONS_MAX)
  // Two containers that lose one identity each have one reason for it.
  const evidence = groupsOf(told, ({ note }) => (note.evidence ?? []).join('\n'))
  const more = together(reasons.slice(REASONS_MAX)).map(({ pods }) => `the like in ${podsText(pods)}`)
  const { code, subject, related } = whole.note
  const parts = new Set(shown.flatMap(({ note }) => note.parts ?? []))
  const one = finding(code, {
    subject,
    related,
    summary: first,
    evidence: [
      ...sentences.slice(0, REASONS_MAX),
      ...evidence.flatMap(({ note, pods }) => [...(note.evidence ?? []), `seen in ${podsText(pods)}`]),
      ...more,
    ],
    namespaces: namespacesOf(whole.pods),
    ...(parts.size > 0 && { parts: new Map([...parts].map((part) => [part, part])) }),
  })
  const made = asFarAs(all(...told.map(({ note }) => note.holds)), one)
  // Of one namespace there is no part to ask about. Its notes and pods are not kept: there may be ten thousand such findings.
  if (one.namespaces?.size === 1) return made
  return made.map((each) => ({ ...each, within: new ShownPods(shown, each.evidence.length) }))
}

/** What is shown, to be asked about some of its namespaces. Its fields are private: a finding is compared by what it says. */
class ShownPods implements ShownByNamespace {
  readonly #shown: readonly ShownNote[]
  readonly #lines: number

  constructor(shown: readonly ShownNote[], lines: number) {
    this.#shown = shown
    this.#lines = lines
  }

  of(namespaces: ReadonlySet<string>): ShownWithin {
    const [part] = findingOf(this.#shown.flatMap((some) => shownIn(namespaces, some)))
    return { summary: part?.summary ?? '', evidence: part?.evidence ?? [], insteadOf: this.#lines }
  }
}

function shownIn(namespaces: ReadonlySet<string>, one: ShownNote): readonly ShownNote[] {
  const pods = one.pods.filter(({ namespace }) => namespaces.has(namespace))
  return pods.length === 0 ? [] : [{ ...one, pods }]
}

/** Of one namespace it is one set: most findings are of one, and there may be ten thousand. */
function namespacesOf(pods: readonly Pod[]): ReadonlySet<string> {
  const namespaces = new Set(pods.map(({ namespace }) => namespace))
  const [first = ''] = namespaces
  return namespaces.size === 1 ? remembered(ALONE, first, namespaces) : namespaces
}

const ALONE = new Map<string, ReadonlySet<string>>()

function sentenceOf({ note, pods }: ShownNote): string {
  return note.summary(PodCount.of(new Set(pods)).text(), namespacesText(namespacesOf(pods)))
}

function podsText(pods: readonly Pod[]): string {
  return summaryText([...new Set(pods)].map(podText))
}

function groupsOf(shown: readonly ShownNote[], same: (one: ShownNote) => unknown): readonly ShownNote[] {
  return shown.length === 1 ? shown : groupsBy(shown, same).flatMap(together)
}

/** Several as one, with the note of the first; none for none. */
function together([first, ...others]: readonly ShownNote[]): readonly ShownNote[] {
  if (first === undefined || others.length === 0) return first === undefined ? [] : [first]
  return [{ ...first, pods: [first, ...others].flatMap(({ pods }) => pods) }]
}

function namespacesText(namespaces: ReadonlySet<string>): string {
  return `${namespaces.size === 1 ? 'namespace' : 'namespaces'} ${summaryText(namespaces)}`
}

/** Whether a pod is certain to have the namespace and the labels that an output asks for. */
function isSelected(pod: Pod, selectors: readonly EntrySelector[]): boolean {
  return selectors
    .filter(({ value }) => value.startsWith('ns:') || value.startsWith('pod-label:'))
    .every((selector) => judgeSelector(pod, undefined, selector).match === 'yes')
}

/** The workload selectors of each output that is Ready, by its name: they hold no template. */
function selectorsByOutput({ now }: Analysis): ReadonlyMap<string, readonly string[]> {
  const selectors = new Map<string, readonly string[]>()
  for (const judgement of now.judgements.values()) {
    if (judgement.state !== 'ready') continue
    const { metadata, spec } = judgement.resolved.output
    selectors.set(metadata.name, spec.workloadSelectorTemplates)
  }
  return selectors
}

/** How a pod meets the output of a binding. */
interface Meeting {
  /** The name of the output. */
  readonly output: string
  /** Whether all selectors match a container. */
  readonly isMet: boolean
  /** Whether that is not certain. */
  readonly isOpen: boolean
  /** Why it is not certain, if the pod and a container that may match are there. */
  readonly whyOpen: string | undefined
  /** Whether the pod counts as one that the output selects. */
  readonly isCounted: boolean
  /** Why containers are missed, each reason once. */
  readonly why: readonly string[]
  /** The names of containers that are missed: one of them may have been meant. */
  readonly containers: readonly string[]
}

/**
 * How a pod meets each output that selects it: whether all selectors match a container. That does not depend on what becomes of the
 * entry: a container name that no container has is wrong whatever the trust domain or the class is.
 */
function meetingsOf(
  { pod, outcomes, containers }: PodIdentities,
  selectors: ReadonlyMap<string, readonly string[]>,
): readonly Meeting[] {
  return outcomes.flatMap((outcome) => {
    if (outcome.source.kind !== 'ClusterSPIFFEID') return []
    const ofOutput = selectors.get(outcome.source.name)?.map(splitSelector)
    if (ofOutput === undefined) return []
    const entry = outcome.entry ?? { selectors: ofOutput, storeSvid: false }
    const matches = containers.map(({ container }) => judgeContainer(pod, container, entry))
    const isMet = matches.some(({ state }) => state !== 'dead')
    const isSure = matches.some(({ state }) => state === 'issued')
    const maybe = matches.find(
      (match, at) => match.state !== 'dead' && containers[at]?.container.injectedBy === undefined,
    )
    const { verdict } = outcome
    const isOpen = verdict.state === 'depends' || whyOpen(verdict) !== undefined || pod.perhaps !== undefined
    const why = isOpen
      ? whyOpen(verdict)
      : isSure || maybe === undefined || !('why' in maybe)
        ? undefined
        : maybe.why
    return {
      output: outcome.source.name,
      isMet,
      isOpen,
      whyOpen: pod.perhaps === undefined && maybe !== undefined ? why : undefined,
      // What it depends on may be whether the output selects the pod.
      isCounted: !isOpen || (!isMet && isSelected(pod, ofOutput)),
      why: isMet ? [] : [...new Set(matches.map((match) => ('why' in match ? match.why : '')))],
      containers: isMet ? [] : containers.map(({ container }) => container.name),
    }
  })
}

/** Records what outputs a pod meets. */
function recordReach(
  pod: Pod,
  meetings: readonly Meeting[],
  reaches: Map<string, Reach>,
  isSeen: boolean,
): void {
  for (const { output, isMet, isOpen, whyOpen: open, isCounted, why, containers } of meetings) {
    const reach = getOrCreate(reaches, output, (): Reach => ({
      selected: new PodCount(),
      isCertain: false,
      made: undefined,
      reached: 0,
      unseen: 0,
      perhaps: 0,
      open: undefined,
      missed: undefined,
    }))
    if (isMet) reach.open ??= open
    if (isOpen && isMet && open === undefined) reach.perhaps++
    if (!isCounted) continue
    reach.selected.add(pod)
    if (!isSeen) reach.unseen++
    if (pod.perhaps === undefined) reach.isCertain = true
    else reach.made ??= pod
    if (isMet && open === undefined) reach.reached++
    else if (!isMet) {
      const missed = (reach.missed ??= { pods: new Map(), accounts: new Set(), containers: new Set() })
      for (const one of why) getOrCreate(missed.pods, one, () => new NameSummary()).add(podText(pod))
      if (missed.accounts.size < MEANT_MAX) missed.accounts.add(pod.serviceAccountName)
      if (missed.containers.size < MEANT_MAX) for (const name of containers) missed.containers.add(name)
    }
  }
}

/** More names than these do not help a reader to see which one was meant. */
const MEANT_MAX = 100

/** What the binding may have meant, where its service account or its container is no pod's. */
function meantText(
  { serviceAccountName, containerName }: Pick<Binding, 'serviceAccountName' | 'containerName'>,
  missed: Missed | undefined,
): string {
  if (missed === undefined) return ''
  const meant = [
    [serviceAccountName, missed.accounts],
    [containerName, missed.containers],
  ] as const
  const words = meant.flatMap(([field, there]) =>
    !field.ok || field.value === undefined || field.value === '' || there.has(field.value)
      ? []
      : (didYouMean(field.value, [...there]) ?? []),
  )
  return words.length === 0 ? '' : `; ${[...new Set(words)].join(' ')}`
}

/** Bindings whose output is in force and reaches no container; a step for each. */
function* unreached(
  analysis: Analysis,
  reaches: ReadonlyMap<string, Reach>,
  namespaces: NamespaceFilter,
): Steps<readonly Finding[]> {
  const outputs = new Set(analysis.settled.outputs.map(({ object }) => object.meta.name))
  const found: Finding[] = []
  for (const { binding } of analysis.compiled) {
    yield
    const readsNamespace = namespaces.whyNoEntries(binding.meta.namespace) === undefined
    found.push(...unreachedBy(binding, analysis, outputs, reaches, readsNamespace))
  }
  return found
}

function unreachedBy(
  binding: DeclaredBinding,
  analysis: Analysis,
  outputs: ReadonlySet<string>,
  reaches: ReadonlyMap<string, Reach>,
  readsNamespace: boolean,
): readonly Finding[] {
  const judgement = analysis.now.judgements.get(binding.key)
  if (judgement?.state !== 'ready' || !outputs.has(judgement.resolved.output.metadata.name)) return []
  // What was not read may hold a pod that it reaches.
  const areAll = areAllPodsRead(analysis, binding.meta.namespace)
  const subject = bindingSubject(binding)
  const reach = reaches.get(judgement.resolved.output.metadata.name)
  const { poolName, poolLabels } = judgement.resolved.identity
  const isAny = reach?.isCertain === true ? YES : isAnyOfPool(analysis, binding.meta.namespace, poolLabels)
  const summary = `no pod carries the labels of InferencePool ${poolName}`
  // That no pod is there says nothing where not all of them were read.
  const none = areAll !== YES ? [] : asFarAs(not(isAny), finding('KLM412', { subject, summary }))
  if (reach === undefined || reach.selected.total === 0) return none
  const made = reach.isCertain || reach.made === undefined ? YES : isMade(reach.made)
  if (readsNamespace && reach.unseen === reach.selected.total) {
    const unseen = `SCM does not see ${reach.selected.text()} of the pool, whose labels its cacheNamespaces leave out`
    const evidence = [`SCM's settings: ${analysis.settings.source}`]
    return asFarAs(all(made, areAll), finding('KLM409', { subject, summary: unseen, evidence }))
  }
  if (reach.reached > 0 || reach.perhaps > 0) return none
  const one = finding('KLM404', {
    subject,
    summary: `${reach.selected.text()} of the pool, but no container matches all selectors${meantText(binding, reach.missed)}`,
    evidence: [...(reach.missed?.pods ?? [])].map(([why, pods]) => `${why}: ${pods.text()}`),
  })
  const missed = reach.open === undefined ? YES : openOn('whether a container matches', reach.open)
  return [...none, ...asFarAs(all(made, missed, areAll), one)]
}
