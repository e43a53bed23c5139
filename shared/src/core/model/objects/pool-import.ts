// InferencePoolImport (inference.networking.x-k8s.io/v1alpha1): a pool of another cluster, which has the same namespace and name there. It
// selects no pods: it has a status alone.
// Source: Gateway API Inference Extension v1.6.0, apix/v1alpha1/inferencepoolimport_types.go.
import { listAt, stringAt } from '../../base/json.ts'
import { distinct } from '../../base/text/bytes.ts'
import { readMeta, type ObjectMeta } from './meta.ts'
import type { RawObject } from './raw.ts'

/** A pool that a cluster imports. */
export interface PoolImport {
  readonly meta: ObjectMeta
  /** The clusters that export it by its status, under the names that its controllers have for them; in byte order. */
  readonly exportedBy: readonly string[]
}

/** Reads an InferencePoolImport; never throws. */
export function readPoolImport({ value }: RawObject): PoolImport {
  const names = listAt(value, 'status', 'controllers').flatMap((controller) =>
    listAt(controller, 'exportingClusters').flatMap((cluster) => stringAt(cluster, 'name') ?? []),
  )
  return { meta: readMeta(value), exportedBy: distinct(names) }
}
