// All findings of an analysis, worst first.
import type { Analysis } from '../../analysis/index.ts'
import { BINDING_KIND } from '../../model/names.ts'
import { driveAtOnce, type Steps } from '../../base/steps.ts'
import { bindingFindings } from './binding-rules.ts'
import { collisionFindings } from './collision-rules.ts'
import { compareFindings, isAbout, type Finding } from '../finding/finding.ts'
import { concernsEveryBinding, installFindings } from './install-rules.ts'
import { isAboutRegistration, manifestFindings } from './manifest-rules.ts'
import { podFindings } from './pod-findings.ts'
import { policyFindings } from './policy-rules.ts'
import { poolFindings } from './pool-rules.ts'
import { variantFindings } from './variant-rules.ts'
import { findingStepsInWorlds } from './in-worlds.ts'

/** `bindings` are those that are asked about, by `namespace/name`: what is not about them may then be left out. */
type RuleSet = (analysis: Analysis, bindings?: ReadonlySet<string>) => readonly Finding[]

const RULE_SETS: readonly RuleSet[] = [
  bindingFindings,
  installFindings,
  manifestFindings,
  policyFindings,
  poolFindings,
  variantFindings,
]

/** Every finding, in a total order. Pure; the same analysis gives the same bytes. */
export function findingsOf(analysis: Analysis): readonly Finding[] {
  return driveAtOnce(findingSteps(analysis))
}

/** The same in steps, one for each pod and each label set. */
export function* findingSteps(analysis: Analysis): Steps<readonly Finding[]> {
  return (yield* unsortedFindings(analysis)).toSorted(compareFindings)
}

/** The findings about some bindings, by `namespace/name`, and those that concern every registration; in such steps. */
export function* findingStepsAbout(
  analysis: Analysis,
  bindings: ReadonlySet<string>,
): Steps<readonly Finding[]> {
  return (yield* unsortedFindings(analysis, bindings))
    .filter(
      (one) => isAbout(one, BINDING_KIND, bindings) || concernsEveryBinding(one) || isAboutRegistration(one),
    )
    .toSorted(compareFindings)
}

function* unsortedFindings(analysis: Analysis, bindings?: ReadonlySet<string>): Steps<readonly Finding[]> {
  return yield* findingStepsInWorlds(analysis, function* (world) {
    return [
      ...(yield* podFindings(world)),
      ...(yield* collisionFindings(world, bindings)),
      ...RULE_SETS.flatMap((rules) => rules(world, bindings)),
    ]
  })
}
