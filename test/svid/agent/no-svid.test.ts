// The last part of docs/no-svid.md: what a process in the container and the agent's log say where the node keeps an SVID back, each case
// brought about with a real agent. The page quotes the messages; a message that is not in it fails.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runToEnd } from '@kleym/testing/child-process.ts'
import { until } from '@kleym/testing/wait.ts'
import type { JsonRecord } from '../../../shared/src/core/base/json.ts'
import { ensureClient } from '../../control-plane/client-binaries.ts'
import { startControlPlane, type ControlPlane } from '../../control-plane/control-plane.ts'
import { freePorts } from '../../control-plane/ports.ts'
import { ROOT } from '../../house/files.ts'
import { startSpire, TRUST_DOMAIN, type Spire } from '../spire.ts'
import { joinToken, startAgent, type RunningAgent } from './agent.ts'
import { ContainerCgroups, requireCgroups } from './cgroup.ts'
import { startKubelet, type Kubelet } from './kubelet.ts'
import { Workloads } from './workloads.ts'

const PAGE = readFileSync(join(ROOT, 'docs', 'no-svid.md'), 'utf8')
/** The pod that has entries; one that has none; and one that no kubelet knows. */
const [POD, BARE, UNKNOWN] = [
  '3f9c1a52-8d7e-4c61-9b0a-5e2f7d6c4b81',
  '7b1e4d90-2c3f-4a58-8e6d-0f9a8b7c6d5e',
  'c4d5e6f7-1a2b-4c3d-8e9f-0a1b2c3d4e5f',
]
/** The container of a pod, as the runtime names it. */
const [CONTAINER, RESTARTED] = ['a'.repeat(64), 'b'.repeat(64)]
const SYNC_MS = 60_000

/** Agents of one server, each set up in another way. */
const SETUPS = {
  sound: { agent: { log_selectors: ['k8s:ns', 'k8s:sa', 'k8s:container-name'] } },
  'of another node': {},
  'without its kubelet': { kubelet: 'closed' },
  'without container selectors': {
    agent: { log_selectors: [] },
    attestor: { disable_container_selectors: true },
  },
} as const
type Setup = keyof typeof SETUPS

interface Node {
  readonly agent: RunningAgent
  readonly workloads: Workloads
}

let cp: ControlPlane
let spire: Spire
let kubelet: Kubelet
let cgroups: ContainerCgroups
let command: string
const nodes = new Map<string, Node>()

beforeAll(async () => {
  cgroups = new ContainerCgroups(requireCgroups())
  command = await ensureClient('spire-agent')
  cp = await startControlPlane({ controllers: [] })
  // With a prefix SCM leaves the entries alone that this suite makes.
  spire = await startSpire(cp, { entryIDPrefix: 'prod' })
  kubelet = await startKubelet()
  kubelet.tell([pod('llama-0', POD), pod('bare', BARE)])
  const [closed = 0] = await freePorts(1)
  for (const [name, setup] of Object.entries(SETUPS)) {
    const { token } = await joinToken(spire)
    const agent = await startAgent(cp, spire, {
      name: `agent-${nodes.size}`,
      join: { joinToken: token },
      kubeletPort: 'kubelet' in setup ? closed : kubelet.port,
      agent: { log_level: 'INFO', ...('agent' in setup && setup.agent) },
      ...('attestor' in setup && { attestor: setup.attestor }),
    })
    nodes.set(name, { agent, workloads: new Workloads(agent.socket) })
    if (name === 'of another node') continue
    const parent = `spiffe://${TRUST_DOMAIN}/spire/agent/join_token/${token}`
    await entry(parent, 'server', [`k8s:pod-uid:${POD}`, 'k8s:container-name:server'])
    await entry(parent, 'account', [`k8s:pod-uid:${POD}`, 'k8s:sa:llama'])
  }
  // What follows is about agents that know the entries.
  for (const [setup, text] of [
    ['sound', 'Received 2 svids'],
    ['without container selectors', 'Received 1 svid'],
  ] as const)
    await until(
      async () => (await asked(setup, POD, CONTAINER)).cli.includes(text),
      `the agent ${setup} to have its entries`,
      SYNC_MS,
    )
})
afterAll(async () => {
  for (const { workloads } of nodes.values()) await workloads.end()
  cgroups?.remove([POD, BARE, UNKNOWN])
  await kubelet?.stop()
  await cp?.stop()
})

async function entry(parent: string, name: string, selectors: readonly string[]): Promise<void> {
  await spire.ask(
    'entry',
    'create',
    '-parentID',
    parent,
    '-spiffeID',
    `spiffe://${TRUST_DOMAIN}/${name}`,
    ...selectors.flatMap((one) => ['-selector', one]),
  )
}

function pod(name: string, uid: string): JsonRecord {
  const containerID = `containerd://${CONTAINER}`
  return {
    metadata: { name, namespace: 'demo', uid, labels: { app: 'llama' } },
    spec: {
      serviceAccountName: 'llama',
      nodeName: 'n1',
      containers: [{ name: 'server', image: 'server:1' }],
    },
    status: {
      phase: 'Running',
      containerStatuses: [{ name: 'server', image: 'server:1', imageID: 'server@sha256:1', containerID }],
    },
  }
}

/** What the command prints in a container on a node, and what the agent has logged meanwhile. */
async function asked(setup: Setup, uid: string, id: string): Promise<Said> {
  const { agent, workloads } = nodeOf(setup)
  const before = readFileSync(agent.program.log, 'utf8').length
  const cli = await workloads.print(cgroups.place(uid, id), command)
  return { cli, log: readFileSync(agent.program.log, 'utf8').slice(before) }
}

/** What was said of one question. */
interface Said {
  readonly cli: string
  readonly log: string
}

function nodeOf(setup: Setup): Node {
  const node = nodes.get(setup)
  if (node === undefined) throw new Error(`there is no agent ${setup}`)
  return node
}

/** Of these texts, those that were not said, or that the page does not quote. */
function unquoted(said: string, ...texts: readonly string[]): readonly string[] {
  return [
    ...texts.filter((text) => !said.includes(text)).map((text) => `${text} was not said, but: ${said}`),
    ...texts.filter((text) => !PAGE.includes(`\`${text}\``)).map((text) => `${text} is not quoted`),
  ]
}

test('both SVIDs of a container with two entries, and no entry where the agent names no containers', async () => {
  expect(unquoted((await asked('sound', POD, CONTAINER)).cli, 'Received 2 svids')).toEqual([])
  const { cli } = await asked('without container selectors', POD, CONTAINER)
  expect(cli).toContain(`spiffe://${TRUST_DOMAIN}/account`)
  expect(cli).not.toContain(`spiffe://${TRUST_DOMAIN}/server`)
})

test('no entry fits the process: the log has its selectors where log_selectors is set, and none otherwise', async () => {
  const { cli, log } = await asked('sound', BARE, CONTAINER)
  expect(unquoted(cli, 'no identity issued')).toEqual([])
  expect(unquoted(log, 'No identity issued')).toEqual([])
  expect(unquoted(log, 'selectors="k8s:container-name:server,k8s:ns:demo,k8s:sa:llama"')).toEqual([])
  const plain = await asked('without container selectors', BARE, CONTAINER)
  expect(unquoted(plain.log, 'No identity issued')).toEqual([])
  expect(plain.log).not.toContain('k8s:')
})

test('the entry is of the agent of another node', async () => {
  const { cli } = await asked('of another node', POD, CONTAINER)
  expect(unquoted(cli, 'no identity issued')).toEqual([])
})

test('the process is in no container that the agent can tell', async () => {
  const { agent } = nodeOf('sound')
  const { stdout, stderr } = runToEnd(command, ['api', 'fetch', 'x509', '-socketPath', agent.socket])
  expect(unquoted(`${stdout}${stderr}`, 'no identity issued')).toEqual([])
})

test.each([
  ['a pod that the kubelet does not list', UNKNOWN, CONTAINER],
  ['a container that its pod does not list', POD, RESTARTED],
])('%s', async (_, uid, id) => {
  const { cli, log } = await asked('sound', uid, id)
  expect(unquoted(cli, 'workload attestation failed')).toEqual([])
  expect(
    unquoted(log, 'Container id not found; giving up', 'no selectors found after max poll attempts'),
  ).toEqual([])
})

test('the kubelet does not answer the agent', async () => {
  const { cli, log } = await asked('without its kubelet', POD, CONTAINER)
  expect(unquoted(cli, 'workload attestation failed')).toEqual([])
  expect(unquoted(log, 'Unable to get pod list; giving up')).toEqual([])
})

test('there is no socket, or no agent behind it', async () => {
  const { agent, workloads } = nodeOf('of another node')
  const none = new Workloads(join(cp.folder, 'no-such.sock'))
  try {
    expect(
      unquoted(await none.print(cgroups.place(POD, CONTAINER), command), 'no such file or directory'),
    ).toEqual([])
  } finally {
    await none.end()
  }
  await agent.program.signal('SIGKILL')
  await agent.program.end()
  expect(
    unquoted(await workloads.print(cgroups.place(POD, CONTAINER), command), 'connection refused'),
  ).toEqual([])
})
