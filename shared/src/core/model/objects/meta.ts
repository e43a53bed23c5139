// Object metadata, read without trust: a field of a wrong type counts as absent.
import { isRecord, listAt, own, stringAt } from '../../base/json.ts'

/** The metadata of a Kubernetes object. */
export interface ObjectMeta {
  readonly name: string
  /** Empty for a cluster-scoped object. */
  readonly namespace: string
  /** Undefined for an object that no API server has stored yet. */
  readonly uid: string | undefined
  readonly resourceVersion: string | undefined
  readonly generation: number | undefined
  /** RFC 3339, as the API server writes it: whole seconds. */
  readonly createdAt: string | undefined
  readonly deletedAt: string | undefined
  readonly labels: ReadonlyMap<string, string>
  readonly annotations: ReadonlyMap<string, string>
  readonly finalizers: readonly string[]
  /** As found: kleym sets none, and its writes leave them as they are. */
  readonly ownerReferences: readonly unknown[]
}

/** The metadata that bindings are decided by. Labels, annotations and owners are not in it: a tenant can make them long. */
export type DecisiveMeta = Pick<
  ObjectMeta,
  'name' | 'namespace' | 'uid' | 'resourceVersion' | 'generation' | 'deletedAt'
>

/** Reads `metadata` of any Kubernetes object. */
export function readMeta(object: unknown): ObjectMeta {
  const metadata = own(object, 'metadata')
  const generation = own(metadata, 'generation')
  return {
    ...readObjectVersion(object),
    generation: typeof generation === 'number' ? generation : undefined,
    createdAt: nonEmpty(stringAt(metadata, 'creationTimestamp')),
    deletedAt: nonEmpty(stringAt(metadata, 'deletionTimestamp')),
    labels: readStringMap(own(metadata, 'labels')),
    annotations: readStringMap(own(metadata, 'annotations')),
    finalizers: readStringList(own(metadata, 'finalizers')),
    ownerReferences: listAt(metadata, 'ownerReferences'),
  }
}

/** An object in one version. */
export type ObjectVersion = Pick<ObjectMeta, 'name' | 'namespace' | 'uid' | 'resourceVersion'>

/** Reads the version alone, for callers that need no more of most objects. */
export function readObjectVersion(object: unknown): ObjectVersion {
  const metadata = own(object, 'metadata')
  return {
    name: stringAt(metadata, 'name') ?? '',
    namespace: stringAt(metadata, 'namespace') ?? '',
    uid: nonEmpty(stringAt(metadata, 'uid')),
    resourceVersion: nonEmpty(stringAt(metadata, 'resourceVersion')),
  }
}

/** How an object is called: where the API server will make up the name, by what that begins with, and `*`. */
export function calledName(metadata: unknown): string {
  const name = nonEmpty(stringAt(metadata, 'name'))
  const beginning = nonEmpty(stringAt(metadata, 'generateName'))
  return name ?? (beginning === undefined ? '' : `${beginning}*`)
}

/** Shared: most objects have neither labels nor annotations, and caches keep tens of thousands of them. */
const NO_ENTRIES: ReadonlyMap<string, string> = new Map()
const NO_STRINGS: readonly string[] = []

/** The string-valued entries of a mapping; the others are dropped. */
export function readStringMap(value: unknown): ReadonlyMap<string, string> {
  const map = new Map<string, string>()
  if (!isRecord(value)) return NO_ENTRIES
  for (const [key, item] of Object.entries(value)) if (typeof item === 'string') map.set(key, item)
  return map.size === 0 ? NO_ENTRIES : map
}

/** The strings of a list; anything else in it is dropped. */
export function readStringList(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : NO_STRINGS
}

/** A text; undefined for an empty one. */
export function nonEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text
}
