// `test` as machines read it: every assertion, in the order of the files.
import type { Frame } from '../../frame/frame.ts'
import { assertionName, countOutcomes, type AssertionResult } from './model.ts'

/** The fields of a TestReport. */
export function testFields(results: readonly AssertionResult[]): ReturnType<Frame['fields']> {
  return {
    counts: countOutcomes(results),
    assertions: results.map(assertionReport),
  }
}

/** One assertion as machines read it. */
export function assertionReport(one: AssertionResult): Readonly<Record<string, unknown>> {
  const { outcome, assertion, test, place } = one
  return {
    test,
    name: assertionName(one),
    ...place(),
    state: outcome.state,
    claim: outcome.claim,
    description: assertion.description ?? null,
    why: outcome.why,
    evidence: outcome.evidence,
    fix: outcome.fix ?? null,
  }
}
