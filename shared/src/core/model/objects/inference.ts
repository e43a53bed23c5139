// InferencePool and InferenceObjective of every group, read without trust: kinds of the x-k8s group may have no spec at
// all, and files may hold anything (docs/gaie-facts.md §A2, traps 4 to 9).
import { dig, isRecord, own } from '../../base/json.ts'
import type { ObjectiveGroup, PoolGroup } from '../kinds.ts'
import { MESSAGE_BYTES } from '../names.ts'
import { copyOfStart } from '../../base/text/bytes.ts'
import { readMeta, type DecisiveMeta, type ObjectMeta } from './meta.ts'
import { decodePoolSelector, type PoolSelector } from './pool-selector.ts'
import type { RawObject } from './raw.ts'

/** What is read of an InferencePool of any group to decide a binding. */
export interface DeclaredPool {
  readonly group: PoolGroup
  readonly meta: DecisiveMeta
  /** `.spec.selector`, decoded by the group. */
  readonly selector: PoolSelector
}

/** An InferencePool of any group, from a cluster or a file. */
export interface Pool extends DeclaredPool {
  readonly meta: ObjectMeta
}

/** What is read of an InferenceObjective of any group to decide a binding. */
export interface DeclaredObjective {
  readonly group: ObjectiveGroup
  readonly meta: DecisiveMeta
  /** `.spec.poolRef`, its four fields bounded; anything but a mapping as found, or without what is in it. */
  readonly poolRef: unknown
  /** What the API server will fill in for a `.spec.poolRef.group` that is absent or null; absent: it has read the object, and left it so. */
  readonly poolGroupFilledIn?: PoolGroup
  /** `.spec.poolRefs`; undefined where it is absent or null. It counts only where `poolRef` is. */
  readonly poolRefs: PoolRefs | undefined
}

/** A list of pool references, as far as it can be read. */
export interface PoolRefs {
  /** The entries that can be read, each with its four fields bounded. */
  readonly entries: readonly PoolRefEntry[]
  /** Whether something of it cannot be read: it is no list, an entry is malformed, or there are more than are kept. */
  readonly hasUnread: boolean
}

/** One entry of `.spec.poolRefs`; a field that is absent or null is undefined. */
export interface PoolRefEntry {
  readonly name: string
  readonly namespace: string | undefined
  readonly kind: string | undefined
  readonly group: string | undefined
}

/** An InferenceObjective of any group, from a cluster or a file. */
export interface Objective extends DeclaredObjective {
  readonly meta: ObjectMeta
}

/** Reads an InferencePool of the given group; never throws. */
export function readPool(raw: RawObject, group: PoolGroup): Pool {
  return {
    group,
    meta: readMeta(raw.value),
    selector: decodePoolSelector(group, dig(raw.value, 'spec', 'selector')),
  }
}

/** Reads an InferenceObjective of the given group; never throws. */
export function readObjective(raw: RawObject, group: ObjectiveGroup): Objective {
  return {
    group,
    meta: readMeta(raw.value),
    poolRef: readPoolRef(dig(raw.value, 'spec', 'poolRef')),
    ...(raw.isManifest === true && { poolGroupFilledIn: POOL_GROUP_DEFAULT }),
    poolRefs: readPoolRefs(dig(raw.value, 'spec', 'poolRefs')),
  }
}

/** The default of the field in the CRDs of objectives (docs/gaie-facts.md §A2). */
const POOL_GROUP_DEFAULT: PoolGroup = 'inference.networking.k8s.io'
const POOL_REF_FIELDS = ['name', 'namespace', 'kind', 'group'] as const

/** An objective may have 1.5 MB: no more is kept of it than is compared, and than a message shows. */
function readPoolRef(value: unknown): unknown {
  if (!isRecord(value)) return bounded(value)
  const fields = POOL_REF_FIELDS.filter((field) => Object.hasOwn(value, field))
  return Object.fromEntries(fields.map((field) => [field, bounded(value[field])]))
}

/** More pools than a cluster has: what is kept of an objective is bounded. */
const POOL_REFS_KEPT = 256

function readPoolRefs(value: unknown): PoolRefs | undefined {
  if (value === undefined || value === null) return undefined
  if (!Array.isArray(value)) return { entries: [], hasUnread: true }
  const read = value.slice(0, POOL_REFS_KEPT).map(readEntry)
  return {
    entries: read.filter((entry) => entry !== undefined),
    hasUnread: value.length > POOL_REFS_KEPT || read.includes(undefined),
  }
}

/** Undefined for an entry that is malformed. */
function readEntry(value: unknown): PoolRefEntry | undefined {
  const [name, ...others] = POOL_REF_FIELDS.map((field) => own(value, field) ?? undefined)
  if (typeof name !== 'string' || name === '') return undefined
  const [namespace, kind, group] = others.map((field) => (typeof field === 'string' ? cut(field) : field))
  return isTextOrAbsent(namespace) && isTextOrAbsent(kind) && isTextOrAbsent(group)
    ? { name: cut(name), namespace, kind, group }
    : undefined
}

function isTextOrAbsent(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string'
}

function cut(text: string): string {
  return copyOfStart(text, MESSAGE_BYTES + 1)
}

function bounded(value: unknown): unknown {
  if (typeof value === 'string') return cut(value)
  if (Array.isArray(value)) return []
  return isRecord(value) ? {} : value
}
