/** A build that cannot be done on this machine, in the parts of every error of kleym. */
export class BuildError extends Error {
  /** The reason. */
  readonly why: string
  /** What to do about it. */
  readonly fix: string

  constructor(what: string, { why, fix }: { readonly why: string; readonly fix: string }) {
    super(what)
    this.name = 'BuildError'
    this.why = why
    this.fix = fix
  }
}
