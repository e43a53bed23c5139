// Whether a pod shows what a template makes, as far as it decides about an identity: by the labels that selectors name, by what
// templates of registrations read of a pod, and by its images where a selector may ask for one.
import { ITEM } from '../base/go/template/reads.ts'
import { canonicalText, digPath, isRecord, listAt, own, stringAt, deepEqual } from '../base/json.ts'
import { getOrCreate } from '../base/get-or-create.ts'
import { lazy } from '../base/lazy.ts'
import type { ClusterSpiffeId } from '../model/objects/clusterspiffeid.ts'
import type { Pod } from '../model/objects/pod.ts'
import { INJECTED_CONTAINERS, INJECTION_KEYS } from '../model/objects/sidecars.ts'
import { labelsAskedFor, labelsAskedToLack } from './labels-asked-for.ts'
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
  readonly #lacked: () => ReadonlySet<string>
  readonly #spec: () => readonly SpecPath[]
  readonly #texts = new WeakMap<Pod, string>()

  constructor({ staticEntries, pools }: Snapshot, { registered, variantLabelKey }: PodRegistrations) {
    const selectors = staticEntries.read.flatMap(({ spec }) => spec.selectors)
    this.#reads = lazy(() => podReadsOf(registered, selectors))
    this.#labels = lazy(() => {
      const asked = labelsAskedFor(registered, staticEntries.read, pools.read)
      return variantLabelKey === undefined ? asked : new Set([...asked, variantLabelKey])
    })
    this.#lacked = lazy(() => labelsAskedToLack(registered))
    this.#spec = lazy(() => this.#reads().spec.filter(([field]) => field !== AFFINITY))
  }

  #isAffinityRead(): boolean {
    return this.#reads().spec.some(([field]) => field === AFFINITY)
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
    if (!areAnnotations && !finalizers && this.#spec().length === 0) return ''
    return getOrCreate(this.#texts, pod, () =>
      canonicalText([
        annotationsOf(pod, annotations),
        finalizers ? filled(own(pod.metadata, 'finalizers')) : undefined,
        this.#spec().map((path) => filled(valueAt(pod, path))),
      ]),
    )
  }

  /** What decides of a template although its pods may add to it, as a text; empty if there is nothing of the sort. */
  boundsOf(template: Pod): string {
    const { nodeName } = template
    const affinity = this.#isAffinityRead() ? affinityOf(template, template) : undefined
    const images = this.#reads().images ? template.containers.map(({ image }) => image ?? null) : []
    const injected = template.containers.flatMap(({ name, injectedBy }) =>
      injectedBy === undefined ? [] : name,
    )
    if (nodeName === undefined && !this.#isAffinityRead() && images.length + injected.length === 0) return ''
    return canonicalText([
      template.ref.kind,
      nodeName ?? null,
      affinity,
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
    return !this.#isAffinityRead() || deepEqual(affinityOf(template, template), affinityOf(template, pod))
  }

  /**
   * Whether a pod has a label that the template does not have and that a template of a registration reads, or without which a
   * registration would apply. A controller that is not known may have added any other, and any of its own.
   */
  hasUnwantedLabels(pod: Pod, { labels, ref }: Pod): boolean {
    for (const key of pod.labels.keys())
      if (
        !labels.has(key) &&
        (this.#lacked().has(key) || isAmong(key, this.#reads().labels)) &&
        !isOfController(key, ref.kind)
      )
        return true
    return false
  }
}

const AFFINITY = 'affinity'

/**
 * What is said at a path: of each container by its name, or of the pod. What admission fills in or adds is a difference like any other: where
 * it is read, the template is asked about beside its pods.
 */
function valueAt({ spec }: Pod, path: SpecPath): unknown {
  const [list = '', item, ...field] = path
  if (item === ITEM) {
    const all = listAt(spec, list).map((one) => [stringAt(one, 'name') ?? '', digPath(one, field)] as const)
    return Object.fromEntries(all.filter(([name]) => !INJECTED_CONTAINERS.has(name)))
  }
  if (path.length > 0) return digPath(spec, path)
  return Object.fromEntries(Object.entries(spec).filter(([name]) => !SHAPE_AND_NODE.has(name)))
}

/** A DaemonSet's controller says in place of the required node affinity on which node each pod is to run. */
function affinityOf({ ref }: Pod, { spec }: Pod): unknown {
  const affinity = own(spec, AFFINITY)
  if (ref.kind !== 'DaemonSet' || !isRecord(affinity) || !isRecord(affinity['nodeAffinity']))
    return filled(affinity)
  const { requiredDuringSchedulingIgnoredDuringExecution: _, ...nodeAffinity } = affinity['nodeAffinity']
  return filled({ ...affinity, nodeAffinity })
}

/** Whether a label may be one that the controller of a kind adds: `ray.io/cluster` for `RayCluster.ray.io`, and the hash of a template. */
function isOfController(key: string, kind: string): boolean {
  const slash = key.indexOf('/')
  if (slash < 0) return key.endsWith('template-hash')
  return domainOf(key.slice(0, slash)) === domainOf(kind)
}

function domainOf(name: string): string {
  const domain = name.split('.').slice(-2).join('.')
  // Projects of the SIGs have groups of the one and labels of the other.
  return domain === 'kubernetes.io' || domain === 'x-k8s.io' ? 'k8s.io' : domain
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
 * template does. Where its namespace asks, that may be younger than the pod.
 */
function hasSidecarsOf(template: Pod, pod: Pod): boolean {
  const lacks = template.containers.some(
    ({ name, injectedBy }) => injectedBy !== undefined && !pod.containers.some((one) => one.name === name),
  )
  if (!lacks) return true
  const [words, ofPod] = [askingOf(template), askingOf(pod)]
  return words.some((word) => word !== null) && canonicalText(words) === canonicalText(ofPod)
}

/** What a pod says to webhooks that add containers. */
function askingOf({ labels, metadata }: Pod): readonly unknown[] {
  const annotations = own(metadata, 'annotations')
  return INJECTION_KEYS.map((key) => labels.get(key) ?? own(annotations, key) ?? null)
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
