// What was last asked of the API server for a name: the same wish again is a repair, or the same refusal again.
import { createHash } from 'node:crypto'
import type { Output } from '@kleym/shared/core/compile/output.ts'

/** An output as a short text, the same for the same output: one is kept for every output that was ever written. */
export function wishOf(output: Output): string {
  return createHash('sha256').update(JSON.stringify(output)).digest('base64')
}
