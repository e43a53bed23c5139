// Where a live output differs from what it should say. The whole spec is compared: a field that we do not render is
// drift too; other people's labels and annotations are not.
import type { Output } from '../compile/output.ts'
import { deepEqual, own } from '../../base/json.ts'
import type { ClusterSpiffeId } from '../../model/objects/clusterspiffeid.ts'
import type { ObjectMeta } from '../../model/objects/meta.ts'
import { compareBytes } from '../../base/text/bytes.ts'
import { changedKeys, metadataAfterWrite } from './written-metadata.ts'

/** The paths of all differences, in byte order; empty when the live object is as it should be. */
export function driftOf(live: ClusterSpiffeId, wanted: Output): readonly string[] {
  return differingPaths(live, { meta: metadataAfterWrite(live.meta, wanted), rawSpec: wanted.spec })
}

/** What two ClusterSPIFFEIDs are compared by. */
interface Written {
  readonly meta: Pick<ObjectMeta, 'labels' | 'annotations'>
  readonly rawSpec: object
}

/** The paths in which two ClusterSPIFFEIDs differ, in byte order. */
export function differingPaths(before: Written, after: Written): readonly string[] {
  const paths = [
    ...changedKeys(before.meta.labels, after.meta.labels).map(
      (key) => `.metadata.labels[${JSON.stringify(key)}]`,
    ),
    ...changedKeys(before.meta.annotations, after.meta.annotations).map(
      (key) => `.metadata.annotations[${JSON.stringify(key)}]`,
    ),
  ]
  const [left, right] = [before.rawSpec, after.rawSpec]
  for (const key of new Set([...Object.keys(left), ...Object.keys(right)]))
    if (!deepEqual(own(left, key), own(right, key))) paths.push(`.spec.${key}`)
  return paths.toSorted(compareBytes)
}
