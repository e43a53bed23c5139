// What the SPIRE Controller Manager (v0.7.0) would do with every ClusterSPIFFEID and ClusterStaticEntry of a snapshot,
// pod by pod: static entries may mask entries of several pods, and nothing else ties one pod to another, so each pod is
// judged when a caller asks for it. Source: docs/spire-facts.md §10, corrected by §11.
//
// Not followed: which of two entries SCM's render cache gives out, entries on the server that SCM did not make, and masking between an
// entry and one that kleym cannot render (both would give out the same SPIFFE ID).
import { getOrCreate } from '../../base/get-or-create.ts'
import { driveAtOnce } from '../../base/steps.ts'
import type { Pod } from '../../model/objects/pod.ts'
import { answerOf, workingOn } from '../../model/objects/pods-alike.ts'
import { lazy } from '../../base/lazy.ts'
import { compareBytes } from '../../base/text/bytes.ts'
import { CandidateIndex } from './candidate-index.ts'
import { countObjects } from './object-counts.ts'
import { NamespaceFilter } from './namespace-filter.ts'
import { PodFactsReader } from './pod-facts.ts'
import { PodJudge, type InvalidUtf8Entry } from './pod-judge.ts'
import {
  isAskedFor,
  sourceText,
  type EntryOutcome,
  type EntrySource,
  type EntryVerdict,
  type ObjectCounts,
  type ObjectOutcome,
  type Prediction,
  type PredictionInput,
  type ScmFault,
  type SelectionCounts,
} from './prediction.ts'
import { idPreparer, type PreparedId } from './prepared-id.ts'
import { NO, type Truth } from '../../model/truth/truth.ts'
import { trustDomainProblem } from '../../model/spiffe-id.ts'
import { StaticMasking } from './static-masking.ts'
import { StaticIndex } from './static-index.ts'
import { prepareStatic, type PreparedStatic } from './prepared-static.ts'
import { mayCutText } from './field-template.ts'

/** Predicts what SCM and SPIRE would do with a snapshot. Never throws; judges nothing before the first question. */
export function predict(input: PredictionInput): Prediction {
  return new Predictor(input)
}

/**
 * Up to this many pods, a snapshot keeps the outcomes of all; a larger one keeps those of the last pod. A Map that is cleared
 * again and again cannot keep a few: JavaScriptCore does not give its memory back, a third more at 100,000 pods.
 */
export const PODS_KEPT = 1_000

class Predictor implements Prediction {
  readonly objects: ReadonlyMap<string, ObjectOutcome>
  readonly #input: PredictionInput
  readonly #ids: readonly PreparedId[]
  readonly #statics: readonly PreparedStatic[]
  readonly #index: CandidateIndex<PreparedId>
  readonly #namespaces: NamespaceFilter
  readonly #facts: PodFactsReader
  readonly #masking: StaticMasking
  readonly #staticIndex: StaticIndex
  readonly #judge: PodJudge
  /** The first object that Go cannot decode: SCM then goes on with the ClusterSPIFFEIDs that it has read before. */
  readonly #undecodable: EntrySource | undefined
  /** ClusterSPIFFEIDs that are new or edited, which SCM does not see while it cannot decode one. */
  readonly #newOrEdited: ReadonlySet<string>
  /** The pod of the last question: callers ask for it once for each container. */
  #last: { readonly pod: Pod; readonly outcomes: readonly EntryOutcome[] } | undefined
  /** The outcomes of all pods of the questions so far, in a small snapshot: each rule asks about all of them. */
  readonly #outcomes = new Map<Pod, readonly EntryOutcome[]>()
  readonly #podsByNamespace: () => ReadonlyMap<string, readonly Pod[]>
  readonly #chosen = new Map<string, ReadonlyMap<string, readonly Pod[]>>()
  #invalidUtf8: readonly InvalidUtf8Entry[] | undefined

  constructor(input: PredictionInput) {
    const { settings } = input
    this.#input = input
    this.#podsByNamespace = lazy(() => Map.groupBy(input.pods, ({ namespace }) => namespace))
    const prepareId = idPreparer(settings)
    this.#ids = sortByName(input.clusterSpiffeIds).map((object) => prepareId(object))
    this.#statics = sortByName(input.staticEntries).map((object) => prepareStatic(object, settings))
    this.#index = new CandidateIndex(
      this.#ids.filter(({ selects }) => selects),
      input.namespaces,
      input.pods,
    )
    this.#namespaces = new NamespaceFilter(settings)
    this.#facts = new PodFactsReader(settings, input.nodes, input.endpoints)
    this.#masking = new StaticMasking(this.#statics)
    this.#staticIndex = new StaticIndex(this.#statics)
    const statics = { masking: this.#masking, index: this.#staticIndex }
    this.#judge = new PodJudge(this.#index, this.#namespaces, this.#facts, statics, input)
    this.#undecodable = this.#ids.find(({ undecodable }) => undecodable !== undefined)?.source
    this.#newOrEdited = new Set(
      input.clusterSpiffeIds.filter(({ lifecycle }) => lifecycle !== 'live').map(({ meta }) => meta.name),
    )
    this.objects = new Map([...this.#ids, ...this.#statics].map((one) => [sourceText(one.source), one]))
  }

  entriesOf(pod: Pod): readonly EntryOutcome[] {
    if (this.#last?.pod === pod) return this.#last.outcomes
    const outcomes =
      this.#outcomes.get(pod) ?? this.#judge.judge(pod).outcomes.map((outcome) => this.#withFaults(outcome))
    this.#last = { pod, outcomes }
    if (this.#input.pods.length <= PODS_KEPT) this.#outcomes.set(pod, outcomes)
    return outcomes
  }

  unread(pod: Pod, container: string): Truth {
    return this.#input.unread?.(pod, container) ?? NO
  }

  parentIdOf(pod: Pod): string | undefined {
    return this.#facts.parentIdOf(pod)
  }

  hasMoreSelections(than: SelectionCounts): boolean {
    const count = { ofPods: 0, ofContainers: 0 }
    return this.#input.pods.some((pod) => {
      const selections = this.#staticIndex.countCandidates(pod) + this.#index.selecting(pod).length
      count.ofPods += selections
      count.ofContainers += selections * pod.containers.length
      return count.ofPods > than.ofPods || count.ofContainers > than.ofContainers
    })
  }

  podsIn(namespace: string): readonly Pod[] {
    return this.#podsByNamespace().get(namespace) ?? []
  }

  podsByClusterSpiffeId(namespace: string): ReadonlyMap<string, readonly Pod[]> {
    return getOrCreate(this.#chosen, namespace, () => {
      const chosen = new Map<string, Pod[]>()
      const work = workingOn(
        this.podsIn(namespace),
        (pod) => namesIn(this.entriesOf(pod)),
        (pod, names) => {
          for (const name of names) getOrCreate(chosen, name, () => []).push(pod)
        },
      )
      driveAtOnce(work)
      return chosen
    })
  }

  staticEntries(): readonly EntryOutcome[] {
    const contested = this.#judgePodsNamedByStatics()
    return this.#statics.map((object) => {
      const verdict = contested.get(object) ?? this.#masking.verdictOf(object)
      const { source, hint, entry } = object
      return this.#withFaults({ source, pod: undefined, hint, fallback: false, entry, verdict })
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
          (namespace) => this.#namespaces.whyNamespaceIgnored(namespace)?.state === 'ignored',
        ),
    })
  }

  scmFaults(): readonly ScmFault[] {
    const configuration = this.#configurationFaults().map((why): ScmFault => ({
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
    ].flatMap(({ source, why }): ScmFault[] =>
      why === undefined ? [] : [{ source, kind: 'undecodable', why }],
    )
    const invalidUtf8 = this.#findInvalidUtf8().map((one): ScmFault => ({ kind: 'not UTF-8', ...one }))
    return [...configuration, ...undecodable, ...invalidUtf8]
  }

  #configurationFaults(): readonly string[] {
    const { settings } = this.#input
    const faults = [...this.#namespaces.faults()]
    if (this.#facts.parentTemplateFault !== undefined) faults.push(this.#facts.parentTemplateFault)
    const domain = settings.trustDomain === undefined ? undefined : trustDomainProblem(settings.trustDomain)
    if (domain !== undefined) faults.push(`trustDomain of SCM's configuration ${domain}`)
    if (settings.filterByClassName && settings.className === '') {
      faults.push("filterByClassName of SCM's configuration needs a className")
    }
    return faults
  }

  /**
   * One entry that is no valid UTF-8 makes SCM's batch of new entries fail as a whole (docs/spire-facts.md §11.7), and one
   * object that Go cannot decode keeps SCM from seeing any that is new or edited (§11.9).
   */
  #withFaults(outcome: EntryOutcome): EntryOutcome {
    const { pod } = outcome
    const { whyUnserved } = this.#input
    if (whyUnserved !== undefined && isAskedFor(outcome.verdict)) {
      const unserved = pod === undefined ? whyUnserved(undefined) : answerOf(pod, whyUnserved)
      if (unserved !== undefined) {
        const { why, isOnServer } = unserved
        return { ...outcome, verdict: { state: 'depends', why, ...(isOnServer && { isOnServer }) } }
      }
    }
    const [first] = this.#findInvalidUtf8()
    if (first !== undefined && isAskedFor(outcome.verdict)) {
      const perhaps = first.open === undefined ? '' : ' perhaps'
      const why = `${sourceText(first.source)}${perhaps} keeps SCM from creating entries, and whether this one was there before is not known`
      return { ...outcome, verdict: { state: 'depends', why } }
    }
    if (this.#undecodable === undefined || !this.#needsNewOrEdited(outcome)) return outcome
    const why = `${sourceText(this.#undecodable)} cannot be decoded, and keeps SCM from seeing what is new or edited`
    return { ...outcome, verdict: { state: 'depends', why } }
  }

  /** Whether an entry is of an object that SCM does not see, or gives way to one of such an object. */
  #needsNewOrEdited({ source, verdict }: EntryOutcome): boolean {
    const isUnseen = ({ kind, name }: EntrySource): boolean =>
      kind === 'ClusterSPIFFEID' && this.#newOrEdited.has(name)
    if (isAskedFor(verdict)) return isUnseen(source)
    return (verdict.state === 'displaced' || verdict.state === 'masked') && isUnseen(verdict.by)
  }

  /** The first invalid entry of each object, certain ones before others, then in the order of the objects, whatever that of the pods. */
  #findInvalidUtf8(): readonly InvalidUtf8Entry[] {
    this.#invalidUtf8 ??= this.#searchInvalidUtf8()
    return this.#invalidUtf8
  }

  #searchInvalidUtf8(): readonly InvalidUtf8Entry[] {
    const suspects = new Set(this.#ids.filter(mayBreakUtf8))
    if (suspects.size === 0) return []
    const invalidUtf8 = new Map<string, InvalidUtf8Entry>()
    for (const pod of this.#input.pods) {
      if (!this.#index.selecting(pod).some(({ object }) => suspects.has(object))) continue
      for (const found of this.#judge.judge(pod).invalidUtf8) {
        const key = sourceText(found.source)
        const before = invalidUtf8.get(key)
        if (before === undefined || compareInvalid(found, before) < 0) invalidUtf8.set(key, found)
      }
    }
    return [...invalidUtf8.values()].toSorted(compareInvalid)
  }

  /** Judges the pods whose UID a static entry names: only their entries can equal it. */
  #judgePodsNamedByStatics(): ReadonlyMap<PreparedStatic, EntryVerdict> {
    const contested = new Map<PreparedStatic, EntryVerdict>()
    if (!this.#masking.namesPods) return contested
    for (const pod of this.#input.pods) {
      if (pod.uid === undefined || !this.#masking.mayName(pod.uid)) continue
      for (const [object, verdict] of this.#judge.judge(pod).statics) contested.set(object, verdict)
    }
    return contested
  }
}

/** The names of the ClusterSPIFFEIDs of some outcomes, each once. */
function namesIn(outcomes: readonly EntryOutcome[]): ReadonlySet<string> {
  return new Set(outcomes.flatMap(({ source }) => (source.kind === 'ClusterSPIFFEID' ? [source.name] : [])))
}

/** Certain ones first: what stops SCM for certain is the cause that is reported for entries that it stops. */
function compareInvalid(left: InvalidUtf8Entry, right: InvalidUtf8Entry): number {
  return (
    Number(left.open !== undefined) - Number(right.open !== undefined) ||
    compareBytes(sourceText(left.source), sourceText(right.source)) ||
    compareBytes(left.why, right.why) ||
    compareBytes(left.open ?? '', right.open ?? '')
  )
}

function mayBreakUtf8(id: PreparedId): boolean {
  const { dnsNameTemplates, workloadSelectorTemplates } = id.spec
  if (![...dnsNameTemplates, ...workloadSelectorTemplates].some(mayCutText)) return false
  const { templates } = id
  return (
    templates !== undefined &&
    [...templates.dnsNames, ...templates.selectors].some((template) => template.mayBreakUtf8)
  )
}

/** By name. A snapshot should hold a name once; where it does not, the answer is the same in whatever order they come. */
function sortByName<T extends { readonly meta: { readonly name: string }; readonly spec: object }>(
  objects: Iterable<T>,
): readonly T[] {
  return [...objects].toSorted(
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
