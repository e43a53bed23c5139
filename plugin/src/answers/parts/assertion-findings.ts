// What assertions come to in an answer: the findings of those that fail, and what is open of those that are not known.
import { IDENTITY_TEST_KIND } from '@kleym/shared/core/model/names.ts'
import { finding, type Finding } from '@kleym/shared/core/findings/index.ts'
import { type Subject } from '@kleym/shared/core/model/objects/subject.ts'
import { type Cause } from '../../frame/causes.ts'
import { assertionName, FAILED, type AssertionResult } from '../parts/assertions.ts'

/** An assertion as the subject of a finding: it is no object of a cluster. */
export function subjectOf(one: AssertionResult): Subject {
  return { kind: IDENTITY_TEST_KIND, namespace: '', name: assertionName(one) }
}

/** The finding of an assertion that fails. */
export function findingOf(one: AssertionResult): Finding {
  const { outcome, assertion } = one
  const description = assertion.description === undefined ? '' : ` (${assertion.description})`
  return finding(FAILED, {
    subject: subjectOf(one),
    summary: `not true: ${outcome.claim}${description}: ${outcome.why}`,
    evidence: outcome.evidence,
    ...(outcome.fix === undefined ? {} : { fix: outcome.fix }),
  })
}

/** The assertions that can be decided neither way. */
export function unknownOf(results: readonly AssertionResult[]): readonly Cause[] {
  return results
    .filter(({ outcome }) => outcome.state === 'unknown')
    .map(({ outcome }) => ({ leaves: 'a statement', text: `whether ${outcome.claim}: ${outcome.why}` }))
}
