// What decides how a text view is laid out.

export interface Layout {
  /** Columns. */
  readonly width: number
  /** `-o wide`: everything, nothing shortened. */
  readonly wide: boolean
}
