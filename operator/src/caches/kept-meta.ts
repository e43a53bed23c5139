// What the caches keep of an object's metadata: there may be ten thousand of each kind.
import { own, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import type { ObjectMeta } from '@kleym/shared/core/model/objects/meta.ts'

/**
 * The metadata of a cached object. Labels, annotations, owners and finalizers are not in it: they may be as long as an object
 * may be, and few are read.
 */
export type KeptMeta = Pick<
  ObjectMeta,
  'name' | 'namespace' | 'uid' | 'resourceVersion' | 'generation' | 'deletedAt'
>

/** Copies what is kept; nothing of the rest stays in memory. */
export function keptMeta(meta: ObjectMeta): KeptMeta {
  const { name, namespace, uid, resourceVersion, generation, deletedAt } = meta
  return { name, namespace, uid, resourceVersion, generation, deletedAt }
}

/** The fields of `metadata` that a KeptMeta is read from. */
const READ = ['name', 'namespace', 'uid', 'resourceVersion', 'generation', 'deletionTimestamp'] as const

/**
 * An object with those fields alone in its metadata. A tenant may give it 37,500 labels, and to read them takes as long as to parse
 * them.
 */
export function withReadMeta(object: JsonRecord): JsonRecord {
  const all = own(object, 'metadata')
  const metadata: Record<string, unknown> = {}
  for (const field of READ) {
    const value = own(all, field)
    if (value !== undefined) metadata[field] = value
  }
  return { ...object, metadata }
}
