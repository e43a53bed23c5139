// Resolves the names in a binding to a pool and an objective (docs/contract.md §4). Only a lookup that says `absent` makes an
// object missing; a lookup that fails makes it unknown.
import { isRecord, own, typeName } from '../../base/json.ts'
import type { UnknownReason } from '../../model/unknown-reason.ts'
import {
  OBJECTIVE_KINDS,
  POOL_KINDS,
  apiVersionOf,
  qualifiedKind,
  type Kind,
  type PoolGroup,
  POOL_KIND,
} from '../../model/kinds.ts'
import { MESSAGE_BYTES } from '../../model/names.ts'
import type { ObjectiveRef, PoolRef } from '../../model/objects/binding-schema.ts'
import type { DeclaredObjective, DeclaredPool } from '../../model/objects/inference.ts'
import type { Lookup, References } from '../../model/objects/lookup.ts'
import { sameSelection, type PoolSelector } from '../../model/objects/pool-selector.ts'

/** The pool of a binding, with its decoded selector. */
export interface ResolvedPool {
  readonly state: 'found'
  readonly pool: DeclaredPool
  readonly kind: Kind
  readonly selector: PoolSelector
  /** A pool of the same name in a less preferred group that selects other pods; only where the binding names the group. */
  readonly shadowed: DeclaredPool | undefined
  /** The pool of the same name in the other group, where it selects the same pods. */
  readonly twin: Lookup<DeclaredPool>
}

/** What the pool reference of a binding resolves to; `tried` are the kinds that were looked up. */
export type PoolResolution =
  | ResolvedPool
  | { readonly state: 'absent' | 'kinds absent'; readonly tried: readonly Kind[] }
  | { readonly state: 'ambiguous'; readonly pools: readonly DeclaredPool[] }
  | { readonly state: 'unknown'; readonly why: UnknownReason }

/**
 * Finds the pool that a binding names. The SPIFFE ID does not tell the groups apart, so a pool of that name in a more preferred
 * group counts too, whatever group the binding names (docs/contract.md §4.1).
 */
export function resolvePool(references: References, namespace: string, ref: PoolRef): PoolResolution {
  const lookups = POOL_KINDS.map((kind) => ({
    kind,
    lookup: references.pool(kind.group, namespace, ref.name),
  }))
  const wanted = lookups.filter(({ kind }) => ref.group === undefined || kind.group === ref.group)
  for (const { lookup } of wanted) if (lookup.state === 'unknown') return lookup
  const found = wanted.find(({ lookup }) => lookup.state === 'found')
  if (found?.lookup.state !== 'found') {
    const served = wanted.some(({ lookup }) => lookup.state === 'absent')
    return { state: served ? 'absent' : 'kinds absent', tried: wanted.map(({ kind }) => kind) }
  }
  const { kind } = found
  const pool = found.lookup.object
  const { selector } = pool
  const resolved = { state: 'found', pool, kind, selector, shadowed: undefined } as const
  const at = lookups.indexOf(found)
  const other = lookups.find((lookup) => lookup !== found)
  if (other === undefined) return { ...resolved, twin: { state: 'absent' } }
  const { lookup } = other
  const isPreferred = lookups.indexOf(other) < at
  if (lookup.state === 'unknown' && isPreferred) return lookup
  if (lookup.state !== 'found' || sameSelection(selector, lookup.object.selector)) {
    return { ...resolved, twin: lookup }
  }
  if (isPreferred) return { state: 'ambiguous', pools: [lookup.object, pool] }
  if (ref.group === undefined) return { state: 'ambiguous', pools: [pool, lookup.object] }
  return { ...resolved, shadowed: lookup.object, twin: { state: 'absent' } }
}

/** What the objective reference of a binding resolves to; `tried` are the kinds that were looked up. */
export type ObjectiveResolution =
  | {
      readonly state: 'found'
      readonly objective: DeclaredObjective
      readonly kind: Kind
      /** What more preferred kinds say of the name, where the binding names the group: the SPIFFE ID holds no group. */
      readonly preferred: readonly { readonly kind: Kind; readonly lookup: Lookup<DeclaredObjective> }[]
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
    if (lookup.state === 'found') {
      const before = ref.group === undefined ? [] : OBJECTIVE_KINDS.slice(0, OBJECTIVE_KINDS.indexOf(kind))
      const preferred = before.map((one) => ({
        kind: one,
        lookup: references.objective(one.group, namespace, ref.name),
      }))
      return { state: 'found', objective: lookup.object, kind, preferred }
    }
    isServed ||= lookup.state === 'absent'
  }
  return { state: isServed ? 'absent' : 'kinds absent', tried }
}

/** Whether an objective leads to a pool; `why` is a sentence about its field. */
export type ObjectivePool =
  | { readonly state: 'leads there' }
  | { readonly state: 'leads elsewhere'; readonly why: string }
  /** What may lead there cannot be read: an entry of the objective, unless `why` says otherwise. */
  | { readonly state: 'unknown'; readonly why?: UnknownReason }

/**
 * Whether an objective leads to the binding's pool (docs/contract.md §4.2): by its `poolRef`; where it has none, by one entry of
 * `poolRefs`, which is proposed for llm-d.ai and may yet come otherwise.
 */
export function objectivePool(objective: DeclaredObjective, pool: DeclaredPool): ObjectivePool {
  const { poolRef, poolRefs, poolGroupFilledIn } = objective
  if (poolRefs === undefined || (poolRef !== undefined && poolRef !== null)) {
    const why = isRecord(poolRef)
      ? elsewhere('.spec.poolRef', poolRef, pool, poolGroupFilledIn)
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

/**
 * The same for an objective of a more preferred group than the one that the binding names, which has its name: it may lead to a pool
 * of the other group that selects the same pods.
 */
export function preferredObjectivePool(objective: DeclaredObjective, pool: ResolvedPool): ObjectivePool {
  const leads = objectivePool(objective, pool.pool)
  if (leads.state !== 'leads elsewhere' || pool.twin.state === 'absent' || pool.twin.state === 'kind absent')
    return leads
  return pool.twin.state === 'unknown' ? pool.twin : objectivePool(objective, pool.twin.object)
}

/** Why a reference leads to another pool, as a sentence about its field; undefined where it leads to this one. */
function elsewhere(
  field: string,
  ref: unknown,
  pool: DeclaredPool,
  groupFilledIn?: PoolGroup,
): string | undefined {
  const name = own(ref, 'name')
  if (name !== pool.meta.name)
    return `${field}.name is ${valueText(name)}, not ${JSON.stringify(pool.meta.name)}`
  const namespace = own(ref, 'namespace') ?? ''
  if (namespace !== '' && namespace !== pool.meta.namespace)
    return `${field}.namespace is ${valueText(namespace)}, not ${JSON.stringify(pool.meta.namespace)}`
  const kind = own(ref, 'kind') ?? ''
  if (kind !== '' && kind !== POOL_KIND)
    return `${field}.kind is ${valueText(kind)}, not ${JSON.stringify(POOL_KIND)}`
  const given = own(ref, 'group') ?? undefined
  if (given === undefined && groupFilledIn !== undefined && groupFilledIn !== pool.group)
    return `${field}.group is not given and so becomes ${valueText(groupFilledIn)}, not ${JSON.stringify(pool.group)}`
  const group = given ?? ''
  if (group !== '' && group !== pool.group)
    return `${field}.group is ${valueText(group)}, not ${JSON.stringify(pool.group)}`
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

function valueText(value: unknown): string {
  if (typeof value === 'string' && value.length > MESSAGE_BYTES) {
    return `${JSON.stringify(value.slice(0, MESSAGE_BYTES))}…`
  }
  return typeof value === 'string' ? JSON.stringify(value) : value === undefined ? 'missing' : typeName(value)
}
