// What a reader of files is told about a kind that it is to keep.

/** A kind that is wanted. */
export interface WantedKind {
  /** Empty for the core group. */
  readonly group: string
  readonly kind: string
  readonly namespaced: boolean
  /** The versions that a CRD serves and that are read; absent: any. */
  readonly versions?: readonly string[]
  /** Kept for the pods that it makes; kleym knows nothing certain about them. */
  readonly isUnread?: true
  /** It is no object of an API server, and may have no name. */
  readonly isNameless?: true
}

/** The kind whose name pods run under, with its group: no answer reads it. */
export const ACCOUNT = 'ServiceAccount'
