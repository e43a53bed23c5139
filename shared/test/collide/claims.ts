// Bindings that claim the same container, with label sets that overlap provably.
import { binding, objective, pool } from '@kleym/testing/manifests.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'

/** Selects more pods than `NARROW`. */
export const WIDE = { app: 'llama' }
/** Selects a part of the pods of `WIDE`. */
export const NARROW = { app: 'llama', region: 'eu' }
/** A binding with a pool and an objective of its own. */
export function tenant(
  name: string,
  labels: Readonly<Record<string, string>>,
  spec: JsonRecord = {},
): readonly JsonRecord[] {
  return [
    pool({ name, labels }),
    objective({ name, poolRef: { name } }),
    binding({ name, spec: { poolRef: { name }, objectiveRef: { name }, ...spec } }),
  ]
}
