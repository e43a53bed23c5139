// What the operator knows of the cluster: one cache for each kind that it reads. Who fills the caches (`kind-keeper.ts`, a
// simulation) is not this file's business.
import {
  OBJECTIVE_KINDS,
  POOL_KINDS,
  type ObjectiveGroup,
  type PoolGroup,
} from '@kleym/shared/core/model/kinds.ts'
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import type { Resource } from '@kleym/shared/kube/api.ts'
import { FollowedKind, type AnyFollowedKind } from '@kleym/shared/kube/followed-kind.ts'
import { BINDINGS, CLUSTER_SPIFFE_IDS, OBJECTIVES, POOLS } from '@kleym/shared/kube/resources.ts'
import type { Cached, StoreOptions } from '@kleym/shared/kube/store.ts'
import { cachedBinding, type CachedBinding } from './cached-binding.ts'
import { cachedOutput, type CachedOutput } from './cached-output.ts'
import { cachedObjective, cachedPool, type CachedObjective, type CachedPool } from './cached-reference.ts'

/** The caches that decisions read. */
export interface Caches {
  readonly bindings: FollowedKind<CachedBinding>
  /** All ClusterSPIFFEIDs. */
  readonly outputs: FollowedKind<CachedOutput>
  readonly pools: ReadonlyMap<PoolGroup, FollowedKind<CachedPool>>
  readonly objectives: ReadonlyMap<ObjectiveGroup, FollowedKind<CachedObjective>>
}

/** Empty caches; `onError` hears what a listener of one threw, which is a bug. */
export function createCaches({ onError }: StoreOptions): Caches {
  const cache = <T extends Cached>(
    resource: Resource | undefined,
    read: (value: JsonRecord) => T,
  ): FollowedKind<T> => {
    if (resource === undefined) throw new TypeError('every kind that the core knows has a resource')
    return new FollowedKind<T>({ resource, read, onError })
  }
  return {
    bindings: cache(BINDINGS, cachedBinding),
    outputs: cache(CLUSTER_SPIFFE_IDS, cachedOutput),
    pools: new Map(POOL_KINDS.map(({ group }, at) => [group, cache(POOLS[at], cachedPool(group))])),
    objectives: new Map(
      OBJECTIVE_KINDS.map(({ group }, at) => [group, cache(OBJECTIVES[at], cachedObjective(group))]),
    ),
  }
}

/** All caches, of whatever kind. */
export function allCaches({ bindings, outputs, pools, objectives }: Caches): readonly AnyFollowedKind[] {
  return [bindings, outputs, ...pools.values(), ...objectives.values()]
}
