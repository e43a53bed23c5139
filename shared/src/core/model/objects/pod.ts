// Pods, and the pods that a workload's template will make: one shape for both, so that every question can be asked
// before anything runs.
import { getOrCreate } from '../../base/get-or-create.ts'
import { remembered } from '../../base/remembered.ts'
import { dig, isRecord, listAt, own, recordsAt, stringAt, type JsonRecord } from '../../base/json.ts'
import { NAMESPACE_NAME_LABEL } from '../names.ts'
import { calledName, nonEmpty, readMeta, readStringMap } from './meta.ts'
import type { Origin, RawObject } from './raw.ts'

/** How a container runs in its pod. */
export type ContainerRole = 'regular' | 'init' | 'native sidecar' | 'ephemeral' | 'injected sidecar'

/** A container of a pod. */
export interface Container {
  readonly name: string
  readonly role: ContainerRole
  /** The image as the spec names it, which is not what SPIRE's attestor sees: that comes from the status. */
  readonly image: string | undefined
  /** The webhook that may add the container; if set, it is not certain that the container is there. */
  readonly injectedBy?: string
}

/** The name of a container that is not known. */
export const UNKNOWN_CONTAINER = '<container>'

/** A kind, namespace and name: `Deployment team-a/llama`. */
export interface PodRef {
  readonly kind: string
  readonly namespace: string
  readonly name: string
}

/** The values that labels may have, by their keys; undefined among them: the label may be absent. */
export type LabelChoices = ReadonlyMap<string, ReadonlySet<string | undefined>>

/** Why a pod is not certain. */
export interface Perhaps {
  /** A plain sentence fragment. */
  readonly why: string
  /** Whether `serviceAccountName` is that of the pod. */
  readonly knowsAccount: boolean
  /** It carries no label but its own, those of unknown value and possible ones. Absent: it may carry any. */
  readonly knowsLabels?: true
  /** What the object that it is made of says of labels, annotations and accounts, wherever it stands: where that changes, so may the pod. */
  readonly marks?: string
}

/** Why no selector of a container is found, and whether that is so on all nodes. */
export interface LacksContainerSelectors {
  readonly why: string
  readonly isEverywhere: boolean
}

/** What agents tell of the labels of a namespace (`k8s:ns-label`). */
export interface NamespaceTold {
  readonly isTold: boolean
  /** The configuration that says so: `ConfigMap spire-agent, spire.yaml:12`. */
  readonly source: string
  /** Undefined: not known. */
  readonly namespace: Namespace | undefined
}

/** What a workload says of the number of its pods. */
export interface PodsAsked {
  /** Undefined: what the API server fills in, or has stored. */
  readonly count: number | undefined
  /** Of a live object, a field that a manifest leaves out stays. */
  readonly isManifest: boolean
}

/** A pod, or the pods of one template: what is known of them. */
export interface Pod {
  /** The pod itself, or the workload whose template this is; `part` tells apart two templates of one workload. */
  readonly ref: PodRef
  readonly part: string
  /** The part without the numbers that tell the pods of one template apart; absent: it has none. */
  readonly unnumbered?: string
  /**
   * Whether an API server holds this very pod. Where it does not (a manifest or a template), the UID, the node and
   * whatever controllers and admission add are not known yet.
   */
  readonly exists: boolean
  readonly namespace: string
  /** The pod's name; undefined when a controller will make it up. */
  readonly name: string | undefined
  readonly uid: string | undefined
  readonly labels: ReadonlyMap<string, string>
  /** Keys of labels that the pod will carry with a value that is not known yet. */
  readonly unknownLabels: ReadonlySet<string>
  /** Keys of labels that the pod may or may not carry: the API server copies some from the node. */
  readonly possibleLabels: ReadonlySet<string>
  /** Who may give it those labels that admission may set. */
  readonly labelGivers?: ReadonlyMap<string, string>
  /** The values of these that are possible, undefined for none; without an entry: any. */
  readonly labelChoices?: LabelChoices
  /** The annotations that admission may set, with the values that are possible. Undefined among them: it may be absent; in their place: any. */
  readonly annotationChoices?: ReadonlyMap<string, ReadonlySet<string | undefined> | undefined>
  /** Keys of labels and annotations that admission may set, by which it asks a webhook for a container. */
  readonly askedByAdmission?: ReadonlySet<string>
  /** Containers that policies may add. */
  readonly addedByPolicies?: readonly Container[]
  /** Keys of labels by which its workload finds it. */
  readonly selectorLabels?: readonly string[]
  /** Agents find no selectors of its containers, on all nodes or on some. */
  readonly lacksContainerSelectors?: LacksContainerSelectors
  /** What agents tell of its namespace; absent: not known. */
  readonly namespaceTold?: NamespaceTold
  /** Of a template: how many pods its workload asks for. An autoscaler leaves a workload alone that asks for none. */
  readonly asked?: PodsAsked
  /** Why no such pod will be made any more, a sentence without its full stop. */
  readonly over?: string | undefined
  readonly serviceAccountName: string
  /** Undefined: not scheduled (a pod that exists), or not known yet. */
  readonly nodeName: string | undefined
  /** Its node is not there, and it is looked at as it will be once that is there. */
  readonly getsNode?: true
  readonly containers: readonly Container[]
  /** `metadata`, `spec` and `status` as found, for templates and for the attestor's selectors. */
  readonly metadata: JsonRecord
  readonly spec: JsonRecord
  readonly status: JsonRecord
  /** The direct owner that the workload's controller will set, where it is not in `metadata`. */
  readonly owner: { readonly kind: string; readonly name: string | undefined } | undefined
  /** Set where it is not certain that there will be such a pod: kleym does not read the kind that makes it. */
  readonly perhaps?: Perhaps
  readonly origin: Origin | undefined
}

/** Labels that kube-apiserver 1.36 may copy from the node onto a pod (docs/spire-facts.md §11.16). */
const NODE_COPIED_LABELS: ReadonlySet<string> = new Set([
  'topology.kubernetes.io/region',
  'topology.kubernetes.io/zone',
])

/** Shared by all pods that exist: a cluster may have a hundred thousand of them. */
const NO_LABELS: ReadonlySet<string> = new Set()

/** The service account that admission sets where a pod names none. */
export const DEFAULT_SERVICE_ACCOUNT = 'default'

/**
 * Makes a function that reads pods. If pods share a value in the input, as in one list, they share the result of reading it.
 * Equal containers are one value.
 */
export function podReader(): (raw: RawObject) => Pod {
  const known = {
    labels: new WeakMap<object, Pod['labels']>(),
    containers: new WeakMap<object, Pod['containers']>(),
  }
  const equal = new Map<string, Pod['containers']>()
  return (raw) => {
    const spec = recordAt(raw.value, 'spec')
    // Containers are read from three lists and cached by the first: it may stand for all where it is the only one.
    const isOnly = own(spec, 'initContainers') === undefined && own(spec, 'ephemeralContainers') === undefined
    const containers = isOnly ? own(spec, 'containers') : undefined
    return podOf(raw, {
      labels: cachedFor(known.labels, dig(raw.value, 'metadata', 'labels'), readStringMap),
      containers: cachedFor(known.containers, containers, () => {
        const read = readContainers(spec)
        return remembered(equal, JSON.stringify(read), read)
      }),
    })
  }
}

/** What was read of this source before; else what is read now, which is then cached. */
function cachedFor<T>(known: WeakMap<object, T>, source: unknown, read: (source: unknown) => T): T {
  if (typeof source !== 'object' || source === null) return read(source)
  return getOrCreate(known, source, () => read(source))
}

/** Reads a Pod. One without a UID is a manifest: the pod that it will make is described, as far as it is known. */
export function readPod(raw: RawObject): Pod {
  return podOf(raw, {
    labels: readStringMap(dig(raw.value, 'metadata', 'labels')),
    containers: readContainers(recordAt(raw.value, 'spec')),
  })
}

function podOf(raw: RawObject, { labels, containers }: Pick<Pod, 'labels' | 'containers'>): Pod {
  const metadata = recordAt(raw.value, 'metadata')
  const namespace = stringAt(metadata, 'namespace') ?? ''
  const uid = nonEmpty(stringAt(metadata, 'uid'))
  const exists = uid !== undefined
  const spec = recordAt(raw.value, 'spec')
  return {
    ref: { kind: 'Pod', namespace, name: calledName(metadata) },
    part: '',
    exists,
    namespace,
    name: nonEmpty(stringAt(metadata, 'name')),
    uid,
    labels,
    unknownLabels: NO_LABELS,
    possibleLabels: exists ? NO_LABELS : nodeCopiedLabels(labels),
    serviceAccountName: serviceAccountOf(spec, exists),
    nodeName: nonEmpty(stringAt(spec, 'nodeName')),
    containers,
    metadata,
    spec,
    status: recordAt(raw.value, 'status'),
    owner: undefined,
    origin: raw.origin,
  }
}

/** The pods that a controller makes of a template, as far as that is known before. */
export function podOfTemplate(
  template: Pick<
    Pod,
    | 'ref'
    | 'part'
    | 'namespace'
    | 'labels'
    | 'serviceAccountName'
    | 'containers'
    | 'metadata'
    | 'spec'
    | 'origin'
  > &
    Partial<Pod>,
): Pod {
  const { labels, unknownLabels = NO_LABELS } = template
  return {
    exists: false,
    name: undefined,
    uid: undefined,
    possibleLabels: nodeCopiedLabels(labels, unknownLabels),
    nodeName: undefined,
    status: {},
    owner: undefined,
    ...template,
    unknownLabels: unknownLabels.size === 0 ? NO_LABELS : unknownLabels,
  }
}

/** The keys of labels that a node may give a pod which does not have them. Most templates have none of them, and share one set. */
export function nodeCopiedLabels(
  labels: Pod['labels'],
  unknown: Pod['unknownLabels'] = NO_LABELS,
): Pod['possibleLabels'] {
  const left = [...NODE_COPIED_LABELS].filter((label) => !labels.has(label) && !unknown.has(label))
  return left.length === NODE_COPIED_LABELS.size ? NODE_COPIED_LABELS : new Set(left)
}

/** The keys of the labels by which a workload finds its pods. */
export function selectorLabelsOf(workload: JsonRecord): readonly string[] {
  return [...readStringMap(dig(workload, 'spec', 'selector', 'matchLabels')).keys()]
}

/** The service account that a pod runs under; admission fills in `default` for a pod that is not stored yet. */
export function serviceAccountOf(spec: JsonRecord, exists: boolean): string {
  const named = stringAt(spec, 'serviceAccountName') ?? ''
  if (exists || named !== '') return named
  return nonEmpty(stringAt(spec, 'serviceAccount')) ?? DEFAULT_SERVICE_ACCOUNT
}

/**
 * The service account of a built-in workload's pod spec once it is applied over the one before. The API server fills in each of the two
 * fields from the other, and an apply takes away only what the manifest before gave
 * (https://github.com/kubernetes/kubernetes/blob/v1.36.0/pkg/apis/core/v1/conversion.go).
 */
export function serviceAccountAfterApply(spec: JsonRecord, before: JsonRecord): string {
  const fields = ['serviceAccountName', 'serviceAccount'] as const
  const isNamed = fields.some((field) => nonEmpty(stringAt(before, field)) !== undefined)
  const stored = isNamed ? serviceAccountOf(before, false) : undefined
  const [name, alias] = fields.map(
    (field) => nonEmpty(stringAt(spec, field)) ?? (own(before, field) === undefined ? stored : undefined),
  )
  return name ?? alias ?? DEFAULT_SERVICE_ACCOUNT
}

/** The containers of a pod spec: regular ones first, then init containers and native sidecars, then ephemeral ones. */
export function readContainers(spec: JsonRecord): readonly Container[] {
  const of = (field: string, role: (container: unknown) => ContainerRole): Container[] =>
    recordsAt(spec, field).map((item) => ({
      name: stringAt(item, 'name') ?? '',
      role: role(item),
      image: stringAt(item, 'image'),
    }))
  return [
    ...of('containers', () => 'regular'),
    ...of('initContainers', (item) => (own(item, 'restartPolicy') === 'Always' ? 'native sidecar' : 'init')),
    ...of('ephemeralContainers', () => 'ephemeral'),
  ]
}

/** Shared: hardly any of a hundred thousand pods is read with its status. */
const NOTHING: JsonRecord = {}

/** The mapping at a key, else an empty one. */
export function recordAt(value: unknown, key: string): JsonRecord {
  const found = dig(value, key)
  return isRecord(found) ? found : NOTHING
}

/** A namespace and its labels. */
export interface Namespace {
  readonly name: string
  readonly labels: ReadonlyMap<string, string>
  readonly annotations?: ReadonlyMap<string, string>
  /** False where only the name is known, because no Namespace object was given: other labels are then unknown. */
  readonly complete: boolean
  /** Keys of labels that admission may set, or an apply may keep. */
  readonly possible?: ReadonlySet<string>
  /** Why they may be there: `policy x may set some`. */
  readonly whyPossible?: string
  /** The values of these that are possible; without an entry: any. */
  readonly choices?: LabelChoices
  /** It is being deleted: the API server takes no new object in it. */
  readonly isTerminating?: true
}

/** Reads a Namespace. The API server sets its name label, so a manifest without it has it too. */
export function readNamespace(raw: RawObject): Namespace {
  const meta = readMeta(raw.value)
  const kept = [...(raw.perhapsKept ?? [])].filter(([key]) => key !== NAMESPACE_NAME_LABEL)
  return {
    ...namespaceNamed(meta.name, meta.labels, true),
    annotations: meta.annotations,
    ...(meta.deletedAt !== undefined && { isTerminating: true }),
    ...(kept.length > 0 && {
      possible: new Set(kept.map(([key]) => key)),
      whyPossible:
        'the live Namespace has some that its manifest leaves out, and no apply that gave them is on record',
      choices: new Map(kept.map(([key, value]) => [key, new Set([undefined, value])])),
    }),
  }
}

/** Why the API server takes no new object in a namespace; undefined: it may take one. */
export function whyTakesNothing(namespace: Namespace | undefined): string | undefined {
  return namespace?.isTerminating === true
    ? `namespace ${namespace.name} is being deleted, and takes no new objects`
    : undefined
}

/** A pod, with why it will not be made if its namespace is being deleted. A pod that exists keeps what it holds until it is gone. */
export function withinNamespace(pod: Pod, namespace: Namespace | undefined): Pod {
  const over = pod.exists ? undefined : whyTakesNothing(namespace)
  return over === undefined ? pod : { ...pod, over }
}

/** A namespace with these labels and its name label, which the API server sets. */
export function namespaceNamed(
  name: string,
  labels: ReadonlyMap<string, string>,
  complete: boolean,
): Namespace {
  return { name, labels: new Map([...labels, [NAMESPACE_NAME_LABEL, name]]), complete }
}

/** A node. */
export interface Node {
  readonly name: string
  readonly uid: string | undefined
  readonly metadata: JsonRecord
  readonly spec: JsonRecord
}

/** Reads a Node. */
export function readNode(raw: RawObject): Node {
  const meta = readMeta(raw.value)
  return {
    name: meta.name,
    uid: meta.uid,
    metadata: recordAt(raw.value, 'metadata'),
    spec: recordAt(raw.value, 'spec'),
  }
}

/** One Endpoints object, as far as `autoPopulateDNSNames` reads it. */
export interface Endpoints {
  readonly namespace: string
  readonly name: string
  /** UIDs of the pods behind it, ready or not. */
  readonly podUids: ReadonlySet<string>
}

/** Reads an Endpoints object; SCM counts ready and not-ready addresses whose target is a Pod. */
export function readEndpoints(raw: RawObject): Endpoints {
  const meta = readMeta(raw.value)
  const podUids = new Set<string>()
  for (const subset of listAt(raw.value, 'subsets')) {
    for (const address of [...listAt(subset, 'addresses'), ...listAt(subset, 'notReadyAddresses')]) {
      const uid = stringAt(address, 'targetRef', 'uid')
      if (uid !== undefined && stringAt(address, 'targetRef', 'kind') === 'Pod') podUids.add(uid)
    }
  }
  return { namespace: meta.namespace, name: meta.name, podUids }
}
