// The kinds that a watch follows, each with how its objects are read: what the watch does not show (managed fields above
// all) is not kept.
import { namespaceWritten } from '@kleym/shared/core/model/namespaced-name.ts'
import { OBJECTIVE_KINDS, POOL_KINDS } from '@kleym/shared/core/model/kinds.ts'
import { dig, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import { ANNOTATION_BINDING } from '@kleym/shared/core/model/names.ts'
import { ANY, liveClaims } from '@kleym/shared/core/decide/index.ts'
import { readBinding, type Binding } from '@kleym/shared/core/model/objects/binding.ts'
import {
  readClusterSpiffeId,
  type ClusterSpiffeId,
} from '@kleym/shared/core/model/objects/clusterspiffeid.ts'
import {
  readObjective,
  readPool,
  type Objective,
  type Pool,
} from '@kleym/shared/core/model/objects/inference.ts'
import type { Resource } from '@kleym/shared/kube/api.ts'
import { BINDINGS, CLUSTER_SPIFFE_IDS, OBJECTIVES, POOLS } from '@kleym/shared/kube/resources.ts'
import type { Cached } from '@kleym/shared/kube/store.ts'
import type { StoreIndex } from '@kleym/shared/kube/store-index.ts'
import { Feed, type FeedIo } from './feed.ts'

/** A ClusterSPIFFEID with what SCM counts in its status. */
export interface SeenOutput extends ClusterSpiffeId {
  /** How many pods SCM selected when it last looked; undefined where it has not said. */
  readonly podsSelected: number | undefined
}

/** The feeds of all kinds, and their objects by namespace. */
export interface Feeds {
  readonly bindings: Feed<Binding>
  readonly pools: readonly Feed<Pool>[]
  readonly objectives: readonly Feed<Objective>[]
  readonly outputs: Feed<SeenOutput>
  readonly byNamespace: {
    readonly bindings: StoreIndex<Binding>
    readonly pools: readonly StoreIndex<Pool>[]
    readonly objectives: readonly StoreIndex<Objective>[]
    readonly outputs: StoreIndex<SeenOutput>
  }
}

/** Every feed, whatever its kind. */
export type AnyFeed = Feed<Binding> | Feed<Pool> | Feed<Objective> | Feed<SeenOutput>

/** Feeds of a namespace, or of all; none is started. */
export function createFeeds(
  io: FeedIo,
  scope: { readonly namespace: string | undefined; readonly onState: () => void },
): Feeds {
  const feed = <T extends Cached>(
    resource: Resource | undefined,
    read: (value: JsonRecord) => T,
  ): Feed<T> => {
    if (resource === undefined) throw new TypeError('every kind that the core knows has a resource')
    return new Feed<T>(io, { ...scope, resource, read })
  }
  const bindings = feed(BINDINGS, (value) => readBinding({ value }, 'live'))
  const pools = POOL_KINDS.map(({ group }, at) => feed(POOLS[at], (value) => readPool({ value }, group)))
  const objectives = OBJECTIVE_KINDS.map(({ group }, at) =>
    feed(OBJECTIVES[at], (value) => readObjective({ value }, group)),
  )
  const outputs = new Feed<SeenOutput>(io, {
    ...scope,
    namespace: undefined,
    resource: CLUSTER_SPIFFE_IDS,
    read: readOutput,
  })
  return {
    bindings,
    pools,
    objectives,
    outputs,
    byNamespace: {
      bindings: bindings.store.index(ownNamespace),
      pools: pools.map(({ store }) => store.index(ownNamespace)),
      objectives: objectives.map(({ store }) => store.index(ownNamespace)),
      outputs: outputs.store.index(namespacesOfOutput),
    },
  }
}

/** All feeds of a set. */
export function feedsOf({ bindings, pools, objectives, outputs }: Feeds): readonly AnyFeed[] {
  return [bindings, outputs, ...pools, ...objectives]
}

/** Under this key stand the ClusterSPIFFEIDs that concern every namespace. */
export const EVERYWHERE = ''

/**
 * The namespaces whose bindings may be judged otherwise because of a ClusterSPIFFEID: that of the binding which it names,
 * and those whose containers it claims. One that names no binding claims nothing, and can only stand in the way of a name.
 */
export function namespacesOfOutput(output: ClusterSpiffeId): readonly string[] {
  const binding = output.meta.annotations.get(ANNOTATION_BINDING)
  if (binding === undefined) return output.meta.name.startsWith(NAME_PREFIX) ? [EVERYWHERE] : []
  const claimed = liveClaims(output, '').map(({ namespace }) => (namespace === ANY ? EVERYWHERE : namespace))
  return [...new Set([namespaceWritten(binding), ...claimed])]
}

/** How the names of all of kleym's outputs begin: docs/contract.md §5. */
const NAME_PREFIX = 'kleym-'

function ownNamespace({ meta }: { readonly meta: { readonly namespace: string } }): readonly string[] {
  return [meta.namespace]
}

function readOutput(value: JsonRecord): SeenOutput {
  const podsSelected = dig(value, 'status', 'stats', 'podsSelected')
  return {
    ...readClusterSpiffeId({ value }, 'live'),
    podsSelected: typeof podsSelected === 'number' ? podsSelected : undefined,
  }
}
