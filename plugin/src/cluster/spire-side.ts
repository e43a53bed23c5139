// SPIRE's own parts in a cluster, for an answer about pods of some nodes: the agents there with what they are configured with, and the
// workloads that run the server and SCM, with their status.
import { own, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import type { Pod } from '@kleym/shared/core/model/objects/pod.ts'
import {
  CRD_KIND,
  ID_CRD,
  isProvenAgent,
  isSpirePart,
  readSpireParts,
  type AgentPod,
  type SpireParts,
} from '@kleym/shared/core/answers/index.ts'
import { readMeta } from '@kleym/shared/core/model/objects/meta.ts'
import type { RawObject } from '@kleym/shared/core/model/objects/raw.ts'
import type { UnknownReason } from '@kleym/shared/core/model/unknown-reason.ts'
import type { Resource } from '@kleym/shared/kube/api.ts'
import { CLUSTER_SPIFFE_IDS, CONFIG_MAPS, NODES, PODS, WORKLOADS } from '@kleym/shared/kube/resources.ts'
import { WHOLE } from './live-side.ts'
import type { ClusterReader, Reading, Trim } from './reader.ts'

/** The kinds in which a server and SCM run. */
const SERVER_KINDS: ReadonlySet<string> = new Set(['StatefulSet', 'Deployment'])
/** More nodes than these are read as all. */
const NODES_MAX = 8
/** The pods of more namespaces than these are read as those of all. */
const NAMESPACES_MAX = 8
/** The most ConfigMaps that are asked for: agents of one install share one. */
const CONFIG_MAPS_MAX = 16

/** What of SPIRE's parts is asked for. */
export interface SpireQuestion {
  /** The pods that the answer is about: the agents of their nodes are meant. */
  readonly pods: readonly Pod[]
  /** Whether the fields of ClusterSPIFFEIDs matter. */
  readonly schema: boolean
}

/** Reads them. Whatever cannot be had is a gap of the parts. */
export async function readSpireSide(
  reader: ClusterReader,
  { pods: asked, schema }: SpireQuestion,
): Promise<SpireParts> {
  await reader.open()
  const nodes = [...new Set(asked.flatMap(({ nodeName }) => nodeName ?? []))]
  const uids = new Set(asked.flatMap(({ uid }) => uid ?? []))
  const podsOn = (node?: string): Promise<Reading> =>
    reader.read({
      resource: PODS,
      trim: (value) => (uids.has(readMeta(value).uid ?? '') ? statusOnly(value) : partsOnly(PODS)(value)),
      ...(node !== undefined && { fieldSelector: `spec.nodeName=${node}` }),
    })
  const ofAll = nodes.length > NODES_MAX
  const [ofNodes, workloads] = await Promise.all([
    Promise.all(ofAll ? [podsOn()] : nodes.map(podsOn)),
    readKinds(reader, SERVER_KINDS),
  ])
  // A node without one is told from a cluster in which agents are no pods, or none that are recognised.
  const isElsewhere = !ofAll && nodes.length > 0 && agentsIn(ofNodes).length === 0
  const pods = isElsewhere ? [...ofNodes, await podsOn()] : ofNodes
  return wholeParts(reader, { pods, workloads, schema })
}

/** SPIRE in a whole cluster. */
export interface SpireInstallReading {
  readonly parts: SpireParts
  /** The names of all nodes; undefined: they could not be read. */
  readonly nodes: readonly string[] | undefined
}

/** The same of all nodes, by the DaemonSets of agents: no more pods are read than those beside them. */
export async function readSpireInstall(reader: ClusterReader): Promise<SpireInstallReading> {
  await reader.open()
  const [workloads, sets, nodes] = await Promise.all([
    readKinds(reader, SERVER_KINDS),
    readKinds(reader, AGENT_KINDS),
    reader.read({ resource: NODES }),
  ])
  const namespaces = [...new Set(partsOf(sets).map(({ value }) => readMeta(value).namespace))]
  const pods =
    namespaces.length === 0
      ? []
      : [
          await reader.read({
            resource: PODS,
            trim: partsOnly(PODS),
            // Any tenant may run a DaemonSet of that image: none of them is left out.
            ...(namespaces.length <= NAMESPACES_MAX && { namespaces }),
          }),
        ]
  const parts = await wholeParts(reader, { pods: [...sets, ...pods], workloads, schema: false })
  const names = nodes.state === 'read' ? nodes.objects.map(({ value }) => readMeta(value).name) : undefined
  return { parts, nodes: names }
}

const AGENT_KINDS: ReadonlySet<string> = new Set(['DaemonSet'])

function readKinds(reader: ClusterReader, kinds: ReadonlySet<string>): Promise<readonly Reading[]> {
  return Promise.all(
    WORKLOADS.filter(({ kind }) => kinds.has(kind)).map((resource) =>
      reader.read({ resource, trim: partsOnly(resource) }),
    ),
  )
}

async function wholeParts(
  reader: ClusterReader,
  {
    pods,
    workloads,
    schema,
  }: { readonly pods: readonly Reading[]; readonly workloads: readonly Reading[]; readonly schema: boolean },
): Promise<SpireParts> {
  const { server } = partsIn([...pods, ...workloads])
  const [ofServer, configs] = await Promise.all([
    configsOf(reader, server === undefined ? [] : [server]),
    configsOf(reader, agentsIn(pods)),
  ])
  const all = [
    ...partsOf([...pods, ...workloads]),
    ...partsOf([...ofServer, ...configs]).map(asConfigMap),
    ...(schema ? asCrd(await reader.schemaOf(CLUSTER_SPIFFE_IDS)) : []),
  ]
  return readSpireParts(all, {
    agentGaps: gapsIn(pods),
    scmGaps: gapsIn(workloads),
    configGaps: gapsIn(configs),
  })
}

function partsIn(readings: readonly Reading[]): SpireParts {
  return readSpireParts(partsOf(readings), NO_GAPS)
}

/** The pods that may be agents, as far as they show it themselves. */
function agentsIn(readings: readonly Reading[]): readonly AgentPod[] {
  return partsIn(readings).agents.filter((one) => isProvenAgent({ agentAccounts: undefined }, one))
}

/** The ConfigMaps that parts mount, by name. */
function configsOf(
  reader: ClusterReader,
  parts: readonly Pick<AgentPod, 'namespace' | 'configMaps'>[],
): Promise<readonly Reading[]> {
  const names = new Map(
    parts.flatMap(({ namespace, configMaps }) =>
      configMaps.map((name) => [`${namespace}/${name}`, { namespace, name }] as const),
    ),
  )
  return Promise.all(
    [...names.values()]
      .slice(0, CONFIG_MAPS_MAX)
      .map(({ namespace, name }) => reader.get(CONFIG_MAPS, name, namespace)),
  )
}

const NO_GAPS = { agentGaps: [], scmGaps: [], configGaps: [] }

/** What is no part of SPIRE is dropped as it arrives: there may be a hundred thousand of them. */
function partsOnly({ group, version, kind }: Resource): Trim {
  const apiVersion = group === '' ? version : `${group}/${version}`
  return (value) => (isSpirePart({ value: { ...value, apiVersion, kind } }) ? WHOLE(value) : {})
}

/** Of a pod that is asked about, what its kubelet says of it. */
const statusOnly: Trim = ({ kind, metadata, status }) => ({
  kind,
  metadata: { uid: own(metadata, 'uid') },
  ...(status !== undefined && { status }),
})

/** What was got by name says of itself what it is. */
function asConfigMap({ value }: RawObject): RawObject {
  return { value: { ...value, apiVersion: 'v1', kind: 'ConfigMap' } }
}

function asCrd(schema: JsonRecord | undefined): readonly RawObject[] {
  if (schema === undefined) return []
  const versions = [{ name: CLUSTER_SPIFFE_IDS.version, schema: { openAPIV3Schema: schema } }]
  return [{ value: { kind: CRD_KIND, metadata: { name: ID_CRD }, spec: { versions } } }]
}

function partsOf(readings: readonly Reading[]): readonly RawObject[] {
  return readings
    .flatMap((one) => (one.state === 'absent' ? [] : one.objects))
    .filter(({ value }) => value['metadata'] !== undefined)
}

function gapsIn(readings: readonly Reading[]): readonly UnknownReason[] {
  return readings.flatMap((one) => (one.state === 'unknown' ? [one.why] : []))
}
