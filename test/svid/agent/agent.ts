// A real spire-agent beside a real server, on a node of its own: SCM gives its entries the agent's own ID as their parent.
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CannotHold, until } from '@kleym/testing/wait.ts'
import { ensureClient } from '../../control-plane/client-binaries.ts'
import type { ControlPlane } from '../../control-plane/control-plane.ts'
import type { Program } from '../../control-plane/processes.ts'
import { TRUST_DOMAIN, type ScmConfig, type Spire } from '../spire.ts'

/** How an agent shows its server who it is. */
export type AgentJoin =
  | { readonly joinToken: string }
  /** With the token of a service account, for a pod of the node (`k8s_psat`). */
  | { readonly cluster: string; readonly tokenFile: string }

/** What an agent needs beside its server. */
export interface AgentOptions {
  readonly join: AgentJoin
  readonly kubeletPort: number
  /** Of its files; `spire-agent` when absent. */
  readonly name?: string
  /** More settings of SPIRE's Kubernetes attestor. */
  readonly attestor?: Readonly<Record<string, unknown>>
  /** More settings of the agent itself. */
  readonly agent?: Readonly<Record<string, unknown>>
}

/** An agent that runs. */
export interface RunningAgent {
  readonly program: Program
  /** Where its Workload API listens. */
  readonly socket: string
}

/** A token with which one agent may join, and the settings of SCM under which its entries are that agent's. */
export async function joinToken(spire: Spire): Promise<{ readonly token: string; readonly scm: ScmConfig }> {
  const said = await spire.ask('token', 'generate')
  const token = /Token: (\S+)/.exec(said)?.[1]
  if (token === undefined) throw new Error(`spire-server gave no token: ${said}`)
  return {
    token,
    scm: { parentIDTemplate: `spiffe://${TRUST_DOMAIN}/spire/agent/join_token/${token}` },
  }
}

/** Starts an agent, or one of that name again, and waits for its socket. It ends with the control plane. */
export async function startAgent(
  cp: ControlPlane,
  spire: Spire,
  { join: how, kubeletPort, name = 'spire-agent', attestor = {}, agent: settings = {} }: AgentOptions,
): Promise<RunningAgent> {
  const command = await ensureClient('spire-agent')
  const data = join(cp.folder, `${name}-data`)
  mkdirSync(data, { recursive: true })
  const socket = join(cp.folder, `${name}.sock`)
  const file = join(cp.folder, `${name}.json`)
  const agent = {
    data_dir: data,
    // At DEBUG every attestation is in the log, with its selectors; `log_selectors` adds some to a refusal.
    log_level: 'DEBUG',
    log_selectors: ['k8s:ns', 'k8s:pod-uid', 'k8s:container-name'],
    server_address: '127.0.0.1',
    server_port: String(spire.port),
    socket_path: socket,
    trust_domain: TRUST_DOMAIN,
    insecure_bootstrap: true,
    ...('joinToken' in how && { join_token: how.joinToken }),
    ...settings,
  }
  const k8s = {
    kubelet_read_only_port: kubeletPort,
    max_poll_attempts: 2,
    poll_retry_interval: '200ms',
    ...attestor,
  }
  const plugins = {
    // So that an agent that starts again is still the same: a join token is good for one.
    KeyManager: [{ disk: { plugin_data: { directory: data } } }],
    NodeAttestor: [
      'joinToken' in how
        ? { join_token: { plugin_data: {} } }
        : { k8s_psat: { plugin_data: { cluster: how.cluster, token_path: how.tokenFile } } },
    ],
    WorkloadAttestor: [{ k8s: { plugin_data: k8s } }],
  }
  writeFileSync(file, JSON.stringify({ agent, plugins }))
  rmSync(socket, { force: true })
  const program = await cp.start({ name, command, args: ['run', '-config', file] })
  await until(() => {
    const ended = program.ended()
    if (ended !== undefined) throw new CannotHold(`it has ended: ${ended}\n${program.lastWords()}`)
    return existsSync(socket)
  }, `${name} to open its socket`)
  return { program, socket }
}
