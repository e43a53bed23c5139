// What a reader of files is told about a kind that it is to keep.
import type { ReadKind } from './near-miss.ts'

/** A kind that is wanted. */
export interface WantedKind extends ReadKind {
  readonly namespaced: boolean
  /** Kept for the pods that it makes; kleym knows nothing certain about them. */
  readonly isUnread?: true
  /** It is no object of an API server, and may have no name. */
  readonly isNameless?: true
}
