// SPIRE beside the control plane of `npm run control-plane -- --spire`, as the estate of examples/ has it: the real server and the
// real SPIRE Controller Manager (SCM) with the settings of the estate's ConfigMap, the operator, and an agent for each node,
// which joins as in a cluster (k8s_psat).
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { parse } from 'yaml'
import { isRecord, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import type { Binaries } from '../../test/control-plane/binaries.ts'
import { ensureClient } from '../../test/control-plane/client-binaries.ts'
import type { ControlPlane } from '../../test/control-plane/control-plane.ts'
import { startLeading } from '../../test/control-plane/operator.ts'
import { operatorAccess } from '../../test/control-plane/operator-access.ts'
import type { SpireBinaries } from '../../test/control-plane/spire-binaries.ts'
import { startAgent, type RunningAgent } from '../../test/svid/agent/agent.ts'
import { ContainerCgroups, type CgroupPlace, type NoCgroup } from '../../test/svid/agent/cgroup.ts'
import { startSpire, type Spire } from '../../test/svid/spire.ts'
import { startKubeletServer, type ContainerCommand, type ContainerName } from './kubelet-server.ts'
import { startNodes, type Nodes } from './nodes.ts'

const ROOT = join(import.meta.dirname, '..', '..')
/** Those of the estate (examples/estate/platform). */
const SCM_CONFIG = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  namespace: 'spire-server',
  name: 'spire-controller-manager',
}
const OPERATOR_FLAGS = ['--clusterspiffeid-class-name=spire-mgmt-spire', '--variant-label-key=llm-d.ai/role']
const CLUSTER = 'prod'
/** Where people find the server and the agents, as the hardened chart names them. */
const SERVER: ContainerName = { namespace: 'spire-server', pod: 'spire-server-0', container: 'spire-server' }
const SCM_CONTAINER = 'spire-controller-manager'
const AGENTS = 'spire-system'
const AGENT_ACCOUNT = 'spire-agent'
const AGENT_LABELS = { 'app.kubernetes.io/name': 'agent' }
const TOKEN_SECONDS = 86_400
/** Where the images of SPIRE have their programs. */
const IMAGE_BIN = '/opt/spire/bin/'

/** All that runs beside the control plane. */
export interface SpireStack {
  readonly spire: Spire
  /** The folder with kubectl and the plugin. */
  readonly bin: string
  /** What does not end with the control plane. */
  stop(): Promise<void>
}

/** What it needs, found or built before anything starts. */
export interface SpirePrograms {
  readonly controlPlane: Binaries
  readonly spire: SpireBinaries
}

/** Starts everything on a control plane that holds the estate. Rejects with what went wrong, leaving nothing behind. */
export async function startSpireStack(
  cp: ControlPlane,
  programs: SpirePrograms,
  place: CgroupPlace | NoCgroup,
): Promise<SpireStack> {
  const stops: (() => Promise<void>)[] = []
  const stop = async (): Promise<void> => {
    for (const one of stops) await one()
  }
  try {
    return { ...(await startAll(cp, programs, place, stops)), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function startAll(
  cp: ControlPlane,
  { controlPlane, spire: { programs } }: SpirePrograms,
  place: CgroupPlace | NoCgroup,
  stops: (() => Promise<void>)[],
): Promise<Omit<SpireStack, 'stop'>> {
  const cgroups = place.available ? new ContainerCgroups(place) : undefined
  const bin = commandsIn(cp, controlPlane)
  await cp.apply([...operatorAccess(), ...spirePods()])
  const spire = await startSpire(cp, await scmSettings(cp), {
    psat: { cluster: CLUSTER, serviceAccount: `${AGENTS}/${AGENT_ACCOUNT}` },
  })
  await startLeading(cp, {
    command: [process.execPath, join(ROOT, 'operator', 'src', 'main.ts')],
    flags: OPERATOR_FLAGS,
  })
  const agents = new Map<string, RunningAgent>()
  let nodes: Nodes | undefined
  const agentCommand = cgroups === undefined ? undefined : await ensureClient('spire-agent')
  const kubelet = await startKubeletServer(cp.serving, {
    start: (name, command) => {
      const pod = nodes?.podOf(name)
      if (nodes === undefined || pod === undefined) return 'there is no such pod'
      const socket = agents.get(stringAt(pod, 'spec', 'nodeName') ?? '')?.socket
      return commandOf(command, {
        server: isServer(name) ? [programs['spire-server'], join(cp.folder, 'spire.sock')] : undefined,
        agent: agentCommand === undefined || socket === undefined ? undefined : [agentCommand, socket],
        procs: nodes.procsOf(name),
        env: { PATH: `${bin}:${process.env['PATH'] ?? ''}`, HOME: cp.folder },
      })
    },
    log: (name) => logOf(name, spire, agents),
  })
  stops.push(() => kubelet.stop())
  const started = await startNodes(cp, cgroups, kubelet.port)
  stops.push(() => started.stop())
  nodes = started
  if (cgroups !== undefined)
    for (const node of started.names) agents.set(node, await startNodeAgent(cp, spire, started, node))
  return { spire, bin }
}

function isServer({ namespace, pod, container }: ContainerName): boolean {
  return namespace === SERVER.namespace && pod === SERVER.pod && container === SERVER.container
}

/** kubectl, and the plugin as it is in this clone: nothing needs to be built. */
function commandsIn(cp: ControlPlane, { programs }: Binaries): string {
  const bin = join(cp.folder, 'bin')
  mkdirSync(bin)
  symlinkSync(programs.kubectl, join(bin, 'kubectl'))
  const plugin = join(bin, 'kubectl-kleym')
  const main = join(ROOT, 'plugin', 'src', 'main.ts')
  writeFileSync(plugin, `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`)
  chmodSync(plugin, 0o755)
  return bin
}

/** The pod of server and SCM; the pods of the agents come with those. */
function spirePods(): readonly JsonRecord[] {
  const { namespace, pod: name, container } = SERVER
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name: 'spire-server' } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace: AGENTS, name: AGENT_ACCOUNT } },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace, name },
      spec: {
        serviceAccountName: 'spire-server',
        nodeName: 'gpu-1',
        containers: [
          { name: container, image: 'ghcr.io/spiffe/spire-server:1.15.3' },
          { name: SCM_CONTAINER, image: 'ghcr.io/spiffe/spire-controller-manager:0.7.0' },
        ],
      },
    },
  ]
}

/** What the estate's ConfigMap says, without what is for a pod: ports, webhooks, a Lease, the socket of the server. */
async function scmSettings(cp: ControlPlane): Promise<JsonRecord> {
  const config = await cp.admin.get(SCM_CONFIG)
  const text = stringAt(config, 'data', 'controller-manager-config.yaml') ?? ''
  const settings: unknown = parse(text)
  if (!isRecord(settings)) throw new TypeError('the ConfigMap of SCM in the estate holds no settings')
  const own = new Set([
    'metadata',
    'metrics',
    'health',
    'leaderElection',
    'validatingWebhookConfigurationName',
    'spireServerSocketPath',
  ])
  return Object.fromEntries(Object.entries(settings).filter(([key]) => !own.has(key)))
}

/** An agent that shows the token of its pod, as the DaemonSet of the chart has it. */
async function startNodeAgent(
  cp: ControlPlane,
  spire: Spire,
  nodes: Nodes,
  node: string,
): Promise<RunningAgent> {
  const name = `spire-agent-${node}`
  await cp.apply([
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace: AGENTS, name, labels: AGENT_LABELS },
      spec: {
        serviceAccountName: AGENT_ACCOUNT,
        nodeName: node,
        hostPID: true,
        containers: [{ name: 'spire-agent', image: 'ghcr.io/spiffe/spire-agent:1.15.3' }],
      },
    },
  ])
  const pod = await cp.admin.get({ apiVersion: 'v1', kind: 'Pod', namespace: AGENTS, name })
  const { body } = await cp.admin.request({
    method: 'POST',
    path: `/api/v1/namespaces/${AGENTS}/serviceaccounts/${AGENT_ACCOUNT}/token`,
    body: {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: {
        audiences: ['spire-server'],
        expirationSeconds: TOKEN_SECONDS,
        boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid: stringAt(pod, 'metadata', 'uid') },
      },
    },
  })
  const tokenFile = join(cp.folder, `${name}.token`)
  writeFileSync(tokenFile, stringAt(body, 'status', 'token') ?? '', { mode: 0o600 })
  return startAgent(cp, spire, {
    name,
    join: { cluster: CLUSTER, tokenFile },
    kubeletPort: nodes.kubeletPort(node),
    agent: {
      log_level: 'INFO',
      log_selectors: ['k8s:ns', 'k8s:sa', 'k8s:container-name', 'k8s:pod-label'],
    },
  })
}

interface Surroundings {
  /** The program and its socket; undefined: it is not in this container. */
  readonly server: readonly [command: string, socket: string] | undefined
  readonly agent: readonly [command: string, socket: string] | undefined
  readonly procs: string | undefined
  readonly env: Readonly<Record<string, string>>
}

/** A command as it is typed for a pod of a cluster, with the programs and sockets that are here. */
function commandOf(
  [program = '', ...args]: readonly string[],
  { server, agent, procs, env }: Surroundings,
): ContainerCommand | string {
  const name = program.startsWith(IMAGE_BIN) ? program.slice(IMAGE_BIN.length) : program
  const known = { 'spire-server': server, 'spire-agent': agent }
  if (name !== 'spire-server' && name !== 'spire-agent') return { command: [program, ...args], env, procs }
  const here = known[name]
  if (here === undefined)
    return name === 'spire-server'
      ? `spire-server runs in ${SERVER.namespace}/${SERVER.pod}, container ${SERVER.container}`
      : 'there is no agent here'
  const [command, socket] = here
  return { command: [command, ...withSocket(args, socket)], env, procs }
}

/** The socket stands under the path that was given, or under the default one. */
function withSocket(args: readonly string[], socket: string): readonly string[] {
  const given = args.findIndex((arg) => /^--?socketPath$/.test(arg))
  if (given >= 0) return args.with(given + 1, socket)
  const flags = args.findIndex((arg) => arg.startsWith('-'))
  const at = flags < 0 ? args.length : flags
  return [...args.slice(0, at), '-socketPath', socket, ...args.slice(at)]
}

function logOf(
  { namespace, pod, container }: ContainerName,
  spire: Spire,
  agents: ReadonlyMap<string, RunningAgent>,
): string | undefined {
  if (namespace === SERVER.namespace && pod === SERVER.pod)
    return container === SCM_CONTAINER ? spire.scm().log : spire.log
  if (namespace !== AGENTS) return undefined
  return agents.get(pod.replace('spire-agent-', ''))?.program.log
}
