// Where a live output differs from what it should say. The whole spec is compared: a field that we do not render is
// drift too; other people's labels and annotations are not.
import type { Output } from '../compile/output.ts'
import { isRecord } from '../json.ts'
import type { ClusterSpiffeId } from '../objects/clusterspiffeid.ts'
import { compareBytes } from '../text/bytes.ts'
import { changedKeys, metadataAfterWrite } from './written-metadata.ts'

/** The paths of all differences, in byte order; empty when the live object is as it should be. */
export function driftOf({ meta, rawSpec }: ClusterSpiffeId, wanted: Output): readonly string[] {
  const after = metadataAfterWrite(meta, wanted)
  const paths = [
    ...changedKeys(meta.labels, after.labels).map((key) => `.metadata.labels[${JSON.stringify(key)}]`),
    ...changedKeys(meta.annotations, after.annotations).map(
      (key) => `.metadata.annotations[${JSON.stringify(key)}]`,
    ),
  ]
  const wantedSpec = new Map<string, unknown>(Object.entries(wanted.spec))
  for (const key of new Set([...wantedSpec.keys(), ...Object.keys(rawSpec)])) {
    const found = Object.hasOwn(rawSpec, key) ? rawSpec[key] : undefined
    if (!deepEqual(found, wantedSpec.get(key))) paths.push(`.spec.${key}`)
  }
  return paths.toSorted(compareBytes)
}

/** Structural equality of JSON values; the order of keys does not matter, that of list items does. */
export function deepEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, at) => deepEqual(item, right[at]))
  }
  if (!isRecord(left) || !isRecord(right)) return false
  const keys = Object.keys(left)
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && deepEqual(left[key], right[key]))
  )
}
