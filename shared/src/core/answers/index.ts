// The door of answers: what is asked of the core.
export {
  type ClustersComparison,
  type ComparedCluster,
  type SharedId,
  clusterFindings,
  compareClusters,
  trustDomainOf,
} from './clusters/compare-clusters.ts'
export { type Affected, type AffectedPolicy, affectedPolicies } from './explain/affected-policies.ts'
export {
  type Effect,
  type EffectOptions,
  type HolderEffect,
  type IdentityChange,
  type LostIdentity,
  type VerdictChange,
  NOTHING_DONE,
  concernsAll,
  effectByHolder,
  effectOf,
  exchangesOf,
  verdictText,
} from './explain/effect.ts'
export { editedText, REGISTRATION_CHANGES } from './explain/edited.ts'
export { type Explanation, type PeerExplanation, derivationOf, explaining } from './explain/explanation.ts'
export { inForceFinding } from './explain/in-force-finding.ts'
export type { UnreadSides } from './explain/one-sided.ts'
export { type Lost, type Reach, lostText } from './explain/reach.ts'
export type { DerivationStep } from './explain/steps.ts'
export { SelectablePods } from './identity-tests/container-selector.ts'
export { evaluating } from './identity-tests/evaluate.ts'
export { type WrittenTest, generating } from './identity-tests/generate.ts'
export { type HoldersFound, findingHolders, selectorsOf } from './identity-tests/holders.ts'
export {
  type Assertion,
  type ContainerAssertion,
  type EveryAssertion,
  type FieldPath,
  type IdentityTest,
  type TestReading,
  fieldText,
  readIdentityTest,
  testName,
} from './identity-tests/identity-test.ts'
export { identityTestSchema } from './identity-tests/schema.ts'
export { type HeldIdentities, type Migration, type MigrationInWorlds, migrating } from './migrate/migrate.ts'
export { noPlansBefore, plansAfter } from './migrate/in-a-row.ts'
export { type MigrationStep, migrationSteps } from './migrate/order.ts'
export {
  type Consumers,
  type CutOff,
  type IdChange,
  acceptLines,
  consumersOf,
  cutOffsBy,
} from './rename/consumers.ts'
export { type RenameStep, holdersOf, manifestsDue, renameSteps } from './rename/plan.ts'
export { type Rename, type RenamedBinding, renaming, whyNone } from './rename/rename.ts'
export { type Candidate, candidateManifest, manifestsBefore, manifestsFor } from './suggest/candidate.ts'
export type { NotSuggested } from './suggest/not-suggested.ts'
export {
  type PoolSuggestions,
  type SuggestQuestion,
  type SuggestedBinding,
  type SuggestedRegistrations,
  type Suggestions,
  suggestedText,
  suggesting,
} from './suggest/suggest.ts'
export { type Chain, chainOf } from './why/chain.ts'
export { droppedFields } from './why/dropped.ts'
export type { ChainCommands, ServerSide } from './why/facts.ts'
export { HOP_NAMES, type Hop, type HopName } from './why/hop.ts'
export { type SpireInstall, type WholeServer, installationHops } from './why/installation.ts'
export {
  type AgentPod,
  CRD_KIND,
  ID_CRD,
  type SpireParts,
  isProvenAgent,
  isSpirePart,
  readSpireParts,
} from './why/spire-parts.ts'
export { subjectOf } from './why/subject.ts'
export { type AssertionOutcome } from './identity-tests/run.ts'
