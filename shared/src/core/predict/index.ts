// The door of predict: what SCM, the SPIRE server and the agent do with all registrations.
export { MIRROR_ANNOTATION, judgeContainer, judgeSelector, whyInjected } from './spire/attestor.ts'
export { classHandling, federatedWith, foreignDomains, isClassHandled } from './spire/common-fields.ts'
export { entryKey } from './spire/entry-key.ts'
export { mayCutText, readAnyText, readFieldTemplate } from './spire/field-template.ts'
export { NamespaceFilter } from './spire/namespace-filter.ts'
export { factsBehind, type PodSurroundings } from './spire/open-facts.ts'
export { NODE_UID, PLAIN_FACTS, POD_UID, TRUST_DOMAIN } from './spire/placeholders.ts'
export {
  type ContainerIdentities,
  type PodIdentities,
  containerIdentities,
  isOfPods,
  podIdentitiesOf,
} from './spire/pod-identities.ts'
export { precedenceOf, preferred } from './spire/precedence.ts'
export { PODS_KEPT, predict } from './spire/predict.ts'
export {
  type EntryOutcome,
  type EntrySelector,
  type EntrySource,
  type EntryVerdict,
  type ObjectHandling,
  type Prediction,
  type PredictionInput,
  type ScmFault,
  type SelectionCounts,
  isAskedFor,
  sourceText,
  splitSelector,
  whyOpen,
} from './spire/prediction.ts'
export { unseenHandling } from './spire/prepared-id.ts'
export { type RegistrationEntry, registrationEntrySteps } from './spire/registration-entries.ts'
export {
  type Registration,
  containerVerdicts,
  isHeld,
  isPossible,
  possibleVerdicts,
  verdictWord,
} from './spire/registration.ts'
export { type AgentLogFacts, factsOfSelectors, readAgentFacts } from './verify/agent-facts.ts'
export { type AttestedSelectors, readAgentLog } from './verify/agent-log.ts'
export {
  DIFFERENCE_CAUSES,
  type DifferenceCause,
  type ExplainedDifference,
  explainDifferences,
  secondsOf,
  RACE_SECONDS,
} from './verify/causes.ts'
export { EntryComparison, type EntryDifferences } from './verify/compare-entries.ts'
export {
  type ContainerSvids,
  type DueSvids,
  type LackingSvid,
  type SurplusSvid,
  type SvidAnswer,
  mayBeFor,
  svidAnswer,
} from './verify/container-svids.ts'
export {
  EntryHolderIndex,
  type EntryHolders,
  type HolderContainer,
  judgeServerEntry,
} from './verify/entry-holders.ts'
export {
  clusterOfParent,
  isNodeEntry,
  ownerOf,
  whyEntriesStay,
  whyTakesEntriesOf,
} from './verify/entry-owner.ts'
export { selectorsAskedFor } from './spire/pod-uid-selector.ts'
export { type ExpectedEntries, type WhyOpen, expectedText, expecting } from './verify/expected.ts'
export {
  type FailingSelector,
  type FieldOfObject,
  type OriginsOf,
  failingSelectors,
  fieldOfText,
  fieldsBehind,
} from './verify/failing-selectors.ts'
export { readServerEntry, readServerBundle } from './verify/read-server-entry.ts'
export { type ServerEntry, givesRight, podUidOf } from './verify/server-entry.ts'
export { asServerJson } from './verify/server-json.ts'
export { readSvidText } from './verify/svid-text.ts'
