// The hash of what the operator asks of the API server under one name: the same hash again means the same write again, a
// repair or a retry.
import { hash } from 'node:crypto'
import type { Output } from '@kleym/shared/core/decide/index.ts'

/** A short text that is the same for the same output: one is kept for every output that was ever written. */
export function desiredHashOf(output: Output): string {
  return hash('sha256', JSON.stringify(output), 'base64')
}
