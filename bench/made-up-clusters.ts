// Made-up clusters of any size: bindings alone in several shapes, and whole clusters with pods and ClusterSPIFFEIDs. The same
// arguments give the same cluster.
import { analyse } from '@kleym/shared/core/analysis/states/analysis.ts'
import type { Config } from '@kleym/shared/core/decide/settings/config.ts'
import type { RawObject } from '@kleym/shared/core/model/objects/raw.ts'
import { readScmSettings } from '@kleym/shared/core/model/objects/scm-config.ts'
import { readSnapshot } from '@kleym/shared/core/snapshot/snapshot.ts'
import {
  bindingObject,
  CLASS_NAME,
  defaultObject,
  foreignObject,
  namespaceObject,
  nodeObject,
  objectiveObject,
  podObject,
  poolObject,
  uidOf,
  USUAL_TEMPLATE,
} from './objects.ts'

/** The install configuration of every cluster. */
export const CONFIG: Config = { trustDomain: { kind: 'set', value: 'example.org' }, className: CLASS_NAME }

/** SCM as the hardened SPIRE charts set it up. */
export const SETTINGS = readScmSettings(
  { trustDomain: 'example.org', clusterName: 'bench', clusterDomain: 'cluster.local', className: CLASS_NAME },
  'the benchmark',
  { trustDomain: 'example.org', className: CLASS_NAME, clusterSpiffeIdClasses: [CLASS_NAME] },
).settings

/** Ten bindings in each namespace, for one pool and ten containers: nothing collides. */
export function onePoolPerNamespace(bindings: number): readonly RawObject[] {
  return Array.from({ length: Math.ceil(bindings / 10) }, (_, at) => {
    const namespace = numbered('team', at)
    return [
      poolObject(namespace, 'models', { app: 'vllm', model: 'models' }),
      ...range(10).flatMap((one) =>
        claim(namespace, numbered('objective', one), 'models', numbered('server', one)),
      ),
    ]
  }).flat()
}

/** All bindings claim one container of one pool: every binding collides with every other. */
export function oneCollisionGroup(bindings: number): readonly RawObject[] {
  return [
    poolObject('team', 'models', { app: 'vllm' }),
    ...range(bindings).flatMap((one) => claim('team', numbered('objective', one), 'models', 'vllm')),
  ]
}

/** Each binding has a pool of its own; ten share a namespace, and all name the same container. */
export function onePoolPerBinding(bindings: number): readonly RawObject[] {
  return range(bindings).flatMap((one) => {
    const namespace = numbered('team', Math.floor(one / 10))
    const pool = numbered('pool', one)
    return [
      poolObject(namespace, pool, { app: 'vllm', model: pool }),
      ...claim(namespace, pool, pool, 'vllm'),
    ]
  })
}

/** An objective and the binding for it. */
export function claim(
  namespace: string,
  objective: string,
  pool: string,
  container: string,
): readonly RawObject[] {
  return [
    objectiveObject(namespace, objective, pool),
    bindingObject({ namespace, name: objective, pool, objective, container }),
  ]
}

/** How big a cluster is. */
export interface ClusterSize {
  readonly pods: number
  /** Without the fallback default. */
  readonly clusterSpiffeIds: number
  /** How many of those are not kleym's, from 0 to 1; the others have a binding, a pool and an objective each. */
  readonly foreignShare: number
}

/** A cluster: its objects without kleym's outputs, and those. */
export interface MadeUpCluster {
  readonly objects: readonly RawObject[]
  readonly outputs: readonly RawObject[]
}

const POOLS_PER_NAMESPACE = 4
const BINDINGS_PER_POOL = 2
const BINDINGS_PER_NAMESPACE = POOLS_PER_NAMESPACE * BINDINGS_PER_POOL
const PODS_PER_NODE = 100

/**
 * A cluster in its final state: four pools in each namespace, two bindings for each pool (its model server and its LoRA side
 * container), pods of two or three containers spread evenly over the pools, foreign ClusterSPIFFEIDs, and the default.
 */
export function clusterOf({ pods, clusterSpiffeIds, foreignShare }: ClusterSize): MadeUpCluster {
  const foreign = Math.round(clusterSpiffeIds * foreignShare)
  const bindings = clusterSpiffeIds - foreign
  const namespaces = Math.ceil(bindings / BINDINGS_PER_NAMESPACE)
  const intent = range(bindings).flatMap(bindingOfCluster)
  const objects = [
    defaultObject(),
    ...range(namespaces).map((at) =>
      namespaceObject(numbered('team', at), { tier: numbered('tier', at % 7) }),
    ),
    ...range(Math.ceil(pods / PODS_PER_NODE)).map((at) => nodeObject(numbered('node', at))),
    ...intent,
    ...range(pods).map((at) => podOfCluster(at, namespaces)),
    ...range(foreign).map((at) => foreignOfCluster(at, namespaces)),
  ]
  return { objects, outputs: outputsFor(intent) }
}

/** What kleym writes for these objects, as an API server would hold it. */
export function outputsFor(objects: readonly RawObject[]): readonly RawObject[] {
  const analysis = analyse(readSnapshot({ objects }), CONFIG, SETTINGS)
  return analysis.changes.all.flatMap((change) => {
    if (change.kind === 'delete') return []
    const { output } = change
    const uid = uidOf('clusterspiffeid', output.metadata.name)
    return {
      value: { ...output, metadata: { ...output.metadata, uid, creationTimestamp: '2026-01-05T09:00:00Z' } },
    }
  })
}

function bindingOfCluster(at: number): readonly RawObject[] {
  const namespace = numbered('team', Math.floor(at / BINDINGS_PER_NAMESPACE))
  const pool = numbered('pool', Math.floor((at % BINDINGS_PER_NAMESPACE) / BINDINGS_PER_POOL))
  const first = at % BINDINGS_PER_POOL === 0
  const objective = `${pool}-${first ? 'chat' : 'adapters'}`
  return [
    ...(first ? [poolObject(namespace, pool, { app: 'vllm', pool })] : []),
    ...claim(namespace, objective, pool, first ? 'vllm' : 'lora-syncer'),
  ]
}

function podOfCluster(at: number, namespaces: number): RawObject {
  const place = Math.floor(at / namespaces)
  const pool = numbered('pool', place % POOLS_PER_NAMESPACE)
  return podObject({
    namespace: numbered('team', at % namespaces),
    name: `${pool}-6d9c7b5f4-${numbered('p', place)}`,
    labels: { app: 'vllm', pool, release: numbered('release', place % 3), zone: numbered('zone', at % 5) },
    node: numbered('node', Math.floor(at / PODS_PER_NODE)),
    containers: at % 2 === 0 ? ['vllm', 'lora-syncer'] : ['vllm', 'lora-syncer', 'proxy'],
  })
}

/** Four kinds of ClusterSPIFFEIDs that are not kleym's, in turn; none of them selects more than the pods of one namespace. */
function foreignOfCluster(at: number, namespaces: number): RawObject {
  const namespace = numbered('team', at % namespaces)
  const byName = { matchLabels: { 'kubernetes.io/metadata.name': namespace } }
  const inList = {
    matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: [namespace] }],
  }
  const pool = numbered('pool', at % POOLS_PER_NAMESPACE)
  const habits = [
    { spiffeIDTemplate: USUAL_TEMPLATE, namespaceSelector: byName, podSelector: { matchLabels: { pool } } },
    {
      spiffeIDTemplate: 'spiffe://{{ .TrustDomain }}/app/{{ index .PodMeta.Labels "pool" }}',
      namespaceSelector: inList,
      podSelector: { matchExpressions: [{ key: 'pool', operator: 'In', values: [pool] }] },
      workloadSelectorTemplates: ['k8s:container-name:proxy'],
    },
    {
      spiffeIDTemplate: `spiffe://{{ .TrustDomain }}/batch/${at}`,
      podSelector: { matchLabels: { batch: numbered('job', at) } },
    },
    {
      spiffeIDTemplate: 'spiffe://{{ .TrustDomain }}/node/{{ .PodSpec.NodeName }}/{{ .PodMeta.UID }}',
      namespaceSelector: byName,
      podSelector: { matchLabels: { release: numbered('release', at % 3) } },
      dnsNameTemplates: ['{{ .PodMeta.Name }}.{{ .PodMeta.Namespace }}.svc.{{ .ClusterDomain }}'],
    },
  ]
  return foreignObject(numbered('foreign', at), habits[at % habits.length] ?? {})
}

/** `pool-0003`: names that sort as their numbers do. */
export function numbered(word: string, at: number): string {
  return `${word}-${String(at).padStart(5, '0')}`
}

/** 0, 1, …, length - 1. */
export function range(length: number): readonly number[] {
  return Array.from({ length }, (_, at) => at)
}
