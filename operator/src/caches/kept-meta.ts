// What the caches keep of an object's metadata: there may be ten thousand of each kind.
import { FINALIZER } from '@kleym/shared/core/names.ts'
import type { ObjectMeta } from '@kleym/shared/core/objects/meta.ts'

/** The metadata of a cached object. Labels, annotations and owners are not in it: they may be long, and few are read. */
export type KeptMeta = Pick<
  ObjectMeta,
  'name' | 'namespace' | 'uid' | 'resourceVersion' | 'generation' | 'deletedAt' | 'finalizers'
>

/** Copies what is kept; nothing of the rest stays in memory. */
export function keptMeta(meta: ObjectMeta): KeptMeta {
  const { name, namespace, uid, resourceVersion, generation, deletedAt, finalizers } = meta
  return {
    name,
    namespace,
    uid,
    resourceVersion,
    generation,
    deletedAt,
    finalizers: sharedFinalizers(finalizers),
  }
}

/** One list for all objects that have none, or only that of kleym, as a settled binding has. */
function sharedFinalizers(finalizers: readonly string[]): readonly string[] {
  if (finalizers.length === 0) return NONE
  return finalizers.length === 1 && finalizers[0] === FINALIZER ? OURS : finalizers
}

const NONE: readonly string[] = []
const OURS: readonly string[] = [FINALIZER]
