// What registrations read of a pod beside the labels that their selectors name: by the templates of ClusterSPIFFEIDs, and by the
// selectors that the attestor gives by images.
import { goType, type GoType } from '../base/go/template/go-types.ts'
import { ITEM, readsOf } from '../base/go/template/reads.ts'
import type { ClusterSpiffeId } from '../model/objects/clusterspiffeid.ts'

/** The keys that are read of a map. */
export type ReadKeys = ReadonlySet<string> | 'all'

/** The keys of the JSON from a pod's spec to what is read, with `ITEM` for each of the containers; empty: all of it. */
export type SpecPath = readonly string[]

/** What some registrations read of a pod. */
export interface PodReads {
  readonly labels: ReadKeys
  readonly annotations: ReadKeys
  readonly finalizers: boolean
  /** Without the service account and the node. */
  readonly spec: readonly SpecPath[]
  readonly images: boolean
}

/** What ClusterSPIFFEIDs, and the selectors of static entries, read of a pod. */
export function podReadsOf(
  registered: readonly Pick<ClusterSpiffeId, 'spec'>[],
  staticSelectors: readonly string[],
): PodReads {
  const texts = new Set<string>()
  const selectors = new Set(staticSelectors)
  for (const { spec } of registered) {
    for (const text of [spec.spiffeIDTemplate, ...spec.dnsNameTemplates]) texts.add(text)
    for (const text of spec.workloadSelectorTemplates) selectors.add(text)
  }
  const reads = new Collected()
  for (const text of selectors) reads.addSelector(text)
  // A thousand objects may share a template.
  for (const text of new Set([...texts, ...selectors])) for (const path of readsOf(text)) reads.add(path)
  return reads
}

/** Whether a template, or a selector, may read the name of a pod. */
export function readsPodName(texts: Iterable<string>): boolean {
  for (const text of texts) {
    if (/^k8s:(?:pod-name\b|\{\{)/.test(text)) return true
    const isRead = readsOf(text).some(
      ([object, field]) =>
        object === undefined ||
        (object === 'PodMeta' && (field === undefined || /^(?:Get)?Name$/.test(field))),
    )
    if (isRead) return true
  }
  return false
}

/** Whether a template of a ClusterSPIFFEID may read the Node of a pod. */
export function readsNode({
  spiffeIDTemplate,
  dnsNameTemplates,
  workloadSelectorTemplates,
}: ClusterSpiffeId['spec']): boolean {
  const paths = [spiffeIDTemplate, ...dnsNameTemplates, ...workloadSelectorTemplates].flatMap(readsOf)
  return paths.some(([object]) => object === undefined || isOfNode(object))
}

function isOfNode(object: string): boolean {
  return object === 'NodeMeta' || object === 'NodeSpec'
}

/** Fields of a pod's spec that say on which nodes it may run. */
export const CHOOSING_NODES = ['nodeSelector', 'affinity']

/** The fields of a pod's metadata that its template gives it. */
const FROM_TEMPLATES = ['Labels', 'Annotations', 'Finalizers'] as const

/** Those that are the single pod's own. */
const OF_ONE_POD: ReadonlySet<string> = new Set([
  'Name',
  'GenerateName',
  'Namespace',
  'SelfLink',
  'UID',
  'ResourceVersion',
  'Generation',
  'CreationTimestamp',
  'DeletionTimestamp',
  'DeletionGracePeriodSeconds',
  'OwnerReferences',
  'ManagedFields',
])

/** Fields of the spec that are compared by themselves: the account is part of a pod's shape, the node the scheduler's choice. */
export const SHAPE_AND_NODE: ReadonlySet<string> = new Set([
  'serviceAccountName',
  'serviceAccount',
  'nodeName',
])

class Collected implements PodReads {
  labels: Set<string> | 'all' = new Set()
  annotations: Set<string> | 'all' = new Set()
  finalizers = false
  images = false
  readonly #spec = new Map<string, SpecPath>()

  get spec(): readonly SpecPath[] {
    return [...this.#spec.values()]
  }

  add([object, ...names]: readonly string[]): void {
    if (object === undefined || object === 'PodMeta') this.#addMetadata(names)
    if (object === undefined || object === 'PodSpec') this.#addSpec(names)
    if (object !== undefined && isOfNode(object)) for (const field of CHOOSING_NODES) this.#addPath([field])
  }

  #addMetadata([name, key]: readonly string[]): void {
    // `GetLabels` gives what `Labels` is.
    const field = name?.replace(/^Get(?=.)/, '')
    if (field !== undefined && OF_ONE_POD.has(field)) return
    const known = FROM_TEMPLATES.find((one) => one === field)
    for (const one of known === undefined ? FROM_TEMPLATES : [known]) {
      if (one === 'Finalizers') this.finalizers = true
      else this.#addKey(one === 'Labels' ? 'labels' : 'annotations', key)
    }
  }

  /** Without a key, all of them are read. */
  #addKey(map: 'labels' | 'annotations', key: string | undefined): void {
    const keys = this[map]
    if (key === undefined) this[map] = 'all'
    else if (keys !== 'all') keys.add(key)
  }

  #addSpec(names: readonly string[]): void {
    const path = withoutItems(specPathOf(names))
    // The names of containers are part of a pod's shape.
    if (path[1] === ITEM && path[2] === 'name') return
    if (!SHAPE_AND_NODE.has(path[0] ?? '')) this.#addPath(path)
  }

  #addPath(path: SpecPath): void {
    this.#spec.set(JSON.stringify(path), path)
  }

  /** Of a selector that a template gives, the kind or the key of a label may be known only once it is rendered. */
  addSelector(text: string): void {
    const [literal = '', ...rendered] = text.split('{{')
    const [type, kind, key, more] = literal.split(':')
    const isKindKnown = rendered.length === 0 || key !== undefined
    if (isKindKnown && type !== 'k8s') return
    if (!isKindKnown || kind?.includes('image') === true) this.images = true
    const isKeyKnown = rendered.length === 0 || more !== undefined
    if (!isKindKnown || (kind === 'pod-label' && !isKeyKnown)) this.labels = 'all'
  }
}

/** A path to an item of any other list than that of the containers is to the list. */
function withoutItems(path: SpecPath): SpecPath {
  const [list, item, ...field] = path
  const isContainers = list === 'containers' || list === 'initContainers'
  if (isContainers && item === ITEM && field.length > 0) return [list, item, ...upToItems(field)]
  return upToItems(path)
}

function upToItems(path: SpecPath): SpecPath {
  const at = path.indexOf(ITEM)
  return at < 0 ? path : path.slice(0, at)
}

/** The path in the JSON to a field in Go, through structs, maps and items of lists. */
function specPathOf(names: readonly string[]): SpecPath {
  const path: string[] = []
  let type: GoType = goType('v1.PodSpec')
  for (const name of names) {
    if (type.kind === 'pointer') type = type.elem
    const field = type.kind === 'struct' ? type.fields().get(name) : undefined
    if (field !== undefined) {
      path.push(...field.path)
      type = field.type
    } else if (type.kind === 'map' || (type.kind === 'slice' && name === ITEM)) {
      path.push(name)
      type = type.elem
    } else break
  }
  return path
}
