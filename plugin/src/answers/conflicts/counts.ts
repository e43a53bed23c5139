// What `conflicts` looked at: how many bindings, namespaces and access policies are in scope.
import type { Binding } from '@kleym/shared/core/model/objects/binding.ts'
import { hasPolicies, type ResolvedPolicy } from '@kleym/shared/core/analysis/index.ts'
import { NameSummary } from '@kleym/shared/core/base/text/counted.ts'
import type { AnswerInput } from '../../gather/gather.ts'

/** How many objects are in scope. */
export interface ConflictCounts {
  readonly bindings: number
  readonly namespaces: number
  /** Access policies; undefined where there are none to speak of. */
  readonly policies?: number
}

/** The bindings of one namespace, or all. */
export function bindingsIn({ after }: AnswerInput, namespace: string | undefined): readonly Binding[] {
  return after.snapshot.bindings.read.filter(
    ({ meta }) => namespace === undefined || meta.namespace === namespace,
  )
}

/** Counts what is in scope; `bindings` are those of `bindingsIn`. */
export function countsOf(
  { after }: AnswerInput,
  bindings: readonly Binding[],
  namespace: string | undefined,
): ConflictCounts {
  const policies = after.settled.policies()
  const counts = countsOfBindings(bindings)
  if (!hasPolicies(policies)) return counts
  const isIn = (one: ResolvedPolicy): boolean => namespace === undefined || one.namespace === namespace
  return { ...counts, policies: policies.list.filter(isIn).length }
}

/** Counts bindings that were chosen: the answer is about them alone. */
export function countsOfBindings(bindings: readonly Binding[]): ConflictCounts {
  return {
    bindings: bindings.length,
    namespaces: new Set(bindings.map(({ meta }) => meta.namespace)).size,
  }
}

/** The bindings that are refused, each with the reason of its Ready condition. */
export function refusedOf({ after }: AnswerInput, bindings: readonly Binding[]): NameSummary {
  const refused = new NameSummary()
  for (const { key } of bindings) {
    const judged = after.now.judgements.get(key)
    if (judged?.state === 'refused') refused.add(`${key} (${judged.reason})`)
  }
  return refused
}
