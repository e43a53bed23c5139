// The door of findings: what is wrong, with its code, its evidence and its fix.
export {
  type Finding,
  compareFindings,
  containerPart,
  countBySeverity,
  depending,
  finding,
  findingKey,
  isAbout,
  isAtLeast,
  namedIn,
  notCertain,
  seenFrom,
  withinNamespaces,
} from './finding/finding.ts'
export { type ObjectMark, bareKind, marksOf, objectKey } from './finding/suppress-annotation.ts'
export type { FlagSuppression } from './finding/suppress-flag.ts'
export { type SuppressedFinding, type Suppression, suppress } from './finding/suppress.ts'
export {
  FINDING_CODES,
  type FindingCode,
  type FindingEntry,
  SEVERITIES,
  type Severity,
  codeOfReason,
  findingCodeOf,
  findingEntry,
  isClash,
} from './registry/findings.ts'
export { type PageExample, pageSections } from './registry/pages.ts'
export type { Concern } from './finding/rule.ts'
export {
  findingSteps,
  findingStepsAbout,
  openFindings,
  RULES,
  RULES_BESIDE_POLICIES,
  WORST,
  WORST_OF_PODS,
  worstOfUnread,
} from './rules/all.ts'
export { labelsText } from './rules/collision-rules.ts'
export { displacedOf, givenTo, lossText, takesPart } from './rules/displaced.ts'
export { federationRule, relationshipsOf } from './rules/federation-rules.ts'
export { findingsInWorlds } from './rules/in-worlds.ts'
export { SCM_SUBJECT, concernsEveryBinding, disagreements, installFindings } from './rules/install-rules.ts'
export { installationRule } from './rules/installation-rules.ts'
export { isAboutRegistration, manifestFindings } from './rules/manifest-rules.ts'
export { dependsOnOutsideScope } from './rules/outside-scope.ts'
export { holdersOfNotes, podNotes } from './rules/pod-findings.ts'
export { mayShare } from './rules/pool-rules.ts'
export { RULE_KIND, unknownSources } from './rules/policy-rules.ts'
export { lostOperatorFindings, statusRule } from './rules/status-rules.ts'
export { originsIn, svidRule } from './rules/svid-rules.ts'
export { type JudgedDifference, differenceRule, judgeDifferences } from './rules/verify-rules.ts'
