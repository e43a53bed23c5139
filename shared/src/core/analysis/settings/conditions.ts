// The statuses of all bindings together: how many have which verdict, and which binding has not been ready for the longest
// time.
import { groupsBy } from '../../base/groups.ts'
import type { Each } from '../../base/each.ts'
import type { Condition } from '../../model/objects/binding-status.ts'
import { inForceOf, readyOf, type Binding } from '../../model/objects/binding.ts'
import { compareBytes } from '../../base/text/bytes.ts'

/** How many bindings have one verdict. */
export interface ConditionCount {
  readonly ready: 'True' | 'False' | 'Unknown' | 'none'
  /** The reason of the condition `Ready`; empty where there is no status. */
  readonly reason: string
  readonly count: number
}

/** Counts the conditions `Ready`, the most frequent of each status first. */
export function countConditions(bindings: Iterable<Binding>): readonly ConditionCount[] {
  const verdicts = [...bindings].map((one) => readyOf(one) ?? ({ status: 'none', reason: '' } as const))
  return countAlike(verdicts, ['True', 'False', 'Unknown', 'none']).map(({ status: ready, ...rest }) => ({
    ready,
    ...rest,
  }))
}

/** How many there are of each status and reason: by status in this order, then the most frequent first. */
function countAlike<Status extends string>(
  conditions: readonly { readonly status: Status; readonly reason: string }[],
  order: readonly Status[],
): readonly { readonly status: Status; readonly reason: string; readonly count: number }[] {
  return groupsBy(conditions, ({ status, reason }) => `${status}\n${reason}`)
    .map((same) => ({ status: same[0].status, reason: same[0].reason, count: same.length }))
    .toSorted(
      (a, b) =>
        order.indexOf(a.status) - order.indexOf(b.status) ||
        b.count - a.count ||
        compareBytes(a.reason, b.reason),
    )
}

/** A binding that is not ready. */
export interface Stuck {
  readonly binding: Binding
  /** RFC 3339: since when it has not been ready. */
  readonly since: string
  readonly reason: string
}

/** The binding that has not been ready for the longest time; one without a status, since its creation. */
export function oldestStuck(bindings: Each<Binding>): Stuck | undefined {
  const stuck = bindings.flatMap((binding): Stuck[] => {
    const ready = readyOf(binding)
    if (ready?.status === 'True') return []
    const since = ready?.lastTransitionTime ?? binding.meta.createdAt
    return since === undefined ? [] : [{ binding, since, reason: ready?.reason ?? 'no status yet' }]
  })
  return stuck.toSorted(
    (a, b) => Date.parse(a.since) - Date.parse(b.since) || compareBytes(a.binding.key, b.binding.key),
  )[0]
}

/** What a status says of the output that was written for a binding; without the condition it is not known. */
export type InForceText = 'in force' | 'perhaps in force' | 'not in force'

const IN_FORCE_TEXT: Readonly<Record<Condition['status'], InForceText>> = {
  True: 'in force',
  Unknown: 'perhaps in force',
  False: 'not in force',
}

/** The words of a condition `InForce`. */
export function inForceText(condition: Pick<Condition, 'status'> | undefined): InForceText {
  return IN_FORCE_TEXT[condition?.status ?? 'Unknown']
}

/** How many bindings have one reason of `InForce`. */
export interface InForceCount {
  readonly status: Condition['status']
  readonly reason: string
  readonly count: number
}

/** Counts the conditions `InForce`, those that are not `True` first; bindings without one are left out. */
export function countInForce(bindings: Each<Binding>): readonly InForceCount[] {
  const conditions = bindings.flatMap((binding) => inForceOf(binding) ?? [])
  return countAlike(conditions, ['False', 'Unknown', 'True'])
}
