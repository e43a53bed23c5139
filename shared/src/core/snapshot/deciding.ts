// Whether a pod shows what a template makes, as far as it decides about an identity: by the labels that selectors name, by what
// templates of registrations read of a pod, and by its images where a selector may ask for one.
import { ITEM } from '../go/template/reads.ts'
import { canonicalText, digPath, isRecord, listAt, own, stringAt } from '../json.ts'
import { lazy } from '../lazy.ts'
import type { ClusterSpiffeId } from '../objects/clusterspiffeid.ts'
import type { Pod } from '../objects/pod.ts'
import { INJECTED_CONTAINERS, INJECTION_KEYS } from '../objects/sidecars.ts'
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
    this.#lacked = lazy(() => labelsAskedToLack(registered))
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

  /** What decides of a template although its pods may add to it, as a text; empty if there is nothing of the sort. */
  boundsOf(template: Pod): string {
    const { nodeName, spec } = template
    const said = this.#loose().map((path) => [...valuesAt(spec, path)])
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
    return this.#loose().every((path) => isAtPathWithin(path, template, pod))
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

/** The fields of a pod's spec that the API server, its admission and webhooks add to, or fill in. */
const ADDED: ReadonlySet<string> = new Set([
  'containers',
  'dnsPolicy',
  'enableServiceLinks',
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

/** What controllers that number their pods give each of them. */
const ADDED_BY_CONTROLLERS: ReadonlySet<string> = new Set(['hostname', 'subdomain'])

const ADDED_FIELDS = [...ADDED, ...ADDED_BY_CONTROLLERS, 'affinity']

/** The workloads whose controllers add nothing to the spec of the template. */
const ADDING_NOTHING: ReadonlySet<string> = new Set(['Deployment', 'ReplicaSet'])

function isAdded(field: string | undefined): boolean {
  return field !== undefined && ADDED_FIELDS.includes(field)
}

/** Whether a pod may have a field that its template leaves out, whatever is in it. */
function isAddedFor({ ref }: Pod, field: string | undefined): boolean {
  if (field === undefined) return false
  if (field === 'priority' || field === 'overhead') return true
  return ADDED_BY_CONTROLLERS.has(field) && !ADDING_NOTHING.has(ref.kind)
}

/** What is said at a path: of each container by its name, or of the pod. */
function valuesAt(spec: unknown, path: SpecPath): ReadonlyMap<string, unknown> {
  const [list = '', item, ...field] = path
  if (item !== ITEM) return new Map([['', digPath(spec, path) ?? null]])
  return new Map(listAt(spec, list).map((one) => [stringAt(one, 'name') ?? '', digPath(one, field) ?? null]))
}

function isAtPathWithin(path: SpecPath, template: Pod, pod: Pod): boolean {
  if (path[0] === 'affinity' && template.ref.kind === 'DaemonSet') {
    const [said, found] = [template, pod].map(({ spec }) =>
      filled(withoutNodeOfDaemon(own(spec, 'affinity'))),
    )
    return isWithin(said, found)
  }
  const foundOnes = valuesAt(template.ref.kind === 'StatefulSet' ? withoutOwnClaims(pod) : pod.spec, path)
  return [...valuesAt(template.spec, path)].every(([name, value]) => {
    const [said, found] = [filled(value), filled(foundOnes.get(name))]
    if (isWithin(said, found)) return true
    return said === undefined && (isAddedFor(template, path[0]) || isFilledIn(path.at(-1) ?? '', found))
  })
}

/** The spec without the volumes of the claims that a StatefulSet makes for this one pod, which are named after it. */
function withoutOwnClaims({ spec, ref }: Pod): unknown {
  const volumes = own(spec, 'volumes')
  if (!isRecord(spec) || !Array.isArray(volumes)) return spec
  const isOwn = (volume: unknown): boolean =>
    stringAt(volume, 'persistentVolumeClaim', 'claimName')?.endsWith(`-${ref.name}`) === true
  return { ...spec, volumes: volumes.filter((volume) => !isOwn(volume)) }
}

/** A DaemonSet's controller says in place of the required node affinity on which node each pod is to run. */
function withoutNodeOfDaemon(affinity: unknown): unknown {
  if (!isRecord(affinity) || !isRecord(affinity['nodeAffinity'])) return affinity
  const { requiredDuringSchedulingIgnoredDuringExecution: _, ...nodeAffinity } = affinity['nodeAffinity']
  return { ...affinity, nodeAffinity }
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

/** What the API server fills in where nothing is said, by the name of the field; any value of those that have none here. */
const DEFAULTS: Readonly<Record<string, unknown>> = {
  dnsPolicy: 'ClusterFirst',
  enableServiceLinks: true,
  preemptionPolicy: 'PreemptLowerPriority',
  restartPolicy: 'Always',
  schedulerName: 'default-scheduler',
  terminationGracePeriodSeconds: 30,
  apiVersion: 'v1',
  defaultMode: undefined,
  expirationSeconds: 3_600,
  failureThreshold: 3,
  imagePullPolicy: undefined,
  // Requests are filled in from limits, and both by a LimitRange.
  limits: undefined,
  path: '/',
  periodSeconds: 10,
  protocol: 'TCP',
  requests: undefined,
  resources: undefined,
  scheme: 'HTTP',
  successThreshold: 1,
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  timeoutSeconds: 1,
}

function isFilledIn(field: string, value: unknown): boolean {
  return Object.hasOwn(DEFAULTS, field) && (DEFAULTS[field] === undefined || DEFAULTS[field] === value)
}

const ACCOUNT_TOKENS = '/var/run/secrets/kubernetes.io/serviceaccount'

/** The names of volumes that admission, meshes and clouds add to pods begin so. */
const ADDED_VOLUMES =
  /^(kube-api-access-|istio|linkerd-|workload-(socket|certs)$|credential-socket$|aws-iam-token$|vault-|home-(init|sidecar)$)/
/** The keys of the tolerations that admission adds: those of nodes that are not ready, and of the devices that a pod asks for. */
const ADDED_TOLERATIONS =
  /^(node\.kubernetes\.io|nvidia\.com|amd\.com|gpu\.intel\.com|google\.com|habana\.ai|aws\.amazon\.com)\//

/** Whether an item of a list is one that admission adds to pods: a volume, the mount of the account's token, a toleration, a sidecar. */
function isAddedItem(item: unknown): boolean {
  if (!isRecord(item)) return false
  const { name, key, mountPath } = item
  return (
    mountPath === ACCOUNT_TOKENS ||
    (typeof name === 'string' && (ADDED_VOLUMES.test(name) || INJECTED_CONTAINERS.has(name))) ||
    (typeof key === 'string' && ADDED_TOLERATIONS.test(key))
  )
}

/** Whether a value says what another does, and nothing else but what is filled in or added. */
function isWithin(said: unknown, found: unknown): boolean {
  if (said === found) return true
  if (Array.isArray(found)) {
    if (said !== undefined && !Array.isArray(said)) return false
    const items: readonly unknown[] = said ?? []
    let at = 0
    // In their order: a template may read the first item.
    for (const item of found) {
      if (at < items.length && isWithin(items[at], item)) at++
      else if (!isAddedItem(item)) return false
    }
    return at === items.length
  }
  if (!isRecord(said) || !isRecord(found)) return false
  return [...new Set([...Object.keys(said), ...Object.keys(found)])].every((field) => {
    const value = own(found, field)
    return isWithin(own(said, field), value) || (own(said, field) === undefined && isFilledIn(field, value))
  })
}
