// How many bindings have which outcome, and how often bindings came to it. No label holds the name of a binding.
import { Counter, Gauge, type Registry } from 'prom-client'
import type { ConditionType, Mode } from '@kleym/shared/core/model/names.ts'
import type { InForceReason, Reason } from '@kleym/shared/core/decide/index.ts'

/** What the operator last decided about a binding, as metric labels. */
export interface BindingOutcome {
  readonly condition: ConditionType
  readonly reason: Reason
  /** `Unsupported` for any other value that a binding may hold. */
  readonly mode: Mode | 'Unsupported'
}

/** The metrics of single bindings. */
export interface BindingMetrics {
  /**
   * Records the outcome of the binding `key`; undefined once the binding is gone. A change, the first outcome included,
   * counts as one of `kleym_identity_binding_outcomes_total`.
   */
  setBinding(key: string, outcome: BindingOutcome | undefined): void
  /** Records what `InForce` says of the binding `key`; undefined once the binding is gone. */
  setInForce(key: string, reason: InForceReason | undefined): void
}

/** Counts the bindings by their last outcome in `registry`. */
export function bindingMetrics(registry: Registry): BindingMetrics {
  const labelNames = ['condition', 'reason', 'mode'] as const
  const current = new Gauge({
    name: 'kleym_identity_bindings',
    help: 'Bindings by the condition and reason of their last verdict, and by mode.',
    labelNames,
    registers: [registry],
  })
  const outcomes = new Counter({
    name: 'kleym_identity_binding_outcomes_total',
    help: 'How often the verdict of a binding changed to this condition and reason.',
    labelNames,
    registers: [registry],
  })
  const inForce = new Gauge({
    name: 'kleym_identity_bindings_in_force',
    help: 'Bindings by what their condition InForce says.',
    labelNames: ['reason'],
    registers: [registry],
  })
  const last = new Map<string, BindingOutcome>()
  const lastInForce = new Map<string, InForceReason>()
  return {
    setBinding(key, outcome) {
      const before = last.get(key)
      if (before !== undefined && outcome !== undefined && isSame(before, outcome)) return
      if (before !== undefined) current.dec(labelsOf(before))
      if (outcome === undefined) {
        last.delete(key)
        return
      }
      last.set(key, outcome)
      current.inc(labelsOf(outcome))
      outcomes.inc(labelsOf(outcome))
    },
    setInForce(key, reason) {
      const before = lastInForce.get(key)
      if (before === reason) return
      if (before !== undefined) inForce.dec({ reason: before })
      if (reason === undefined) {
        lastInForce.delete(key)
        return
      }
      lastInForce.set(key, reason)
      inForce.inc({ reason })
    },
  }
}

function isSame(left: BindingOutcome, right: BindingOutcome): boolean {
  return left.condition === right.condition && left.reason === right.reason && left.mode === right.mode
}

/** The labels alone: a caller's object may hold more. */
function labelsOf({ condition, reason, mode }: BindingOutcome): Record<keyof BindingOutcome, string> {
  return { condition, reason, mode }
}
