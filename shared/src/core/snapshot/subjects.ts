// The pods that a question about pods is about: those that exist, and those that workloads would make and that no existing
// pod represents.
import { getOrCreate } from '../get-or-create.ts'
import { lazy } from '../lazy.ts'
import { indexPods, type PodIndex } from '../objects/pod-index.ts'
import type { Pod } from '../objects/pod.ts'
import { INJECTED_CONTAINERS } from '../objects/sidecars.ts'
import type { Snapshot } from './snapshot.ts'

/**
 * The pods of a snapshot, and those of its templates that no existing pod represents. A template is represented by an
 * existing pod with its labels, service account and containers.
 */
export function podsInQuestionOf(snapshot: Snapshot): readonly Pod[] {
  if (snapshot.templates.length === 0) return snapshot.pods
  const existing = new PodsByShape(snapshot.pods.filter((pod) => pod.exists))
  const answers = new Map<string, boolean>()
  const isRepresented = (template: Pod): boolean => {
    const alike = existing.like(template)
    if (alike === undefined || template.labels.size === 0) return alike !== undefined
    // There may be thousands of workloads of one shape and tens of thousands of pods: each question is answered once, by index.
    const { namespace, serviceAccountName, labels } = template
    const question = [namespace, serviceAccountName, existing.containersText(template), ...labels]
    return getOrCreate(
      answers,
      JSON.stringify(question),
      () => alike.index().withLabels(namespace, labels).length > 0,
    )
  }
  return [...snapshot.pods, ...snapshot.templates.filter((template) => !isRepresented(template))]
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
    const before = this.#texts.get(containers)
    // What a webhook adds stands in no template, and in every pod that exists.
    const own = containers.filter(({ name }) => !INJECTED_CONTAINERS.has(name))
    const text = before ?? own.map(({ name, role }) => `${role} ${name}`).join('\n')
    if (before === undefined) this.#texts.set(containers, text)
    return text
  }
}

function newMap<Value>(): Map<string, Value> {
  return new Map()
}

function newAlike(): Alike {
  const pods: Pod[] = []
  return { pods, index: lazy(() => indexPods(pods)) }
}
