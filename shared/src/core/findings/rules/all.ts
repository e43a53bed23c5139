// All findings of an analysis, worst first.
import type { Analysis } from '../../analysis/index.ts'
import { BINDING_KIND } from '../../model/names.ts'
import type { Steps } from '../../base/steps.ts'
import { bindingRule } from './binding-rules.ts'
import { collisionRule } from './collision-rules.ts'
import { compareFindings, isAbout, type Finding } from '../finding/finding.ts'
import { openOf, worstOf, worstOfKinds, type Concern, type OpenSeverity, type Rule } from '../finding/rule.ts'
import type { Severity } from '../registry/findings.ts'
import { federationRule } from './federation-rules.ts'
import { concernsEveryBinding, installRule } from './install-rules.ts'
import { installationRule } from './installation-rules.ts'
import { isAboutRegistration, manifestRule } from './manifest-rules.ts'
import { podRule } from './pod-findings.ts'
import { policyRule } from './policy-rules.ts'
import { poolRule } from './pool-rules.ts'
import { statusRule } from './status-rules.ts'
import { svidRule } from './svid-rules.ts'
import { tenancyRule } from './tenancy-rules.ts'
import { variantRule } from './variant-rules.ts'
import { differenceRule } from './verify-rules.ts'
import { findingStepsInWorlds } from './in-worlds.ts'

/** Every rule over an analysis. */
export const RULES: readonly Rule[] = [
  podRule,
  collisionRule,
  bindingRule,
  installRule,
  manifestRule,
  policyRule,
  poolRule,
  tenancyRule,
  variantRule,
]

/** Every rule but those about names in policies. */
export const RULES_BESIDE_POLICIES: readonly Rule[] = RULES.filter((one) => one !== policyRule)

/** Every rule, with those that are asked with more than an analysis. */
export const EVERY_RULE: readonly Pick<Rule, 'codes' | 'alone'>[] = [
  ...RULES,
  statusRule,
  installationRule,
  federationRule,
  differenceRule,
  svidRule,
]

/** How bad a finding is at worst that something may hide. */
export const WORST: Severity = worstOf(EVERY_RULE)
/** The same of what may hold objects of these kinds; undefined: of any. */
export function worstOfUnread(kinds: readonly string[] | undefined): Severity {
  return worstOfKinds(EVERY_RULE, kinds)
}

/** The same of a registration that kleym does not follow. */
export const WORST_OF_PODS: Severity = worstOf([podRule])

/** What the rules may have missed about what is asked: each a cause of the answer. */
export function openFindings(analysis: Analysis, concern: Concern): readonly OpenSeverity[] {
  return openOf(RULES, analysis, concern)
}

/** Every finding, in a total order, in steps: one for each pod and each label set. Pure; the same analysis gives the same bytes. */
export function* findingSteps(analysis: Analysis, rules = RULES): Steps<readonly Finding[]> {
  return (yield* unsortedFindings(analysis, rules)).toSorted(compareFindings)
}

/** The findings about some bindings, by `namespace/name`, and those that concern every registration; in such steps. */
export function* findingStepsAbout(
  analysis: Analysis,
  bindings: ReadonlySet<string>,
): Steps<readonly Finding[]> {
  return (yield* unsortedFindings(analysis, RULES, bindings))
    .filter(
      (one) => isAbout(one, BINDING_KIND, bindings) || concernsEveryBinding(one) || isAboutRegistration(one),
    )
    .toSorted(compareFindings)
}

function* unsortedFindings(
  analysis: Analysis,
  rules: readonly Rule[],
  bindings?: ReadonlySet<string>,
): Steps<readonly Finding[]> {
  return yield* findingStepsInWorlds(analysis, function* (world) {
    const found: Finding[] = []
    for (const rule of rules) found.push(...(yield* rule.find(world, bindings)))
    return found
  })
}
