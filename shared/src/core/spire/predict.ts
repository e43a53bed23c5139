// What the SPIRE Controller Manager (v0.7.0) would do with every ClusterSPIFFEID and ClusterStaticEntry of a snapshot,
// pod by pod: nothing but its masking by static entries ties one pod to another, so each pod is worked out when it is
// asked for. Source: facts/spire.md §10, corrected by §11.
//
// Not followed: the render cache (off by default), entries that somebody else left on the server, and a masking
// contest with an entry that kleym cannot render (both would give out the same SPIFFE ID).
import { getOrCreate } from '../get-or-create.ts'
import type { ClusterSpiffeId } from '../objects/clusterspiffeid.ts'
import type { Pod } from '../objects/pod.ts'
import type { ClusterStaticEntry } from '../objects/static-entry.ts'
import { lazy } from '../lazy.ts'
import { IGNORE_PROGRESS, reporting } from '../on-progress.ts'
import { compareBytes } from '../text/bytes.ts'
import { CandidateIndex } from './candidates.ts'
import { countObjects } from './counts.ts'
import { NamespaceGate } from './namespace-gate.ts'
import { PodFactsReader } from './pod-facts.ts'
import { PodJudge, type PodJudgement } from './pod-judge.ts'
import {
  sourceText,
  type EntryOutcome,
  type EntrySource,
  type EntryVerdict,
  type ObjectCounts,
  type ObjectOutcome,
  type Prediction,
  type PredictionInput,
  type Stopper,
} from './prediction.ts'
import { idPreparer, type PreparedId } from './prepared-id.ts'
import { trustDomainProblem } from './spiffe-id.ts'
import { StaticMasking } from './static-masking.ts'
import { StaticIndex } from './static-index.ts'
import { prepareStatic, type PreparedStatic } from './prepared-static.ts'
import { mayCutText } from './field-template.ts'

/** Predicts what SCM and SPIRE would do with a snapshot. Never throws; cheap until it is asked. */
export function predict(input: PredictionInput): Prediction {
  return new Predictor(input)
}

/**
 * A world of so many pods keeps the outcomes of all, a larger one those of the last. A Map that is cleared again and again
 * is no way to keep a few: in JavaScriptCore what it held stays with it, a third more memory at 100,000 pods.
 */
const PODS_KEPT = 1_000

class Predictor implements Prediction {
  readonly objects: ReadonlyMap<string, ObjectOutcome>
  readonly #input: PredictionInput
  readonly #ids: readonly PreparedId[]
  readonly #statics: readonly PreparedStatic[]
  readonly #index: CandidateIndex<PreparedId>
  readonly #gate: NamespaceGate
  readonly #facts: PodFactsReader
  readonly #contest: StaticMasking
  readonly #judge: PodJudge
  /** An object that Go cannot decode: SCM then goes on with the ClusterSPIFFEIDs that it has read before. */
  readonly #freezer: EntrySource | undefined
  /** ClusterSPIFFEIDs that are new or edited, which SCM does not see while it is frozen. */
  readonly #unseen: ReadonlySet<string>
  /** The pod that was asked for last: its containers ask one after the other. */
  #last: { readonly pod: Pod; readonly outcomes: readonly EntryOutcome[] } | undefined
  /** In a small world, of all pods that were asked for: rule after rule asks about all of them. */
  readonly #outcomes = new Map<Pod, readonly EntryOutcome[]>()
  readonly #podsByNamespace: () => ReadonlyMap<string, readonly Pod[]>
  readonly #chosen = new Map<string, ReadonlyMap<string, readonly Pod[]>>()
  #broken: readonly Broken[] | undefined

  constructor(input: PredictionInput) {
    const { settings } = input
    this.#input = input
    this.#podsByNamespace = lazy(() => Map.groupBy(input.pods, ({ namespace }) => namespace))
    const prepareId = idPreparer(settings)
    this.#ids = Array.from(
      reporting(sortIds(input.clusterSpiffeIds), input.onProgress ?? IGNORE_PROGRESS),
      prepareId,
    )
    this.#statics = sortStatics(input.staticEntries).map((object) => prepareStatic(object, settings))
    this.#index = new CandidateIndex(
      this.#ids.filter(({ selects }) => selects),
      input.namespaces,
      input.pods,
    )
    this.#gate = new NamespaceGate(settings)
    this.#facts = new PodFactsReader(settings, input.nodes, input.endpoints)
    this.#contest = new StaticMasking(this.#statics)
    this.#judge = new PodJudge(this.#index, this.#gate, this.#facts, {
      contest: this.#contest,
      index: new StaticIndex(this.#statics),
    })
    this.#freezer = this.#ids.find(({ undecodable }) => undecodable !== undefined)?.source
    this.#unseen = new Set(
      input.clusterSpiffeIds.filter(({ lifecycle }) => lifecycle !== 'live').map(({ meta }) => meta.name),
    )
    this.objects = new Map([...this.#ids, ...this.#statics].map((one) => [sourceText(one.source), one]))
  }

  entriesOf(pod: Pod): readonly EntryOutcome[] {
    if (this.#last?.pod === pod) return this.#last.outcomes
    const outcomes =
      this.#outcomes.get(pod) ?? this.#judge.judge(pod).outcomes.map((outcome) => this.#halted(outcome))
    this.#last = { pod, outcomes }
    if (this.#input.pods.length <= PODS_KEPT) this.#outcomes.set(pod, outcomes)
    return outcomes
  }

  podsByClusterSpiffeId(namespace: string): ReadonlyMap<string, readonly Pod[]> {
    return getOrCreate(this.#chosen, namespace, () => {
      const chosen = new Map<string, Pod[]>()
      for (const pod of this.#podsByNamespace().get(namespace) ?? [])
        for (const name of namesIn(this.entriesOf(pod))) getOrCreate(chosen, name, () => []).push(pod)
      return chosen
    })
  }

  staticEntries(): readonly EntryOutcome[] {
    const contested = this.#judgePodsNamedByStatics()
    return this.#statics.map((object) => {
      const verdict = contested.get(object) ?? this.#contest.verdictOf(object)
      const { source, hint, entry } = object
      return this.#halted({ source, pod: undefined, hint, fallback: false, entry, verdict })
    })
  }

  counts(): ReadonlyMap<string, ObjectCounts> {
    return countObjects({
      ids: this.#ids,
      statics: this.staticEntries(),
      pods: this.#input.pods,
      judge: (pod) => this.#judge.judge(pod),
      namespacesOf: (id) =>
        this.#index.countNamespaces(
          id,
          (namespace) => this.#gate.ofNamespace(namespace)?.state === 'ignored',
        ),
    })
  }

  stoppers(): readonly Stopper[] {
    const configuration = this.#configurationFaults().map((why): Stopper => ({
      source: undefined,
      kind: 'configuration',
      why,
    }))
    const undecodable = [
      ...this.#ids.map(({ source, undecodable: why }) => ({ source, why })),
      ...this.#statics.map(({ source, handling }) => ({
        source,
        why: handling.state === 'undecodable' ? handling.why : undefined,
      })),
    ].flatMap(({ source, why }): Stopper[] =>
      why === undefined ? [] : [{ source, kind: 'undecodable', why }],
    )
    const broken = this.#findBroken().map(({ outcome, why }): Stopper => ({
      source: outcome.source,
      kind: 'not UTF-8',
      why,
    }))
    return [...configuration, ...undecodable, ...broken]
  }

  #configurationFaults(): readonly string[] {
    const { settings } = this.#input
    const faults = [...this.#gate.faults()]
    if (this.#facts.parentTemplateFault !== undefined) faults.push(this.#facts.parentTemplateFault)
    const domain = settings.trustDomain === undefined ? undefined : trustDomainProblem(settings.trustDomain)
    if (domain !== undefined) faults.push(`trustDomain of SCM's configuration ${domain}`)
    if (settings.filterByClassName && settings.className === '') {
      faults.push("filterByClassName of SCM's configuration needs a className")
    }
    return faults
  }

  /**
   * One entry that is not UTF-8 makes the server refuse the batches of everybody (facts/spire.md §11.7), and one object
   * that Go cannot decode keeps SCM from seeing any that is new or edited (§11.9).
   */
  #halted(outcome: EntryOutcome): EntryOutcome {
    const [first] = this.#findBroken()
    if (first !== undefined && outcome.verdict.state === 'declared') {
      const why = `${sourceText(first.outcome.source)} keeps SCM from creating entries, and whether this one was there before is not known`
      return { ...outcome, verdict: { state: 'depends', why } }
    }
    if (this.#freezer === undefined || !this.#hangsOnUnseen(outcome)) return outcome
    const why = `${sourceText(this.#freezer)} cannot be decoded, and keeps SCM from seeing what is new or edited`
    return { ...outcome, verdict: { state: 'depends', why } }
  }

  /** Whether an entry is, or gives way to one, of an object that a frozen SCM does not see. */
  #hangsOnUnseen({ source, verdict }: EntryOutcome): boolean {
    const isUnseen = ({ kind, name }: EntrySource): boolean =>
      kind === 'ClusterSPIFFEID' && this.#unseen.has(name)
    if (verdict.state === 'declared') return isUnseen(source)
    return (verdict.state === 'displaced' || verdict.state === 'masked') && isUnseen(verdict.by)
  }

  /** The first broken entry of each object, in the order of the objects, whatever the order of the pods. */
  #findBroken(): readonly Broken[] {
    this.#broken ??= this.#searchBroken()
    return this.#broken
  }

  #searchBroken(): readonly Broken[] {
    const suspects = new Set(this.#ids.filter(mayBreakUtf8))
    if (suspects.size === 0) return []
    const broken = new Map<string, Broken>()
    for (const pod of this.#input.pods) {
      if (!this.#index.selecting(pod).some(({ object }) => suspects.has(object))) continue
      for (const found of this.#judge.judge(pod).broken) {
        const key = sourceText(found.outcome.source)
        const before = broken.get(key)
        if (before === undefined || compareBytes(found.why, before.why) < 0) broken.set(key, found)
      }
    }
    return [...broken.values()].toSorted((left, right) =>
      compareBytes(sourceText(left.outcome.source), sourceText(right.outcome.source)),
    )
  }

  /** Pods whose UID a static entry names: only they can want the same entry as it. */
  #judgePodsNamedByStatics(): ReadonlyMap<PreparedStatic, EntryVerdict> {
    const contested = new Map<PreparedStatic, EntryVerdict>()
    if (!this.#contest.namesPods) return contested
    for (const pod of this.#input.pods) {
      if (pod.uid === undefined || !this.#contest.mayName(pod.uid)) continue
      for (const [object, verdict] of this.#judge.judge(pod).statics) contested.set(object, verdict)
    }
    return contested
  }
}

/** The ClusterSPIFFEIDs that some outcomes are of, each once. */
function namesIn(outcomes: readonly EntryOutcome[]): ReadonlySet<string> {
  return new Set(outcomes.flatMap(({ source }) => (source.kind === 'ClusterSPIFFEID' ? [source.name] : [])))
}

type Broken = PodJudgement['broken'][number]

function mayBreakUtf8(id: PreparedId): boolean {
  const { dnsNameTemplates, workloadSelectorTemplates } = id.spec
  if (![...dnsNameTemplates, ...workloadSelectorTemplates].some(mayCutText)) return false
  const { templates } = id
  return (
    templates !== undefined &&
    [...templates.dnsNames, ...templates.selectors].some((step) => step.mayBreakUtf8)
  )
}

/** By name; a snapshot holds a name once, but where it does not, the answer must not hang on the order. */
function sortIds(objects: readonly ClusterSpiffeId[]): readonly ClusterSpiffeId[] {
  return sortByName(objects)
}

function sortStatics(objects: readonly ClusterStaticEntry[]): readonly ClusterStaticEntry[] {
  return sortByName(objects)
}

function sortByName<T extends { readonly meta: { readonly name: string }; readonly spec: object }>(
  objects: readonly T[],
): readonly T[] {
  return objects.toSorted(
    (left, right) =>
      compareBytes(left.meta.name, right.meta.name) || compareBytes(textOf(left), textOf(right)),
  )
}

function textOf(object: { readonly meta: object; readonly spec: object }): string {
  return JSON.stringify([object.meta, object.spec], (_, value: unknown) =>
    value instanceof Map
      ? [...value].toSorted(([left], [right]) => compareBytes(String(left), String(right)))
      : value,
  )
}
