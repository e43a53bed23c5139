// When a key is looked at again, beside whenever something wakes it.
import type { WriteResult } from '../write/writer.ts'

export type Next =
  | { readonly kind: 'nothing to do' }
  | { readonly kind: 'after'; readonly ms: number }
  /** Something failed: with backoff between these limits, in milliseconds. */
  | { readonly kind: 'retry'; readonly atLeastMs: number; readonly atMostMs: number }

/** The longest pause after a read or write that failed for a reason that may pass, in milliseconds. */
const UNKNOWN_MAX_MS = 30_000

export const NOTHING_TO_DO: Next = { kind: 'nothing to do' }

/** Again with backoff; not before the API server has asked for it. */
export function retry(failed?: WriteResult): Next {
  const atLeastMs = failed?.kind === 'unknown' ? (failed.retryAfterMs ?? 0) : 0
  return { kind: 'retry', atLeastMs, atMostMs: UNKNOWN_MAX_MS }
}

/** The one of the two that comes first; a failure counts as first, so that it is counted as one. */
export function sooner(left: Next, right: Next): Next {
  if (left.kind === 'nothing to do') return right
  if (right.kind === 'nothing to do' || left.kind === 'retry') return left
  return right.kind === 'retry' || right.ms < left.ms ? right : left
}
