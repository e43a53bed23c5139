// A value that exists, or will, and whose content is not known: the UID of a pod that is not created yet.

/** Stands in the data for a value that is not known yet. */
export class Placeholder {
  /** What it is, for a person: `pod UID`. */
  readonly what: string
  /** How it is printed: `<pod UID>`. */
  readonly placeholder: string
  /** Whether the value may be absent. */
  readonly mayBeAbsent: boolean

  constructor(what: string, mayBeAbsent = false) {
    this.what = what
    this.placeholder = `<${what}>`
    this.mayBeAbsent = mayBeAbsent
  }
}
