// The door of snapshot: everything that an answer reads, from raw objects.
export { allNamespaces, isAnyClassed, namespacesByName } from './namespaces-and-classes.ts'
export { madeBy } from './pod-makers-in.ts'
export { CHOOSING_NODES, readsNode } from './pod-reads.ts'
export {
  groupsOfOld,
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
export { type Gaps, Rest, type UnreadObjects } from './rest.ts'
export {
  type PolicyKnowledge,
  type Snapshot,
  type SnapshotSource,
  bindingsIn,
  listingsOf,
  readSnapshot,
  reading,
  referencesIn,
  servesLlmD,
  whyMoreOf,
} from './snapshot.ts'
export { perhapsPodsOf, podsInQuestionOf } from './subjects.ts'
