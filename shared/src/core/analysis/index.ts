// The door of analysis: all of a snapshot, now and settled; settings, worlds, holdings and policies.
export {
  type Amount,
  type BudgetChange,
  type Budgets,
  comparingEntries,
  countingEntries,
  fullestOf,
} from './budgets/budgets.ts'
export { delayOf, DEFAULT_RELOAD_SECONDS } from './budgets/delay.ts'
export { type OverLimit, overLimits, secondsText } from './budgets/limits.ts'
export { type ScmPass, scmPass } from './budgets/scm-pass.ts'
export { type ProxyOfAccount, consumersIn, meshOf, proxiesOfAccount } from './consumers/consumers-in-pod.ts'
export { isMeshIdentity } from './consumers/consumers.ts'
export { type ContainerHolding, Holdings, idsOf, isMade } from './holdings/holdings.ts'
export {
  type UndecidedBinding,
  type UndecidedBindings,
  declaredId,
  isMeant,
  mayBeMeant,
  mayBeOfUndecided,
  undecidedOn,
  undecidedText,
} from './holdings/undecided.ts'
export { heldBy } from './policies/holders.ts'
export {
  IdentitySources,
  type IdentitySource,
  idsChosenByPods,
  literalId,
} from './policies/identity-sources.ts'
export { notesOn } from './policies/notes.ts'
export { type Policies, hasPolicies } from './policies/policies.ts'
export {
  type Declarer,
  type Mention,
  NOTE_KINDS,
  type NamedBy,
  type Naming,
  type NearMiss,
  type NoteKind,
  type PolicyHolder,
  type PolicyNote,
  type Resolution,
  type ResolutionState,
  type ResolvedPolicy,
  type ResolvedRule,
  type ResolvedSource,
  isOpenSource,
  mayBeMore,
  policyName,
} from './policies/resolution.ts'
export { isForeign, trustDomainsOf } from './policies/resolve.ts'
export { declaredPath, unmetClaimsByPath } from './policies/unmet-claims.ts'
export { type WhoHolds, givenByNothing, holdersOfIds, perhapsHeld, whoHolds } from './policies/who-holds.ts'
export {
  type Assumption,
  type OpenSettings,
  PREMISES,
  type PremiseName,
  assumptionText,
  assumptionsThatCount,
  dependsText,
  probablyText,
} from './settings/assumptions.ts'
export {
  type ConditionCount,
  type InForceCount,
  type InForceText,
  type Stuck,
  countConditions,
  countInForce,
  inForceText,
  oldestStuck,
} from './settings/conditions.ts'
export {
  OPENSHIFT_CLASS,
  OPENSHIFT_PROVIDER,
  openshiftRegistrations,
  openshiftScmConfig,
} from './settings/openshift-scm.ts'
export {
  type OperatorDeployment,
  lostOperator,
  operatorsIn,
  readOperatorDeployment,
  whyOperatorDown,
} from './settings/operator-deployment.ts'
export {
  type Contradiction,
  type OperatorSettings,
  type SettingsSource,
  argument,
  commandLines,
  deploymentSettings,
  mergeSettings,
  outputSettings,
  statusSettings,
} from './settings/operator-settings.ts'
export {
  type ConfigMapKey,
  SCM_WORKLOAD_KINDS,
  type ScmContainer,
  scmContainers,
  scmContainersOf,
  workloadText,
} from './settings/scm-container.ts'
export {
  type ScmConfigText,
  type ScmInstance,
  acts,
  outputHandling,
  scmInstances,
} from './settings/scm-instance.ts'
export { rivalScms } from './settings/scm-rivals.ts'
export { type Analysis, analyse, analysing, unchanged } from './states/analysis.ts'
export { State } from './states/state.ts'
export { asSeenBeside, inClass, inWorlds, settingsDeciding, withSettings } from './worlds/across.ts'
export { openVerdicts } from './worlds/open-verdicts.ts'
export { isEffectAllThatIsOpen, takingOutputsAsHandled } from './worlds/premise.ts'
export { openSettingsOf } from './worlds/worlds-of.ts'
