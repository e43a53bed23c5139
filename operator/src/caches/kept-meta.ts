// What the caches keep of an object's metadata: there may be ten thousand of each kind.
import type { ObjectMeta } from '@kleym/shared/core/objects/meta.ts'

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
