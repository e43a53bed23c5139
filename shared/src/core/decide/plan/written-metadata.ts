// Labels and annotations of an output once the operator has written it (docs/contract.md §5 and §8): ours as rendered,
// those of ours that are no longer wanted gone, other people's as they are.
import type { Output } from '../compile/output.ts'
import { ANNOTATION_OUTPUT_LABELS, OWN_KEY_PREFIX, SCM_CLASS_LABEL } from '../../model/names.ts'
import type { ObjectMeta } from '../../model/objects/meta.ts'

/** The labels and annotations of an object, by key. */
export type WrittenMetadata = Pick<ObjectMeta, 'labels' | 'annotations'>

/** What a write of `output` over `live` leaves behind. */
export function metadataAfterWrite(live: WrittenMetadata, output: Output): WrittenMetadata {
  const labels = new Map(live.labels)
  for (const key of retiredLabels(live)) labels.delete(key)
  const annotations = new Map(live.annotations)
  annotations.delete(ANNOTATION_OUTPUT_LABELS)
  return {
    labels: new Map([...labels, ...Object.entries(output.metadata.labels)]),
    annotations: new Map([...annotations, ...Object.entries(output.metadata.annotations)]),
  }
}

/** The keys of labels that only kleym sets, beside those that every output has: they go unless they are wanted. */
function* retiredLabels({ annotations }: WrittenMetadata): Iterable<string> {
  yield SCM_CLASS_LABEL
  for (const key of annotations.get(ANNOTATION_OUTPUT_LABELS)?.split(',') ?? []) {
    if (!key.startsWith(OWN_KEY_PREFIX)) yield key
  }
}

/** The keys whose value a write would change, add or remove. */
export function changedKeys(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): readonly string[] {
  return [...new Set([...before.keys(), ...after.keys()])].filter((key) => before.get(key) !== after.get(key))
}
