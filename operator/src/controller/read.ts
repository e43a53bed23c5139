// From raw objects to what the caches keep: only what decisions read, so that managed fields and the like cost no memory.
import { dig, type JsonRecord } from '@kleym/shared/core/json.ts'
import type { ObjectiveGroup, PoolGroup } from '@kleym/shared/core/kinds.ts'
import { ANNOTATION_BINDING } from '@kleym/shared/core/names.ts'
import { readBinding, type Binding } from '@kleym/shared/core/objects/binding.ts'
import { readClusterSpiffeId, type ClusterSpiffeId } from '@kleym/shared/core/objects/clusterspiffeid.ts'
import { readObjective, readPool, type Objective, type Pool } from '@kleym/shared/core/objects/inference.ts'

/** An InferenceIdentityBinding of the API server. */
export function cachedBinding(value: JsonRecord): Binding {
  return readBinding({ value }, 'live')
}

/** An InferencePool of one group. */
export function cachedPool(group: PoolGroup): (value: JsonRecord) => Pool {
  return (value) => readPool({ value }, group)
}

/** An InferenceObjective of one group. */
export function cachedObjective(group: ObjectiveGroup): (value: JsonRecord) => Objective {
  return (value) => readObjective({ value }, group)
}

/** A ClusterSPIFFEID; one that names no binding cannot be ours, and is kept as name, UID and version alone. */
export function cachedOutput(value: JsonRecord): ClusterSpiffeId {
  if (dig(value, 'metadata', 'annotations', ANNOTATION_BINDING) !== undefined) {
    return readClusterSpiffeId({ value }, 'live')
  }
  const metadata = {
    name: dig(value, 'metadata', 'name'),
    uid: dig(value, 'metadata', 'uid'),
    resourceVersion: dig(value, 'metadata', 'resourceVersion'),
    deletionTimestamp: dig(value, 'metadata', 'deletionTimestamp'),
  }
  return readClusterSpiffeId({ value: { metadata } }, 'live')
}
