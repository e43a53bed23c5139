// One analysis through two other lenses: the world as it is, before kleym has done what it has to do, and the world
// afterwards. A diff holds the one against the other.
import type { Analysis } from '../analysis/analysis.ts'
import { lazy } from '../lazy.ts'
import { resolvePolicies } from '../policies/policies.ts'

/** As things are: live outputs, and what the operator says of each binding now. */
export function asIs(analysis: Analysis): Analysis {
  const { settled, live, predictionNow } = analysis
  const seen = {
    ...analysis,
    settled: { ...settled, ...settled.first, first: settled.first, outputs: live, changes: [] },
    prediction: predictionNow,
  }
  return { ...seen, policies: lazy(() => resolvePolicies(seen)) }
}

/** As things will be: the outputs that passes lead to, and nothing left to do. */
export function afterwards(analysis: Analysis): Analysis {
  const { settled } = analysis
  const { judgements, actions, claims } = settled
  return {
    ...analysis,
    live: settled.outputs,
    settled: { ...settled, first: { judgements, actions, claims }, changes: [] },
  }
}
