// What the operator knows of the cluster: a cache for each kind that it reads, and how far each may be believed. Who
// fills the caches (reflectors, a simulation) is not this file's business.
import { OBJECTIVE_KINDS, POOL_KINDS, type ObjectiveGroup, type PoolGroup } from '@kleym/shared/core/kinds.ts'
import type { UnknownReason } from '@kleym/shared/core/unknown-reason.ts'
import type { Binding } from '@kleym/shared/core/objects/binding.ts'
import type { ClusterSpiffeId } from '@kleym/shared/core/objects/clusterspiffeid.ts'
import type { Objective, Pool } from '@kleym/shared/core/objects/inference.ts'
import type { Resource } from '@kleym/shared/kube/api.ts'
import { BINDINGS, CLUSTER_SPIFFE_IDS, OBJECTIVES, POOLS } from '@kleym/shared/kube/resources.ts'
import { Store, type Cached, type StoreOptions } from '@kleym/shared/kube/store.ts'

/** How far a cache may be believed. */
export type Standing =
  /** Its first list is not in, and has not failed: decisions that read it wait, silently. */
  | { readonly kind: 'waiting' }
  | { readonly kind: 'synced' }
  /** The API server says that it does not serve the kind. */
  | { readonly kind: 'absent' }
  /** It could not be filled, or may no longer be. */
  | { readonly kind: 'unknown'; readonly why: UnknownReason }

/** A cache of whatever kind, to those who do not look at its objects. */
export interface AnyCache {
  readonly resource: Resource
  readonly standing: Standing
  stand(standing: Standing): void
  onStanding(listener: () => void): void
}

/** A cache of one kind and its standing. */
export class KindCache<T extends Cached> implements AnyCache {
  readonly resource: Resource
  readonly store: Store<T>
  #standing: Standing = { kind: 'waiting' }
  readonly #listeners = new Set<() => void>()

  constructor(resource: Resource, options: StoreOptions) {
    this.resource = resource
    this.store = new Store<T>(options)
  }

  get standing(): Standing {
    return this.#standing
  }

  /** Tells the listeners when it is another one. */
  stand(standing: Standing): void {
    if (sameStanding(this.#standing, standing)) return
    this.#standing = standing
    for (const listener of this.#listeners) listener()
  }

  onStanding(listener: () => void): void {
    this.#listeners.add(listener)
  }
}

/** The caches that decisions read. */
export interface World {
  readonly bindings: KindCache<Binding>
  /** All ClusterSPIFFEIDs; those without our annotation as name and UID only. */
  readonly outputs: KindCache<ClusterSpiffeId>
  readonly pools: ReadonlyMap<PoolGroup, KindCache<Pool>>
  readonly objectives: ReadonlyMap<ObjectiveGroup, KindCache<Objective>>
}

/** Empty caches. */
export function createWorld(options: StoreOptions): World {
  return {
    bindings: new KindCache(BINDINGS, options),
    outputs: new KindCache(CLUSTER_SPIFFE_IDS, options),
    pools: new Map(POOL_KINDS.map((kind, at) => [kind.group, cacheOf<Pool>(POOLS[at], options)])),
    objectives: new Map(
      OBJECTIVE_KINDS.map((kind, at) => [kind.group, cacheOf<Objective>(OBJECTIVES[at], options)]),
    ),
  }
}

/** All caches of a world. */
export function cachesOf(world: World): readonly AnyCache[] {
  return [world.bindings, world.outputs, ...world.pools.values(), ...world.objectives.values()]
}

function sameStanding(left: Standing, right: Standing): boolean {
  if (left.kind !== 'unknown' || right.kind !== 'unknown') return left.kind === right.kind
  return left.why.verb === right.why.verb && left.why.cause === right.why.cause
}

function cacheOf<T extends Cached>(resource: Resource | undefined, options: StoreOptions): KindCache<T> {
  if (resource === undefined) throw new TypeError('every kind that the core knows has a resource')
  return new KindCache<T>(resource, options)
}
