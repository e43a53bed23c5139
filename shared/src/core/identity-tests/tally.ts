// What an assertion has seen while it was run, and what that comes to.
import { compareBytes } from '../text/bytes.ts'
import type { AssertionOutcome } from './outcome.ts'
import type { Nothing, RunFacts } from './run.ts'

/** What an assertion has seen so far. The worst of it decides. */
export class Tally {
  readonly #facts: RunFacts
  readonly #absent: boolean
  readonly #failures: string[] = []
  readonly #doubts: string[] = []
  #seen = 0

  constructor(facts: RunFacts, absent: boolean) {
    this.#facts = facts
    this.#absent = absent
  }

  /** A container was looked at. */
  saw(): void {
    this.#seen++
  }

  /** It is wrong, whatever else there may be. */
  fail(line: string): void {
    this.#failures.push(line)
  }

  /** Something is not there: wrong where everything could be read, not known elsewhere. */
  miss(line: string): void {
    if (this.#facts.incomplete === undefined) this.#failures.push(line)
    else this.#doubts.push(line)
  }

  doubt(line: string): void {
    this.#doubts.push(line)
  }

  /** `restsOnAbsence`: another object could make it wrong. */
  outcome(claim: string, nothing: () => Nothing, restsOnAbsence: boolean): AssertionOutcome {
    const { incomplete } = this.#facts
    const base = { claim, evidence: [], fix: undefined }
    if (this.#failures.length > 0) {
      const evidence = few(this.#failures)
      return { ...base, state: 'failed', why: countText(this.#failures.length), evidence }
    }
    if (this.#doubts.length > 0) {
      const why = incomplete ?? 'it depends on what is not known here'
      return { ...base, state: 'unknown', why, evidence: few(this.#doubts) }
    }
    if (this.#seen === 0 && !this.#absent) {
      const { why, fix } = nothing()
      return incomplete === undefined
        ? { ...base, state: 'failed', why, fix }
        : { ...base, state: 'unknown', why: `${why}, as far as could be read: ${incomplete}` }
    }
    if (restsOnAbsence && incomplete !== undefined) return { ...base, state: 'unknown', why: incomplete }
    return { ...base, state: 'passed', why: '' }
  }
}

function countText(failures: number): string {
  return failures === 1 ? 'one thing is wrong' : `${failures} things are wrong`
}

/** More than anybody reads. */
const EVIDENCE_MAX = 10

/** Each line once, sorted; some of them where there are many. */
export function few(lines: readonly string[]): readonly string[] {
  const sorted = [...new Set(lines)].toSorted(compareBytes)
  return sorted.length <= EVIDENCE_MAX
    ? sorted
    : [...sorted.slice(0, EVIDENCE_MAX), `and ${sorted.length - EVIDENCE_MAX} more`]
}
