// How many bindings stand where, and how often they got there. The names of bindings stay in this file.
import { Counter, Gauge, type Registry } from 'prom-client'
import type { Metrics, Outcome } from './metrics.ts'

/** Counts the bindings by their last outcome in `registry`. */
export function bindingMetrics(registry: Registry): Pick<Metrics, 'setBinding'> {
  const labelNames = ['condition', 'reason', 'mode'] as const
  const standing = new Gauge({
    name: 'kleym_identity_bindings',
    help: 'Bindings by where they stand.',
    labelNames,
    registers: [registry],
  })
  const outcomes = new Counter({
    name: 'kleym_identity_binding_outcomes_total',
    help: 'How often a binding came to stand there.',
    labelNames,
    registers: [registry],
  })
  const last = new Map<string, Outcome>()
  return {
    setBinding(key, outcome) {
      const before = last.get(key)
      if (before !== undefined && outcome !== undefined && isSame(before, outcome)) return
      if (before !== undefined) standing.dec(labelsOf(before))
      if (outcome === undefined) {
        last.delete(key)
        return
      }
      last.set(key, outcome)
      standing.inc(labelsOf(outcome))
      outcomes.inc(labelsOf(outcome))
    },
  }
}

function isSame(left: Outcome, right: Outcome): boolean {
  return left.condition === right.condition && left.reason === right.reason && left.mode === right.mode
}

/** The labels alone: a caller's object may hold more. */
function labelsOf({ condition, reason, mode }: Outcome): Record<keyof Outcome, string> {
  return { condition, reason, mode }
}
