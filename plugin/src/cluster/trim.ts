// What is kept of each object as it arrives: a large cluster's pods alone would fill the memory otherwise. Templates may
// read any field of a pod, so what is kept of pods follows from the templates that there are.
import { dig, isRecord, listAt, own, stringAt, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import { mayHoldIds } from '@kleym/shared/core/model/ids-in-text.ts'
import { appliedRecord, LAST_APPLIED } from '@kleym/shared/core/model/objects/applied.ts'
import { recordAt } from '@kleym/shared/core/model/objects/pod.ts'
import { INJECTION_KEYS } from '@kleym/shared/core/model/objects/sidecars.ts'
import { MIRROR_ANNOTATION } from '@kleym/shared/core/predict/index.ts'
import { isSpiresImage, WORKLOAD_API_VARIABLES } from '@kleym/shared/core/model/objects/workload-api.ts'
import type { Trim } from './reader.ts'
import { Sharing } from '../sources/sharing.ts'

/** Everything but the bookkeeping of field managers and, where `status` is false, the status. */
export function withoutManagedFields({ status }: { readonly status: boolean }): Trim {
  return (object) => {
    const { metadata, status: _, ...rest } = object
    return {
      ...rest,
      metadata: isRecord(metadata) ? without(metadata, 'managedFields') : metadata,
      ...(status && 'status' in object && { status: object['status'] }),
    }
  }
}

/** The same, with the record of applies of those objects that files shadow: it tells which fields the next apply keeps. */
export function keepingApplied(trim: Trim, isInFiles: (object: JsonRecord) => boolean): Trim {
  return (object, sharing) => {
    const trimmed = trim(object, sharing)
    const record = isInFiles(object) ? appliedRecord(object['metadata']) : undefined
    if (record === undefined) return trimmed
    const metadata = recordAt(trimmed, 'metadata')
    const annotations = { ...recordAt(metadata, 'annotations'), ...recordAt(record, 'annotations') }
    return { ...trimmed, metadata: { ...metadata, ...record, annotations } }
  }
}

/** All of an access policy but what other programs note in it. */
export const policyTrim: Trim = (object) => {
  const { metadata: meta } = object
  if (!isRecord(meta)) return object
  const { managedFields: _, annotations, ...metadata } = meta
  return {
    ...object,
    metadata: {
      ...metadata,
      ...(isRecord(annotations) && { annotations: without(annotations, LAST_APPLIED) }),
    },
  }
}

/** Of a ConfigMap the texts that hold SPIFFE IDs: a megabyte of another one is dropped as it arrives. */
export const idsTrim: Trim = ({ apiVersion, kind, metadata: meta, data, binaryData }) => {
  const annotations = own(meta, 'annotations')
  return {
    apiVersion,
    kind,
    metadata: {
      name: own(meta, 'name'),
      namespace: own(meta, 'namespace'),
      ...(isRecord(annotations) && { annotations: without(annotations, LAST_APPLIED) }),
    },
    data: textsWithIds(data),
    binaryData: textsWithIds(binaryData),
  }
}

function textsWithIds(texts: unknown): JsonRecord {
  const all = isRecord(texts) ? Object.entries(texts) : []
  return Object.fromEntries(all.filter(([, text]) => typeof text === 'string' && mayHoldIds(text)))
}

/** What templates and selectors read of pods beside labels, names, service account and node. */
export interface PodNeeds {
  /** The fields that templates name, as `mentionsOf` gives them. */
  readonly mentions: ReadonlySet<string>
  /** Whether a selector asks for images, which the attestor takes from the status. */
  readonly images: boolean
}

const METADATA = [
  'name',
  'generateName',
  'namespace',
  'uid',
  'labels',
  'ownerReferences',
  'creationTimestamp',
  'deletionTimestamp',
]
const SPEC = ['serviceAccountName', 'serviceAccount', 'nodeName']
/** The names that templates use for what is kept anyway. */
const KEPT = new Set([
  ...['Name', 'GenerateName', 'Namespace', 'UID', 'Labels', 'OwnerReferences'].map(
    (field) => `PodMeta.${field}`,
  ),
  ...['ServiceAccountName', 'DeprecatedServiceAccount', 'NodeName'].map((field) => `PodSpec.${field}`),
])
/** Kept where a template reads them: they are long, and few do. */
const ANNOTATIONS = 'PodMeta.Annotations'
const CONTAINER_LISTS = ['containers', 'initContainers', 'ephemeralContainers']
const CONTAINER = ['name', 'image', 'restartPolicy']
const STATUS_LISTS = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses']
const CONTAINER_STATUS = ['name', 'image', 'imageID']

/** What the pods of a workload have in common. */
const SHARED_METADATA = ['namespace', 'generateName', 'labels', 'ownerReferences']
const SHARED_SPEC = [...SPEC, ...CONTAINER_LISTS, 'volumes']

/** Keeps of a pod what the answer reads. */
export function podTrim({ mentions, images }: PodNeeds): Trim {
  const wholeMetadata = needsMore(mentions, 'PodMeta')
  const wholeSpec = needsMore(mentions, 'PodSpec')
  const trimMetadata = mentions.has(ANNOTATIONS) ? withAnnotations : withoutAnnotations
  const ofMetadata = wholeMetadata ? withoutManagers : trimMetadata
  return (pod, sharing = new Sharing()) => {
    const { apiVersion, kind, metadata: meta, spec } = pod
    const status = trimStatus(pod, images)
    return {
      apiVersion,
      kind,
      metadata: isRecord(meta) ? sharing.fields(ofMetadata(meta), SHARED_METADATA) : {},
      spec: isRecord(spec)
        ? wholeSpec
          ? sharing.fields({ ...spec }, SHARED_SPEC)
          : trimSpec(spec, sharing)
        : {},
      ...(status && { status }),
    }
  }
}

/** The images, if a selector asks for them; and of a pod without a node the phase, which says whether it still waits for one. */
function trimStatus(pod: JsonRecord, images: boolean): JsonRecord | undefined {
  const hasNode = own(pod['spec'], 'nodeName') !== undefined
  // A field that nobody reads is not made, and what pods report is long.
  if (hasNode && !images) return undefined
  const { status } = pod
  if (!isRecord(status)) return undefined
  const ofImages = images ? trimLists(status, STATUS_LISTS, CONTAINER_STATUS) : undefined
  return hasNode || own(status, 'phase') === undefined
    ? ofImages
    : { ...ofImages, ...pick(status, ['phase']) }
}

/** Whether templates name anything of an object of the pod beyond what is kept. */
function needsMore(mentions: ReadonlySet<string>, object: 'PodMeta' | 'PodSpec'): boolean {
  return [...mentions].some(
    (one) =>
      one === '*' ||
      one === object ||
      (one.startsWith(`${object}.`) && !KEPT.has(one) && one !== ANNOTATIONS),
  )
}

function withoutManagers(meta: JsonRecord): Record<string, unknown> {
  return without(meta, 'managedFields')
}

function withAnnotations(meta: JsonRecord): Record<string, unknown> {
  return pick(meta, [...METADATA, 'annotations'])
}

/**
 * The attestor asks for one annotation itself: the UID of a static pod is not that of its mirror. Others ask webhooks for a
 * sidecar.
 */
const ANNOTATIONS_KEPT = [MIRROR_ANNOTATION, ...INJECTION_KEYS]

function withoutAnnotations(meta: JsonRecord): Record<string, unknown> {
  const annotations = own(meta, 'annotations')
  const kept = isRecord(annotations) ? pick(annotations, ANNOTATIONS_KEPT) : {}
  const picked = pick(meta, METADATA)
  if (Object.keys(kept).length > 0) picked['annotations'] = kept
  return picked
}

/** Beside names and images, what leads a container to the Workload API, and what its hooks and init containers run. */
function trimSpec(spec: JsonRecord, sharing: Sharing): JsonRecord {
  const sockets = listAt(spec, 'volumes').filter(mayHoldSocket)
  const led = new Set(sockets.map((volume) => own(volume, 'name')))
  const trimmed = sharing.fields(pick(spec, [...SPEC, 'os']), SPEC)
  if (own(spec, 'automountServiceAccountToken') === false) trimmed['automountServiceAccountToken'] = false
  const os = stringAt(spec, 'nodeSelector', OS_LABEL)
  if (os !== undefined) trimmed['nodeSelector'] = { [OS_LABEL]: os }
  for (const list of CONTAINER_LISTS) {
    const items = own(spec, list)
    if (!Array.isArray(items)) continue
    const containers = items.map((item: unknown, at) =>
      isRecord(item) ? trimContainer(item, `${list} ${at}`, led, sharing) : item,
    )
    trimmed[list] = sharing.made(list, containers, () => containers)
  }
  if (own(spec, 'volumes') !== undefined)
    trimmed['volumes'] = sharing.made('volumes', sockets, () => sockets.map(trimVolume))
  return trimmed
}

const OS_LABEL = 'kubernetes.io/os'

/** Whether the socket of an agent may be in a volume: that of a token has another name in each pod, and is left out. */
function mayHoldSocket(volume: unknown): boolean {
  return isRecord(own(volume, 'csi')) || isRecord(own(volume, 'hostPath'))
}

function trimVolume(volume: unknown): JsonRecord {
  const name = own(volume, 'name')
  const [csi, host] = [own(volume, 'csi'), own(volume, 'hostPath')]
  if (isRecord(csi)) return { name, csi: pick(csi, ['driver', 'readOnly', 'fsType']) }
  return { name, hostPath: isRecord(host) ? pick(host, ['path', 'type']) : host }
}

/** Whether what a container runs is read: of an init container what asks for an SVID, of others which part of SPIRE it is. */
function isReadWhole(program: JsonRecord, place: string): boolean {
  return place.startsWith('containers') ? isSpiresImage(stringAt(program, 'image')) : asksSpire(program)
}

/** Whether a command may be about SPIRE: few are, and commands are long. */
function asksSpire(value: unknown): boolean {
  return isRecord(value) && /spire|spiffe/i.test(JSON.stringify(value))
}

const COMMAND = ['command', 'args']
const MOUNT_FIELDS = ['name', 'mountPath', 'subPath', 'subPathExpr']
/** What is read of a container beside its mounts. */
const CONTAINER_PARTS = [...CONTAINER, ...COMMAND, 'env', 'lifecycle']

/** `place` tells its list and its number there, and `led` the volumes that may hold a socket. */
function trimContainer(
  container: JsonRecord,
  place: string,
  led: ReadonlySet<unknown>,
  sharing: Sharing,
): unknown {
  const mounts =
    led.size === 0
      ? []
      : listAt(container, 'volumeMounts').filter(
          (one): one is JsonRecord => isRecord(one) && led.has(own(one, 'name')),
        )
  // In a loop: it is done twice for each of a hundred thousand pods.
  const parts: unknown[] = [...mounts]
  for (const field of CONTAINER_PARTS) parts.push(own(container, field))
  return sharing.made(place, parts, () => {
    const env = listAt(container, 'env').flatMap((one) =>
      isRecord(one) && WORKLOAD_API_VARIABLES.includes(stringAt(one, 'name') ?? '')
        ? [pick(one, ['name', 'value'])]
        : [],
    )
    const program = pick(container, [...CONTAINER, ...COMMAND])
    const hook = dig(container, 'lifecycle', 'postStart')
    return {
      ...(isReadWhole(program, place) ? program : pick(container, CONTAINER)),
      ...(mounts.length > 0 && { volumeMounts: mounts.map((one) => pick(one, MOUNT_FIELDS)) }),
      ...(env.length > 0 && { env }),
      ...(asksSpire(hook) && { lifecycle: { postStart: hook } }),
    }
  })
}

function trimLists(object: JsonRecord, lists: readonly string[], fields: readonly string[]): JsonRecord {
  return Object.fromEntries(
    lists.flatMap((list) => {
      const items = own(object, list)
      return Array.isArray(items)
        ? [[list, items.map((item: unknown) => (isRecord(item) ? pick(item, fields) : item))]]
        : []
    }),
  )
}

function pick(object: JsonRecord, fields: readonly string[]): Record<string, unknown> {
  // In a loop: it is called a dozen times for each of a hundred thousand pods.
  const picked: Record<string, unknown> = {}
  for (const field of fields) if (field in object) picked[field] = object[field]
  return picked
}

function without(object: JsonRecord, field: string): Record<string, unknown> {
  const { [field]: _, ...rest } = object
  return rest
}
