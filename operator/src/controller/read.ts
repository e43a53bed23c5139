// From raw objects to what the caches keep: only what decisions read, so that managed fields and the like cost no memory.
import { dig, type JsonRecord } from '@kleym/shared/core/json.ts'
import type { ObjectiveGroup, PoolGroup } from '@kleym/shared/core/kinds.ts'
import { ANNOTATION_BINDING } from '@kleym/shared/core/names.ts'
import { readBinding, readStatus, type Binding } from '@kleym/shared/core/objects/binding.ts'
import { readClusterSpiffeId, type ClusterSpiffeId } from '@kleym/shared/core/objects/clusterspiffeid.ts'
import { readObjective, readPool, type Objective, type Pool } from '@kleym/shared/core/objects/inference.ts'

/** An InferenceIdentityBinding of the API server. Its status, most of it and rarely looked at, is kept as text. */
export function cachedBinding(value: JsonRecord): Binding {
  const { status, ...rest } = value
  const binding = readBinding({ value: rest }, 'live')
  const text = JSON.stringify(status)
  return {
    ...binding,
    get status() {
      return text === undefined ? undefined : readStatus(JSON.parse(text))
    },
  }
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
    return withSpecAsText(readClusterSpiffeId({ value }, 'live'))
  }
  const metadata = {
    name: dig(value, 'metadata', 'name'),
    uid: dig(value, 'metadata', 'uid'),
    resourceVersion: dig(value, 'metadata', 'resourceVersion'),
    deletionTimestamp: dig(value, 'metadata', 'deletionTimestamp'),
  }
  return readClusterSpiffeId({ value: { metadata } }, 'live')
}

/** The spec is looked at when the object changes and when its binding is decided: in between it is kept as text. */
function withSpecAsText({ meta, rawSpec, undecodable, standing, origin }: ClusterSpiffeId): ClusterSpiffeId {
  const text = JSON.stringify(rawSpec)
  const read = (): ClusterSpiffeId => readClusterSpiffeId({ value: { spec: JSON.parse(text) } }, standing)
  return {
    meta,
    undecodable,
    standing,
    origin,
    get spec() {
      return read().spec
    },
    get rawSpec() {
      return read().rawSpec
    },
  }
}
