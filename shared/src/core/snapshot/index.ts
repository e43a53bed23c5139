// The door of snapshot: everything that an answer reads, from raw objects.
export { type Doubt, type Doubts, NO_DOUBTS, doubtsByKind } from './doubt.ts'
export { namespacesByName } from './namespaces-by-name.ts'
export { perhapsPodsOf } from './perhaps-pods.ts'
export { madeBy } from './pod-makers-in.ts'
export type { PolicyKnowledge } from './policy-knowledge.ts'
export {
  type RenameQuestion,
  bindingsConcerned,
  isToBeMade,
  keyIn,
  manifestAfter,
  objectivesLeading,
  objectsOfKind,
  withBindings,
  withNew,
  withReferences,
  withRegistrations,
  withoutOld,
  withoutRegistrations,
} from './renamed.ts'
export {
  type Snapshot,
  type SnapshotSource,
  bindingsIn,
  firstGap,
  gapOf,
  importsIn,
  kindKey,
  madeInstead,
  readSnapshot,
  reading,
  referencesIn,
  servesLlmD,
} from './snapshot.ts'
export { podsInQuestionOf } from './subjects.ts'
export {
  type SnapshotReading,
  anyBindingGap,
  bindingGap,
  displacementGap,
  gapsOf,
  identityGap,
  registrationGap,
  subjectDoubt,
  subjectGap,
} from './unread.ts'
