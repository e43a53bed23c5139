// All findings of an analysis, worst first.
import type { Analysis } from '../analysis.ts'
import { bindingFindings } from './binding-rules.ts'
import { collisionFindings } from './collision-rules.ts'
import { compareFindings, type Finding } from './finding.ts'
import { installFindings } from './install-rules.ts'
import { podFindings } from './pod-findings.ts'
import { policyFindings } from './policy-rules.ts'
import { poolFindings } from './pool-rules.ts'

const RULE_SETS: readonly ((analysis: Analysis) => readonly Finding[])[] = [
  bindingFindings,
  collisionFindings,
  installFindings,
  podFindings,
  policyFindings,
  poolFindings,
]

/** Every finding, in a total order. Pure; the same analysis gives the same bytes. */
export function findingsOf(analysis: Analysis): readonly Finding[] {
  return RULE_SETS.flatMap((rules) => rules(analysis)).toSorted(compareFindings)
}
