// Assertions about what a binding comes to.
import { TRUST_DOMAIN_PLACEHOLDER, verdictOf, idOfReady } from '../../decide/index.ts'
import { didYouMean } from '../../base/text/suggest.ts'
import { unknownReasonText } from '../../model/unknown-reason.ts'
import type { BindingAssertion } from './identity-test.ts'
import type { RunFacts, AssertionOutcome } from './run.ts'

/** Decides an assertion about a binding. */
export function bindingOutcome(
  assertion: BindingAssertion,
  { analysis, incomplete }: RunFacts,
): AssertionOutcome {
  const { name, ready, reason, spiffeId, absent } = assertion
  const { judgements } = analysis.settled
  const judgement = judgements.get(name)
  const claim = bindingClaim(assertion)
  const base = { claim, evidence: [], fix: undefined }
  const notRead = incomplete(name.split('/')[0])
  if (judgement === undefined) {
    if (notRead !== undefined) return { ...base, state: 'unknown', why: notRead }
    if (absent) return { ...base, state: 'passed', why: '' }
    const hint = didYouMean(name, [...judgements.keys()])
    return { ...base, state: 'failed', why: `there is no binding ${name}`, fix: hint ?? 'correct the name' }
  }
  if (absent) return { ...base, state: 'failed', why: `there is a binding ${name}` }
  if (judgement.state === 'undetermined')
    return { ...base, state: 'unknown', why: unknownReasonText(judgement.why) }
  if (judgement.state === 'waiting')
    return { ...base, state: 'unknown', why: `it waits for ${judgement.waitsFor.join(', ')}` }
  const verdict = verdictOf(judgement)
  const isReady = judgement.state === 'ready'
  const gives = idOfReady(judgement)
  if (spiffeId !== undefined && gives?.includes(TRUST_DOMAIN_PLACEHOLDER) === true)
    return { ...base, state: 'unknown', why: 'the trust domain is not known; pass --trust-domain' }
  const wrong = [
    ...(ready === undefined || ready === isReady
      ? []
      : [isReady ? 'it is ready' : `it is not ready: ${verdict.reason}`]),
    ...(reason === undefined || reason === verdict.reason ? [] : [`its reason is ${verdict.reason}`]),
    ...(spiffeId === undefined || spiffeId === gives
      ? []
      : [gives === undefined ? 'it gives no ID' : `it gives ${gives}`]),
  ]
  if (wrong.length === 0 && notRead !== undefined) return { ...base, state: 'unknown', why: notRead }
  if (wrong.length === 0) return { ...base, state: 'passed', why: '' }
  const evidence = isReady ? [] : [verdict.message]
  return { ...base, state: 'failed', why: wrong.join('; '), evidence }
}

function bindingClaim({ name, ready, reason, spiffeId, absent }: BindingAssertion): string {
  if (absent) return `there is no binding ${name}`
  const parts = [
    ...(ready === undefined ? [] : [ready ? 'is ready' : 'is not ready']),
    ...(reason === undefined ? [] : [`says ${reason}`]),
    ...(spiffeId === undefined ? [] : [`gives ${spiffeId}`]),
  ]
  return `binding ${name} ${parts.join(' and ')}`
}
