// What an assertion comes to.

/** What an assertion comes to. */
export interface AssertionOutcome {
  readonly state: 'passed' | 'failed' | 'unknown'
  /** What is stated, as a sentence without a full stop. */
  readonly claim: string
  /** Why it fails, or is not known; empty where it passes. */
  readonly why: string
  /** A line for each container that decides, some of them where there are many. */
  readonly evidence: readonly string[]
  /** Undefined where the evidence says all. */
  readonly fix: string | undefined
}
