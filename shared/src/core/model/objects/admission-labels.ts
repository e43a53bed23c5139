// Pods and Namespaces that do not exist yet, with what admission may make of their labels, and of the annotations of pods.
import { getOrCreate } from '../../base/get-or-create.ts'
import { own, stringAt } from '../../base/json.ts'
import { SettingText, type LabelSetting } from './label-setting.ts'
import { istioTemplate } from './pod-changers.ts'
import { NAMESPACE_NAME_LABEL } from '../names.ts'
import type { Namespace, Pod } from './pod.ts'
import type { PodChange } from './raw.ts'
import { INJECTION_KEYS, mayAsk } from './sidecars.ts'

/** What may become of the labels that are asked for, and of those that are there; any other label decides nothing. */
export class AdmissionLabels {
  readonly #changes: readonly LabelChange[]
  readonly #asked: ReadonlySet<string>
  readonly #annotations: ReadonlySet<string>
  readonly #settings = new Map<string, readonly GivenSetting[]>()

  /** `asked` are keys of labels, and `annotations` those of annotations that are read. */
  constructor(
    changes: readonly PodChange[],
    asked: ReadonlySet<string>,
    annotations: ReadonlySet<string> = new Set(),
  ) {
    this.#annotations = annotations
    this.#changes = changes.flatMap(({ by, labelText, containers = [], namespaces }) =>
      labelText === undefined ? [] : { by, containers, namespaces, sets: new SettingText(labelText) },
    )
    this.#asked = asked
  }

  /** A pod with the labels that it may be given instead of its own. Labels by which its workload finds it stay: a pod without them is deleted. */
  pod(pod: Pod): Pod {
    if (pod.exists) return pod
    const template = istioTemplate(pod)
    if (template === undefined && this.#changes.length === 0) return pod
    const unknown = new Set<string>()
    const possible = new Set<string>()
    const choices = new Map<string, ReadonlySet<string | undefined>>()
    const givers = new Map<string, string>()
    const settingsOf = (key: string): readonly GivenSetting[] =>
      template === undefined ? this.#settingsOf(key, pod.namespace) : [{ by: template, isAddition: false }]
    for (const key of this.#asked.union(pod.labels)) {
      const isKept = pod.selectorLabels?.includes(key) === true
      if (isKept || pod.unknownLabels.has(key) || pod.possibleLabels.has(key)) continue
      const change = changeOf(pod.labels.get(key), settingsOf(key))
      if (change === undefined) continue
      givers.set(key, change.by)
      if (change.values !== undefined) choices.set(key, change.values)
      if (change.values?.has(undefined) === false) unknown.add(key)
      else possible.add(key)
    }
    const annotationChoices = new Map<string, ReadonlySet<string | undefined> | undefined>()
    for (const key of this.#annotations) {
      const change = changeOf(stringAt(own(pod.metadata, 'annotations'), key), settingsOf(key))
      if (change !== undefined) annotationChoices.set(key, change.values)
    }
    const asked = {
      ...pod,
      ...this.#askingIn(pod.namespace),
      ...(annotationChoices.size > 0 && { annotationChoices }),
    }
    if (givers.size === 0) return asked
    return {
      ...asked,
      labels: new Map([...pod.labels].filter(([key]) => !givers.has(key))),
      unknownLabels: pod.unknownLabels.union(unknown),
      possibleLabels: pod.possibleLabels.union(possible),
      labelChoices: choices,
      labelGivers: givers,
    }
  }

  readonly #asking = new Map<string, Pick<Pod, 'askedByAdmission' | 'addedByPolicies'>>()

  /** What policies may make of the containers of any pod of a namespace: those that they add, and those that they ask webhooks for. */
  #askingIn(namespace: string): Pick<Pod, 'askedByAdmission' | 'addedByPolicies'> {
    return getOrCreate(this.#asking, namespace, () => {
      const changes = this.#changes.filter((one) => isOf(one, namespace))
      const keys = INJECTION_KEYS.filter((key) =>
        changes.some(({ sets }) => {
          const setting = sets.names(key) ? sets.settingOf(key) : undefined
          return setting !== undefined && (setting.values === undefined || [...setting.values].some(mayAsk))
        }),
      )
      const added = changes.flatMap(({ by, containers }) =>
        containers.map((name) => ({
          name,
          role: 'injected sidecar' as const,
          image: undefined,
          injectedBy: by,
        })),
      )
      return {
        ...(keys.length > 0 && { askedByAdmission: new Set(keys) }),
        ...(added.length > 0 && { addedByPolicies: added }),
      }
    })
  }

  /** A Namespace in the same way. Its name label stays. */
  namespace(namespace: Namespace): Namespace {
    const possible = new Set<string>()
    const choices = new Map<string, ReadonlySet<string | undefined>>()
    let giver: string | undefined
    for (const key of this.#asked) {
      if (key === NAMESPACE_NAME_LABEL) continue
      const change = changeOf(namespace.labels.get(key), this.#settingsOf(key))
      if (change === undefined) continue
      giver ??= change.by
      possible.add(key)
      if (change.values !== undefined) choices.set(key, change.values)
    }
    return giver === undefined
      ? namespace
      : { ...namespace, possible, choices, whyPossible: `${giver} may set some` }
  }

  /** What sets a label; of a pod, in its namespace. */
  #settingsOf(key: string, namespace?: string): readonly GivenSetting[] {
    const all = getOrCreate(this.#settings, key, () =>
      this.#changes.flatMap(({ by, namespaces, sets }) => {
        const setting = sets.settingOf(key)
        return setting === undefined ? [] : [{ by, namespaces, ...setting }]
      }),
    )
    return namespace === undefined ? all : all.filter((one) => isOf(one, namespace))
  }
}

interface LabelChange extends Required<Pick<PodChange, 'by' | 'containers'>> {
  readonly namespaces: PodChange['namespaces'] | undefined
  readonly sets: SettingText
}

interface GivenSetting extends LabelSetting {
  readonly by: string
  readonly namespaces?: PodChange['namespaces'] | undefined
}

function isOf({ namespaces }: Pick<GivenSetting, 'namespaces'>, namespace: string): boolean {
  return namespaces === undefined || namespaces.has(namespace)
}

/** What a label may be once each of these may have set it, and who may; undefined: what it is. */
function changeOf(
  value: string | undefined,
  settings: readonly GivenSetting[],
): Pick<GivenSetting, 'by' | 'values'> | undefined {
  const values = new Set([value])
  let by: string | undefined
  for (const one of settings) {
    if (one.isAddition && value !== undefined) continue
    if (one.values === undefined) return { by: one.by }
    if (one.values.isSubsetOf(values)) continue
    by ??= one.by
    for (const set of one.values) values.add(set)
  }
  return by === undefined ? undefined : { by, values }
}

/** All that may be keys of labels in what policies set: for a question whose keys are not known yet. */
export function keysNamedBy(changes: readonly PodChange[]): ReadonlySet<string> {
  return new Set(
    changes.flatMap(({ labelText = '' }) => labelText.match(/[A-Za-z0-9][A-Za-z0-9._/~-]*/g) ?? []),
  )
}

/** Who may change a label of a pod, of those that it may carry. */
export function giverOfLabel({ labelGivers }: Pod, key: string): string {
  return labelGivers?.get(key) ?? 'the node'
}
