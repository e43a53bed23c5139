// Which containers an assertion is about: pods by namespace, workload, labels and service account, and a container's name.
import { present } from '../../base/present.ts'
import { namespacesByName } from '../../snapshot/index.ts'
import type { Analysis } from '../../analysis/index.ts'
import { getOrCreate } from '../../base/get-or-create.ts'
import { fewText } from '../../base/text/counted.ts'
import { lazy } from '../../base/lazy.ts'
import type { LabelSelector } from '../../model/objects/label-selector.ts'
import { type Container, type Namespace, type Pod, namespaceNamed } from '../../model/objects/pod.ts'
import { indexPods, type PodIndex } from '../../model/objects/pod-index.ts'
import { isOfPart, mayGiveName, workloadsOf, type WorkloadName } from '../../model/objects/pod-workloads.ts'
import { containersThatMayBe } from '../../model/objects/sidecars.ts'
import { labelsOfPod, matchSelector } from '../../model/objects/label-match.ts'
import { all, NO, open, YES, type Truth } from '../../model/truth/truth.ts'
import { atRuntime } from '../../model/truth/unknown.ts'
import type { ContainersWritten, SelectorWritten } from './schema.ts'

/** Which containers, read. */
export interface ContainerSelector {
  readonly written: ContainersWritten
  /** How a message names it: `deployment/llama of team-a, container vllm`. */
  readonly text: string
  readonly namespaceLabels: LabelSelector | undefined
  readonly podLabels: LabelSelector | undefined
  readonly notInNamespaces: ReadonlySet<string> | undefined
  /** The canonical kind and the name of the workload. */
  readonly workload: WorkloadName | undefined
}

/** Reads what is written; `kindOf` gives the canonical kind for `deploy` or `Deployment`. */
export function readContainerSelector(
  written: ContainersWritten,
  kindOf: (written: string) => string | undefined,
): ContainerSelector {
  const [kind = '', name = ''] = written.workload?.split('/') ?? []
  return {
    written,
    text: textOf(written),
    namespaceLabels: written.namespaceSelector && labelSelectorOf(written.namespaceSelector),
    podLabels: written.podSelector && labelSelectorOf(written.podSelector),
    notInNamespaces: written.notInNamespaces && new Set(written.notInNamespaces),
    workload: written.workload === undefined ? undefined : { kind: kindOf(kind) ?? kind, name },
  }
}

function textOf(written: ContainersWritten): string {
  const { namespace, workload, part, pod, podSelector, serviceAccount, container, notInNamespaces } = written
  const who = [
    ...(workload === undefined ? [] : [part === undefined ? workload : `${workload} (${part})`]),
    ...(part === undefined || workload !== undefined ? [] : [`pods of part ${part}`]),
    ...(pod === undefined ? [] : [`pod/${pod}`]),
    ...(podSelector === undefined ? [] : [`pods ${selectorText(podSelector)}`]),
    ...(serviceAccount === undefined ? [] : [`pods of service account ${serviceAccount}`]),
  ]
  const where = present(
    namespace !== undefined && namespace,
    written.namespaceSelector !== undefined && `namespaces ${selectorText(written.namespaceSelector)}`,
    notInNamespaces !== undefined && `namespaces other than ${fewText(notInNamespaces, 3)}`,
  )
  const pods = who.length === 0 ? 'every pod' : who.join(', ')
  const place = where.length === 0 ? '' : ` of ${where.join(', ')}`
  return `${pods}${place}${container === undefined ? '' : `, container ${container}`}`
}

function selectorText({ matchLabels = {}, matchExpressions = [] }: SelectorWritten): string {
  const equal = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`)
  const others = matchExpressions.map(({ key, operator, values = [] }) =>
    [key, operator, ...(values.length === 0 ? [] : [`(${values.join(', ')})`])].join(' '),
  )
  return [...equal, ...others].join(',')
}

function labelSelectorOf({ matchLabels = {}, matchExpressions = [] }: SelectorWritten): LabelSelector {
  return {
    matchLabels: new Map(Object.entries(matchLabels)),
    matchExpressions: matchExpressions.map(({ key, operator, values = [] }) => ({ key, operator, values })),
  }
}

/** The pods of a selector: those that are meant, and those that may be meant. */
export interface ChosenPods {
  readonly sure: readonly Pod[]
  readonly unsure: readonly Pod[]
}

/** The pods of a snapshot, found by selectors. Each list is indexed once: there may be ten thousand assertions. */
export class SelectablePods {
  readonly #namespaces: ReadonlyMap<string, Namespace>
  readonly #byNamespace: () => ReadonlyMap<string, readonly Pod[]>
  readonly #byWorkload: () => ReadonlyMap<string, readonly Pod[]>
  readonly #byName: () => ReadonlyMap<string, readonly Pod[]>
  readonly #byLabels: () => PodIndex
  readonly #uncertainKeys = new Map<string, ReadonlySet<string>>()
  readonly #chosen = new Map<string, ChosenPods>()
  readonly all: readonly Pod[]
  /** The templates whose pods run: those are asked in their place. */
  readonly represented: ReadonlySet<Pod>
  /** Those that will not be made any more. */
  readonly over: readonly Pod[]
  /** The pods of controllers that kleym does not know: it is not certain that they are there. */
  readonly perhaps: readonly Pod[]

  readonly #isUnaskedNever: boolean

  /** `isUnaskedNever`: the premise that a Namespace that was not given asks for no sidecar (docs/assumptions.md, "Premises"). */
  constructor({ snapshot, podsInQuestion, pods }: Analysis, isUnaskedNever = false) {
    this.#isUnaskedNever = isUnaskedNever
    this.#namespaces = namespacesByName(snapshot)
    this.all = podsInQuestion
    this.over = snapshot.over
    this.perhaps = podsInQuestion.filter((pod) => pod.perhaps !== undefined)
    const represented = new Set(snapshot.templates.read)
    if (snapshot.templates.isAnyRead) for (const pod of podsInQuestion) represented.delete(pod)
    this.represented = represented
    this.#byNamespace = lazy(() => Map.groupBy(podsInQuestion, ({ namespace }) => namespace))
    // That of the analysis leaves out the pods that are only perhaps there.
    this.#byLabels = this.perhaps.length === 0 ? pods : lazy(() => indexPods(podsInQuestion))
    this.#byName = lazy(() =>
      Map.groupBy(podsInQuestion, ({ namespace, name = UNNAMED }) => podKey(namespace, name)),
    )
    this.#byWorkload = lazy(() => podsByWorkload(podsInQuestion, represented))
  }

  /** The containers of a pod, and those that a webhook may add to it. */
  containersOf(pod: Pod): readonly Container[] {
    const found = this.#namespaces.get(pod.namespace)
    const isTaken = this.#isUnaskedNever && found?.complete !== true
    return containersThatMayBe(pod, isTaken ? namespaceNamed(pod.namespace, new Map(), true) : found)
  }

  /** Whether there is a namespace of that name, or any pod in it. */
  hasNamespace(name: string): boolean {
    return this.#namespaces.has(name) || this.#byNamespace().has(name)
  }

  /** The names of all namespaces that are known. */
  get namespaceNames(): readonly string[] {
    return [...new Set([...this.#namespaces.keys(), ...this.#byNamespace().keys()])]
  }

  /** The pods that may be meant, whatever container is. */
  candidates({ written, workload, podLabels }: ContainerSelector): readonly Pod[] {
    const { namespace, pod } = written
    if (namespace === undefined) return this.all
    if (workload !== undefined)
      return [workload.name, UNNAMED].flatMap(
        (name) => this.#byWorkload().get(workloadKey(namespace, workload.kind, name)) ?? [],
      )
    if (pod !== undefined)
      return [pod, UNNAMED].flatMap((name) => this.#byName().get(podKey(namespace, name)) ?? [])
    const labels = written.podSelector === undefined ? undefined : podLabels?.matchLabels
    if (labels !== undefined && labels.size > 0 && this.#areCertain(namespace, labels.keys()))
      return this.#byLabels().withLabels(namespace, labels)
    return this.#byNamespace().get(namespace) ?? []
  }

  /** Whether every pod of a namespace certainly has these labels, or certainly has not: an index then finds those that do. */
  #areCertain(namespace: string, keys: Iterable<string>): boolean {
    const uncertain = getOrCreate(this.#uncertainKeys, namespace, () => {
      const found = new Set<string>()
      for (const { unknownLabels, possibleLabels } of this.#byNamespace().get(namespace) ?? []) {
        if (unknownLabels.size > 0) for (const key of unknownLabels) found.add(key)
        if (possibleLabels.size > 0) for (const key of possibleLabels) found.add(key)
      }
      return found
    })
    if (uncertain.size === 0) return true
    for (const key of keys) if (uncertain.has(key)) return false
    return true
  }

  /** Whether its candidates are the pods that it means: it names a namespace, and no more of pods than labels that are certain. */
  #areAllMeant({ written, podLabels }: ContainerSelector): boolean {
    const { namespace, podSelector } = written
    const { container: _, ...rest } = written
    if (namespace === undefined || Object.keys(rest).some((key) => !BY_LABELS.has(key))) return false
    if (podSelector === undefined) return true
    if (podLabels === undefined || podLabels.matchExpressions.length > 0) return false
    return podLabels.matchLabels.size > 0 && this.#areCertain(namespace, podLabels.matchLabels.keys())
  }

  /** The pods that are meant, whatever container is; many selectors differ by their container alone. */
  chosen(selector: ContainerSelector): ChosenPods {
    const { container: _, ...rest } = selector.written
    return getOrCreate(this.#chosen, JSON.stringify(rest), () => {
      if (this.#areAllMeant(selector)) return { sure: this.candidates(selector), unsure: [] }
      const sure: Pod[] = []
      const unsure: Pod[] = []
      for (const pod of this.candidates(selector)) {
        const match = this.match(pod, selector)
        if (match === YES) sure.push(pod)
        else if (match !== NO) unsure.push(pod)
      }
      return { sure, unsure }
    })
  }

  /** Whether a pod is meant, as far as its labels and those of its namespace are known. */
  match(pod: Pod, selector: ContainerSelector): Truth {
    const { written, workload, namespaceLabels, podLabels, notInNamespaces } = selector
    if (written.namespace !== undefined && written.namespace !== pod.namespace) return NO
    if (notInNamespaces?.has(pod.namespace) === true) return NO
    const byAccount = matchAccount(pod, written.serviceAccount)
    if (byAccount === NO) return NO
    const byName = this.#matchName(pod, written.pod)
    if (byName === NO) return NO
    const byWorkload = this.#matchWorkload(pod, workload)
    if (byWorkload === NO) return NO
    const isPart = written.part === undefined || isOfPart(pod, written.part)
    if (isPart === false) return NO
    const byPart = isPart === true ? YES : NUMBER
    // A rule about all pods asks of each holder: what it does not name is not looked up.
    const byNamespace =
      namespaceLabels === undefined ? YES : matchSelector(namespaceLabels, this.#namespace(pod.namespace))
    if (byNamespace === NO) return NO
    const byLabels = podLabels === undefined ? YES : matchSelector(podLabels, labelsOfPod(pod))
    return all(byAccount, byName, byWorkload, byPart, byNamespace, byLabels)
  }

  #matchName(pod: Pod, wanted: string | undefined): Truth {
    if (wanted === undefined || wanted === pod.name) return YES
    const isTaken = pod.name !== undefined || this.#byName().has(podKey(pod.namespace, wanted))
    return !isTaken && mayGiveName(pod, wanted) ? POD_NAME : NO
  }

  #matchWorkload(pod: Pod, wanted: WorkloadName | undefined): Truth {
    if (wanted === undefined) return YES
    const key = workloadKey(pod.namespace, wanted.kind, wanted.name)
    const keys = workloadKeys(pod)
    if (keys.includes(key)) return YES
    const isUnnamed = keys.includes(workloadKey(pod.namespace, wanted.kind, UNNAMED))
    const isTaken = !isUnnamed || this.#byWorkload().has(key)
    return !isTaken && mayGiveName(pod, wanted.name) ? WORKLOAD_NAME : NO
  }

  #namespace(name: string): Namespace {
    return this.#namespaces.get(name) ?? namespaceNamed(name, new Map(), false)
  }
}

/** What a selector may say where an index finds the pods that it means. */
const BY_LABELS: ReadonlySet<string> = new Set(['namespace', 'podSelector'])

/** A represented template stands for its pods only where their owner is not known. */
function podsByWorkload(
  pods: readonly Pod[],
  represented: ReadonlySet<Pod>,
): ReadonlyMap<string, readonly Pod[]> {
  const byWorkload = new Map<string, Pod[]>()
  for (const pod of pods)
    for (const key of workloadKeys(pod)) getOrCreate(byWorkload, key, () => []).push(pod)
  for (const template of represented) {
    const key = workloadKey(template.namespace, template.ref.kind, template.ref.name)
    if (!byWorkload.has(key)) byWorkload.set(key, [template])
  }
  return byWorkload
}

/** In the place of a name that a controller will make up; no object has it. */
const UNNAMED = ''

const POD_NAME = open(atRuntime("the pod's name is not known", 'Pod'))
const WORKLOAD_NAME = open(atRuntime("the name of the pod's workload is not known", 'Pod'))
const NUMBER = open(atRuntime("the pod's number is not known", 'Pod'))
const ACCOUNT = open(atRuntime("the pod's service account is not known", 'Pod'))

function matchAccount({ serviceAccountName, perhaps }: Pod, wanted: string | undefined): Truth {
  if (wanted === undefined || wanted === serviceAccountName) return YES
  return perhaps?.knowsAccount === false ? ACCOUNT : NO
}

function workloadKey(namespace: string, kind: string, name: string): string {
  return `${namespace}/${kind}/${name}`
}

function podKey(namespace: string, name: string): string {
  return `${namespace}/${name}`
}

/** Of the workloads that it is of; that one which a controller makes between the two may have no name yet. */
function workloadKeys(pod: Pod): readonly string[] {
  const { namespace, owner } = pod
  const keys = workloadsOf(pod).map(({ kind, name }) => workloadKey(namespace, kind, name))
  return owner === undefined ? keys : [...keys, workloadKey(namespace, owner.kind, owner.name ?? UNNAMED)]
}
