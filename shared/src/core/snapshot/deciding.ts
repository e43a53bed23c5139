// Whether a pod shows what a template makes, as far as it decides about an identity: by the labels that selectors name, by what
// templates of registrations read of a pod, and by its images where a selector may ask for one.
import { canonicalText, digPath, isRecord, own } from '../json.ts'
import { lazy } from '../lazy.ts'
import type { ClusterSpiffeId } from '../objects/clusterspiffeid.ts'
import type { Pod } from '../objects/pod.ts'
import { INJECTION_KEYS } from '../objects/sidecars.ts'
import { labelsAskedFor } from './labels-asked-for.ts'
import { podReadsOf, SHAPE_AND_NODE, type PodReads, type ReadKeys, type SpecPath } from './pod-reads.ts'
import type { Snapshot } from './snapshot.ts'

/** What tells pods apart, beside what their shape is. */
export interface PodRegistrations {
  /** Every ClusterSPIFFEID that is there now or will be. */
  readonly registered: readonly ClusterSpiffeId[]
  /** The label that says which variant a pod is of; undefined where it is not known. */
  readonly variantLabelKey: string | undefined
}

/** What decides, by some registrations. All of it is worked out when it is first asked for. */
export class DecidingFacts {
  readonly #reads: () => PodReads
  readonly #labels: () => ReadonlySet<string>
  readonly #exact: () => readonly SpecPath[]
  readonly #loose: () => readonly SpecPath[]
  readonly #texts = new WeakMap<Pod, string>()

  constructor({ staticEntries, pools }: Snapshot, { registered, variantLabelKey }: PodRegistrations) {
    const selectors = staticEntries.flatMap(({ spec }) => spec.selectors)
    this.#reads = lazy(() => podReadsOf(registered, selectors))
    this.#labels = lazy(() => {
      const asked = labelsAskedFor(registered, staticEntries, pools)
      return variantLabelKey === undefined ? asked : new Set([...asked, variantLabelKey])
    })
    this.#exact = lazy(() => this.#reads().spec.filter(([field]) => !isAdded(field)))
    this.#loose = lazy(() => {
      const { spec } = this.#reads()
      const isWhole = spec.some((path) => path.length === 0)
      return isWhole ? ADDED_FIELDS.map((field) => [field]) : spec.filter(([field]) => isAdded(field))
    })
  }

  /** Whether a pod has a deciding label that the template will not give to its pods, nor the controller of the template. */
  areMoreLabelsOn(pod: Pod, { labels, unknownLabels, possibleLabels }: Pod): boolean {
    for (const key of pod.labels.keys())
      if (
        !labels.has(key) &&
        !unknownLabels.has(key) &&
        !possibleLabels.has(key) &&
        (this.#labels().has(key) || isAmong(key, this.#reads().labels))
      )
        return true
    return false
  }

  /** What else decides and is the same on a template and on its pods, as a text; empty where there is nothing of the sort. */
  textOf(pod: Pod): string {
    const { annotations, finalizers } = this.#reads()
    const areAnnotations = annotations === 'all' || annotations.size > 0
    if (!areAnnotations && !finalizers && this.#exact().length === 0) return ''
    const before = this.#texts.get(pod)
    if (before !== undefined) return before
    const text = canonicalText([
      annotationsOf(pod, annotations),
      finalizers ? filled(own(pod.metadata, 'finalizers')) : undefined,
      this.#exact().map((path) => filled(exactAt(pod, path))),
    ])
    this.#texts.set(pod, text)
    return text
  }

  /** What decides of a template and of which its pods may say more, as a text; empty where there is nothing of the sort. */
  boundsOf(template: Pod): string {
    const { nodeName, spec } = template
    const said = this.#loose().map((path) => digPath(spec, path) ?? null)
    const images = this.#reads().images ? template.containers.map(({ image }) => image ?? null) : []
    const injected = template.containers.flatMap(({ name, injectedBy }) =>
      injectedBy === undefined ? [] : name,
    )
    if (nodeName === undefined && said.length + images.length + injected.length === 0) return ''
    return canonicalText([
      template.ref.kind,
      nodeName ?? null,
      said,
      images,
      injected,
      injected.length > 0 && askingOf(template),
    ])
  }

  /** Whether a pod says what such parts of a template say, and no more than what is added to its pods. */
  isWithinBounds(template: Pod, pod: Pod): boolean {
    if (template.nodeName !== undefined && template.nodeName !== pod.nodeName) return false
    if (this.#reads().images && !hasImagesOf(template, pod)) return false
    if (!hasSidecarsOf(template, pod)) return false
    return this.#loose().every((path) => {
      const [said, found] = [template, pod].map(({ spec }) => filled(digPath(spec, path)))
      return said === undefined ? found === undefined || isAddedFor(template, path[0]) : isWithin(said, found)
    })
  }

  /** Whether a pod shows what a template makes, beside its shape and its labels. */
  isShownBy(template: Pod, pod: Pod): boolean {
    return this.textOf(template) === this.textOf(pod) && this.isWithinBounds(template, pod)
  }
}

/** What the API server, its admission and webhooks add to the spec of a pod, or fill in. */
const ADDED: ReadonlySet<string> = new Set([
  'containers',
  'dnsPolicy',
  'enableServiceLinks',
  'ephemeralContainers',
  'imagePullSecrets',
  'initContainers',
  'overhead',
  'preemptionPolicy',
  'priority',
  'restartPolicy',
  'schedulerName',
  'terminationGracePeriodSeconds',
  'tolerations',
  'volumes',
])

/** What controllers other than that of a Deployment add: a DaemonSet's the node's name, those that number pods a host name. */
const ADDED_BY_CONTROLLERS: ReadonlySet<string> = new Set(['affinity', 'hostname', 'subdomain'])

const ADDED_FIELDS = [...ADDED, ...ADDED_BY_CONTROLLERS]

/** The workloads whose controllers add nothing to the spec of the template. */
const ADDING_NOTHING: ReadonlySet<string> = new Set(['Deployment', 'ReplicaSet'])

function isAdded(field: string | undefined): boolean {
  return field !== undefined && (ADDED.has(field) || ADDED_BY_CONTROLLERS.has(field))
}

function isAddedFor({ ref }: Pod, field: string | undefined): boolean {
  return field !== undefined && (ADDED.has(field) || !ADDING_NOTHING.has(ref.kind))
}

function isAmong(key: string, keys: ReadKeys): boolean {
  return keys === 'all' || keys.has(key)
}

function annotationsOf({ metadata }: Pod, keys: ReadKeys): unknown {
  const found = own(metadata, 'annotations')
  if (!isRecord(found)) return {}
  return Object.fromEntries(Object.entries(found).filter(([key]) => isAmong(key, keys)))
}

/** Whether a pod runs the image of each container of the template that names one; those that a webhook adds name none. */
function hasImagesOf(template: Pod, pod: Pod): boolean {
  return template.containers.every(
    ({ name, image }) =>
      image === undefined || pod.containers.some((one) => one.name === name && one.image === image),
  )
}

/**
 * Whether a pod has the containers that a webhook may add to the template's pods, or lacks them though it asks for them as the
 * template does.
 */
function hasSidecarsOf(template: Pod, pod: Pod): boolean {
  const lacks = template.containers.some(
    ({ name, injectedBy }) => injectedBy !== undefined && !pod.containers.some((one) => one.name === name),
  )
  return !lacks || canonicalText(askingOf(template)) === canonicalText(askingOf(pod))
}

/** What a pod says to webhooks that add containers. */
function askingOf({ labels, metadata }: Pod): unknown {
  const annotations = own(metadata, 'annotations')
  return INJECTION_KEYS.map((key) => labels.get(key) ?? own(annotations, key) ?? null)
}

function exactAt({ spec }: Pod, path: SpecPath): unknown {
  if (path.length > 0) return digPath(spec, path)
  return Object.fromEntries(
    Object.entries(spec).filter(([field]) => !isAdded(field) && !SHAPE_AND_NODE.has(field)),
  )
}

/** A value without what is empty: the API server stores no such fields, and fills in empty mappings. */
function filled(value: unknown): unknown {
  if (value === null || value === '') return undefined
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(filled)
  if (!isRecord(value)) return value
  const fields = Object.entries(value).flatMap(([key, one]) => {
    const found = filled(one)
    return found === undefined ? [] : [[key, found] as const]
  })
  return fields.length === 0 ? undefined : Object.fromEntries(fields)
}

/** Whether all that one value says is in another: what mappings and lists have more, in whatever place, is an addition. */
function isWithin(said: unknown, found: unknown): boolean {
  if (said === undefined || said === found) return true
  if (Array.isArray(said)) {
    if (!Array.isArray(found)) return false
    // In their order: a template may read the first item.
    let at = 0
    return said.every((item) => {
      while (at < found.length) if (isWithin(item, found[at++])) return true
      return false
    })
  }
  if (!isRecord(said) || !isRecord(found)) return false
  return Object.keys(said).every((key) => isWithin(said[key], own(found, key)))
}
