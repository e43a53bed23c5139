// The last hop: which SVIDs a process gets over the Workload API from a real agent, against what `who-selects` says of its
// container, for every container of some hundred pods; and the traps of docs/spire-facts.md that need an agent, by number.
// `KLEYM_SVID_SEED` asks for other pods.
import { splitSelector } from '../../../shared/src/core/predict/spire/prediction.ts'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '@kleym/testing/wait.ts'
import { listAt, stringAt, type JsonRecord } from '../../../shared/src/core/base/json.ts'
import type { Analysis } from '../../../shared/src/core/analysis/states/analysis.ts'
import type { Container, Pod } from '../../../shared/src/core/model/objects/pod.ts'
import { containerVerdicts, type Registration } from '../../../shared/src/core/predict/spire/registration.ts'
import { judgeSelector } from '../../../shared/src/core/predict/spire/attestor.ts'
import { readAgentLog } from '../../../shared/src/core/predict/verify/agent-log.ts'
import { readSvidText } from '../../../shared/src/core/predict/verify/svid-text.ts'
import { ensureClient } from '../../control-plane/client-binaries.ts'
import { startControlPlane, type ControlPlane } from '../../control-plane/control-plane.ts'
import { build, namespace, node, pod } from '../build-cluster.ts'
import { csid } from '../clusterspiffeid.ts'
import { analysisOfObjects, objectsOf } from '../compare.ts'
import { startSpire, TRUST_DOMAIN, type Spire } from '../spire.ts'
import { joinToken, startAgent } from './agent.ts'
import { cgroupPlaces, ContainerCgroups, requireCgroups } from './cgroup.ts'
import { startKubelet, type Kubelet } from './kubelet.ts'
import { agentPods, REGISTRATIONS, SPACE, statusOfVllm, type AgentPod } from './pods.ts'
import { Workloads, type HandedSvid, type SvidAnswer } from './workloads.ts'
import { randomOf } from '../generator.ts'

const SEED = Number(process.env['KLEYM_SVID_SEED'] ?? '20261122')
const PODS = 190
/** Of all of them, regular, init, native sidecar and ephemeral. */
const FEWEST_CONTAINERS = 500
const PERMISSION_DENIED = 7
/** The agent asks its server every five seconds, and that reads its own entries every five. */
const SYNC_MS = 120_000

/** A container as the suite asks for it. */
interface Asked {
  readonly pod: Pod
  readonly container: Container
  readonly procs: string
}

let cp: ControlPlane
let spire: Spire
let kubelet: Kubelet
let workloads: Workloads
let cgroups: ContainerCgroups
let root: string
let analysis: Analysis
const uids = new Set<string>()

beforeAll(async () => {
  const place = requireCgroups()
  cgroups = new ContainerCgroups(place)
  root = place.root
  cp = await startControlPlane({ controllers: [] })
  spire = await startSpire(cp)
  const { token, scm } = await joinToken(spire)
  await spire.restart(scm)
  kubelet = await startKubelet()
  const { socket } = await startAgent(cp, spire, {
    join: { joinToken: token },
    kubeletPort: kubelet.port,
  })
  workloads = new Workloads(socket)
  const made = agentPods(PODS, randomOf(SEED))
  await build(cp, [[node('n1'), namespace(SPACE)].map((object) => ({ object }))])
  await build(cp, [made.map(({ object }) => ({ object }))])
  for (const one of made) await report(one)
  await build(cp, [REGISTRATIONS.map((object) => ({ object }))])
  await tellKubelet()
  await synced('first')
})
afterAll(async () => {
  await workloads?.end()
  cgroups?.remove(uids)
  await kubelet?.stop()
  await cp?.stop()
})

/** The status that a kubelet would give a pod, and its ephemeral containers. */
async function report({ name, status, ephemeral }: AgentPod): Promise<void> {
  const id = { apiVersion: 'v1', kind: 'Pod', namespace: SPACE, name }
  if (ephemeral.length > 0)
    await cp.admin.patch(id, { spec: { ephemeralContainers: ephemeral } }, 'ephemeralcontainers')
  await cp.admin.patch(id, { status }, 'status')
}

async function podsNow(): Promise<readonly JsonRecord[]> {
  const items = await cp.admin.list({ apiVersion: 'v1', kind: 'Pod' })
  return items.map((item) => ({ ...item, apiVersion: 'v1', kind: 'Pod' }))
}

async function tellKubelet(change: (pod: JsonRecord) => JsonRecord = (one) => one): Promise<void> {
  kubelet.tell((await podsNow()).map(change))
}

/** One container pod that is asked until it has its identity: the agent has then seen every entry before that one. */
async function synced(name: string): Promise<void> {
  await spire.settled()
  const canary = pod(SPACE, `canary-${name}`, { labels: { [`canary-${name}`]: 'yes' } })
  await build(cp, [[{ object: canary }]])
  const status = statusOfVllm(`${'c'.repeat(56)}${Buffer.from(name.slice(0, 4).padEnd(4)).toString('hex')}`)
  await cp.admin.patch(
    { apiVersion: 'v1', kind: 'Pod', namespace: SPACE, name: `canary-${name}` },
    { status },
    'status',
  )
  const spec = {
    spiffeIDTemplate: `spiffe://${TRUST_DOMAIN}/canary/${name}`,
    podSelector: { matchLabels: { [`canary-${name}`]: 'yes' } },
  }
  await build(cp, [[{ object: csid(`canary-${name}`, spec) }]])
  await tellKubelet()
  await spire.settled()
  analysis = analysisOfObjects(await objectsOf(cp), spire.config())
  const asked = askedOf(({ ref }) => ref.name === `canary-${name}`)
  await until(
    async () => {
      const [answer] = await workloads.ask(asked.map(({ procs }) => procs))
      return answer?.svids.some(({ spiffeId }) => spiffeId.endsWith(`/canary/${name}`)) === true
    },
    'the agent to hold the newest entry',
    SYNC_MS,
  )
}

const STATUSES = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const

function askedOf(isMeant: (pod: Pod) => boolean, into = cgroups): readonly Asked[] {
  return analysis.snapshot.pods.read.filter(isMeant).flatMap((one) =>
    one.containers.map((container) => {
      const uid = one.uid ?? ''
      uids.add(uid)
      const id = STATUSES.flatMap((list) => listAt(one.status, list))
        .filter((status) => stringAt(status, 'name') === container.name)
        .map((status) => stringAt(status, 'containerID')?.replace('containerd://', ''))[0]
      if (id === undefined) throw new Error(`${one.ref.name} has no status of ${container.name}`)
      return { pod: one, container, procs: into.place(uid, id) }
    }),
  )
}

/** The SVIDs that `who-selects` says: those of a shared hint are one, whichever of them it is. */
function wantedOf({ pod: one, container }: Asked): readonly Registration[] {
  return containerVerdicts(analysis.now.prediction(), one, container).filter(
    ({ verdict }) => verdict === 'issued',
  )
}

/** What is wrong with an answer, in a line; undefined: nothing. */
function differenceOf(asked: Asked, { status, message, svids }: SvidAnswer): string | undefined {
  const wanted = wantedOf(asked)
  const where = `${asked.pod.ref.name} ${asked.container.name} (${asked.container.role})`
  const open = containerVerdicts(analysis.now.prediction(), asked.pod, asked.container).filter(
    ({ verdict }) => ['depends', 'unknown'].includes(verdict),
  )
  if (open.length > 0) return `${where}: not certain: ${open.map(({ why }) => why).join('; ')}`
  // An agent that does not find the container attests nothing, and one without an entry for it denies.
  if (
    status !== 0 &&
    wanted.length === 0 &&
    (status === PERMISSION_DENIED || asked.container.role === 'ephemeral')
  )
    return undefined
  if (status !== 0) return `${where}: status ${status} ${message}, wanted ${wanted.map(text).join(', ')}`
  const alone = wanted.filter(({ sharesHint }) => !sharesHint).map(text)
  const shared = Map.groupBy(
    wanted.filter(({ sharesHint }) => sharesHint),
    ({ hint }) => hint,
  )
  const rest = svids.map(text)
  for (const one of alone) {
    const at = rest.indexOf(one)
    if (at < 0) return `${where}: lacks ${one} of ${svids.map(text).join(', ')}`
    rest.splice(at, 1)
  }
  for (const [hint, group] of shared) {
    const at = rest.findIndex((one) => group.map(text).includes(one))
    if (at < 0) return `${where}: lacks one with hint ${hint}`
    rest.splice(at, 1)
  }
  return rest.length === 0 ? undefined : `${where}: has ${rest.join(', ')} beside what is predicted`
}

function text({
  spiffeId = '',
  hint,
}: {
  readonly spiffeId?: string | undefined
  readonly hint: string
}): string {
  return `${spiffeId} (${hint})`
}

async function answersOf(asked: readonly Asked[]): Promise<readonly SvidAnswer[]> {
  return workloads.ask(asked.map(({ procs }) => procs))
}

test(`seed ${SEED}: every container gets the SVIDs and hints that who-selects says`, async () => {
  const asked = askedOf(({ ref }) => !ref.name.startsWith('canary'))
  expect(asked.length).toBeGreaterThanOrEqual(FEWEST_CONTAINERS)
  const answers = await answersOf(asked)
  const differences = asked.flatMap((one, at) => {
    const answer = answers[at]
    return (answer === undefined ? 'no answer' : differenceOf(one, answer)) ?? []
  })
  expect(differences).toEqual([])
  const counts = Map.groupBy(answers, ({ svids }) => svids.length)
  const roles = Map.groupBy(asked, ({ container }) => container.role)
  process.stdout.write(
    `seed ${SEED}: ${asked.length} containers (${[...roles].map(([role, all]) => `${all.length} ${role}`).join(', ')}); ` +
      `SVIDs of a container: ${[...counts]
        .toSorted(([a], [b]) => a - b)
        .map(([count, all]) => `${count} in ${all.length}`)
        .join(', ')}\n`,
  )
  // None, one and several: else the pods show nothing.
  for (const count of [0, 1, 2, 3]) expect(counts.get(count)?.length ?? 0).toBeGreaterThan(5)
  expect(roles.get('ephemeral')?.length ?? 0).toBeGreaterThan(5)
})

test('a process is found in a cgroup of each hierarchy that can be written to, of version 1 or 2', async () => {
  for (const place of cgroupPlaces()) {
    const here = new ContainerCgroups(place)
    const asked = askedOf(({ ref }) => /^w0[01]/.test(ref.name), here)
    // Not in a cgroup of another hierarchy yet.
    const fresh = new Workloads(workloads.socket)
    try {
      const answers = await fresh.ask(asked.map(({ procs }) => procs))
      const differences = asked.flatMap((one, at) => {
        const answer = answers[at]
        return (answer === undefined ? 'no answer' : differenceOf(one, answer)) ?? []
      })
      expect({ place, differences }).toEqual({ place, differences: [] })
      expect(answers.filter(({ svids }) => svids.length > 0).length).toBeGreaterThan(20)
    } finally {
      await fresh.end()
      // Those of the suite's own hierarchy are in use until its end.
      if (place.root !== root) here.remove(asked.map(({ pod: one }) => one.uid ?? ''))
    }
    process.stdout.write(`cgroups of version ${place.version} (${place.root}): ${asked.length} containers\n`)
  }
})

test('trap 12: the first SVID is that of the smallest entry ID, and no other order counts', async () => {
  const asked = askedOf(({ ref }) => !ref.name.startsWith('canary'))
  const answers = await answersOf(asked)
  const entries = await spire.entries()
  let several = 0
  for (const [at, { svids }] of answers.entries()) {
    if (svids.length < 2) continue
    several++
    const uid = asked[at]?.pod.uid ?? ''
    const own = entries.filter(({ selectors }) => selectors.includes(`k8s:pod-uid:${uid}`))
    const order = own
      .filter(({ spiffeId }) => svids.some((one) => one.spiffeId === spiffeId))
      .toSorted((left, right) => (left.entryId < right.entryId ? -1 : 1))
      .map(({ spiffeId }) => spiffeId)
    expect(svids.map(({ spiffeId }) => spiffeId)).toEqual(order)
  }
  expect(several).toBeGreaterThan(50)
})

test('trap 13: of two entries with one hint the Workload API hands out the older entry alone', async () => {
  const created = new Map(
    listAt(JSON.parse(await spire.ask('entry', 'show', '-output', 'json')), 'entries').map((entry) => [
      `spiffe://${TRUST_DOMAIN}${stringAt(entry, 'spiffe_id', 'path') ?? ''}`,
      { at: Number(stringAt(entry, 'created_at')), id: stringAt(entry, 'id') ?? '' },
    ]),
  )
  const asked = askedOf(
    ({ labels }) => labels.get('whole') === 'yes' && labels.get('second') === 'yes',
  ).filter(({ container }) => container.role !== 'ephemeral')
  expect(asked.length).toBeGreaterThan(10)
  const answers = await answersOf(asked)
  for (const [at, { svids }] of answers.entries()) {
    const name = asked[at]?.pod.ref.name ?? ''
    const both = ['whole', 'second'].map((part) => `spiffe://${TRUST_DOMAIN}/${part}/${name}`)
    const [oldest] = both.toSorted((left, right) => {
      const [a, b] = [created.get(left), created.get(right)]
      return (a?.at ?? 0) - (b?.at ?? 0) || ((a?.id ?? '') < (b?.id ?? '') ? -1 : 1)
    })
    expect(svids.filter(({ hint }) => hint === 'shared').map(({ spiffeId }) => spiffeId)).toEqual([oldest])
  }
})

test('trap 17: an image counts under the name of its status, and an ephemeral container gets nothing', async () => {
  const ephemeral = askedOf(() => true).filter(({ container }) => container.role === 'ephemeral')
  expect((await answersOf(ephemeral)).flatMap(({ svids }): readonly HandedSvid[] => svids)).toEqual([])
  const asked = askedOf(
    ({ labels, ref }) => labels.get('image') === 'yes' && !ref.name.startsWith('canary'),
  ).filter(({ container }) => container.name === 'app')
  const hasImage = async (): Promise<number> =>
    (await answersOf(asked)).filter(({ svids }) => svids.some(({ spiffeId }) => spiffeId.includes('/image/')))
      .length
  expect(await hasImage()).toBe(asked.length)
  // The same pods before the node has pulled the image: the spec names it, and that does not count.
  await tellKubelet((one) =>
    JSON.parse(
      JSON.stringify(one).replaceAll('"image":"registry.example/app:1","imageID"', '"image":"","imageID"'),
    ),
  )
  await until(async () => (await hasImage()) === 0, 'the agent to see that no image was pulled')
  await tellKubelet()
  await until(async () => (await hasImage()) === asked.length, 'the agent to see the images again')
})

test('the text of spire-agent api fetch x509 is read as what the Workload API has handed out', async () => {
  const command = await ensureClient('spire-agent')
  const asked = askedOf(({ ref }) => !ref.name.startsWith('canary')).filter(
    ({ container }) => container.role === 'regular',
  )
  const answers = await answersOf(asked)
  for (const count of [0, 1, 3]) {
    const at = answers.findIndex(({ svids }) => svids.length === count)
    const printed = await workloads.print(asked[at]?.procs ?? '', command)
    const svids = answers[at]?.svids.map((one) => ({
      ...one,
      validUntil: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    }))
    expect({ printed, ...readSvidText(printed) }).toEqual({ printed, ok: true, svids })
  }
})

test("the agent's log tells the selectors of a process, and those of the nearest entry that fail", async () => {
  const asked = askedOf(({ ref }) => !ref.name.startsWith('canary')).filter(
    ({ container }) => container.role === 'regular',
  )
  const answers = await answersOf(asked)
  const log = readFileSync(join(cp.folder, 'spire-agent.log'), 'utf8')
  const lines = log.split('\n')
  const refused = lines.filter((line) => line.includes('No identity issued')).join('\n')
  for (const count of [0, 2]) {
    const one = asked[answers.findIndex(({ svids }) => svids.length === count)]
    if (one === undefined) throw new Error(`no container has ${count} SVIDs`)
    const of = { podUid: one.pod.uid, container: one.container.name }
    const whole = readAgentLog(log, of)
    const own = [`k8s:container-name:${of.container}`, `k8s:ns:${SPACE}`, `k8s:pod-uid:${of.podUid ?? ''}`]
    expect(whole).toMatchObject({ ok: true, isWhole: true })
    const selectors = whole.ok ? whole.selectors : []
    expect(selectors).toEqual(expect.arrayContaining(own))
    // Each of them is one that the rules of the prediction know, and would match.
    const unknown = selectors.filter(
      (selector) => judgeSelector(one.pod, one.container, splitSelector(selector)).match !== 'yes',
    )
    expect(unknown).toEqual([])
    const part = readAgentLog(refused, of)
    expect(count === 0 ? part : { ok: true, isWhole: false, selectors: own }).toEqual({
      ok: true,
      isWhole: false,
      selectors: own,
    })
  }
})

test('trap 18: a static pod has the identity where the kubelet knows it by the UID of its mirror, and not where it does not', async () => {
  const name = 'mirror'
  const mirror = pod(SPACE, name, {
    annotations: { 'kubernetes.io/config.mirror': 'abc' },
    labels: { whole: 'yes' },
  })
  await build(cp, [[{ object: mirror }]])
  const containerId = 'd'.repeat(64)
  const status = statusOfVllm(containerId)
  await cp.admin.patch({ apiVersion: 'v1', kind: 'Pod', namespace: SPACE, name }, { status }, 'status')
  await synced('mirror')
  const asked = askedOf(({ ref }) => ref.name === name)
  const [first] = asked
  if (first === undefined) throw new Error('there is no mirror pod')
  const verdicts = containerVerdicts(analysis.now.prediction(), first.pod, first.container)
  expect(verdicts.filter(({ verdict }) => verdict === 'issued')).toEqual([])
  expect(
    verdicts.some(({ verdict, why }) => verdict === 'depends' && why?.includes('static pod') === true),
  ).toBe(true)
  const idsOf = async (): Promise<readonly string[]> =>
    (await answersOf(asked)).flatMap(({ svids }) => svids.map(({ spiffeId }) => spiffeId))
  expect(await idsOf()).toEqual([`spiffe://${TRUST_DOMAIN}/whole/${name}`])
  await tellKubelet((one) =>
    stringAt(one, 'metadata', 'name') === name
      ? {
          ...one,
          metadata: {
            name,
            namespace: SPACE,
            uid: '0123456789abcdef0123456789abcdef',
            labels: { whole: 'yes' },
          },
        }
      : one,
  )
  await until(async () => (await idsOf()).length === 0, 'the agent to see the UID of the static pod')
})
