// `why` on real parts: each fault of the list is brought about on a real API server, SCM, spire-server and spire-agent, and the first line
// names the hop and the fix, for pods whose registrations are written by hand and for those of kleym's bindings. With rights withdrawn one by one the hop is
// not known. The agent's node is n1; agents of other nodes are pods without a program behind them, since their faults are before one.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '@kleym/testing/wait.ts'
import {
  BOUND_FAULTS,
  firstSentence,
  WHY_FAULTS,
  WHY_PAIRS,
  whyFirstLine,
} from '@kleym/testing/why-faults.ts'
import {
  boundSlotWith,
  healthySlot,
  isPod,
  objectsOfSlot,
  slotWith,
  spireObjects,
  statusOf,
  WHY_INSTALL,
  WHY_NODES,
  workloadStatus,
  type Draft,
  type DraftPod,
  type WhySlot,
} from '@kleym/testing/why-world.ts'
import { inProcess } from '../../../plugin/test/support/in-process.ts'
import { listAt, stringAt, type JsonRecord } from '../../../shared/src/core/base/json.ts'
import { readAgentFacts } from '../../../shared/src/core/predict/verify/agent-facts.ts'
import type { ControlPlane } from '../../control-plane/control-plane.ts'
import { startLeading, startOperatorPlane } from '../../control-plane/operator.ts'
import { freePorts } from '../../control-plane/ports.ts'
import type { Program } from '../../control-plane/processes.ts'
import { startSpire, type Spire } from '../spire.ts'
import { joinToken, startAgent, type RunningAgent } from './agent.ts'
import { ContainerCgroups, requireCgroups } from './cgroup.ts'
import { startKubelet, type Kubelet } from './kubelet.ts'
import { Workloads } from './workloads.ts'

const HEALTHY = 100
const READER = 'rita'
const SYNC_MS = 120_000
const TOKEN_SECONDS = 3600
const AT_A_TIME = 8
const BINDING = { apiVersion: 'kleym.sonda.red/v1alpha1', kind: 'InferenceIdentityBinding' } as const
/** Of each kind, what a dump of the cluster holds. */
const DUMPED = [
  ['v1', 'Namespace'],
  ['v1', 'Node'],
  ['v1', 'Pod'],
  ['v1', 'ConfigMap'],
  ['apps/v1', 'StatefulSet'],
  ['spire.spiffe.io/v1alpha1', 'ClusterSPIFFEID'],
  ['spire.spiffe.io/v1alpha1', 'ClusterStaticEntry'],
  [BINDING.apiVersion, BINDING.kind],
  ['inference.networking.k8s.io/v1', 'InferencePool'],
  ['inference.networking.x-k8s.io/v1alpha2', 'InferenceObjective'],
] as const
/** Of an answer that is none. */
const NO_REPORT = { stdout: '{}' }
const SETTINGS = [
  '--trust-domain',
  WHY_INSTALL.trustDomain,
  '--clusterspiffeid-class-name',
  WHY_INSTALL.className,
]

let cp: ControlPlane
let spire: Spire
let kubelet: Kubelet
let cgroups: ContainerCgroups
let agent: RunningAgent
let closed: RunningAgent
let workloads: Workloads
let beside: Workloads
const uids = new Map<string, string>()
const singles = new Map<string, WhySlot>()
const bound = new Map(BOUND_FAULTS.map(({ name }) => [name, boundSlotWith(name)]))
const pairs = WHY_PAIRS.map((pair) => slotWith(...pair))
const healthy = Array.from({ length: HEALTHY }, (_, at) => healthySlot(`h${at}`))
/** What must be made while SCM does not run, or runs otherwise. */
const LATER = new Set(['SCM down', 'label filter'])

beforeAll(async () => {
  cgroups = new ContainerCgroups(requireCgroups())
  cp = await startOperatorPlane({ controllers: [], users: [{ name: READER }] })
  const account = `${WHY_INSTALL.agentSpace}/spire-agent`
  spire = await startSpire(
    cp,
    { entryIDPrefix: 'prod' },
    { psat: { cluster: WHY_INSTALL.cluster, serviceAccount: account } },
  )
  await put(spireObjects())
  for (const { name } of WHY_FAULTS) if (!LATER.has(name)) singles.set(name, slotWith(name))
  const slots = [...singles.values(), ...bound.values(), ...pairs, ...healthy]
  await startLeading(cp, { flags: [`--clusterspiffeid-class-name=${WHY_INSTALL.className}`] })
  await put(slots.map(({ namespace }) => namespace))
  await put(slots.flatMap((slot) => objectsOfSlot(slot).slice(1)))
  await until(async () => {
    const all = await cp.admin.list(BINDING)
    const open = all.filter((one) => !DECIDED.has(readyOf(one)))
    if (open.length > 0) throw new Error(`${open.length} of ${all.length} are not`)
    return all.length === bound.size
  }, 'every binding to be decided')
  kubelet = await startKubelet()
  await tellKubelet()
  agent = await startAgent(cp, spire, {
    join: { cluster: WHY_INSTALL.cluster, tokenFile: await tokenOf(`spire-agent-${WHY_NODES.healthy}`) },
    kubeletPort: kubelet.port,
  })
  const [port = 0] = await freePorts(1)
  const { token } = await joinToken(spire)
  closed = await startAgent(cp, spire, { name: 'closed', join: { joinToken: token }, kubeletPort: port })
  workloads = new Workloads(agent.socket)
  beside = new Workloads(closed.socket)
  await spire.settled()
  const last = healthy.at(-1)
  if (last === undefined) throw new Error('there is no healthy pod')
  await until(
    async () => (await ask(workloads, last)).includes(`${last.name}/llama`),
    'the agent to have the newest entry',
    SYNC_MS,
  )
})
afterAll(async () => {
  await workloads?.end()
  await beside?.end()
  cgroups?.remove(uids.values())
  await kubelet?.stop()
  await cp?.stop()
})

const DECIDED: ReadonlySet<string | undefined> = new Set(['True', 'False'])

function readyOf(binding: JsonRecord): string | undefined {
  return stringAt(
    listAt(binding, 'status', 'conditions').find((one) => stringAt(one, 'type') === 'Ready'),
    'status',
  )
}

/** Applies objects, with the status that kubelets and controllers would give them. */
async function put(objects: readonly (Draft | DraftPod)[]): Promise<void> {
  const queue = objects.values()
  const work = async (): Promise<void> => {
    for (const object of queue) {
      const made = await cp.admin.apply(object)
      const id = idOf(object)
      if (isPod(object)) {
        uids.set(`${id.namespace}/${id.name}`, stringAt(made, 'metadata', 'uid') ?? '')
        await cp.admin.patch(id, { status: podStatus(object) }, 'status')
      }
      if (id.kind === 'StatefulSet') await cp.admin.patch(id, { status: workloadStatus(1) }, 'status')
    }
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, work))
}

function idOf(object: JsonRecord): { apiVersion: string; kind: string; name: string; namespace?: string } {
  const namespace = stringAt(object, 'metadata', 'namespace')
  return {
    apiVersion: stringAt(object, 'apiVersion') ?? '',
    kind: stringAt(object, 'kind') ?? '',
    name: stringAt(object, 'metadata', 'name') ?? '',
    ...(namespace !== undefined && { namespace }),
  }
}

function podStatus({ metadata, spec }: DraftPod): JsonRecord {
  const { namespace: space } = metadata
  const ready = space !== WHY_INSTALL.agentSpace || spec.nodeName !== WHY_NODES.notReady
  return statusOf({ spec }, { ready, id: (name) => containerId(space, name) })
}

/** The ID of a container, as its runtime has it: 64 digits. */
function containerId(space: string, container: string): string {
  return Buffer.from(`${space} ${container}`).toString('hex').padEnd(64, '0').slice(-64)
}

async function tellKubelet(): Promise<void> {
  const pods = await cp.admin.list({ apiVersion: 'v1', kind: 'Pod' })
  kubelet.tell(pods.map((one) => ({ ...one, apiVersion: 'v1', kind: 'Pod' })))
}

async function tokenOf(name: string): Promise<string> {
  const { agentSpace: namespace } = WHY_INSTALL
  await cp.admin.apply({
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { namespace, name: 'spire-agent' },
  })
  const { body } = await cp.admin.request({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/spire-agent/token`,
    body: {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: {
        audiences: ['spire-server'],
        expirationSeconds: TOKEN_SECONDS,
        boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid: uids.get(`${namespace}/${name}`) },
      },
    },
  })
  const file = join(cp.folder, 'agent.token')
  writeFileSync(file, stringAt(body, 'status', 'token') ?? '', { mode: 0o600 })
  return file
}

/** What the process of a container gets, as IDs; its agent logs the attestation meanwhile. */
async function ask(
  of: Workloads,
  { space }: WhySlot,
  container = 'app',
  id = containerId(space, container),
): Promise<string> {
  const [answer] = await of.ask([cgroups.place(uids.get(`${space}/llama`) ?? '', id)])
  return (answer?.svids ?? []).map(({ spiffeId }) => spiffeId).join(' ')
}

/** Writes the cluster as it is, and the entries of its server. */
async function dump(name: string): Promise<readonly string[]> {
  const lists = await Promise.all(
    DUMPED.map(async ([apiVersion, kind]) =>
      (await cp.admin.list({ apiVersion, kind })).map((one) => ({ ...one, apiVersion, kind })),
    ),
  )
  const write = (file: string, content: unknown): void =>
    writeFileSync(join(cp.folder, file), JSON.stringify(content))
  write(`${name}.json`, { apiVersion: 'v1', kind: 'List', items: lists.flat() })
  write(`${name}-scm.json`, spire.config())
  writeFileSync(join(cp.folder, `${name}-entries.json`), await spire.ask('entry', 'show', '-output', 'json'))
  return ['--offline', '-f', `${name}.json`, '--scm-config', `${name}-scm.json`, ...SETTINGS]
}

interface Said {
  readonly line: string
  readonly broken: string | undefined
  readonly notKnown: string | undefined
  readonly code: number
  readonly text: string
}

interface Given {
  readonly files: readonly string[]
  /** Undefined: none. */
  readonly entries: string | undefined
  readonly log: string | undefined
}

async function asked({ space, container }: WhySlot, { files, entries, log }: Given, env = {}): Promise<Said> {
  // When they are read, an agent has had the time to hear of them.
  const asOf = new Date(Date.now() + 60_000).toISOString()
  const args = [
    'why',
    'llama',
    '-n',
    space,
    '-c',
    container,
    ...(entries === undefined ? [] : ['--entries', entries, '--as-of', asOf]),
    ...(log === undefined ? [] : ['--agent-log', log]),
    ...files,
  ]
  const text = await inProcess(args, cp.folder, { COLUMNS: '2000', ...env })
  const { stdout, stderr } = await inProcess([...args, '-o', 'json'], cp.folder, env)
  if (stdout === '') throw new Error(stderr)
  const [chain] = listAt(JSON.parse(stdout), 'chains')
  return {
    line: firstSentence(text.stdout),
    broken: stringAt(chain, 'broken'),
    notKnown: stringAt(chain, 'notKnown'),
    code: text.code,
    text: `${text.stdout}${text.stderr}`,
  }
}

/** What the agent has logged since a place in its log, in a file of its own. */
function logSince(program: RunningAgent['program'], from: number, name: string): string {
  const file = `${name}.log`
  writeFileSync(join(cp.folder, file), readFileSync(program.log, 'utf8').slice(from))
  return file
}

function lengthOf({ program }: RunningAgent): number {
  return readFileSync(program.log, 'utf8').length
}

/** The entries of one pod. */
async function entriesOf({
  space,
}: WhySlot): Promise<readonly { readonly entryId: string; readonly flags: readonly string[] }[]> {
  const uid = `k8s:pod-uid:${uids.get(`${space}/llama`) ?? ''}`
  return (await spire.entries())
    .filter(({ selectors }) => selectors.includes(uid))
    .map(({ entryId, spiffeId, parentId, selectors }) => ({
      entryId,
      flags: [
        '-entryID',
        entryId,
        '-spiffeID',
        spiffeId,
        '-parentID',
        parentId,
        ...selectors.flatMap((one) => ['-selector', one]),
      ],
    }))
}

/** What happens to a slot beside its objects, before it is asked about; the log of a process of it is made in any case. */
const HAPPENS: Readonly<Record<string, (slot: WhySlot) => Promise<Partial<Given>>>> = {
  'entry deleted': async (slot) => {
    for (const { entryId } of await entriesOf(slot)) await spire.ask('entry', 'delete', '-entryID', entryId)
    return {}
  },
  'entry changed': async (slot) => {
    for (const { flags } of await entriesOf(slot))
      await spire.ask('entry', 'update', ...flags, '-selector', 'k8s:sa:other')
    return {}
  },
  'no entries given': () => Promise.resolve({ entries: undefined }),
  'no log given': () => Promise.resolve({ log: undefined }),
  // A kubelet tells of no container before its hook has ended, and then there is none to be asked about.
  'postStart hook': () => Promise.resolve({ log: undefined }),
  'kubelet refuses the agent': async (slot) => {
    const from = lengthOf(closed)
    await ask(beside, slot)
    return { log: logSince(closed.program, from, slot.space) }
  },
  'container not found': async (slot) => {
    const from = lengthOf(agent)
    await ask(workloads, slot, 'app', 'f'.repeat(64))
    return { log: logSince(agent.program, from, slot.space) }
  },
  'other selectors': async (slot) => {
    const from = lengthOf(agent)
    await ask(workloads, slot, 'proxy')
    return { log: logSince(agent.program, from, slot.space) }
  },
  'agent cannot sync': (slot) => {
    // What the last test of this file sees a real agent write when its server is gone.
    const file = `${slot.space}.log`
    writeFileSync(join(cp.folder, file), syncFailed.repeat(2))
    return Promise.resolve({ log: file })
  },
}
const syncFailed = `time="${new Date().toISOString()}" level=error msg="Synchronize failed" error="no route to host" subsystem_name=manager\n`

describe('every pod lacks its SVID by one fault, or by two, or by none', () => {
  let files: readonly string[]
  const given = new Map<WhySlot, Given>()
  beforeAll(async () => {
    const slots = [...singles.values(), ...bound.values(), ...pairs, ...healthy]
    const onNode = slots.filter(({ pod }) => pod.spec.nodeName === WHY_NODES.healthy)
    // In one place of the log for each, so that no other process of the container is in it.
    for (const slot of onNode) {
      const from = lengthOf(agent)
      await ask(workloads, slot, slot.container)
      given.set(slot, {
        files: [],
        entries: 'all-entries.json',
        log: logSince(agent.program, from, slot.space),
      })
    }
    await spire.scm().signal('SIGSTOP')
    const faulty = [
      ...singles,
      ...bound,
      ...pairs.map((slot, at) => [WHY_PAIRS[at]?.[0] ?? '', slot] as const),
    ]
    for (const [name, slot] of faulty) {
      const own = given.get(slot) ?? { files: [], entries: 'all-entries.json', log: undefined }
      given.set(slot, { ...own, ...(await HAPPENS[name]?.(slot)) })
    }
    files = await dump('all')
    await spire.scm().signal('SIGCONT')
  })
  const of = (slot: WhySlot): Given => {
    const own = given.get(slot)
    if (own === undefined) throw new Error(`nothing was made of ${slot.space}`)
    return { ...own, files }
  }

  test.each(WHY_FAULTS.filter(({ name }) => !LATER.has(name)).map((fault) => [fault.name, fault] as const))(
    '%s',
    async (name, fault) => {
      const slot = singles.get(name)
      if (slot === undefined) throw new Error(`there is no pod of ${name}`)
      const said = await asked(slot, of(slot))
      expect(said.line).toMatch(whyFirstLine(fault))
      expect(said.code).toBe(fault.isNotKnown === true ? 4 : 1)
    },
  )

  test.each(BOUND_FAULTS.map((fault) => [fault.name, fault] as const))(
    '%s, of a pod with a binding',
    async (name, fault) => {
      const slot = bound.get(name)
      if (slot === undefined) throw new Error(`there is no pod of ${name}`)
      const said = await asked(slot, of(slot))
      expect(said.line).toMatch(whyFirstLine(fault))
      expect(said.code).toBe(fault.isNotKnown === true ? 4 : 1)
    },
  )

  test.each(WHY_PAIRS.map((pair, at) => [...pair, at] as const))('%s before %s', async (earlier, _, at) => {
    const slot = pairs[at]
    const fault = WHY_FAULTS.find(({ name }) => name === earlier)
    if (slot === undefined || fault === undefined) throw new Error(`there is no pod of ${earlier}`)
    expect((await asked(slot, of(slot))).line).toMatch(fault.says)
  })

  test(`no fault of ${HEALTHY} healthy containers`, async () => {
    const lines: string[] = []
    for (const slot of healthy) {
      const { code, line } = await asked(slot, of(slot))
      lines.push(`${code} ${line}`)
    }
    expect(lines).toEqual(
      healthy.map(
        ({ space, name }) =>
          `0 ✓ container app of pod ${space}/llama holds spiffe://example.org/${name}/llama: all 8 hops are good`,
      ),
    )
  })
})

/** Gives the reader these rights, and no other. */
async function grant(rules: readonly unknown[]): Promise<void> {
  const rbac = 'rbac.authorization.k8s.io'
  await cp.apply([
    { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata: { name: 'why' }, rules },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'why' },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'why' },
      subjects: [{ apiGroup: rbac, kind: 'User', name: READER }],
    },
  ])
}

// It asks about what the suite above has written of a healthy pod.
describe('a cluster, read live', () => {
  const [slot] = healthy
  let kubeconfig: string | undefined
  const env = (): Record<string, string> => ({
    KUBECONFIG: (kubeconfig ??= cp.kubeconfig(READER)),
    HOME: cp.folder,
  })
  /** One right each, with the hop that is not known without it. */
  const RIGHTS = [
    { right: { apiGroups: [''], resources: ['pods'], verbs: ['list', 'get'] }, hop: undefined },
    { right: { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list'] }, hop: undefined },
    { right: { apiGroups: [''], resources: ['nodes'], verbs: ['list'] }, hop: 'on the agent' },
    { right: { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] }, hop: 'on the agent' },
    {
      right: { apiGroups: ['apps'], resources: ['statefulsets', 'deployments'], verbs: ['list'] },
      hop: 'installed',
    },
    {
      right: { apiGroups: ['spire.spiffe.io'], resources: ['clusterspiffeids'], verbs: ['list'] },
      hop: 'wanted',
    },
    {
      right: { apiGroups: ['spire.spiffe.io'], resources: ['clusterstaticentries'], verbs: ['list'] },
      hop: undefined,
    },
  ] as const
  const REST = [
    { apiGroups: ['apps'], resources: ['daemonsets', 'replicasets'], verbs: ['list'] },
    { apiGroups: ['batch', 'leaderworkerset.x-k8s.io'], resources: ['*'], verbs: ['list'] },
    {
      apiGroups: [
        'kleym.sonda.red',
        'inference.networking.k8s.io',
        'inference.networking.x-k8s.io',
        'llm-d.ai',
      ],
      resources: ['*'],
      verbs: ['get', 'list'],
    },
    { apiGroups: [''], resources: ['endpoints'], verbs: ['list'] },
  ]
  const ofCluster = (entries: string | undefined): Given => ({
    files: ['--scm-config', 'all-scm.json', ...SETTINGS],
    entries,
    log: `${slot?.space ?? ''}.log`,
  })

  test('all hops are good with all rights', async () => {
    await grant([...RIGHTS.map(({ right }) => right), ...REST])
    if (slot === undefined) throw new Error('there is no healthy pod')
    const said = await until(async () => {
      const now = await asked(slot, ofCluster('all-entries.json'), env())
      return now.code === 0 && now
    }, 'the rights to be in force, and all hops to be good')
    expect(said.line).toContain('all 8 hops are good')
  })

  test.each(RIGHTS.map(({ right, hop }) => [right.resources.join(', '), right, hop] as const))(
    'without the right to read %s: never broken, and the rule that would help',
    async (_, right, hop) => {
      if (slot === undefined) throw new Error('there is no healthy pod')
      await grant([...RIGHTS.map((one) => one.right).filter((one) => one !== right), ...REST])
      // Without entries: those show what a right would show.
      const args = ['why', 'llama', '-n', slot.space, '-c', 'app', ...ofCluster(undefined).files]
      let said = { code: 0, stdout: '', stderr: '' }
      await until(async () => {
        said = await inProcess(args, cp.folder, { COLUMNS: '2000', ...env() })
        return `${said.stdout}${said.stderr}`.includes('forbidden')
      }, 'the right to be withdrawn')
      const text = `${said.stdout}${said.stderr}`
      expect(said.code).not.toBe(0)
      expect(text).not.toContain('broken at')
      for (const resource of right.resources)
        expect(text).toMatch(new RegExp(`resources: \\[[^\\]]*${resource}`))
      // Without pods there is no report, and no hop hangs on static entries or namespaces alone.
      const { stdout } =
        hop === undefined ? NO_REPORT : await inProcess([...args, '-o', 'json'], cp.folder, env())
      const [chain] = listAt(JSON.parse(stdout), 'chains')
      const at = listAt(chain, 'hops').find((one) => stringAt(one, 'hop') === hop)
      expect(stringAt(at, 'state')).toBe(hop === undefined ? undefined : 'not known')
    },
  )
})

/** Starts `why --watch` of a slot as a program of its own. */
function watching({ space }: WhySlot, name: string): Promise<Program> {
  const main = join(import.meta.dirname, '../../../plugin/src/main.ts')
  const args = [main, 'why', 'llama', '-n', space, '-c', 'app', '--watch']
  return cp.start({
    name,
    command: process.execPath,
    args: [...args, '--scm-config', join(cp.folder, 'all-scm.json'), ...SETTINGS],
    env: { HOME: cp.folder, KUBECONFIG: cp.kubeconfig(READER) },
  })
}

const rowsOf = ({ log }: Program): readonly string[] => readFileSync(log, 'utf8').split('\n')

describe('a pod is followed while it comes up', () => {
  beforeAll(async () => {
    await grant([{ apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list'] }])
  })

  test('until it holds its identity, as far as what is read shows', async () => {
    const slot = healthySlot('late')
    const { nodeName } = slot.pod.spec
    await put(objectsOfSlot(slot).slice(0, 1))
    const program = await watching(slot, 'watch')
    await put([slot.registration])
    delete slot.pod.spec.nodeName
    await put([slot.pod])
    await until(
      () => rowsOf(program).some((row) => row.includes('3 rendered broken') && row.includes('has no node')),
      'the pod without a node to be told of',
    )
    await cp.admin.request({
      method: 'POST',
      path: `/api/v1/namespaces/${slot.space}/pods/llama/binding`,
      body: {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name: 'llama' },
        target: { apiVersion: 'v1', kind: 'Node', name: nodeName },
      },
    })
    await program.end()
    const rows = rowsOf(program)
    const good = rows.flatMap((row) => /^\+\d+\.\ds llama app (\d) .* good: /.exec(row)?.[1] ?? [])
    expect([...new Set(good)].toSorted()).toEqual(['1', '2', '3', '5', '7', '8'])
    // The entries and the log are not given, and not waited for.
    expect(program.ended()).toBe('exit code 4')
    expect(rows.at(-2)).toContain('not known at hop 4, on the server')
  })

  test('until Ctrl-C, which is no error', async () => {
    const slot = singles.get('pod label')
    if (slot === undefined) throw new Error('there is no such pod')
    const program = await watching(slot, 'watch-ended')
    await until(() => rowsOf(program).some((row) => row.includes('1 wanted broken')), 'the first rows')
    await program.signal('SIGINT')
    await program.end()
    expect(program.ended()).toContain('SIGINT')
    expect(readFileSync(program.log, 'utf8')).not.toMatch(/error|Error/)
  })
})

test('SCM sees only objects with a label', async () => {
  const fault = WHY_FAULTS.find(({ name }) => name === 'label filter')
  const slot = slotWith('label filter')
  if (fault === undefined) throw new Error('there is no such fault')
  await spire.restart({ entryIDPrefix: 'prod', clusterSPIFFEIDLabelSelector: { managed: 'yes' } })
  await put(objectsOfSlot(slot).slice(0, 1))
  await put(objectsOfSlot(slot).slice(1))
  await until(
    async () => (await spire.entries()).every(({ entryId }) => !entryId.startsWith('prod.')),
    'SCM to take its entries away',
    SYNC_MS,
  )
  const said = await asked(slot, {
    files: await dump('label'),
    entries: 'label-entries.json',
    log: undefined,
  })
  expect(said.line).toMatch(whyFirstLine(fault))
})

test('SCM does not run, and a pod is new', async () => {
  const fault = WHY_FAULTS.find(({ name }) => name === 'SCM down')
  const slot = slotWith('SCM down')
  if (fault === undefined) throw new Error('there is no such fault')
  await spire.restart({ entryIDPrefix: 'prod' })
  await spire.scm().signal('SIGKILL')
  await put(objectsOfSlot(slot).slice(0, 1))
  await put(objectsOfSlot(slot).slice(1))
  const workload = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    namespace: WHY_INSTALL.serverSpace,
    name: 'spire-server',
  }
  await cp.admin.patch(workload, { status: workloadStatus(0) }, 'status')
  const said = await asked(slot, { files: await dump('down'), entries: 'down-entries.json', log: undefined })
  expect(said.line).toMatch(whyFirstLine(fault))
})

test('an agent whose server is gone writes what is read here as that', async () => {
  const from = lengthOf(agent)
  const config = join(cp.folder, 'spire-server.json')
  const server = readdirSync('/proc').find((pid) => /^\d+$/.test(pid) && commandOf(pid).includes(config))
  process.kill(Number(server), 'SIGKILL')
  const failed = await until(
    () => {
      const { syncFailures, syncError } = readAgentFacts(
        readFileSync(agent.program.log, 'utf8').slice(from),
        {
          podUid: undefined,
          container: 'app',
        },
      )
      return syncFailures >= 2 && syncError
    },
    'the agent to fail twice',
    SYNC_MS,
  )
  expect(failed).toMatch(/connect|Unavailable/)
})

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    // It has ended in the meantime.
    return ''
  }
}
