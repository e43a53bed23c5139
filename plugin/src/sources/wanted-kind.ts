// What a reader of files is told about a kind that it is to keep.

/** A kind that is wanted, in any of its versions. */
export interface WantedKind {
  /** Empty for the core group. */
  readonly group: string
  readonly kind: string
  readonly namespaced: boolean
  /** It is no object of an API server, and may have no name. */
  readonly isNameless?: true
}
