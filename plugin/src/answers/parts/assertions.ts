// The answer of `test`, as data: each assertion with its result and its place in the file.
import type { Analysis } from '@kleym/shared/core/analysis/index.ts'
import {
  evaluating,
  fieldText,
  type Assertion,
  type AssertionOutcome,
} from '@kleym/shared/core/answers/index.ts'
import type { FindingCode } from '@kleym/shared/core/findings/index.ts'
import type { Drive } from '@kleym/shared/core/base/steps.ts'
import type { FilePlace } from '../../output/ci.ts'
import type { LoadedTest } from './load-tests.ts'

/** The code of an assertion that fails. */
export const FAILED: FindingCode = 'KLM701'

/** A test, and where its fields stand. */
export type RunnableTest = Pick<LoadedTest, 'test' | 'placeOf'>

/** One assertion and its outcome. */
export interface AssertionResult {
  /** The name of the test. */
  readonly test: string
  readonly assertion: Assertion
  readonly outcome: AssertionOutcome
  readonly place: () => FilePlace
}

/** What tests are run with, beside the analysis. */
export interface RunSurroundings {
  readonly drive: Drive
  /** Why something of a namespace, or of any, may be missing; undefined where everything could be read. */
  readonly incomplete: (namespace: string | undefined) => string | undefined
  /** Whether a Namespace that was not given is taken to ask for no sidecar. */
  readonly isUnaskedNever: boolean
}

/** Runs all tests against what an analysis settles to. */
export function runTests(
  tests: readonly RunnableTest[],
  analysis: Analysis,
  { drive, ...facts }: RunSurroundings,
): readonly AssertionResult[] {
  const all = tests.flatMap((loaded) => loaded.test.assertions.map((assertion) => ({ loaded, assertion })))
  const assertions = all.map(({ assertion }) => assertion)
  const outcomes = drive(evaluating(assertions, { analysis, ...facts }))
  return all.flatMap(({ loaded, assertion }, at) => {
    const outcome = outcomes[at]
    if (outcome === undefined) return []
    return [{ test: loaded.test.name, assertion, outcome, place: () => loaded.placeOf(assertion.path) }]
  })
}

/** `tenancy/containers[0]`: how an assertion is named. */
export function assertionName({ test, assertion }: AssertionResult): string {
  return `${test}/${fieldText(assertion.path.slice(1))}`
}

/** How many assertions have come to what. */
export function countOutcomes(
  results: readonly AssertionResult[],
): Readonly<Record<AssertionOutcome['state'], number>> {
  const counts = { passed: 0, failed: 0, unknown: 0 }
  for (const { outcome } of results) counts[outcome.state]++
  return counts
}
