// The pods that a question about pods is about: those that exist, those that workloads would make and that no existing pod
// represents, and those that objects of kinds which kleym does not read may make.
import { getOrCreate } from '../base/get-or-create.ts'
import { own } from '../base/json.ts'
import { lazy } from '../base/lazy.ts'
import type { Steps } from '../base/steps.ts'
import { indexPods, type PodIndex } from '../model/objects/pod-index.ts'
import type { Pod } from '../model/objects/pod.ts'
import { getsNoNode } from '../model/objects/unscheduled.ts'
import { workloadsOf } from '../model/objects/pod-workloads.ts'
import { shapeOf } from '../model/objects/sidecars.ts'
import { DecidingFacts, type PodRegistrations } from './deciding.ts'
import { labelsAskedFor } from './labels-asked-for.ts'
import type { Snapshot } from './snapshot.ts'

/**
 * The pods of a snapshot, and those of its templates that no existing pod represents. A template is represented by an existing pod
 * of its workload, or of none, that has its labels, service account and containers, no further label that decides about an
 * identity, unless the controller adds that one, and all else that decides about one as the template has it. Any other pod is of an
 * earlier template, and those that replace it will not be like it. A step for each template.
 */
export function* podsInQuestionOf(
  snapshot: Snapshot,
  registrations: PodRegistrations,
): Steps<readonly Pod[]> {
  const { read: pods } = snapshot.pods
  if (!snapshot.templates.isAnyRead) return [...pods]
  const existing = new PodsByShape(pods.filter(represents))
  const deciding = new DecidingFacts(snapshot, registrations)
  const representing = new Representing(deciding, (alike) => new MakersOfPods(alike))
  const isRepresented = (template: Pod): boolean => {
    const alike = existing.like(template)
    if (alike === undefined) return false
    const { namespace, serviceAccountName, labels, unknownLabels } = template
    const containers = existing.containersText(template)
    const shape = [namespace, serviceAccountName, containers, [...unknownLabels], ...labels]
    return representing
      .of(template, shape, () => {
        const same = labels.size === 0 ? alike.pods : alike.index().withLabels(namespace, labels)
        return same.filter((pod) => !deciding.areMoreLabelsOn(pod, template))
      })
      .mayInclude(template)
  }
  const inQuestion = [...pods]
  for (const template of snapshot.templates.read) {
    yield
    if (!isRepresented(template)) inQuestion.push(template)
  }
  return inQuestion
}

/**
 * The pods that objects of kinds which are not read may make, beside those that are `certain`, and without those of templates that an
 * existing pod represents: it shows what the controller makes of them, which may add labels. Beside the labels of a template its pods
 * may carry any other: what matters are those that some registration asks for.
 */
export function perhapsPodsOf(
  snapshot: Snapshot,
  registrations: PodRegistrations,
  certain: readonly Pod[],
): readonly Pod[] {
  const { podMakers, staticEntries } = snapshot
  if (podMakers.length === 0) return []
  const keys = labelsAskedFor(registrations.registered, staticEntries.read)
  const deciding = new DecidingFacts(snapshot, registrations)
  const existing = lazy(() => indexPods(certain.filter(represents)))
  const representing = new Representing(deciding, (pods) => pods.length > 0)
  const isRepresented = (template: Pod): boolean => {
    const { namespace, labels, containers, serviceAccountName, perhaps } = template
    if (labels.size === 0) return false
    const account = perhaps?.knowsAccount === false ? null : serviceAccountName
    const names = containers.map(({ name }) => name)
    return representing.of(template, [namespace, account, names, ...labels], () =>
      existing()
        .withLabels(namespace, labels)
        .filter(
          (pod) =>
            names.every((name) => pod.containers.some((one) => one.name === name)) &&
            (account === null || pod.serviceAccountName === account) &&
            !deciding.hasUnwantedLabels(pod, template),
        ),
    )
  }
  return podMakers.flatMap(({ makesPools, pods }) =>
    pods
      .filter((pod) => makesPools || !isRepresented(pod))
      .map((pod) =>
        pod.perhaps?.knowsLabels === true
          ? pod
          : { ...pod, possibleLabels: pod.possibleLabels.union(keys.difference(pod.labels)) },
      ),
  )
}

/** Whether a pod may represent a template. A pod that never gets a node does not show what later pods will hold. */
function represents(pod: Pod): boolean {
  return pod.exists && !getsNoNode(pod)
}

/** The existing pods that represent templates. There may be thousands of one shape and tens of thousands of pods: each question is answered once. */
class Representing<Answer> {
  readonly #deciding: DecidingFacts
  readonly #answerOf: (pods: readonly Pod[]) => Answer
  readonly #candidates = new Map<string, ReadonlyMap<string, readonly Pod[]>>()
  readonly #answers = new Map<string, Answer>()

  constructor(deciding: DecidingFacts, answerOf: (pods: readonly Pod[]) => Answer) {
    this.#deciding = deciding
    this.#answerOf = answerOf
  }

  /** The answer about a template; `alike` are the pods that are like all templates of a shape. */
  of(template: Pod, shape: readonly unknown[], alike: () => readonly Pod[]): Answer {
    const deciding = this.#deciding
    const ofShape = JSON.stringify(shape)
    const [text, bounds] = [deciding.textOf(template), deciding.boundsOf(template)]
    return getOrCreate(this.#answers, [ofShape, text, bounds].join('\n'), () => {
      const byText = getOrCreate(this.#candidates, ofShape, () =>
        Map.groupBy(alike(), (pod) => deciding.textOf(pod)),
      )
      const same = byText.get(text) ?? []
      return this.#answerOf(
        bounds === '' ? same : same.filter((pod) => deciding.isWithinBounds(template, pod)),
      )
    })
  }
}

/** The workloads that made some pods, as far as these tell. */
class MakersOfPods {
  /** `Kind/name`, from the nearest up. */
  readonly #all = new Set<string>()
  /** Those whose own maker is not known. */
  readonly #topmost = new Set<string>()
  readonly #hasUnowned: boolean

  constructor(pods: readonly Pod[]) {
    let hasUnowned = false
    let before: Pod | undefined
    for (const pod of pods) {
      // Pods of one list share what is equal.
      if (before?.labels === pod.labels && ownersOf(before) === ownersOf(pod)) continue
      before = pod
      const workloads = workloadsOf(pod).map(({ kind, name }) => `${kind}/${name}`)
      const last = workloads.at(-1)
      if (last === undefined) hasUnowned = true
      else this.#topmost.add(last)
      for (const workload of workloads) this.#all.add(workload)
    }
    this.#hasUnowned = hasUnowned
  }

  /** Whether one of the pods may be of the workload of this template. */
  mayInclude({ ref, owner }: Pod): boolean {
    if (this.#hasUnowned || this.#all.has(`${ref.kind}/${ref.name}`)) return true
    if (owner === undefined) return this.#all.size > 0
    if (owner.name !== undefined) return this.#all.has(`${owner.kind}/${owner.name}`)
    // What is between the two is named after the workload.
    return [...this.#topmost].some((workload) => workload.startsWith(`${owner.kind}/${ref.name}-`))
  }
}

function ownersOf(pod: Pod): unknown {
  return own(pod.metadata, 'ownerReferences')
}

/** Pods of one namespace, service account and set of containers. */
interface Alike {
  readonly pods: Pod[]
  readonly index: () => PodIndex
}

/** Pods by what those of one template have in common. In maps of maps: a text for each pod would be much to throw away. */
class PodsByShape {
  readonly #shapes = new Map<string, Map<string, Map<string, Alike>>>()
  /** By the list of containers, which pods of one list from a cluster share. */
  readonly #texts = new WeakMap<Pod['containers'], string>()

  constructor(pods: readonly Pod[]) {
    for (const pod of pods) {
      const accounts = getOrCreate(this.#shapes, pod.namespace, newMap<Map<string, Alike>>)
      const shapes = getOrCreate(accounts, pod.serviceAccountName, newMap<Alike>)
      getOrCreate(shapes, this.containersText(pod), newAlike).pods.push(pod)
    }
  }

  /** The pods that have the shape of a template; undefined where there is none. */
  like(template: Pod): Alike | undefined {
    const accounts = this.#shapes.get(template.namespace)
    return accounts?.get(template.serviceAccountName)?.get(this.containersText(template))
  }

  containersText({ containers }: Pod): string {
    return getOrCreate(this.#texts, containers, () => shapeOf({ containers }))
  }
}

function newMap<Value>(): Map<string, Value> {
  return new Map()
}

function newAlike(): Alike {
  const pods: Pod[] = []
  return { pods, index: lazy(() => indexPods(pods)) }
}
