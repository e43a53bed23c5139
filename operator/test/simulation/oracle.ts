// What the pure core says of the objects that an API server holds: whose an output is, and what everything comes to.
import { planOnce } from '@kleym/testing/at-once.ts'
import type { Config } from '@kleym/shared/core/decide/settings/config.ts'
import { type JsonRecord, deepEqual } from '@kleym/shared/core/base/json.ts'
import { namespaceWritten } from '@kleym/shared/core/model/namespaced-name.ts'
import { ANNOTATION_BINDING, FINALIZER } from '@kleym/shared/core/model/names.ts'
import { isAsProven } from '@kleym/shared/core/decide/plan/altered-fields.ts'
import { driftOf } from '@kleym/shared/core/decide/plan/drift.ts'
import type { Ownership } from '@kleym/shared/core/decide/plan/ownership.ts'
import type { Action, LiveOutput } from '@kleym/shared/core/decide/plan/plan.ts'
import { nextStatus } from '@kleym/shared/core/decide/plan/status.ts'
import { readClusterSpiffeId } from '@kleym/shared/core/model/objects/clusterspiffeid.ts'
import {
  BINDINGS,
  CLUSTER_SPIFFE_IDS,
  OBJECTIVES,
  POOLS,
  resourceName,
} from '@kleym/shared/kube/resources.ts'
import { CONFIG, ownershipIn, settledCluster, type SettledCluster } from '@kleym/testing/manifests.ts'
import type { Backup, SimulatedCluster } from './cluster.ts'

const KINDS = [BINDINGS, CLUSTER_SPIFFE_IDS, ...POOLS, ...OBJECTIVES]

/** What a server holds, now or at another moment. */
export type ClusterState = Pick<SimulatedCluster, 'all' | 'serves'>

/** A moment of the datastore as the core reads it. */
export function stateOf({ kinds, absent }: Backup): ClusterState {
  return {
    all: (resource) => [...(kinds.get(resourceName(resource))?.values() ?? [])],
    serves: (resource) => !absent.has(resourceName(resource)),
  }
}

/** Whether an output is a binding's own, and live as it is proven now: the core would leave it, or write the rest of it anew. */
export function isRightful(state: ClusterState, name: string, config: Config = CONFIG): boolean {
  const { compiled, live } = worldOf(state, config)
  const output = live.find(({ object }) => object.meta.name === name)
  if (output?.ownership.kind !== 'ours') return false
  const { actions } = planOnce(compiled, live, 'known')
  return !actions.some(
    (action) =>
      action.kind !== 'create' &&
      action.live === output &&
      (action.kind === 'delete' || !isAsProven(output.object, action.output)),
  )
}

/** Everything that the server holds, worked out by the core for an operator with these settings. */
export function worldOf(server: ClusterState, config: Config = CONFIG): SettledCluster {
  return settledCluster(
    KINDS.flatMap((resource) => server.all(resource)),
    {
      config,
      absentKinds: KINDS.filter((resource) => !server.serves(resource)).map(resourceName),
    },
  )
}

/** Whose the contract says that an output is, by what the server holds now. */
export function ownershipOf(server: ClusterState, output: JsonRecord): Ownership['kind'] {
  const { snapshot, compiled } = worldOf(server)
  return ownershipIn(snapshot, compiled)(readClusterSpiffeId({ value: output }, 'live')).kind
}

/** The names of the foreign outputs for which bindings wait: kleym deletes none of them, people do. */
export function inTheWay(server: SimulatedCluster, config: Config): readonly string[] {
  const { compiled, live } = worldOf(server, config)
  const foreign = new Set(
    live.filter(({ ownership }) => ownership.kind === 'foreign').map(({ object }) => object.meta.name),
  )
  const awaited = [...planOnce(compiled, live, 'known').judgements.values()].flatMap((judgement) =>
    judgement.state === 'waiting' ? judgement.peers.map(({ claim }) => claim.output ?? '') : [],
  )
  return [...new Set(awaited)].filter((name) => foreign.has(name))
}

/** What an operator is set to. */
interface OracleSettings {
  readonly config: Config
  readonly bindingsPerNamespace: number | undefined
}

/** How the cluster differs from what it must come to once nothing happens any more; empty where it does not. */
export function differences(server: SimulatedCluster, settings: OracleSettings): readonly string[] {
  const { config, bindingsPerNamespace: full = Number.POSITIVE_INFINITY } = settings
  const now = worldOf(server, config)
  const { judgements, actions } = planOnce(now.compiled, now.live, 'known')
  const held = heldBack(now, actions, full)
  const judged = new Map(judgements)
  for (const { binding, output } of held) {
    const compiled = judgements.get(binding)?.compiled
    const why = { verb: 'create', what: output.metadata.name, cause: 'refused' } as const
    if (compiled) judged.set(binding, { state: 'undetermined', compiled, check: 'output', why, full })
  }
  const isHeld = (action: Action): boolean => held.some(({ binding }) => binding === action.binding)
  return [
    ...actions
      .filter((action) => !isHeld(action))
      .map(({ kind, binding }) => `the core would still ${kind} an output for ${binding}`),
    ...now.snapshot.bindings.read.flatMap((binding) => statusDifference(now, config, binding.key, judged)),
    ...outputDifferences(now, new Set(held.map(({ output }) => output.metadata.name))),
  ]
}

/** What would be made in namespaces that have as many outputs as they may have. */
function heldBack({ live }: SettledCluster, actions: readonly Action[], most: number) {
  const keys = live.flatMap(({ object }) => object.meta.annotations.get(ANNOTATION_BINDING) ?? [])
  const isFull = (namespace: string): boolean =>
    new Set(keys.filter((key) => namespaceWritten(key) === namespace)).size >= most
  return actions
    .filter((action) => action.kind === 'create')
    .filter(({ binding }) => isFull(namespaceWritten(binding)))
}

function statusDifference(
  { snapshot, live }: SettledCluster,
  config: Config,
  key: string,
  judgements: ReturnType<typeof planOnce>['judgements'],
): readonly string[] {
  const binding = [...snapshot.bindings.read].find((one) => one.key === key)
  const judgement = judgements.get(key)
  if (binding === undefined || judgement === undefined) return [`${key} has no judgement`]
  if (binding.meta.deletedAt !== undefined) return [`${key} is deleted, and still there`]
  const isFull = judgement.state === 'undetermined' && judgement.full !== undefined
  if (!isFull && (judgement.state === 'waiting' || judgement.state === 'undetermined')) {
    return [`${key} is ${judgement.state} for good`]
  }
  const own = live.find(({ ownership }) => ownership.kind === 'ours' && ownership.binding === key)?.object
    .meta
  if (own !== undefined && !binding.meta.finalizers.includes(FINALIZER)) return [`${key} lacks its finalizer`]
  const wanted = nextStatus(binding.status, judgement, {
    config,
    generation: binding.meta.generation ?? 0,
    now: 'a time that no condition holds',
    inForce: own === undefined ? undefined : { name: own.name, uid: own.uid ?? '' },
    // No SCM writes counters here: any word may stand for an output that is there.
    inForceReason: own === undefined ? 'NoOutput' : undefined,
  })
  if (deepEqual(wanted, binding.status)) return []
  return [`${key} says ${JSON.stringify(binding.status)}, not ${JSON.stringify(wanted)}`]
}

/** The outputs that there are, against those that the same bindings would get on an empty cluster. */
function outputDifferences(now: SettledCluster, held: ReadonlySet<string>): readonly string[] {
  const foreign = now.live.filter(({ ownership }) => ownership.kind === 'foreign')
  const fresh = planOnce(now.compiled, foreign, 'known')
  const wanted = new Map(
    fresh.actions.flatMap((action) =>
      action.kind === 'create' ? [[action.output.metadata.name, action.output] as const] : [],
    ),
  )
  const there = now.live.filter(({ ownership }) => ownership.kind !== 'foreign')
  return [
    ...there.flatMap((output) => {
      const { name } = output.object.meta
      const expected = wanted.get(name)
      if (expected === undefined) return [`${name} is too many (${output.ownership.kind})`]
      return driftOf(output.object, expected).map((path) => `${name} differs in ${path}`)
    }),
    ...[...wanted.keys()]
      .filter((name) => !held.has(name) && !isThere(there, name))
      .map((name) => `${name} is missing`),
  ]
}

function isThere(outputs: readonly LiveOutput[], name: string): boolean {
  return outputs.some(({ object }) => object.meta.name === name)
}
