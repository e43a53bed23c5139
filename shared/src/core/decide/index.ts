// The door of decide: one binding by itself, and all of them: what the operator runs.
export { type ClaimGroup, ClaimIndex, type Relation, relationOf } from './collide/claim-index.ts'
export {
  ANY,
  type Claim,
  claimedNamespaces,
  claimsContainerOf,
  declaredClaim,
  liveClaims,
} from './collide/claim.ts'
export { claimantsOf, groupsNear } from './collide/conflict.ts'
export { overlappingSets } from './collide/overlapping-sets.ts'
export {
  CHECKS,
  type CheckInput,
  type CheckName,
  type StepName,
  modeOf,
  trustDomainText,
} from './compile/checks.ts'
export { type Compiled, compile } from './compile/compile.ts'
export { type VariantLabel, declaredBoundary, identityPath, parseIdentity } from './compile/identity-path.ts'
export {
  type Identity,
  type IdentityParts,
  type SelectorOrigin,
  podLabelsOf,
  safetyProblems,
  selectorsOf,
  spiffeIdOf,
} from './compile/identity.ts'
export {
  type Output,
  type OutputSettings,
  type OutputSpec,
  classLabelProblem,
  isClassLabel,
  isOutputName,
  labelsForScm,
} from './compile/output.ts'
export { objectText, objectivePool } from './compile/references.ts'
export {
  IN_FORCE_DELAY_MS,
  type InForceMemory,
  type InForceObservation,
  type InForceReason,
  NOTHING_SEEN,
  afterWrite,
  lookInForce,
} from './in-force/in-force.ts'
export {
  type AlteredField,
  alteredFields,
  alteredMessage,
  hasLost,
  isAsProven,
  isProvenField,
} from './plan/altered-fields.ts'
export { differingPaths, driftOf } from './plan/drift.ts'
export {
  GO_IMPLEMENTATION,
  type Ownership,
  type OwnershipFacts,
  type OwningBinding,
  installOf,
  judgeOwnership,
} from './plan/ownership.ts'
export {
  type Action,
  type Decision,
  type Judgement,
  type LiveOutput,
  type OpenOf,
  type OutputsKnown,
  type Pass,
  type Pruned,
  claimsOfOutput,
  decide,
  refusePruned,
  refuseWrite,
  withoutOutputs,
} from './plan/plan.ts'
export { prunedFields, pruningSchema } from './plan/pruned-fields.ts'
export { settling } from './plan/settle.ts'
export { type StatusVerdict, nextStatus, verdictOf, idOfReady, judgementWord } from './plan/status.ts'
export { metadataAfterWrite } from './plan/written-metadata.ts'
export {
  IN_FORCE_REASON_NAMES,
  IN_FORCE_REASONS,
  isInForceReason,
  showsScm,
} from './reasons/in-force-reasons.ts'
export { REASONS, REASON_NAMES, type Reason, type RefusalReason, isReason } from './reasons/reasons.ts'
export { type Config, DEFAULT_BINDINGS_PER_NAMESPACE, TRUST_DOMAIN_PLACEHOLDER } from './settings/config.ts'
export {
  CLASS_NAME_ENV,
  CLASS_NAME_FLAG,
  DEFAULT_LEASE_NAME,
  LEASE_NAME_FLAG,
  TRUST_DOMAIN_ENV,
  TRUST_DOMAIN_FLAG,
  VARIANT_LABEL_KEY_ENV,
  VARIANT_LABEL_KEY_FIX,
  variantLabelKeyProblem,
  OUTPUT_LABEL_FLAG,
  readOutputLabels,
} from './settings/flags.ts'
