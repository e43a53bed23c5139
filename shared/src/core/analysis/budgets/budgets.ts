// How many registration entries a state asks for: in all, by binding, by node, and for one container; and how many of them no
// container can ever match. One entry stands for one pod and one registration that gives it something (docs/spire-facts.md §3).
import { onceBy } from '../../base/groups.ts'
import { CauseSet } from '../../model/truth/causes.ts'
import { NO, open, TruthCount, YES, type Truth } from '../../model/truth/truth.ts'
import { podText, unnumberedText } from '../../model/objects/pod-index.ts'
import type { Node, Pod } from '../../model/objects/pod.ts'
import { workingOn } from '../../model/objects/pods-alike.ts'
import { getOrCreate } from '../../base/get-or-create.ts'
import type { Steps } from '../../base/steps.ts'
import {
  clusterOfParent,
  entryKey,
  isAskedFor,
  judgeContainer,
  sourceText,
  type EntryOutcome,
} from '../../predict/index.ts'
import type { Unknown } from '../../model/truth/unknown.ts'
import type { State } from '../states/state.ts'

/** How many there are for certain, and why there may be others: without a cause, that is all of them. */
export interface Amount {
  readonly certain: number
  readonly causes: CauseSet
}

/** The one of several that has the most. */
export interface Fullest {
  /** A node, a binding (`namespace/name`), or `vllm of pod team-a/llama-0`. */
  readonly name: string
  readonly entries: number
}

/** What a state asks of SCM, the server and the agents, in entries. */
export interface Budgets {
  /** Of all pods that exist, and of all ClusterStaticEntries. */
  readonly entries: Amount
  /** Those that no container of their pod can match: each costs as much as any other. */
  readonly unmatched: Amount
  /** Pods that exist and were read. */
  readonly pods: number
  /** By binding, for certain; a binding without any is left out. */
  readonly byBinding: ReadonlyMap<string, number>
  /** By the node of the pod, or of the agent that is the parent of a static entry, for certain. */
  readonly byNode: ReadonlyMap<string, number>
  /** The container that the most entries match for certain; undefined: none matches any. */
  readonly ofContainer: Fullest | undefined
  /** What was not read, or not decided. */
  readonly unread: CauseSet
  /** How many one pod of a workload gets whose pods are not there yet, by the text of the workload; without those that get none. */
  readonly ofEachPod: ReadonlyMap<string, number>
}

/** Counts the entries of a state, in steps; `each` is called with what each pod in question is given. */
export function* countingEntries(
  state: State,
  each: (pod: Pod, entries: EntriesOfPod) => unknown = () => {},
): Steps<Budgets> {
  const { snapshot, podsInQuestion } = state.base
  const prediction = state.prediction()
  const bindings = state.bindingsByOutput()
  const counter = new EntryCounter((output) => bindings.get(output))
  for (const outcome of prediction.staticEntries())
    if (outcome.source.kind === 'ClusterStaticEntry')
      counter.addStatic(outcome, nodeOf(outcome, snapshot.nodes))
  const work = (pod: Pod): EntriesOfPod => counter.entriesOf(pod, prediction.entriesOf(pod))
  yield* workingOn(podsInQuestion, work, (pod, entries) => {
    counter.add(pod, entries)
    each(pod, entries)
  })
  const unread = [
    snapshot.rest.pods(),
    snapshot.rest.registrations(),
    snapshot.rest.bindings(),
    snapshot.rest.of('Node'),
  ].filter((why) => why !== undefined)
  return counter.budgets([
    ...unread.map((why): Unknown => ({ kind: 'unread', of: {}, why })),
    ...(snapshot.namespacesRead === undefined
      ? []
      : [{ kind: 'out of scope', of: {}, namespaces: [...snapshot.namespacesRead] } satisfies Unknown]),
    ...[...state.undecided.values()]
      .flat()
      .map(({ binding, why }): Unknown => ({ kind: 'undecided', of: {}, binding, why })),
  ])
}

/** The one with the most, the first by name of several; undefined: there is none. */
export function fullestOf(counts: ReadonlyMap<string, number>): Fullest | undefined {
  let most: Fullest | undefined
  for (const [name, entries] of counts)
    if (most === undefined || entries > most.entries || (entries === most.entries && name < most.name))
      most = { name, entries }
  return most
}

/** What a change does to the entries of pods, as far as both sides are certain. */
export interface BudgetChange {
  /** Entries that are certainly not there before it, and certainly there after it. */
  readonly added: number
  /** The other way round. */
  readonly removed: number
  /** Entries that may be there on one side alone. */
  readonly open: number
  /** The node that gains the most, or loses the most if more are removed than added; undefined: none does. */
  readonly node: Fullest | undefined
  /** More entries or fewer, by binding; those that are not zero. */
  readonly byBinding: ReadonlyMap<string, number>
  /** The same for one pod of each workload whose pods are not there yet. */
  readonly ofEachPod: ReadonlyMap<string, number>
  /** Why there may be other changes: what was not read on either side. */
  readonly causes: CauseSet
}

/** Two states, counted, and the change from one to the other. */
export interface ComparedBudgets {
  readonly before: Budgets
  readonly after: Budgets
  readonly change: BudgetChange
}

/** Counts the entries of two states beside each other, in steps for each pod. */
export function* comparingEntries(before: State, after: State): Steps<ComparedBudgets> {
  const had = new PodsWithEntries()
  const has = new PodsWithEntries()
  const counted = {
    before: yield* countingEntries(before, (pod, entries) => had.add({ pod, entries })),
    after: yield* countingEntries(after, (pod, entries) => has.add({ pod, entries })),
  }
  const change = new ChangeCounter(before, after)
  for (const { pod, entries } of has.all()) {
    yield
    change.add(pod, had.like(pod)?.entries, entries)
  }
  for (const { pod, entries } of had.all()) {
    yield
    if (has.like(pod) === undefined) change.add(pod, entries, undefined)
  }
  const causes = counted.before.unread.union(counted.after.unread)
  return { ...counted, change: change.result(causes) }
}

interface PodWithEntries {
  readonly pod: Pod
  readonly entries: EntriesOfPod
}

class PodsWithEntries {
  readonly #byText = new Map<string, PodWithEntries>()
  /** One of those that a template makes, by `unnumberedText`. */
  readonly #byTemplate = new Map<string, PodWithEntries>()

  add(one: PodWithEntries): void {
    this.#byText.set(podText(one.pod), one)
    if (!one.pod.exists) getOrCreate(this.#byTemplate, unnumberedText(one.pod), () => one)
  }

  all(): Iterable<PodWithEntries> {
    return this.#byText.values()
  }

  /** The same pod; of pods that one side alone tells apart by their numbers, one of the template. */
  like(pod: Pod): PodWithEntries | undefined {
    const same = this.#byText.get(podText(pod))
    if (same !== undefined || pod.exists) return same
    const one = this.#byTemplate.get(unnumberedText(pod))
    return pod.name === undefined || one?.pod.name === undefined ? one : undefined
  }
}

class ChangeCounter {
  readonly #before: State
  readonly #after: State
  readonly #byNode = new Map<string, number>()
  readonly #byBinding = new Map<string, number>()
  readonly #ofEachPod = new Map<string, number>()
  /** Of the last pod: the next one is often alike. */
  #last:
    | { readonly had: EntriesOfPod; readonly has: EntriesOfPod; readonly all: readonly Difference[] }
    | undefined
  #added = 0
  #removed = 0
  #open = 0

  constructor(before: State, after: State) {
    this.#before = before
    this.#after = after
  }

  add(pod: Pod, had: EntriesOfPod = NO_ENTRIES, has: EntriesOfPod = NO_ENTRIES): void {
    if (this.#last?.had !== had || this.#last.has !== has)
      this.#last = { had, has, all: differences(had, has) }
    for (const { name, by } of this.#last.all) {
      if (by !== undefined) this.#count(name, pod, by)
      else if (pod.exists) this.#open++
    }
  }

  result(causes: CauseSet): BudgetChange {
    const sign = this.#removed > this.#added ? -1 : 1
    const nodes = [...this.#byNode].map(([name, by]) => [name, by * sign] as const)
    return {
      added: this.#added,
      removed: this.#removed,
      open: this.#open,
      node: fullestOf(new Map(nodes.filter(([, by]) => by > 0))),
      byBinding: withoutZeros(this.#byBinding),
      ofEachPod: withoutZeros(this.#ofEachPod),
      causes,
    }
  }

  #count(source: string, pod: Pod, by: 1 | -1): void {
    if (!pod.exists) {
      if (pod.perhaps === undefined) add(this.#ofEachPod, podText(pod), by)
      return
    }
    if (by > 0) this.#added++
    else this.#removed++
    if (pod.nodeName !== undefined) add(this.#byNode, pod.nodeName, by)
    const state = by > 0 ? this.#after : this.#before
    const binding = state.bindingsByOutput().get(source)
    if (binding !== undefined) add(this.#byBinding, binding, by)
  }
}

function withoutZeros(counts: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  return new Map([...counts].filter(([, by]) => by !== 0))
}

/** A registration that gives a pod an entry in one of two states alone. */
interface Difference {
  /** Of the ClusterSPIFFEID. */
  readonly name: string
  /** Undefined: it may, in one of the two. */
  readonly by: 1 | -1 | undefined
}

function differences(had: EntriesOfPod, has: EntriesOfPod): readonly Difference[] {
  const names = new Set([...had.bySource.keys(), ...has.bySource.keys()])
  return [...names].flatMap((name): readonly Difference[] => {
    const [one, other] = [had, has].map(({ bySource }) => (bySource.get(name) ?? NO).value)
    if (one === other) return []
    const isOpen = one === 'open' || other === 'open'
    return [{ name, by: isOpen ? undefined : other === 'yes' ? 1 : -1 }]
  })
}

/** What registrations make of a pod; nothing in it is about the one pod. */
export interface EntriesOfPod {
  /** By the names of the ClusterSPIFFEIDs that give it an entry, or may. */
  readonly bySource: ReadonlyMap<string, Truth>
  readonly asked: readonly {
    readonly name: string
    readonly truth: Truth
    /** No container of the pod can match it. */
    readonly isUnmatched: boolean
  }[]
  /** The container that the most entries match for certain; undefined: none matches any. */
  readonly fullest: Fullest | undefined
}

const NO_ENTRIES: EntriesOfPod = { bySource: new Map(), asked: [], fullest: undefined }

class EntryCounter {
  readonly #bindingOf: (output: string) => string | undefined
  readonly #entries = new TruthCount()
  readonly #unmatched = new TruthCount()
  readonly #byBinding = new Map<string, number>()
  readonly #byNode = new Map<string, number>()
  readonly #ofEachPod = new Map<string, number>()
  /** One cause for all entries that have it. */
  readonly #open = new Map<string, Truth>()
  #pods = 0
  #ofContainer: Fullest | undefined

  constructor(bindingOf: (output: string) => string | undefined) {
    this.#bindingOf = bindingOf
  }

  /** `node` is that whose agent is its parent. */
  addStatic({ verdict }: EntryOutcome, node: string | undefined): void {
    const truth = this.#truthOf(verdict)
    this.#entries.add(truth)
    if (truth === YES && node !== undefined) add(this.#byNode, node, 1)
  }

  /** What the outcomes of a pod come to. */
  entriesOf(pod: Pod, outcomes: readonly EntryOutcome[]): EntriesOfPod {
    if (outcomes.length === 0) return NO_ENTRIES
    const all = distinct(outcomes)
    const truths = all.map(({ source, verdict }) => [source, this.#truthOf(verdict)] as const)
    const asked = distinct(outcomes.filter(({ source }) => source.kind === 'ClusterSPIFFEID'))
    return {
      bySource: new Map(
        truths.flatMap(([source, truth]) =>
          truth === NO || source.kind !== 'ClusterSPIFFEID' ? [] : [[source.name, truth]],
        ),
      ),
      asked: asked.map(({ source: { name }, entry, verdict }) => {
        const truth = this.#truthOf(verdict)
        const isUnmatched = truth === YES && entry !== undefined && matchesNone(pod, entry)
        return { name, truth, isUnmatched }
      }),
      fullest: fullestContainer(pod, all),
    }
  }

  add(pod: Pod, { asked, fullest }: EntriesOfPod): void {
    if (pod.exists) this.#pods++
    else {
      const certain = asked.filter(({ truth }) => truth === YES).length
      if (certain > 0 && pod.perhaps === undefined) add(this.#ofEachPod, podText(pod), certain)
      return
    }
    for (const { name, truth, isUnmatched } of asked) {
      this.#entries.add(truth)
      if (truth !== YES) continue
      const binding = this.#bindingOf(name)
      if (binding !== undefined) add(this.#byBinding, binding, 1)
      if (pod.nodeName !== undefined) add(this.#byNode, pod.nodeName, 1)
      if (isUnmatched) this.#unmatched.add(YES)
    }
    if (fullest !== undefined && fullest.entries > (this.#ofContainer?.entries ?? 0))
      this.#ofContainer = { ...fullest, name: `${fullest.name} of ${podText(pod)}` }
  }

  budgets(unread: readonly Unknown[]): Budgets {
    const known = unread
      .map((cause) => CauseSet.of(cause))
      .reduce((all, one) => all.union(one), CauseSet.EMPTY)
    const causes = known.union(this.#entries.causes)
    return {
      entries: { certain: this.#entries.count.certain, causes },
      unmatched: { certain: this.#unmatched.count.certain, causes },
      unread: known,
      pods: this.#pods,
      byBinding: this.#byBinding,
      byNode: this.#byNode,
      ofContainer: this.#ofContainer,
      ofEachPod: this.#ofEachPod,
    }
  }

  /** Whether SCM asks for the entry and the server takes it. */
  #truthOf(verdict: EntryOutcome['verdict']): Truth {
    if (isAskedFor(verdict)) return YES
    if (verdict.state !== 'depends' && verdict.state !== 'unknown') return NO
    return getOrCreate(this.#open, verdict.why, () => open({ kind: 'verdict', of: {}, why: verdict.why }))
  }
}

/** The node whose agent is the parent of an entry: an agent's ID ends in the UID of its node (docs/spire-facts.md §6). */
function nodeOf({ entry }: EntryOutcome, nodes: readonly Node[] | undefined): string | undefined {
  if (entry === undefined || clusterOfParent(entry) === undefined) return undefined
  return nodes?.find(({ uid }) => uid !== undefined && entry.parentId.endsWith(`/${uid}`))?.name
}

/** The first container of a pod that the most entries match for certain. */
function fullestContainer(pod: Pod, outcomes: readonly EntryOutcome[]): Fullest | undefined {
  const counts = pod.containers.map((container) => ({
    name: container.name,
    entries: outcomes.filter(
      ({ entry, verdict }) =>
        entry !== undefined &&
        isAskedFor(verdict) &&
        judgeContainer(pod, container, entry).state === 'issued',
    ).length,
  }))
  return counts.reduce<Fullest | undefined>(
    (most, one) => (one.entries > (most?.entries ?? 0) ? one : most),
    undefined,
  )
}

function matchesNone(pod: Pod, entry: NonNullable<EntryOutcome['entry']>): boolean {
  return pod.containers.every((container) => judgeContainer(pod, container, entry).state === 'dead')
}

/** Two objects that want one and the same entry get one; nothing else makes two outcomes of a pod one entry. */
function distinct(outcomes: readonly EntryOutcome[]): readonly EntryOutcome[] {
  if (!outcomes.some(({ verdict }) => verdict.state === 'depends' && verdict.isContested === true))
    return outcomes
  return onceBy(outcomes, ({ entry, verdict, source }) =>
    entry === undefined || !isAskedFor(verdict) ? sourceText(source) : entryKey(entry),
  )
}

function add(counts: Map<string, number>, name: string, by: number): void {
  counts.set(name, (counts.get(name) ?? 0) + by)
}
