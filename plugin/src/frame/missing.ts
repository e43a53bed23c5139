// What an answer would have needed and could not get: it decides between exit code 0 and 4.
import { gapsThatMatter } from '@kleym/shared/core/rules/gaps.ts'
import { unreadPodsThatMatter, type Concern } from '@kleym/shared/core/rules/perhaps-pods.ts'
import type { Resolution, ResolvedPolicy } from '@kleym/shared/core/policies/resolution.ts'
import { unknownReasonText, type UnknownReason } from '@kleym/shared/core/unknown-reason.ts'
import type { Judgement } from '@kleym/shared/core/plan/plan.ts'
import { compareBytes } from '@kleym/shared/core/text/bytes.ts'
import { missingRbacRules } from '../cluster/rbac.ts'
import { KleymError } from '../io/errors.ts'
import type { AnswerInput } from '../gather/gather.ts'

/**
 * The gaps of the snapshot that may hide something, the pods of kinds that are not read, as far as they concern the answer,
 * the reasons of undetermined bindings, and `further` ones, each once, in a total order.
 */
export function missingOf(
  { after }: AnswerInput,
  judgements: Iterable<Judgement>,
  concern: Concern,
  further: readonly UnknownReason[] = [],
): readonly UnknownReason[] {
  const all = [...gapsThatMatter(after), ...unreadPodsThatMatter(after, concern), ...further]
  for (const judgement of judgements) if (judgement.state === 'undetermined') all.push(judgement.why)
  const distinct = new Map(
    all.map((why) => [JSON.stringify([why.what, why.verb, why.cause, why.namespace]), why]),
  )
  return [...distinct].toSorted(([a], [b]) => compareBytes(a, b)).map(([, why]) => why)
}

/** Without the trust domain, kleym cannot tell whether an ID is one of ours. */
const TRUST_DOMAIN_UNKNOWN: UnknownReason = { verb: 'read', what: "kleym's trust domain", cause: 'not given' }

/** What policies would need that is not given: what they name depends on it. */
export function missingOfPolicies(policies: readonly ResolvedPolicy[]): readonly UnknownReason[] {
  return unknownSources(policies).some(({ because }) => because === 'trust domain')
    ? [TRUST_DOMAIN_UNKNOWN]
    : []
}

/** The policies of one namespace, or of all, as everything settles. */
export function policiesIn({ after }: AnswerInput, namespace: string | undefined): readonly ResolvedPolicy[] {
  return after.settled.policies().list.filter((one) => namespace === undefined || one.namespace === namespace)
}

/** The sources of policies whose subjects are unknown. */
export function unknownSources(
  policies: readonly ResolvedPolicy[],
): readonly Extract<Resolution, { readonly state: 'unknown' }>[] {
  return policies
    .flatMap(({ rules }) => rules.flatMap(({ sources }) => sources.map(({ resolution }) => resolution)))
    .filter((one) => one.state === 'unknown')
}

/** Chooses objects by name; where not everything could be read, one that is not found may stand in what was not. */
export function notFoundOnlyIfRead<T>({ problems, after }: AnswerInput, kind: string, choose: () => T): T {
  const first = problems.find(({ reach }) => reach === undefined || reach.some((one) => one.kind === kind))
  const gap = after.snapshot.gaps.get(kind)
  try {
    return choose()
  } catch (error) {
    if (!(error instanceof KleymError) || error.code !== 'not-found') throw error
    const { what, where } = error
    if (first !== undefined) {
      const why = `${first.what} (${first.where}): ${first.why}`
      const parts = { what: `${what}, as far as the files could be read`, where, why, fix: first.fix }
      throw new KleymError({ ...parts, code: 'input' }, { cause: error })
    }
    if (gap !== undefined) {
      const fix = missingRbacRules([gap]).join(' ') || 'try again when the API server answers'
      const parts = { what: 'cannot tell whether it is there', where, why: unknownReasonText(gap), fix }
      throw new KleymError({ ...parts, code: 'unreachable' }, { cause: error })
    }
    if (after.snapshot.absentKinds.has(kind)) {
      const why = `this cluster does not serve ${kind}`
      throw new KleymError({
        code: 'not-found',
        what,
        where,
        why,
        fix: 'install it, or choose another cluster',
      })
    }
    throw error
  }
}
