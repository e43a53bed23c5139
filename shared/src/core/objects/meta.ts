// Object metadata, read without trust: whatever has the wrong type is as if absent.
import { dig, isRecord, listAt, stringAt } from '../json.ts'

export interface ObjectMeta {
  readonly name: string
  /** Empty for a cluster-scoped object. */
  readonly namespace: string
  /** Absent for an object that no API server has stored yet. */
  readonly uid: string | undefined
  readonly resourceVersion: string | undefined
  readonly generation: number | undefined
  /** RFC 3339, as the API server writes it: whole seconds. */
  readonly createdAt: string | undefined
  readonly deletedAt: string | undefined
  readonly labels: ReadonlyMap<string, string>
  readonly annotations: ReadonlyMap<string, string>
  readonly finalizers: readonly string[]
  /** As found: other people's, which a write of ours must leave as they are. */
  readonly ownerReferences: readonly unknown[]
}

/** Reads `metadata` of any Kubernetes object. */
export function readMeta(object: unknown): ObjectMeta {
  const generation = dig(object, 'metadata', 'generation')
  return {
    name: stringAt(object, 'metadata', 'name') ?? '',
    namespace: stringAt(object, 'metadata', 'namespace') ?? '',
    uid: nonEmpty(stringAt(object, 'metadata', 'uid')),
    resourceVersion: nonEmpty(stringAt(object, 'metadata', 'resourceVersion')),
    generation: typeof generation === 'number' ? generation : undefined,
    createdAt: nonEmpty(stringAt(object, 'metadata', 'creationTimestamp')),
    deletedAt: nonEmpty(stringAt(object, 'metadata', 'deletionTimestamp')),
    labels: readStringMap(dig(object, 'metadata', 'labels')),
    annotations: readStringMap(dig(object, 'metadata', 'annotations')),
    finalizers: readStringList(dig(object, 'metadata', 'finalizers')),
    ownerReferences: listAt(object, 'metadata', 'ownerReferences'),
  }
}

/** One for all: most objects have neither labels nor annotations, and caches keep tens of thousands of them. */
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

function nonEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text
}
