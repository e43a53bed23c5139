// The plans of `rename` carried out on a real API server with the operator, SCM, SPIRE server and agent: from the first deed to the last a
// process in each container asks again and again, and every policy lets in whatever it is handed, by the matching that is held against istiod.
import { readFileSync } from 'node:fs'
import process from 'node:process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '@kleym/testing/wait.ts'
import { dig, isRecord, stringAt, type JsonRecord } from '../../../shared/src/core/base/json.ts'
import { analysing, type Analysis } from '../../../shared/src/core/analysis/states/analysis.ts'
import { DEFAULT_VARIANT_LABEL_KEY } from '../../../shared/src/core/model/names.ts'
import { renaming, type Rename } from '../../../shared/src/core/answers/rename/rename.ts'
import { driveAtOnce } from '../../../shared/src/core/base/steps.ts'
import { HOLDING, RENAME_CASES, type RenameCase } from '../../../shared/test/rename/cases.ts'
import { letsIn } from '../../../shared/test/rename/istiod.ts'
import { deedsOf, type Deed } from '../../../shared/test/rename/walk.ts'
import { FIRST_BUILD_MS } from '../../control-plane/client-binaries.ts'
import type { ControlPlane } from '../../control-plane/control-plane.ts'
import { startOperator, startOperatorPlane } from '../../control-plane/operator.ts'
import { idOf } from '../../control-plane/rest.ts'
import { node } from '../build-cluster.ts'
import { analysisOfObjects, objectsOf } from '../compare.ts'
import { CLASS, startSpire, type Spire } from '../spire.ts'
import { joinToken, startAgent, type RunningAgent } from './agent.ts'
import { ContainerCgroups, requireCgroups } from './cgroup.ts'
import { startKubelet, type Kubelet } from './kubelet.ts'
import { container, statusOf } from './pods.ts'
import { Workloads, type AgentApi } from './workloads.ts'

const PROXY = 'proxy'
const OF_BINDINGS = [
  ['inference.networking.k8s.io/v1', 'InferencePool'],
  ['inference.networking.x-k8s.io/v1alpha2', 'InferenceObjective'],
  ['kleym.sonda.red/v1alpha1', 'InferenceIdentityBinding'],
] as const

let cp: ControlPlane
let spire: Spire
let kubelet: Kubelet
let agent: RunningAgent
let workloads: Workloads | undefined
let cgroups: ContainerCgroups
/** The UID of the pod of each case, and the cgroup of its container, by namespace. */
const places = new Map<string, { readonly uid: string; readonly procs: string }>()

beforeAll(async () => {
  cgroups = new ContainerCgroups(requireCgroups())
  cp = await startOperatorPlane({ controllers: [] })
  spire = await startSpire(cp)
  const { token, scm } = await joinToken(spire)
  await spire.restart(scm)
  kubelet = await startKubelet()
  agent = await startAgent(cp, spire, {
    join: { joinToken: token },
    kubeletPort: kubelet.port,
    agent: { experimental: { sync_interval: '1s' } },
  })
  workloads = new Workloads(agent.socket)
  await cp.apply([node('n1'), ...RENAME_CASES.flatMap(({ objects }) => objects)])
  await cp.apply(RENAME_CASES.map(podOf))
  await report()
  await (await startOperator(cp, { flags: [`--clusterspiffeid-class-name=${CLASS}`] })).leads()
}, FIRST_BUILD_MS)
afterAll(async () => {
  await workloads?.end()
  cgroups?.remove([...places.values()].map(({ uid }) => uid))
  await kubelet?.stop()
  await cp?.stop()
})

function podOf({ question: { namespace }, labels }: RenameCase): JsonRecord {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'llama-0', namespace, labels },
    spec: {
      nodeName: 'n1',
      serviceAccountName: 'runner',
      containers: [container(HOLDING), container(PROXY)],
    },
  }
}

/** Containers run: the status that a kubelet gives, what it tells the agent, and a cgroup for the one that asks. */
async function report(): Promise<void> {
  const told: JsonRecord[] = []
  for (const pod of await cp.admin.list({ apiVersion: 'v1', kind: 'Pod' })) {
    const namespace = stringAt(pod, 'metadata', 'namespace') ?? ''
    const uid = stringAt(pod, 'metadata', 'uid') ?? ''
    const containers: unknown = dig(pod, 'spec', 'containers')
    const statuses = (Array.isArray(containers) ? containers : []).filter(isRecord).map(statusOf)
    const status = { phase: 'Running', containerStatuses: statuses }
    await cp.admin.patch({ apiVersion: 'v1', kind: 'Pod', namespace, name: 'llama-0' }, { status }, 'status')
    told.push({ ...pod, apiVersion: 'v1', kind: 'Pod', status })
    const [first] = statuses
    const id = (stringAt(first, 'containerID') ?? '').replace('containerd://', '')
    places.set(namespace, { uid, procs: cgroups.place(uid, id) })
  }
  kubelet.tell(told)
}

/** The IDs that the agent hands to the container of a case: all of them, or the one that a proxy presents. */
async function handed({ question: { namespace } }: RenameCase, api: AgentApi): Promise<readonly string[]> {
  const [answer] = (await workloads?.ask([places.get(namespace)?.procs ?? ''], api)) ?? []
  return (answer?.svids ?? []).map(({ spiffeId }) => spiffeId)
}

/** The plan for the cluster as it is. */
async function planOf({ question, consumers }: RenameCase): Promise<Rename> {
  const objects = [...(await objectsOf(cp, OF_BINDINGS)), ...consumers.map((value) => ({ value }))]
  const { snapshot: read, config: settled, settings } = analysisOfObjects(objects, spire.config())
  const config = { ...settled, variantLabelKey: DEFAULT_VARIANT_LABEL_KEY }
  const analysis: Analysis = driveAtOnce(analysing(read, config, settings))
  return driveAtOnce(
    renaming(analysis, question, {
      analyse: (snapshot) => analysing(snapshot, config, settings),
      drive: driveAtOnce,
    }),
  )
}

/** Asks all the time, and keeps what a policy refuses. */
class Asking {
  readonly refused: string[] = []
  asked = 0
  policies: readonly JsonRecord[]
  readonly #of: RenameCase
  #isOver = false
  readonly #done: Promise<void>

  constructor(of: RenameCase) {
    this.#of = of
    this.policies = of.consumers
    this.#done = this.#ask()
  }

  async end(): Promise<void> {
    this.#isOver = true
    await this.#done
  }

  async #ask(): Promise<void> {
    while (!this.#isOver) {
      for (const api of ['Workload API', 'SDS'] as const) {
        const { policies } = this
        const ids = await handed(this.#of, api)
        this.asked++
        if (ids.length === 0) this.refused.push(`${api}: nothing was handed out`)
        for (const policy of [...policies, ...this.policies])
          for (const id of ids)
            if (!letsIn(policy, id))
              this.refused.push(`${stringAt(policy, 'metadata', 'name') ?? ''} refuses ${id} (${api})`)
      }
    }
  }
}

async function carryOut({ put, remove }: Deed, asking: Asking): Promise<void> {
  if (put?.['kind'] === 'AuthorizationPolicy') {
    const name = stringAt(put, 'metadata', 'name')
    asking.policies = asking.policies.map((one) => (stringAt(one, 'metadata', 'name') === name ? put : one))
  } else if (put !== undefined) await cp.apply([put])
  else if (remove !== undefined) await cp.admin.delete(idOf(remove))
}

/** What a step is done by, as its check says. */
const DONE: Readonly<Record<Deed['step'], (one: RenameCase) => Promise<boolean>>> = {
  accept: () => Promise.resolve(true),
  // Of two entries with one hint the Workload API hands out the older: that the agent has the other is in its log.
  issue: ({ newId }) => Promise.resolve(readFileSync(agent.program.log, 'utf8').includes(newId)),
  switch: async (one) => String(await handed(one, 'Workload API')) === one.newId,
  remove: async (one) => String(await handed(one, 'Workload API')) === one.newId,
  forget: () => Promise.resolve(true),
}

let asked = 0

test('each container holds its old ID, and is answered for itself where calls overlap', async () => {
  for (const one of RENAME_CASES)
    await until(
      async () => String(await handed(one, 'Workload API')) === one.oldId,
      'the container to hold its old ID',
    )
  const overlapping = await Promise.all(RENAME_CASES.map((one) => handed(one, 'Workload API')))
  expect(overlapping.flat()).toEqual(RENAME_CASES.map(({ oldId }) => oldId))
})

test.each(RENAME_CASES)(
  '$question.kind in $question.namespace: nobody is refused at any step',
  async (one) => {
    const plan = await planOf(one)
    expect(plan.cutOffs).toEqual([])
    const deeds = deedsOf([...one.objects, ...one.consumers], plan)
    const asking = new Asking(one)
    try {
      for (const [at, deed] of deeds.entries()) {
        await carryOut(deed, asking)
        if (deeds[at + 1]?.step === deed.step) continue
        await until(() => DONE[deed.step](one), `step ${deed.step} to be done`)
        await spire.settled()
      }
    } finally {
      await asking.end()
    }
    asked += asking.asked
    expect(asking.refused).toEqual([])
    expect(await handed(one, 'SDS')).toEqual([one.newId])
  },
)

test('a refusal is seen: the policies of the beginning refuse what is held in the end', async () => {
  const one = RENAME_CASES.find(({ oldId, newId }) => oldId !== newId)
  if (one === undefined) throw new Error('no case changes an ID')
  const asking = new Asking(one)
  await asking.end()
  expect(asking.refused).not.toEqual([])
  process.stdout.write(`asked ${asked} times in ${RENAME_CASES.length} renames\n`)
})
