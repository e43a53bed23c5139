// What was last asked of the API server for a name: the same wish again is a repair, or the same refusal again.
import { hash } from 'node:crypto'
import type { Output } from '@kleym/shared/core/compile/output.ts'

/** An output as a short text, the same for the same output: one is kept for every output that was ever written. */
export function wishOf(output: Output): string {
  return hash('sha256', JSON.stringify(output), 'base64')
}
