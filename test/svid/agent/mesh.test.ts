// Istio's proxies that take their certificates from SPIRE, beside the default identity of the SPIRE chart and bindings of each mode:
// what each container gets from a real server, SCM and agent before and after what `suggest` proposes, which of two SVIDs
// a proxy presents, and what Istio's own code says of it. Beside it the recipe of docs/consumers.md for a whole cluster.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { until } from '@kleym/testing/wait.ts'
import type { Analysis } from '../../../shared/src/core/analysis/states/analysis.ts'
import { compareBytes } from '../../../shared/src/core/base/text/bytes.ts'
import { dig, isRecord, stringAt, type JsonRecord } from '../../../shared/src/core/base/json.ts'
import { containerVerdicts } from '../../../shared/src/core/predict/spire/registration.ts'
import { ensureClient, FIRST_BUILD_MS } from '../../control-plane/client-binaries.ts'
import type { ControlPlane } from '../../control-plane/control-plane.ts'
import { istioOf } from '../../control-plane/istio.ts'
import { bindingId, member, perVariant, pool, poolOnly } from '../../control-plane/objects.ts'
import { startOperator, startOperatorPlane } from '../../control-plane/operator.ts'
import { ROOT } from '../../house/files.ts'
import { manifestsOf, suggestionsOf } from '../../../shared/test/suggest/suggestions-for.ts'
import { namespace, node } from '../build-cluster.ts'
import { csid, USUAL_ID } from '../clusterspiffeid.ts'
import { analysisOfObjects, objectsOf } from '../compare.ts'
import { CLASS, startSpire, TRUST_DOMAIN, type Spire } from '../spire.ts'
import { joinToken, startAgent, type AgentOptions, type RunningAgent } from './agent.ts'
import { ContainerCgroups, requireCgroups } from './cgroup.ts'
import { startKubelet, type Kubelet } from './kubelet.ts'
import { container, statusOf } from './pods.ts'
import { Workloads, type AgentApi } from './workloads.ts'

const ROLE = 'llm-d.ai/role'
const PROXY = 'istio-proxy'
/** The label of the recipe that pods of all pools bear, and the one of its namespaces. */
const [SERVED, IDENTITIES] = ['llm-d.ai/inferenceServing', 'example.org/model-identities']
/** So many that the chance to see one order alone is one in four million, for each mode. */
const MANY = 12

/** A namespace of pods with a proxy each, and what a binding there gives to the model's container. */
interface Space {
  readonly name: string
  readonly pods: number
  readonly ours: string
}
const POOL_ONLY: Space = { name: 'pool-only', pods: MANY, ours: '/ns/pool-only/pool/llama' }
const PER_VARIANT: Space = {
  name: 'per-variant',
  pods: MANY,
  ours: '/ns/per-variant/pool/llama/variant/decode',
}
const PER_OBJECTIVE: Space = { name: 'per-objective', pods: 2, ours: '/ns/per-objective/objective/chat' }
/** A namespace that moves to bindings by the recipe; one of its pods is of no pool. */
const RECIPE: Space = { name: 'recipe', pods: 2, ours: '/ns/recipe/objective/chat' }
/** One that gets a companion and no binding. */
const UNBOUND: Space = { name: 'unbound', pods: 1, ours: '' }
const SPACES = [POOL_ONLY, PER_VARIANT, PER_OBJECTIVE, UNBOUND, RECIPE]
const OUTSIDE = 'web'

/** One container, and the file of its cgroup. */
interface Place {
  readonly space: string
  readonly pod: string
  readonly uid: string
  readonly container: string
  readonly procs: string
}

let cp: ControlPlane
let spire: Spire
let kubelet: Kubelet
let agent: RunningAgent
let workloads: Workloads | undefined
let agentOptions: AgentOptions
let cgroups: ContainerCgroups
let places: readonly Place[] = []

beforeAll(async () => {
  cgroups = new ContainerCgroups(requireCgroups())
  await ensureClient('istio')
  cp = await startOperatorPlane({ controllers: [] })
  spire = await startSpire(cp)
  const { token, scm } = await joinToken(spire)
  await spire.restart(scm)
  kubelet = await startKubelet()
  agentOptions = {
    join: { joinToken: token },
    kubeletPort: kubelet.port,
    agent: { experimental: { sync_interval: '1s' } },
  }
  await startAgain()
  await cp.apply([
    node('n1'),
    csid('default', { fallback: true, hint: 'default' }),
    ...SPACES.flatMap(({ name }) => [namespace(name), pool(name, 'llama', { app: 'llama' })]),
  ])
  await cp.apply(SPACES.flatMap(podsOf))
  // Once per cluster, before anything else: nothing changes.
  await cp.apply(recipe())
  await report()
  const flags = [`--clusterspiffeid-class-name=${CLASS}`, `--variant-label-key=${ROLE}`]
  await (await startOperator(cp, { flags })).leads()
}, FIRST_BUILD_MS)
afterAll(async () => {
  await workloads?.end()
  cgroups?.remove(places.map(({ uid }) => uid))
  await kubelet?.stop()
  await cp?.stop()
})

/** The agent, from its beginning; with it the processes that ask. */
async function startAgain(): Promise<void> {
  await workloads?.end()
  await agent?.program.signal('SIGTERM')
  await agent?.program.end()
  agent = await startAgent(cp, spire, agentOptions)
  workloads = new Workloads(agent.socket)
}

function podsOf({ name, pods }: Space): readonly JsonRecord[] {
  const served = { app: 'llama', [ROLE]: 'decode', [SERVED]: 'true' }
  return [
    ...Array.from({ length: pods }, (_, at) => podOf(name, `llama-${at}`, served, at % 2 === 0)),
    ...(name === RECIPE.name ? [podOf(name, OUTSIDE, { app: OUTSIDE }, true)] : []),
  ]
}

/** A pod as Istio's webhook leaves it with the template `spire`; its proxy is a native sidecar or a container like others. */
function podOf(space: string, name: string, labels: JsonRecord, isNative: boolean): JsonRecord {
  const mount = { name: 'workload-socket', mountPath: '/run/secrets/workload-spiffe-uds', readOnly: true }
  const proxy = { ...container(PROXY), volumeMounts: [mount] }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: space, labels },
    spec: {
      nodeName: 'n1',
      serviceAccountName: 'llama',
      containers: [container('vllm'), ...(isNative ? [] : [proxy])],
      initContainers: isNative ? [{ ...proxy, restartPolicy: 'Always' }] : [],
      volumes: [{ name: 'workload-socket', csi: { driver: 'csi.spiffe.io', readOnly: true } }],
    },
  }
}

/** The recipe of the page, for the class of this suite's SCM. */
function recipe(): readonly JsonRecord[] {
  const page = readFileSync(join(ROOT, 'docs/consumers.md'), 'utf8')
  const [, text = ''] = /^## For a whole cluster\n[\s\S]*?```yaml\n([\s\S]*?)```/m.exec(page) ?? []
  return parseAllDocuments(text).flatMap((document) => {
    const object: unknown = document.toJS()
    return isRecord(object) ? [{ ...object, spec: { ...Object(object['spec']), className: CLASS } }] : []
  })
}

/** Containers run: the status that a kubelet gives, what it tells the agent, and a cgroup for each. */
async function report(): Promise<void> {
  const pods = await cp.admin.list({ apiVersion: 'v1', kind: 'Pod' })
  const found: Place[] = []
  const told: JsonRecord[] = []
  for (const pod of pods) {
    const field = (name: string): string => stringAt(pod, 'metadata', name) ?? ''
    const [space, name, uid] = [field('namespace'), field('name'), field('uid')]
    const statuses = (list: string): readonly JsonRecord[] => {
      const all: unknown = dig(pod, 'spec', list)
      return Array.isArray(all) ? all.filter(isRecord).map(statusOf) : []
    }
    const status = {
      phase: 'Running',
      containerStatuses: statuses('containers'),
      initContainerStatuses: statuses('initContainers'),
    }
    await cp.admin.patch({ apiVersion: 'v1', kind: 'Pod', namespace: space, name }, { status }, 'status')
    told.push({ ...pod, apiVersion: 'v1', kind: 'Pod', status })
    for (const one of [...status.containerStatuses, ...status.initContainerStatuses])
      found.push({
        space,
        pod: name,
        uid,
        container: stringAt(one, 'name') ?? '',
        procs: cgroups.place(uid, (stringAt(one, 'containerID') ?? '').replace('containerd://', '')),
      })
  }
  kubelet.tell(told)
  places = found
}

/** The IDs that the agent hands to each of these containers, in its order. */
async function held(of: readonly Place[], over?: AgentApi): Promise<readonly (readonly string[])[]> {
  const answers =
    (await workloads?.ask(
      of.map(({ procs }) => procs),
      over,
    )) ?? []
  return answers.map(({ svids }) => svids.map(({ spiffeId }) => spiffeId))
}

/** What the two containers of the pods of a pool are to hold. */
interface Wanted {
  readonly vllm: readonly string[]
  readonly [PROXY]: readonly string[]
}

/** By namespace, as the tests go on. Pods outside the pool always hold the ID of the service account. */
const wanted = new Map<string, Wanted>()
/** Each time that a container of the recipe's namespace was seen to hold nothing, once it had held something. */
const heldNothing: string[] = []

function accountOf(space: string): string {
  return `spiffe://${TRUST_DOMAIN}/ns/${space}/sa/llama`
}

function oursOf({ ours }: Space): string {
  return `spiffe://${TRUST_DOMAIN}${ours}`
}

/** Waits until every container holds what it is to, and asks kleym whether it says the same. */
async function come(...changes: readonly (readonly [Space, Wanted])[]): Promise<void> {
  for (const [{ name }, ids] of changes) wanted.set(name, ids)
  const all = places.map(({ space, pod, container: name }) =>
    sorted(
      pod === OUTSIDE ? [accountOf(space)] : (wanted.get(space)?.[name === PROXY ? PROXY : 'vllm'] ?? []),
    ),
  )
  await until(async () => {
    const now = (await held(places)).map(sorted)
    heldNothing.push(...places.filter(({ space }, at) => space === RECIPE.name && now[at] === '').map(nameOf))
    const at = now.findIndex((one, index) => one !== all[index])
    const place = places[at]
    if (place !== undefined) throw new Error(`${nameOf(place)} holds ${now[at]}, not ${all[at]}`)
    return true
  }, 'every container to hold what it is to')
  await spire.settled()
  expect(await predicted()).toEqual(all)
}

function sorted(ids: readonly string[]): string {
  return ids.toSorted(compareBytes).join(' ')
}

function nameOf({ space, pod, container: name }: Place): string {
  return `${space}/${pod} ${name}`
}

/** What `who-selects` says of each container. */
async function predicted(): Promise<readonly string[]> {
  const analysis: Analysis = analysisOfObjects(await objectsOf(cp), spire.config())
  return places.map((place) => {
    const pod = [...analysis.snapshot.pods.read].find(({ uid }) => uid === place.uid)
    const one = pod?.containers.find(({ name }) => name === place.container)
    if (pod === undefined || one === undefined) throw new Error(`${nameOf(place)} is not there`)
    return sorted(
      containerVerdicts(analysis.now.prediction(), pod, one)
        .filter(({ verdict }) => verdict === 'issued')
        .map(({ spiffeId }) => spiffeId ?? ''),
    )
  })
}

function proxiesOf(...spaces: readonly Space[]): readonly Place[] {
  const names = new Set(spaces.map(({ name }) => name))
  return places.filter(
    ({ space, pod, container: name }) => names.has(space) && pod !== OUTSIDE && name === PROXY,
  )
}

/** Whether Istio takes the certificate that each of these proxies presents for an identity; undefined: it has none. */
async function acceptedByIstio(of: readonly Place[]): Promise<readonly (boolean | undefined)[]> {
  const presented = (await held(of, 'SDS')).map(([id]) => id)
  const said = await istioOf(presented.flatMap((id) => id ?? []))
  let at = 0
  return presented.map((id) => (id === undefined ? undefined : said[at++] !== null))
}

/** Both containers hold the ID of the service account. */
function unbound({ name }: Space): Wanted {
  return { vllm: [accountOf(name)], [PROXY]: [accountOf(name)] }
}

/** The model's container holds what the binding gives, and the proxy these. */
function bound(space: Space, ...proxy: readonly string[]): Wanted {
  return { vllm: [oursOf(space)], [PROXY]: proxy }
}

/** The registration of the proxies of one pool. */
function companion({ name }: Space): JsonRecord {
  return csid(`${name}-istio-proxy`, {
    spiffeIDTemplate: USUAL_ID,
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } },
    podSelector: { matchLabels: { app: 'llama' } },
    workloadSelectorTemplates: [`k8s:container-name:${PROXY}`],
  })
}

const OF_BINDINGS = [
  ['inference.networking.k8s.io/v1', 'InferencePool'],
  ['inference.networking.x-k8s.io/v1alpha2', 'InferenceObjective'],
  ['kleym.sonda.red/v1alpha1', 'InferenceIdentityBinding'],
] as const

/** What `suggest` proposes for a pool. */
async function proposed({ name }: Space): Promise<readonly JsonRecord[]> {
  const analysis = analysisOfObjects(await objectsOf(cp, OF_BINDINGS), spire.config())
  return manifestsOf(suggestionsOf(analysis, { isPool: ({ meta }) => meta.namespace === name }))
}

/** Labels the namespace of the recipe, or takes the label off. */
async function label(value: 'moving' | 'moved' | null): Promise<void> {
  const id = { apiVersion: 'v1', kind: 'Namespace', name: RECIPE.name }
  await cp.admin.patch(id, { metadata: { labels: { [IDENTITIES]: value } } })
}

test('without bindings every container has the identity of its service account, and the recipe alone changes nothing', async () => {
  await come(...SPACES.map((space) => [space, unbound(space)] as const))
  heldNothing.length = 0
  expect(new Set(await acceptedByIstio(proxiesOf(...SPACES)))).toEqual(new Set([true]))
})

test('a binding of a whole pod gives the proxy an ID that Istio refuses, and PerObjective leaves it with none', async () => {
  const account = accountOf(RECIPE.name)
  await cp.apply([
    poolOnly(POOL_ONLY.name, 'llama'),
    perVariant(PER_VARIANT.name, 'llama', 'decode'),
    ...member(PER_OBJECTIVE.name, 'chat'),
  ])
  await label('moving')
  await come(
    [POOL_ONLY, bound(POOL_ONLY, oursOf(POOL_ONLY))],
    [PER_VARIANT, bound(PER_VARIANT, oursOf(PER_VARIANT))],
    [PER_OBJECTIVE, bound(PER_OBJECTIVE)],
    // By the registration of the proxies, and by the one that bridges.
    [RECIPE, { vllm: [account], [PROXY]: [account, account] }],
  )
  expect(new Set(await acceptedByIstio(proxiesOf(POOL_ONLY, PER_VARIANT)))).toEqual(new Set([false]))
  expect(new Set(await acceptedByIstio(proxiesOf(PER_OBJECTIVE)))).toEqual(new Set([undefined]))
})

test('with a companion the proxy beside PerObjective has the ID that Istio accepts alone, and beside the other modes it has two', async () => {
  const account = accountOf(RECIPE.name)
  const registrations = await proposed(PER_OBJECTIVE)
  expect(registrations.map(({ kind }) => kind)).toEqual(['ClusterSPIFFEID'])
  await cp.apply([...[POOL_ONLY, PER_VARIANT, UNBOUND].map(companion), ...registrations])
  await cp.apply(member(RECIPE.name, 'chat'))
  await come(
    [POOL_ONLY, bound(POOL_ONLY, oursOf(POOL_ONLY), accountOf(POOL_ONLY.name))],
    [PER_VARIANT, bound(PER_VARIANT, oursOf(PER_VARIANT), accountOf(PER_VARIANT.name))],
    [PER_OBJECTIVE, bound(PER_OBJECTIVE, accountOf(PER_OBJECTIVE.name))],
    // A companion takes the fallback from the other containers.
    [UNBOUND, { vllm: [], [PROXY]: [accountOf(UNBOUND.name)] }],
    [RECIPE, { vllm: [account, oursOf(RECIPE)], [PROXY]: [account, account] }],
  )
  expect(new Set(await acceptedByIstio(proxiesOf(PER_OBJECTIVE, UNBOUND)))).toEqual(new Set([true]))
})

test('of two SVIDs a proxy presents that of the smaller entry ID: another in one pod than in the next, the same after each start of the agent', async () => {
  const proxies = proxiesOf(POOL_ONLY, PER_VARIANT)
  const entries = (await spire.entries()).toSorted((left, right) => compareBytes(left.entryId, right.entryId))
  const inOrder = proxies.map(({ uid }) =>
    entries
      .filter(({ selectors }) => selectors.includes(`k8s:pod-uid:${uid}`))
      .map(({ spiffeId }) => spiffeId),
  )
  for (let start = 0; start < 3; start++) {
    if (start > 0) await startAgain()
    await until(async () => (await held(proxies)).every(({ length }) => length === 2), 'the agent to answer')
    for (let fetch = 0; fetch < 2; fetch++) {
      expect(await held(proxies)).toEqual(inOrder)
      expect(await held(proxies, 'SDS')).toEqual(inOrder.map(([first]) => [first]))
    }
  }
  for (const space of [POOL_ONLY, PER_VARIANT]) {
    const accepted = await acceptedByIstio(proxiesOf(space))
    const count = accepted.filter((one) => one === true).length
    process.stdout.write(`${space.name}: Istio accepts what ${count} of ${accepted.length} proxies present\n`)
    expect(new Set(accepted)).toEqual(new Set([true, false]))
  }
})

test('by the recipe the model ends with the objective and the proxy with the account, and no container holds nothing on the way, or on the way back', async () => {
  const account = accountOf(RECIPE.name)
  await label('moved')
  await come([RECIPE, bound(RECIPE, account)])
  expect(new Set(await acceptedByIstio(proxiesOf(RECIPE)))).toEqual(new Set([true]))
  await label('moving')
  await come([RECIPE, { vllm: [account, oursOf(RECIPE)], [PROXY]: [account, account] }])
  await cp.admin.delete(bindingId(RECIPE.name, 'chat'))
  await come([RECIPE, { vllm: [account], [PROXY]: [account, account] }])
  await label(null)
  await come([RECIPE, unbound(RECIPE)])
  expect(heldNothing).toEqual([])
})
