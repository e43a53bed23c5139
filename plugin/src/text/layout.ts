// What decides how a text view is laid out.

export interface Layout {
  /** Columns. */
  readonly width: number
  /** `-o wide`: everything, nothing shortened. */
  readonly wide: boolean
  /** Something could not be read: nothing may then be said to be fine. */
  readonly incomplete?: boolean
}
