// The parts of SPIRE that a chain passes, as their own objects show them: the workloads that run SCM, the pods of agents, and what
// agents are configured with. Every reader takes what is there and never throws.
import { byNamespaceAndName } from '../../model/namespaced-name.ts'
import { scmContainers, type ScmContainer } from '../../analysis/index.ts'
import { listAt, own, stringAt, type JsonRecord } from '../../base/json.ts'
import { CLUSTER_SPIFFE_ID } from '../../model/kinds.ts'
import { agentConfigIn, agentConfigsIn, type AgentConfig } from '../../model/objects/agent-config.ts'
import { readMeta } from '../../model/objects/meta.ts'
import type { RawObject } from '../../model/objects/raw.ts'
import { readSpireConfig, secondsBelow, textsBelow } from '../../model/objects/spire-config.ts'
import {
  configTextsOf,
  containersOf,
  isOfServer,
  podSpecOf,
  runs,
  type SpireProgram,
} from '../../model/objects/spire-setup.ts'
import { pruningSchema } from '../../decide/index.ts'
import type { UnknownReason } from '../../model/unknown-reason.ts'

/** The CRD of ClusterSPIFFEIDs. */
export const ID_CRD = 'clusterspiffeids.spire.spiffe.io'
/** The kind of a CRD. */
export const CRD_KIND = 'CustomResourceDefinition'

/** A workload that runs SCM on this cluster. */
export interface ScmWorkload {
  readonly container: ScmContainer
  readonly wanted: number
  /** Undefined: no controller has written a status, as of a manifest. */
  readonly ready: number | undefined
}

/** The pod of an agent. */
export interface AgentPod {
  readonly namespace: string
  readonly name: string
  readonly node: string | undefined
  /** The service account that it runs under. */
  readonly account: string
  /**
   * Whether it shares the process IDs of its node: an agent cannot tell who asks it without, and whoever may run such a pod is not held
   * back by namespaces anyway (https://github.com/spiffe/spire-tutorials/blob/main/k8s/quickstart/agent-daemonset.yaml).
   */
  readonly seesProcesses: boolean
  /** Undefined: it has no status. */
  readonly isReady: boolean | undefined
  /** Why it is not ready, as the kubelet has it: `CrashLoopBackOff`. */
  readonly waits: string | undefined
  /** `1.15.3`; undefined: its image tells none. */
  readonly version: string | undefined
  /** The ConfigMaps that it mounts. */
  readonly configMaps: readonly string[]
  /** What it mounts of the node, and where. */
  readonly ofNode: readonly { readonly at: string; readonly path: string }[]
}

/** Where a server runs. */
export interface ServerPart {
  readonly namespace: string
  /** As kubectl takes it: `spire-server-0`, `deploy/spire-server`. */
  readonly pod: string
  /** Whether it is a Pod, and no workload that makes one. */
  readonly isPod: boolean
  /** The ConfigMaps that it mounts. */
  readonly configMaps: readonly string[]
}

/** What was read of SPIRE's own parts. */
export interface SpireParts {
  readonly scm: readonly ScmWorkload[]
  readonly agents: readonly AgentPod[]
  readonly configs: readonly AgentConfig[]
  /** Where the server runs; undefined: none is among what was read, or several namespaces run one. */
  readonly server: ServerPart | undefined
  /** The service accounts, `namespace:name`, whose pods that server takes for agents; undefined: not known. */
  readonly agentAccounts: readonly string[] | undefined
  /** How often that server looks for new entries, in seconds; undefined: not known. */
  readonly reloadSeconds: number | undefined
  /** What the CRD of ClusterSPIFFEIDs has; undefined: not known, or it takes any field. */
  readonly idSchema: JsonRecord | undefined
  /** Of containers that run a SPIRE server. */
  readonly serverVersions: readonly string[]
  /** What kubelets say of the pods that were asked for, by UID. */
  readonly statuses: ReadonlyMap<string, unknown>
  /** Why workloads that run SCM may not be here; none: all were read. */
  readonly scmGaps: readonly UnknownReason[]
  /** Why pods of agents may not be here; none: all of the node were read. */
  readonly agentGaps: readonly UnknownReason[]
  /** Why a configuration may not be here; none: each that an agent mounts was read. */
  readonly configGaps: readonly UnknownReason[]
}

/** Whether an object is of SPIRE's own parts, for whoever keeps only those. */
export function isSpirePart({ value }: RawObject): boolean {
  const kind = stringAt(value, 'kind') ?? ''
  if (kind === 'Pod') return runs(podSpecOf(value), 'spire-agent') || runs(podSpecOf(value), 'spire-server')
  if (kind === 'DaemonSet') return runs(podSpecOf(value), 'spire-agent')
  if (kind === CRD_KIND) return readMeta(value).name === ID_CRD
  if (kind === 'ConfigMap' || kind === 'SpireAgent')
    return (
      agentConfigIn({ value }) !== undefined ||
      configTextsOf(value).some((text) => isOfServer(text) || text.includes(ALLOW_LIST))
    )
  return scmContainers(value).length > 0 || runs(podSpecOf(value), 'spire-server')
}

/** Reads the parts among these objects. */
export function readSpireParts(
  objects: readonly RawObject[],
  gaps: Pick<SpireParts, 'scmGaps' | 'agentGaps' | 'configGaps'>,
): SpireParts {
  const values = objects.map(({ value }) => value)
  const server = theServer(values)
  const ofServer = server === undefined ? [] : configOfServer(server, values)
  const accounts = ofServer.flatMap(accountsIn)
  return {
    scm: values.flatMap(scmWorkloads),
    agents: values.flatMap((value) => agentPod(value) ?? []).toSorted(byNamespaceAndName),
    configs: agentConfigsIn(objects),
    server,
    agentAccounts: accounts.length === 0 ? undefined : accounts,
    reloadSeconds: ofServer
      .map((text) => secondsBelow(readSpireConfig(text) ?? [], 'cache_reload_interval'))
      .find((one) => one !== undefined),
    idSchema: values
      .filter((one) => stringAt(one, 'kind') === CRD_KIND && readMeta(one).name === ID_CRD)
      .map((one) => pruningSchema(one, CLUSTER_SPIFFE_ID.version))[0],
    serverVersions: [...new Set(values.flatMap((one) => versionsIn(podSpecOf(one), 'spire-server')))],
    statuses: new Map(
      values.flatMap((one) => {
        const uid = readMeta(one).uid
        return uid === undefined || stringAt(one, 'kind') !== 'Pod' ? [] : [[uid, own(one, 'status')]]
      }),
    ),
    ...gaps,
  }
}

/**
 * Where the server runs, if one namespace alone runs one: a command that is printed must not lead into the pod of a tenant. Pods decide
 * only if no workload runs it: of a cluster those of some nodes are read, and what is printed must not differ by node.
 */
function theServer(values: readonly JsonRecord[]): ServerPart | undefined {
  const found = values.flatMap((one) => serverPart(one) ?? [])
  const ofWorkloads = found.filter(({ isPod }) => !isPod)
  const deciding = ofWorkloads.length > 0 ? ofWorkloads : found
  const [first] = deciding
  return deciding.every(({ namespace }) => namespace === first?.namespace) ? first : undefined
}

function serverPart(value: JsonRecord): ServerPart | undefined {
  const spec = podSpecOf(value)
  if (!runs(spec, 'spire-server')) return undefined
  const { namespace, name } = readMeta(value)
  const kind = stringAt(value, 'kind')
  const pod = kind === 'Pod' ? name : kind === 'StatefulSet' ? `${name}-0` : `deploy/${name}`
  return { namespace, pod, isPod: kind === 'Pod', configMaps: configMapsOf(spec) }
}

function configMapsOf(spec: unknown): readonly string[] {
  return listAt(spec, 'volumes').flatMap((one) => stringAt(one, 'configMap', 'name') ?? [])
}

/** The texts of the ConfigMaps that a server mounts. */
function configOfServer(server: ServerPart, values: readonly JsonRecord[]): readonly string[] {
  return values.flatMap((value) => {
    const { namespace, name } = readMeta(value)
    const isIts = namespace === server.namespace && server.configMaps.includes(name)
    return isIts && stringAt(value, 'kind') === 'ConfigMap' ? configTextsOf(value) : []
  })
}

const ALLOW_LIST = 'service_account_allow_list'

/** Whom a configuration of a server lets attest as agents: https://github.com/spiffe/spire/blob/v1.15.3/doc/plugin_server_nodeattestor_k8s_psat.md */
function accountsIn(text: string): readonly string[] {
  return textsBelow(readSpireConfig(text) ?? [], ALLOW_LIST)
}

function scmWorkloads(value: JsonRecord): readonly ScmWorkload[] {
  const wanted = own(own(value, 'spec'), 'replicas')
  const status = own(value, 'status')
  const ready = own(status, 'readyReplicas') ?? own(status, 'availableReplicas') ?? 0
  // An API server fills in zeros by itself.
  const isWritten = own(status, 'observedGeneration') !== undefined || ready !== 0
  return scmContainers(value)
    .filter(({ isForOtherCluster }) => !isForOtherCluster)
    .map((container) => ({
      container,
      wanted: typeof wanted === 'number' ? wanted : 1,
      ready: isWritten ? Number(ready) : undefined,
    }))
}

function agentPod(value: JsonRecord): AgentPod | undefined {
  const spec = podSpecOf(value)
  if (stringAt(value, 'kind') !== 'Pod' || !runs(spec, 'spire-agent')) return undefined
  const { namespace, name } = readMeta(value)
  const statuses = listAt(value, 'status', 'containerStatuses')
  const condition = listAt(value, 'status', 'conditions').find((one) => own(one, 'type') === 'Ready')
  const hasStatus = condition !== undefined || statuses.length > 0
  const isReady =
    condition === undefined
      ? statuses.every((one) => own(one, 'ready') === true)
      : own(condition, 'status') === 'True'
  return {
    namespace,
    name,
    node: stringAt(spec, 'nodeName'),
    account: stringAt(spec, 'serviceAccountName') ?? 'default',
    seesProcesses: own(spec, 'hostPID') === true || stringAt(spec, 'os', 'name') === 'windows',
    isReady: hasStatus ? isReady : undefined,
    waits: statuses
      .map((one) => stringAt(one, 'state', 'waiting', 'reason'))
      .find((why) => why !== undefined),
    version: versionsIn(spec, 'spire-agent')[0],
    configMaps: configMapsOf(spec),
    ofNode: mountedOfNode(spec),
  }
}

function mountedOfNode(spec: unknown): AgentPod['ofNode'] {
  const paths = new Map(
    listAt(spec, 'volumes').flatMap((one) => {
      const path = stringAt(one, 'hostPath', 'path')
      return path === undefined ? [] : [[own(one, 'name'), path] as const]
    }),
  )
  return containersOf(spec, 'spire-agent').flatMap((one) =>
    listAt(one, 'volumeMounts').flatMap((mount) => {
      const [at, path] = [stringAt(mount, 'mountPath'), paths.get(own(mount, 'name'))]
      return at === undefined || path === undefined ? [] : [{ at, path }]
    }),
  )
}

const VERSION = /:v?(\d+\.\d+\.\d+)(?:[-+@]|$)/

function versionsIn(spec: unknown, program: SpireProgram): readonly string[] {
  return containersOf(spec, program).flatMap((one) => VERSION.exec(stringAt(one, 'image') ?? '')?.[1] ?? [])
}

/** The pods of agents on a node. */
export function agentsOn({ agents }: SpireParts, node: string | undefined): readonly AgentPod[] {
  return agents.filter((one) => node !== undefined && one.node === node)
}

/** Whether a pod that runs the image of an agent is one, as far as what it is allowed to do shows: any tenant can name an image so. */
export function isProvenAgent(
  { agentAccounts }: Pick<SpireParts, 'agentAccounts'>,
  { namespace, account, seesProcesses }: AgentPod,
): boolean {
  return seesProcesses && agentAccounts?.includes(`${namespace}:${account}`) !== false
}

/** The agent of a node; undefined: none is proven to be it, or pods of several namespaces are. */
export function agentOf(parts: SpireParts, node: string | undefined): AgentPod | undefined {
  const there = agentsOn(parts, node).filter((one) => isProvenAgent(parts, one))
  if (there.some(({ namespace }) => namespace !== there[0]?.namespace)) return undefined
  return there.find(({ isReady }) => isReady === true) ?? there[0]
}

/** The configuration that an agent mounts; undefined: it was not read. */
export function configOf({ configs }: SpireParts, agent: AgentPod | undefined): AgentConfig | undefined {
  if (agent === undefined) return undefined
  const mounted = configs.find(
    ({ namespace, name }) => namespace === agent.namespace && agent.configMaps.includes(name),
  )
  return mounted ?? (configs.length === 1 && agent.configMaps.length === 0 ? configs[0] : undefined)
}
