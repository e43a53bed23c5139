// Whether a rule of an AuthorizationPolicy matches an ID, as `istio-policies.test.ts` holds it against istiod.
import { listAt } from '../../src/core/base/json.ts'
import { matchesId } from '../../src/core/model/naming/id-matcher.ts'
import type { RuleSource } from '../../src/core/model/objects/access-rule.ts'

/** Whether a value by itself is about an ID. */
export function names(source: RuleSource, id: string): boolean {
  if (source.kind === 'SPIFFE') return source.spiffeId === id
  return source.kind === 'pattern' && (source.pattern.all[0] ?? []).some((one) => matchesId(one, id))
}

/** Whether a rule matches an ID: one of its sources does, by all lists of the source and all conditions. */
export function matchesRule(rule: unknown, sources: readonly RuleSource[], id: string): boolean {
  const lists = Map.groupBy(sources, ({ field }) => field.slice(0, field.lastIndexOf('[')))
  const holds = [...lists].map(([list, values]) => {
    const isNamed = values.some((one) => names(one, id))
    return { list, holds: values[0]?.isExcluded === true ? !isNamed : isNamed }
  })
  const areConditionsMet = holds.every((one) => !one.list.includes('.when[') || one.holds)
  return (
    areConditionsMet &&
    listAt(rule, 'from').some((_, at) =>
      holds.every((one) => !one.list.includes(`.from[${at}].`) || one.holds),
    )
  )
}
