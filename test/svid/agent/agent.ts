// A real spire-agent beside a real server, on a node of its own: SCM gives its entries the agent's own ID as their parent.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '@kleym/testing/wait.ts'
import { ensureClient } from '../../control-plane/client-binaries.ts'
import type { ControlPlane } from '../../control-plane/control-plane.ts'
import { existsSync } from 'node:fs'
import { TRUST_DOMAIN, type ScmConfig, type Spire } from '../spire.ts'

/** What an agent needs beside its server. */
export interface AgentOptions {
  readonly kubeletPort: number
  /** More settings of SPIRE's Kubernetes attestor. */
  readonly attestor?: Readonly<Record<string, unknown>>
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

/** Starts an agent and waits for its socket; the path of that. It ends with the control plane. */
export async function startAgent(
  cp: ControlPlane,
  spire: Spire,
  token: string,
  { kubeletPort, attestor = {} }: AgentOptions,
): Promise<string> {
  const command = await ensureClient('spire-agent')
  const data = join(cp.folder, 'spire-agent')
  mkdirSync(data, { recursive: true })
  const socket = join(cp.folder, 'agent.sock')
  const file = join(cp.folder, 'spire-agent.json')
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
    join_token: token,
  }
  const k8s = {
    kubelet_read_only_port: kubeletPort,
    max_poll_attempts: 2,
    poll_retry_interval: '200ms',
    ...attestor,
  }
  const plugins = {
    KeyManager: [{ memory: { plugin_data: {} } }],
    NodeAttestor: [{ join_token: { plugin_data: {} } }],
    WorkloadAttestor: [{ k8s: { plugin_data: k8s } }],
  }
  writeFileSync(file, JSON.stringify({ agent, plugins }))
  const program = await cp.start({ name: 'spire-agent', command, args: ['run', '-config', file] })
  await until(() => {
    const how = program.ended()
    if (how !== undefined) throw new Error(`spire-agent has ended: ${how}\n${program.lastWords()}`)
    return existsSync(socket)
  }, 'spire-agent to open its socket')
  return socket
}
