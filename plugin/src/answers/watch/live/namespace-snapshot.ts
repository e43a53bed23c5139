// The part of the cluster that decides about the bindings of one namespace, as a snapshot: everything that a binding
// refers to or collides with is in its own namespace (docs/contract.md §4 and §6), so a change costs the work of one namespace.
import { type Snapshot, Rest, listingsOf } from '@kleym/shared/core/snapshot/index.ts'
import type { UnknownReason } from '@kleym/shared/core/model/unknown-reason.ts'
import type { ClusterSpiffeId } from '@kleym/shared/core/model/objects/clusterspiffeid.ts'
import type { ObjectMeta } from '@kleym/shared/core/model/objects/meta.ts'
import { OBJECTIVE_KINDS } from '@kleym/shared/core/model/kinds.ts'
import { namespaceNamed, type Namespace, type Pod } from '@kleym/shared/core/model/objects/pod.ts'
import type { ClusterStaticEntry } from '@kleym/shared/core/model/objects/static-entry.ts'
import { compareBytes } from '@kleym/shared/core/base/text/bytes.ts'
import { resourceName } from '@kleym/shared/kube/resources.ts'
import { unknownReasonOf } from './feed.ts'
import {
  EVERYWHERE,
  feedsOf,
  namespacesOfOutput,
  type AnyFeed,
  type Feeds,
  type SeenOutput,
} from './kinds.ts'
import { NO_AGENTS } from '@kleym/shared/core/model/objects/agent-nodes.ts'
import { NO_PARTS } from '@kleym/shared/core/model/objects/spire-makeup.ts'
import type { KindState } from './knowledge.ts'

/** What only the derivation of one binding needs, and the table does not. */
export interface DetailContext {
  readonly pods: readonly Pod[]
  readonly staticEntries: readonly ClusterStaticEntry[]
  /** The namespace with its labels, where it could be read. */
  readonly namespace: Namespace | undefined
  /** Whether pods and static entries are up to date, and what else is not known. */
  readonly states: readonly KindState[]
}

const TABLE_CONTEXT: DetailContext = { pods: [], staticEntries: [], namespace: undefined, states: [] }

/** For the table: no pods, and of the ClusterSPIFFEIDs those that can change a verdict in the namespace. */
export function tableSnapshot(feeds: Feeds, namespace: string): Snapshot {
  const outputs = new Set([
    ...feeds.byNamespace.outputs.get(namespace),
    ...feeds.byNamespace.outputs.get(EVERYWHERE),
  ])
  return snapshotOf(feeds, namespace, [...outputs], TABLE_CONTEXT)
}

/** For the derivation: with the pods, and with other people's ClusterSPIFFEIDs, which may select them too. */
export function detailSnapshot(feeds: Feeds, namespace: string, context: DetailContext): Snapshot {
  const outputs = [...feeds.outputs.store.values()].filter((output) => concerns(output, namespace))
  return snapshotOf(feeds, namespace, outputs, context)
}

/** Kleym's outputs for other namespaces select no pod of this one. */
function concerns(output: SeenOutput, namespace: string): boolean {
  const namespaces = namespacesOfOutput(output)
  return namespaces.length === 0 || namespaces.includes(namespace) || namespaces.includes(EVERYWHERE)
}

function snapshotOf(
  feeds: Feeds,
  namespace: string,
  outputs: readonly ClusterSpiffeId[],
  { pods, staticEntries, namespace: described, states }: DetailContext,
): Snapshot {
  const { byNamespace } = feeds
  const objectives = sorted(
    byNamespace.objectives.flatMap((index, at) => here(feeds.objectives[at], index.get(namespace))),
  )
  const known = {
    ...knowledgeOf([...feedsOf(feeds), ...states]),
    namespacesRead: new Set([namespace]),
    podMakers: [],
  }
  return {
    manifestFaults: [],
    over: [],
    mayMountWorkloadApi: false,
    configuredRights: [],
    spireSetup: new Map(),
    spireMakeup: NO_PARTS,
    agentNodes: NO_AGENTS,
    poolImports: undefined,
    ...listingsOf(
      {
        bindings: sorted(byNamespace.bindings.get(namespace)),
        pools: sorted(byNamespace.pools.flatMap((index, at) => here(feeds.pools[at], index.get(namespace)))),
        objectives,
        clusterSpiffeIds: feeds.outputs.state.kind === 'absent' ? [] : sorted(outputs),
        staticEntries: sorted(staticEntries),
        // Nothing that watch shows depends on access policies.
        accessPolicies: [],
        mentioning: [],
        federatedTrustDomains: [],
        namespaces: [described ?? namespaceNamed(namespace, new Map(), false)],
        pods,
        templates: [],
      },
      known,
    ),
    objectiveGroups: new Set(
      OBJECTIVE_KINDS.filter((_, at) => isRead(feeds.objectives[at])).map(({ group }) => group),
    ),
    accessPoliciesKnown: { state: 'not given' },
    nodes: undefined,
    arePodsListed: true,
    endpoints: undefined,
    ...known,
  }
}

/** Whether the objects of a kind have been listed, so that the API server serves it. */
function isRead(feed: AnyFeed | undefined): boolean {
  return feed?.state.kind === 'current' || feed?.state.kind === 'old'
}

/** The objects of a kind; none where the API server no longer serves it. */
function here<T>(feed: AnyFeed | undefined, objects: ReadonlySet<T>): readonly T[] {
  return feed?.state.kind === 'absent' ? [] : [...objects]
}

function sorted<T extends { readonly meta: ObjectMeta }>(objects: Iterable<T>): readonly T[] {
  return [...objects].toSorted(
    (a, b) => compareBytes(a.meta.namespace, b.meta.namespace) || compareBytes(a.meta.name, b.meta.name),
  )
}

/** The gaps and the absent kinds, keyed as a snapshot keys them. */
function knowledgeOf(states: readonly KindState[]): Pick<Snapshot, 'rest' | 'absentKinds'> {
  const gaps = new Map<string, UnknownReason>()
  const absentKinds = new Set<string>()
  for (const one of states) {
    const kind = resourceName(one.resource)
    const why = unknownReasonOf(one)
    if (why !== undefined) gaps.set(kind, why)
    if (one.state.kind === 'absent') absentKinds.add(kind)
  }
  return { rest: new Rest(gaps), absentKinds }
}
