// The JSON Patch (RFC 6902) that adds or drops kleym's finalizer on a binding and changes nothing else. The cache does not know
// the other finalizers, so the patch names positions; its tests hold the UID, the version and what stands there. Where a test
// fails, the API server changes nothing and answers 422.
// https://www.rfc-editor.org/rfc/rfc6902
import { FINALIZER } from '@kleym/shared/core/model/names.ts'
import {
  FINALIZERS_PATH,
  testOf,
  UID_PATH,
  VERSION_PATH,
  type PatchOperation,
} from '@kleym/shared/kube/json-patch.ts'
import type { CachedBinding } from '../caches/cached-binding.ts'

/** The patch for a binding that has kleym's finalizer, or lacks it, other than `wanted`. */
export function finalizerPatch(
  { meta, finalizers }: Pick<CachedBinding, 'meta' | 'finalizers'>,
  wanted: boolean,
): readonly PatchOperation[] {
  return [
    testOf(UID_PATH, meta.uid),
    testOf(VERSION_PATH, meta.resourceVersion),
    ...(wanted ? [addition(finalizers.hasOthers)] : removals(finalizers.ours)),
  ]
}

function addition(isList: boolean): PatchOperation {
  return isList
    ? { op: 'add', path: `${FINALIZERS_PATH}/-`, value: FINALIZER }
    : { op: 'add', path: FINALIZERS_PATH, value: [FINALIZER] }
}

/** From the last position to the first: a removal moves what comes after it. */
function removals(positions: readonly number[]): readonly PatchOperation[] {
  return positions.toReversed().flatMap((at): readonly PatchOperation[] => {
    const path = `${FINALIZERS_PATH}/${at}`
    return [testOf(path, FINALIZER), { op: 'remove', path }]
  })
}
