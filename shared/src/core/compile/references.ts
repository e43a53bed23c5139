// Resolves the names in a binding to a pool and an objective (docs/contract.md §4). Only a lookup that says `absent` makes an
// object missing; a lookup that fails makes it unknown.
import { isRecord, own, typeName } from '../json.ts'
import type { UnknownReason } from '../unknown-reason.ts'
import {
  OBJECTIVE_KINDS,
  POOL_KINDS,
  apiVersionOf,
  qualifiedKind,
  type Kind,
  type ObjectiveGroup,
  type PoolGroup,
  POOL_KIND,
} from '../kinds.ts'
import { MESSAGE_BYTES } from '../names.ts'
import type { ObjectiveRef, PoolRef } from '../objects/binding-schema.ts'
import type { DeclaredObjective, DeclaredPool } from '../objects/inference.ts'
import { sameSelection, type PoolSelector } from '../objects/pool-selector.ts'

/** The answer of a cache, a cluster or a folder about one object. */
export type Lookup<T> =
  | { readonly state: 'found'; readonly object: T }
  | { readonly state: 'absent' }
  | { readonly state: 'kind absent' }
  | { readonly state: 'unknown'; readonly why: UnknownReason }

/** Where references are looked up. */
export interface References {
  pool(group: PoolGroup, namespace: string, name: string): Lookup<DeclaredPool>
  objective(group: ObjectiveGroup, namespace: string, name: string): Lookup<DeclaredObjective>
}

/** The pool of a binding, with its decoded selector. */
export interface ResolvedPool {
  readonly state: 'found'
  readonly pool: DeclaredPool
  readonly kind: Kind
  readonly selector: PoolSelector
  /** A pool of the same name in the other group that selects other pods; only where the binding names the group. */
  readonly shadowed: DeclaredPool | undefined
}

/** What the pool reference of a binding resolves to; `tried` are the kinds that were looked up. */
export type PoolResolution =
  | ResolvedPool
  | { readonly state: 'absent' | 'kinds absent'; readonly tried: readonly Kind[] }
  | { readonly state: 'ambiguous'; readonly pools: readonly DeclaredPool[] }
  | { readonly state: 'unknown'; readonly why: UnknownReason }

/** Finds the pool that a binding names. */
export function resolvePool(references: References, namespace: string, ref: PoolRef): PoolResolution {
  const lookups = POOL_KINDS.map((kind) => ({
    kind,
    lookup: references.pool(kind.group, namespace, ref.name),
  }))
  const wanted = lookups.filter(({ kind }) => ref.group === undefined || kind.group === ref.group)
  for (const { lookup } of wanted) if (lookup.state === 'unknown') return lookup
  const everywhere = lookups.flatMap(({ kind, lookup }) =>
    lookup.state === 'found' ? [resolved(kind, lookup.object)] : [],
  )
  const [first, second] = everywhere.filter(({ kind }) => ref.group === undefined || kind.group === ref.group)
  if (first === undefined) {
    const served = wanted.some(({ lookup }) => lookup.state === 'absent')
    return { state: served ? 'absent' : 'kinds absent', tried: wanted.map(({ kind }) => kind) }
  }
  if (second !== undefined && !sameSelection(first.selector, second.selector)) {
    return { state: 'ambiguous', pools: [first.pool, second.pool] }
  }
  const shadowed = everywhere.find(
    ({ pool, selector }) => pool.group !== first.pool.group && !sameSelection(first.selector, selector),
  )
  return shadowed === undefined ? first : { ...first, shadowed: shadowed.pool }
}

/** What the objective reference of a binding resolves to; `tried` are the kinds that were looked up. */
export type ObjectiveResolution =
  | {
      readonly state: 'found'
      readonly objective: DeclaredObjective
      readonly kind: Kind
    }
  | { readonly state: 'absent' | 'kinds absent'; readonly tried: readonly Kind[] }
  | { readonly state: 'unknown'; readonly why: UnknownReason }

/** Finds the objective that a binding names: the first served kind that holds the name decides. */
export function resolveObjective(
  references: References,
  namespace: string,
  ref: ObjectiveRef,
): ObjectiveResolution {
  const tried: Kind[] = []
  let isServed = false
  for (const kind of OBJECTIVE_KINDS) {
    if (ref.group !== undefined && ref.group !== kind.group) continue
    tried.push(kind)
    const lookup = references.objective(kind.group, namespace, ref.name)
    if (lookup.state === 'unknown') return lookup
    if (lookup.state === 'found') return { state: 'found', objective: lookup.object, kind }
    isServed ||= lookup.state === 'absent'
  }
  return { state: isServed ? 'absent' : 'kinds absent', tried }
}

/** Whether an objective leads to a pool; `why` is a sentence about its field. */
export type ObjectivePool =
  | { readonly state: 'leads there' }
  | { readonly state: 'leads elsewhere'; readonly why: string }
  /** What may lead there cannot be read. */
  | { readonly state: 'unknown' }

/**
 * Whether an objective leads to the binding's pool (docs/contract.md §4.2): by its `poolRef`; where it has none, by one entry of
 * `poolRefs`, which is proposed for llm-d.ai and may yet come otherwise.
 */
export function objectivePool(objective: DeclaredObjective, pool: DeclaredPool): ObjectivePool {
  const { poolRef, poolRefs } = objective
  if (poolRefs === undefined || (poolRef !== undefined && poolRef !== null)) {
    const why = isRecord(poolRef)
      ? elsewhere('.spec.poolRef', poolRef, pool)
      : `.spec.poolRef is ${poolRef === undefined ? 'missing' : typeName(poolRef)}`
    return why === undefined ? { state: 'leads there' } : { state: 'leads elsewhere', why }
  }
  const whys = poolRefs.entries.map((entry) => elsewhere('.spec.poolRefs', entry, pool))
  if (whys.includes(undefined)) return { state: 'leads there' }
  if (poolRefs.hasUnread) return { state: 'unknown' }
  const [only, another] = whys
  const none = `no entry of .spec.poolRefs targets pool ${JSON.stringify(pool.meta.name)}`
  return { state: 'leads elsewhere', why: another === undefined ? (only ?? '.spec.poolRefs is empty') : none }
}

/** Why a reference leads to another pool, as a sentence about its field; undefined where it leads to this one. */
function elsewhere(field: string, ref: unknown, pool: DeclaredPool): string | undefined {
  const name = own(ref, 'name')
  if (name !== pool.meta.name) return `${field}.name is ${shown(name)}, not ${JSON.stringify(pool.meta.name)}`
  const namespace = own(ref, 'namespace') ?? ''
  if (namespace !== '' && namespace !== pool.meta.namespace)
    return `${field}.namespace is ${shown(namespace)}, not ${JSON.stringify(pool.meta.namespace)}`
  const kind = own(ref, 'kind') ?? ''
  if (kind !== '' && kind !== POOL_KIND)
    return `${field}.kind is ${shown(kind)}, not ${JSON.stringify(POOL_KIND)}`
  const group = own(ref, 'group') ?? ''
  if (group !== '' && group !== pool.group)
    return `${field}.group is ${shown(group)}, not ${JSON.stringify(pool.group)}`
  return undefined
}

/** `InferencePool.inference.networking.k8s.io or InferencePool.inference.networking.x-k8s.io`. */
export function kindsText(kinds: readonly Kind[]): string {
  return kinds.map(qualifiedKind).join(' or ')
}

/** `InferencePool/llama (inference.networking.k8s.io/v1)`. */
export function objectText(kind: Kind, name: string): string {
  return `${kind.kind}/${name} (${apiVersionOf(kind)})`
}

function resolved(kind: (typeof POOL_KINDS)[number], pool: DeclaredPool): ResolvedPool {
  return {
    state: 'found',
    pool,
    kind,
    selector: pool.selector,
    shadowed: undefined,
  }
}

function shown(value: unknown): string {
  if (typeof value === 'string' && value.length > MESSAGE_BYTES) {
    return `${JSON.stringify(value.slice(0, MESSAGE_BYTES))}…`
  }
  return typeof value === 'string' ? JSON.stringify(value) : value === undefined ? 'missing' : typeName(value)
}
