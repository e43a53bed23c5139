// The snapshots that a rename goes through: the objects of the new name beside the old ones, bindings that name them, and then without
// the old ones. A pool or an objective that is not there is assumed to be like the old one.
import type { Each } from '../base/each.ts'
import { isRecord, own, type JsonRecord } from '../base/json.ts'
import { apiVersionOf, BINDING } from '../model/kinds.ts'
import { BINDING_KIND } from '../model/names.ts'
import { namespacedName, type NamespacedName } from '../model/namespaced-name.ts'
import { readBinding, type Binding, type DeclaredBinding } from '../model/objects/binding.ts'
import { readClusterSpiffeId } from '../model/objects/clusterspiffeid.ts'
import type { Objective, Pool } from '../model/objects/inference.ts'
import { sortByMeta, type Snapshot } from './snapshot.ts'

/** The kinds that a rename is asked about. */
export const RENAMED_KINDS = ['binding', 'pool', 'objective'] as const

/** What is renamed: an object of one namespace, from one name to another. */
export interface RenameQuestion {
  readonly kind: (typeof RENAMED_KINDS)[number]
  readonly namespace: string
  readonly from: string
  readonly to: string
}

/** The objects of a kind that is renamed, by namespace and name. */
export function objectsOfKind(
  { bindings, pools, objectives }: Snapshot,
  kind: RenameQuestion['kind'],
): readonly { readonly namespace: string; readonly name: string }[] {
  const all = { binding: bindings.read, pool: pools.read, objective: objectives.read }[kind]
  return all.map(({ meta: { namespace, name } }) => ({ namespace, name }))
}

/** The bindings that a rename concerns, in the order of the snapshot. */
export function bindingsConcerned(
  { bindings }: Snapshot,
  { kind, namespace, from }: RenameQuestion,
): readonly Binding[] {
  return bindings.read.filter(({ meta, poolRef, objectiveRef }) => {
    if (meta.namespace !== namespace) return false
    if (kind === 'binding') return meta.name === from
    const ref = kind === 'pool' ? poolRef : objectiveRef
    return ref.ok && ref.value?.name === from
  })
}

/** The manifest of a binding under this name that says what another says, after the rename; undefined if its spec cannot be read. */
export function manifestAfter(
  { meta: { namespace }, ...binding }: DeclaredBinding,
  name: string,
  question: RenameQuestion,
): JsonRecord | undefined {
  const { mode, poolRef, objectiveRef, serviceAccountName, containerName, identityBoundary } = binding
  if (!mode.ok || !poolRef.ok || !objectiveRef.ok || !serviceAccountName.ok) return undefined
  if (!containerName.ok || !identityBoundary.ok) return undefined
  const renamed = <T extends { readonly name: string }>(kind: RenameQuestion['kind'], ref: T): T =>
    question.kind === kind && ref.name === question.from ? { ...ref, name: question.to } : ref
  return {
    apiVersion: apiVersionOf(BINDING),
    kind: BINDING_KIND,
    metadata: { name, namespace },
    spec: {
      mode: mode.value,
      poolRef: { ...renamed('pool', poolRef.value) },
      ...(objectiveRef.value !== undefined && {
        objectiveRef: { ...renamed('objective', objectiveRef.value) },
      }),
      serviceAccountName: serviceAccountName.value,
      ...(containerName.value !== undefined && { containerName: containerName.value }),
      ...(identityBoundary.value !== undefined && { identityBoundary: { ...identityBoundary.value } }),
    },
  }
}

/** The kind of the objects that are named by bindings, if it is one of them that is renamed. */
type Named = 'pools' | 'objectives'

function namedKind({ kind }: RenameQuestion): Named | undefined {
  return kind === 'binding' ? undefined : kind === 'pool' ? 'pools' : 'objectives'
}

/** Whether the pool or objective of the new name does not exist yet. */
export function isToBeMade(snapshot: Snapshot, question: RenameQuestion): boolean {
  const key = namedKind(question)
  return key !== undefined && snapshot[key].named(question.namespace, question.to).state !== 'found'
}

/** With the pool or objective of the new name, like the old one if it is not there. */
export function withNew(snapshot: Snapshot, question: RenameQuestion): Snapshot {
  const key = namedKind(question)
  if (key === undefined || !isToBeMade(snapshot, question)) return snapshot
  const copies = <T extends Pool | Objective>(all: Each<T>): readonly T[] =>
    sortByMeta([
      ...all,
      ...all
        .filter((one) => isNamed(one, question.namespace, question.from))
        .map((one) => ({ ...one, meta: { ...one.meta, name: question.to, uid: undefined } })),
    ])
  const { pools, objectives } = snapshot
  return key === 'pools'
    ? { ...snapshot, pools: pools.with(copies(pools.read)) }
    : { ...snapshot, objectives: objectives.with(copies(objectives.read)) }
}

/** The groups in which the pool or objective of the old name was read, in the order of the objects. */
export function groupsOfOld({ pools, objectives }: Snapshot, question: RenameQuestion): readonly string[] {
  const all: Each<Pool | Objective> = question.kind === 'pool' ? pools.read : objectives.read
  const old =
    question.kind === 'binding'
      ? []
      : [...all].filter((one) => isNamed(one, question.namespace, question.from))
  return [...new Set(old.map(({ group }) => group))]
}

/** Without the pool or objective of the old name. */
export function withoutOld(snapshot: Snapshot, question: RenameQuestion): Snapshot {
  const key = namedKind(question)
  const isOther = (one: Pool | Objective): boolean => !isNamed(one, question.namespace, question.from)
  if (key === undefined) return snapshot
  const { pools, objectives } = snapshot
  return key === 'pools'
    ? { ...snapshot, pools: pools.with(pools.read.filter(isOther)) }
    : { ...snapshot, objectives: objectives.with(objectives.read.filter(isOther)) }
}

function isNamed({ meta }: Pool | Objective, namespace: string, name: string): boolean {
  return meta.namespace === namespace && meta.name === name
}

/** The objectives that lead to a pool which is renamed. */
export function objectivesLeading(
  { objectives }: Snapshot,
  { kind, namespace, from }: RenameQuestion,
): readonly Objective[] {
  if (kind !== 'pool') return []
  return objectives.read.filter(
    ({ meta, poolRef, poolRefs }) =>
      meta.namespace === namespace &&
      (own(poolRef, 'name') === from || poolRefs?.entries.some(({ name }) => name === from) === true),
  )
}

/** With objectives that lead to the pool of the new name. */
export function withReferences(snapshot: Snapshot, question: RenameQuestion): Snapshot {
  const leading = new Set(objectivesLeading(snapshot, question))
  if (leading.size === 0) return snapshot
  const { from, to } = question
  const objectives = snapshot.objectives.read.map((one): Objective => {
    if (!leading.has(one)) return one
    const { poolRef, poolRefs } = one
    return {
      ...one,
      poolRef: isRecord(poolRef) && own(poolRef, 'name') === from ? { ...poolRef, name: to } : poolRef,
      poolRefs: poolRefs && {
        ...poolRefs,
        entries: poolRefs.entries.map((entry) => (entry.name === from ? { ...entry, name: to } : entry)),
      },
    }
  })
  return { ...snapshot, objectives: snapshot.objectives.with(objectives) }
}

/** With these bindings in the place of those; one whose key stays is edited. */
export function withBindings(
  snapshot: Snapshot,
  without: ReadonlySet<NamespacedName>,
  manifests: readonly JsonRecord[],
): Snapshot {
  const before = new Map(snapshot.bindings.read.map((one) => [one.key, one]))
  const added = manifests.map((value) => {
    const binding = readBinding({ value }, 'to be created')
    const edited = before.get(binding.key)
    return edited === undefined ? binding : { ...binding, meta: edited.meta, lifecycle: edited.lifecycle }
  })
  const replaced = new Set([...without, ...added.map(({ key }) => key)])
  return {
    ...snapshot,
    bindings: snapshot.bindings.with(
      sortByMeta([...snapshot.bindings.read.filter(({ key }) => !replaced.has(key)), ...added]),
    ),
  }
}

/** With registrations that are written by hand. */
export function withRegistrations(snapshot: Snapshot, manifests: readonly JsonRecord[]): Snapshot {
  if (manifests.length === 0) return snapshot
  const added = manifests.map((value) => readClusterSpiffeId({ value }, 'to be created'))
  const { clusterSpiffeIds } = snapshot
  return {
    ...snapshot,
    clusterSpiffeIds: clusterSpiffeIds.with(sortByMeta([...clusterSpiffeIds.read, ...added])),
  }
}

/** Without registrations of these names. */
export function withoutRegistrations(snapshot: Snapshot, names: ReadonlySet<string>): Snapshot {
  if (names.size === 0) return snapshot
  const { clusterSpiffeIds } = snapshot
  const kept = clusterSpiffeIds.read.filter(({ meta }) => !names.has(meta.name))
  return { ...snapshot, clusterSpiffeIds: clusterSpiffeIds.with(kept) }
}

/** The key of an object of the question's namespace. */
export function keyIn({ namespace }: RenameQuestion, name: string): NamespacedName {
  return namespacedName(namespace, name)
}
