// What an assertion has seen during its run, and the result.
import { distinct } from '../../base/text/bytes.ts'
import type { ContainerHolding } from '../../analysis/index.ts'
import { NO, whyOpenText, YES, type Truth } from '../../model/truth/truth.ts'
import type { NoMatch, AssertionOutcome } from './run.ts'

/** What an assertion has seen so far. The worst of it decides. */
export class Tally {
  readonly #incomplete: string | undefined
  readonly #absent: boolean
  readonly #failures = new Lines()
  readonly #doubts = new Lines()
  /** What to do about the missing part, if that is known. */
  #fix: string | undefined
  #seen = 0
  /** Why there may be something to see after all: a reason of the first that may be one. */
  #perhapsSeen: string | undefined

  /** `incomplete`: why there may be objects that were not read, and that the assertion would be about. */
  constructor(incomplete: string | undefined, absent: boolean) {
    this.#incomplete = incomplete
    this.#absent = absent
  }

  /** A container was looked at; one that may not be there does not count. */
  saw({ there }: Pick<ContainerHolding, 'there'>): void {
    if (there === YES) this.#seen++
    else this.#perhapsSeen ??= whyOpenText(there)
  }

  /** It is not known whether a container is one to look at: there may be nothing, and there may be something. */
  maySee(why: Line): void {
    this.#perhapsSeen ??= why()
  }

  /** It is what was stated that there is nothing to see. */
  sawNothing(): void {
    this.#seen++
  }

  /** A container that is there holds what it should not, whatever else there may be. */
  fail(line: Line, { there }: Pick<ContainerHolding, 'there'>): void {
    if (there === YES) this.#failures.add(line)
    else this.#doubts.add(() => `${line()}, if it is there: ${whyOpenText(there) ?? ''}`)
  }

  /** Something is not there: wrong where everything could be read, not known elsewhere. */
  miss(line: Line, { there }: Pick<ContainerHolding, 'there'> = CERTAIN, fix?: string): void {
    this.#fix ??= fix
    if (there !== YES) this.fail(line, { there })
    else if (this.#incomplete === undefined) this.#failures.add(line)
    else this.#doubts.add(line)
  }

  /** Whether a selector means anything: what is stated of nothing is true whatever there is. */
  meets(means: Truth, nothing: () => NoMatch): void {
    if (means === YES) return
    const { why, fix } = nothing()
    if (means === NO) this.miss(() => why, undefined, fix)
    else this.doubt(() => `${why} for certain: ${whyOpenText(means) ?? ''}`)
  }

  doubt(line: Line): void {
    this.#doubts.add(line)
  }

  /** What it comes to. Whatever is stated is stated of every container that is meant, so what was not read could make it false. */
  outcome(claim: string, nothing: () => NoMatch): AssertionOutcome {
    const base = { claim, evidence: [], fix: undefined }
    if (this.#failures.count > 0) {
      const evidence = this.#failures.shown()
      const [only = ''] = evidence
      // One line says it all, in every format that shows the reason alone.
      if (evidence.length === 1) return { ...base, state: 'failed', why: only, fix: this.#fix }
      return { ...base, state: 'failed', why: `${this.#failures.count} things are wrong`, evidence }
    }
    if (this.#doubts.count > 0) {
      const evidence = this.#doubts.shown()
      const [only = ''] = evidence
      return this.#incomplete === undefined && evidence.length === 1
        ? { ...base, state: 'unknown', why: only }
        : {
            ...base,
            state: 'unknown',
            why: this.#incomplete ?? `${this.#doubts.count} things are undetermined`,
            evidence,
          }
    }
    if (this.#seen === 0 && !this.#absent) {
      const { why, fix } = nothing()
      if (this.#incomplete !== undefined)
        return { ...base, state: 'unknown', why: `${why}, as far as could be read: ${this.#incomplete}` }
      return this.#perhapsSeen === undefined
        ? { ...base, state: 'failed', why, fix }
        : { ...base, state: 'unknown', why: `${why} for certain: ${this.#perhapsSeen}` }
    }
    if (this.#incomplete !== undefined) return { ...base, state: 'unknown', why: this.#incomplete }
    return { ...base, state: 'passed', why: '' }
  }
}

const CERTAIN = { there: YES }

/** A line that is made only if it is kept. */
type Line = () => string

/** More than are ever shown, so that those which are equal are counted once. */
const LINES_MAX = 200

/** What an assertion has to say: ten thousand of them may each have something to say of a hundred thousand containers. */
class Lines {
  readonly #kept = new Set<string>()
  #others = 0

  add(line: Line): void {
    if (this.#kept.size < LINES_MAX) this.#kept.add(line())
    else this.#others++
  }

  get count(): number {
    return this.#kept.size + this.#others
  }

  shown(): readonly string[] {
    return few([...this.#kept], this.#others)
  }
}

/** More than a person reads. */
const EVIDENCE_MAX = 10

/** Each line once, sorted; some of them where there are many, with `others` that are not among them. */
export function few(lines: readonly string[], others = 0): readonly string[] {
  if (lines.length < 2) return lines
  const sorted = distinct(lines)
  return sorted.length + others <= EVIDENCE_MAX
    ? sorted
    : [...sorted.slice(0, EVIDENCE_MAX), `and ${sorted.length + others - EVIDENCE_MAX} more`]
}
