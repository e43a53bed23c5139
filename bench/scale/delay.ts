// How long an identity takes, from `apply` of a binding to the SVID in the hand of a process, beside what `delayOf` says of it: the real
// API server, operator, SCM, spire-server and spire-agent, with the intervals that they have by default. For each size so many entries are
// there already, of pods on another node. One binding after the other is applied, each at a random moment.
import process from 'node:process'
import { stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import {
  delayOf,
  DEFAULT_RELOAD_SECONDS,
  type DelayPart,
} from '../../shared/src/core/analysis/budgets/delay.ts'
import { DEFAULT_GC_SECONDS } from '../../shared/src/core/analysis/budgets/scm-pass.ts'
import type { ControlPlane } from '../../test/control-plane/control-plane.ts'
import { estate, outputsOf, poolOnly } from '../../test/control-plane/objects.ts'
import { startLeading, startOperatorPlane } from '../../test/control-plane/operator.ts'
import { joinToken, startAgent } from '../../test/svid/agent/agent.ts'
import { cgroupPlace, ContainerCgroups } from '../../test/svid/agent/cgroup.ts'
import { startKubelet, type Kubelet } from '../../test/svid/agent/kubelet.ts'
import { statusOfVllm } from '../../test/svid/agent/pods.ts'
import { Workloads } from '../../test/svid/agent/workloads.ts'
import { namespace, node, pod } from '../../test/svid/build-cluster.ts'
import { csid } from '../../test/svid/clusterspiffeid.ts'
import { CLASS, startSpire, TRUST_DOMAIN, type Spire } from '../../test/svid/spire.ts'
import { pauseFor, until } from '@kleym/testing/wait.ts'
import { createAll } from '../operator/measure.ts'

/** The node of the pods that are asked, and that of all others. */
const NODE = 'n1'
const OTHER_NODE = 'n2'
const FILLER = 'filler'
const LOOK_MS = 200
const MAX_MS = 300_000

/** Seconds until the operator, SCM, and the server with the agent had done their part. */
type Steps = readonly [operator: number, scm: number, svid: number]

/** A pod that is asked for its SVIDs. */
interface Asked {
  readonly space: string
  readonly uid: string
  /** The file of its cgroup. */
  readonly procs: string
}

/** Everything that runs for one size. */
interface Stack {
  readonly cp: ControlPlane
  readonly spire: Spire
  readonly workloads: Workloads
  readonly asked: readonly Asked[]
}

/** Writes for each size the seconds that were measured and those of the model. */
export async function delayTable(
  sizes: readonly number[],
  { executable, trials }: { readonly executable: string; readonly trials: number },
): Promise<void> {
  const head = [
    'entries',
    'trials',
    'operator',
    'SCM',
    'server and agent',
    'all',
    'longest',
    'model',
    'at most',
    'ratio',
  ]
  process.stdout.write(`seconds, measured / of the model\n${lineOf(head)}`)
  for (const size of sizes) {
    const { entries, all } = await measure(size, executable, trials)
    const model = delayOf({ entries, made: 1 })
    const parts = [['operator'], ['SCM'], ['server', 'agent']].map((names) =>
      sum(
        model.parts
          .filter(({ name }) => names.includes(name))
          .map(({ typicalSeconds }: DelayPart) => typicalSeconds),
      ),
    )
    const totals = all.map(sum)
    const mean = sum(totals) / trials
    process.stdout.write(
      lineOf([
        String(entries),
        String(trials),
        ...parts.map(
          (part, at) =>
            `${(sum(all.map((steps) => steps[at] ?? 0)) / trials).toFixed(2)} / ${part.toFixed(2)}`,
        ),
        mean.toFixed(2),
        Math.max(...totals).toFixed(2),
        model.typicalSeconds.toFixed(2),
        model.mostSeconds.toFixed(2),
        (mean / model.typicalSeconds).toFixed(2),
      ]),
    )
  }
}

async function measure(
  size: number,
  executable: string,
  trials: number,
): Promise<{ readonly entries: number; readonly all: readonly Steps[] }> {
  const place = cgroupPlace()
  if (!place.available) throw new Error(`${place.why}; ${place.fix}`)
  const say = (line: string): void => void process.stderr.write(`${size}: ${line}\n`)
  const cgroups = new ContainerCgroups(place)
  const uids: string[] = []
  const cp = await startOperatorPlane({ controllers: [], auditBodies: false })
  const kubelet = await startKubelet()
  let workloads: Workloads | undefined
  try {
    say('pods')
    const asked = await createPods(cp, { size, trials, kubelet, cgroups })
    uids.push(...asked.map(({ uid }) => uid))
    say('SPIRE')
    const spire = await startSpire(
      cp,
      { gcInterval: DEFAULT_GC_SECONDS * 1e9 },
      { reload: `${DEFAULT_RELOAD_SECONDS}s` },
    )
    const { token } = await joinToken(spire)
    await spire.restart({
      gcInterval: DEFAULT_GC_SECONDS * 1e9,
      parentIDTemplate: `spiffe://${TRUST_DOMAIN}/spire/agent/{{ if eq .NodeMeta.Name "${NODE}" }}join_token/${token}{{ else }}other{{ end }}`,
    })
    const { socket } = await startAgent(cp, spire, { join: { joinToken: token }, kubeletPort: kubelet.port })
    await until(async () => (await countOf(spire)) >= size, `${size} entries`, MAX_MS)
    workloads = new Workloads(socket)
    const operator = await startLeading(cp, {
      command: [executable],
      flags: [`--clusterspiffeid-class-name=${CLASS}`],
    })
    const entries = await countOf(spire)
    const all: Steps[] = []
    for (const one of asked) {
      // At any moment of SCM's and the agent's timers alike.
      await pauseFor(Math.random() * DEFAULT_GC_SECONDS * 1000)
      const steps = await trial({ cp, spire, workloads, asked }, one)
      say(`${one.space}: ${steps.map((seconds) => seconds.toFixed(2)).join(', ')} s`)
      all.push(steps)
    }
    await operator.stop()
    return { entries, all }
  } finally {
    await workloads?.end()
    cgroups.remove(uids)
    await kubelet.stop()
    await cp.stop()
  }
}

/** Applies the binding of one pod, and sees how far it is at every look. */
async function trial({ cp, spire, workloads }: Stack, { space, procs }: Asked): Promise<Steps> {
  const id = `spiffe://${TRUST_DOMAIN}/ns/${space}/pool/llama`
  const from = performance.now()
  await cp.admin.create(poolOnly(space, 'llama'))
  const seconds = async (what: string, isDone: () => Promise<boolean>): Promise<number> => {
    await until(
      async () => {
        if (await isDone()) return true
        await pauseFor(LOOK_MS)
        return false
      },
      what,
      MAX_MS,
    )
    return (performance.now() - from) / 1000
  }
  const written = await seconds(
    `the output of ${space}`,
    async () => (await outputsOf(cp, space, 'llama')).length > 0,
  )
  const registered = await seconds(`the entry of ${space}`, async () =>
    (await spire.ask('entry', 'show', '-spiffeID', id, '-output', 'json')).includes(space),
  )
  const handed = await seconds(`the SVID of ${space}`, async () => {
    const [answer] = await workloads.ask([procs])
    return answer?.svids.some(({ spiffeId }) => spiffeId === id) === true
  })
  return [written, registered - written, handed - registered]
}

/** How many entries the server holds. */
async function countOf(spire: Spire): Promise<number> {
  return Number(/(\d+)/.exec(await spire.ask('entry', 'count'))?.[1] ?? 0)
}

/** The pods of other registrations, and one in a namespace of its own for each trial. */
async function createPods(
  cp: ControlPlane,
  {
    size,
    trials,
    kubelet,
    cgroups,
  }: {
    readonly size: number
    readonly trials: number
    readonly kubelet: Kubelet
    readonly cgroups: ContainerCgroups
  },
): Promise<readonly Asked[]> {
  await createAll(cp, [node(NODE), node(OTHER_NODE), namespace(FILLER)])
  const filler = Array.from({ length: size }, (_, at) =>
    pod(FILLER, `w-${at}`, { labels: { app: FILLER } }, { nodeName: OTHER_NODE }),
  )
  await createAll(cp, filler)
  await createAll(cp, [
    csid(FILLER, {
      spiffeIDTemplate: `spiffe://${TRUST_DOMAIN}/filler/{{ .PodMeta.Name }}`,
      podSelector: { matchLabels: { app: FILLER } },
    }),
  ])
  const spaces = Array.from({ length: trials }, (_, at) => `trial-${at}`)
  for (const space of spaces) {
    const [first, ...rest] = estate(space)
    await createAll(cp, first === undefined ? [] : [first])
    await createAll(cp, [
      ...rest,
      pod(space, 'llama', { labels: { app: 'llama' } }, { serviceAccountName: 'llama' }),
    ])
  }
  const asked: Asked[] = []
  const known: JsonRecord[] = []
  for (const [at, space] of spaces.entries()) {
    const containerId = String(at).padStart(64, 'c')
    const id = { apiVersion: 'v1', kind: 'Pod', namespace: space, name: 'llama' }
    await cp.admin.patch(id, { status: statusOfVllm(containerId) }, 'status')
    const made = await cp.admin.get(id)
    const uid = stringAt(made, 'metadata', 'uid') ?? ''
    known.push({ ...made, apiVersion: 'v1', kind: 'Pod' })
    asked.push({ space, uid, procs: cgroups.place(uid, containerId) })
  }
  kubelet.tell(known)
  return asked
}

function lineOf(cells: readonly string[]): string {
  return `${cells.map((cell) => cell.padStart(17)).join('')}\n`
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0)
}
