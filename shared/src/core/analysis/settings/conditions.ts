// The statuses of all bindings together: how many have which verdict, and which binding has not been ready for the longest
// time.
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
  const byVerdict = Map.groupBy(bindings, (binding) => {
    const ready = readyOf(binding)
    return `${ready?.status ?? 'none'}\n${ready?.reason ?? ''}`
  })
  return [...byVerdict.values()]
    .map((alike): ConditionCount => {
      const ready = alike[0] === undefined ? undefined : readyOf(alike[0])
      return { ready: ready?.status ?? 'none', reason: ready?.reason ?? '', count: alike.length }
    })
    .toSorted(
      (a, b) =>
        ORDER.indexOf(a.ready) - ORDER.indexOf(b.ready) ||
        b.count - a.count ||
        compareBytes(a.reason, b.reason),
    )
}

const ORDER: readonly ConditionCount['ready'][] = ['True', 'False', 'Unknown', 'none']

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
  return [...Map.groupBy(conditions, ({ status, reason }) => `${status}\n${reason}`).values()]
    .flatMap((alike): InForceCount[] =>
      alike[0] === undefined
        ? []
        : [{ status: alike[0].status, reason: alike[0].reason, count: alike.length }],
    )
    .toSorted(
      (a, b) =>
        IN_FORCE_ORDER.indexOf(a.status) - IN_FORCE_ORDER.indexOf(b.status) ||
        b.count - a.count ||
        compareBytes(a.reason, b.reason),
    )
}

const IN_FORCE_ORDER: readonly Condition['status'][] = ['False', 'Unknown', 'True']
