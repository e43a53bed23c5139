// A value that is known to exist while its content is not: the UID of a pod that nobody has created yet.

/** Stands in the data for a value that is not known yet. */
export class Placeholder {
  /** What it is, as a person says it: `pod UID`. */
  readonly what: string
  /** How it is printed: `<pod UID>`. */
  readonly placeholder: string
  /** It is not even known whether it is there. */
  readonly maybe: boolean

  constructor(what: string, maybe = false) {
    this.what = what
    this.placeholder = `<${what}>`
    this.maybe = maybe
  }
}
