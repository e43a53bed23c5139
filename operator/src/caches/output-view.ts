// A cached ClusterSPIFFEID as the core takes it.
import {
  readClusterSpiffeId,
  type ClusterSpiffeId,
} from '@kleym/shared/core/model/objects/clusterspiffeid.ts'
import type { CachedOutput } from './cached-output.ts'

/**
 * An output for the core's judgements; parses it. One that is not kept whole is shown without annotations and spec: the core
 * asks it for the annotation that names a binding and for its name, learns that it is foreign, and reads no more of it.
 */
export function outputView(cached: CachedOutput): ClusterSpiffeId {
  if (cached.isWhole) return cached.read()
  const { name, uid, resourceVersion, deletedAt } = cached.meta
  const metadata = { name, uid, resourceVersion, deletionTimestamp: deletedAt }
  return readClusterSpiffeId({ value: { metadata } }, 'live')
}
