// A stand-in for the scheduler and for the kubelets of the nodes: it gives a pod its node and the status of one that runs, tells the
// agent of the node which pods there are, and lays out a cgroup for each container. No container runs: `kubectl exec` starts
// processes that stand in their place.
import { randomBytes } from 'node:crypto'
import { until } from '@kleym/testing/wait.ts'
import { isRecord, listAt, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import type { ControlPlane } from '../../test/control-plane/control-plane.ts'
import { RestError } from '../../test/control-plane/rest.ts'
import type { ContainerCgroups } from '../../test/svid/agent/cgroup.ts'
import { startKubelet, type Kubelet } from '../../test/svid/agent/kubelet.ts'
import type { ContainerName } from './kubelet-server.ts'

const LOOK_MS = 500
const POD = { apiVersion: 'v1', kind: 'Pod' } as const
/** The lists of containers of a pod, with that of their statuses. */
const STATUSES = [
  ['containers', 'containerStatuses'],
  ['initContainers', 'initContainerStatuses'],
] as const
const ALL_STATUSES = [...STATUSES.map(([, statuses]) => statuses), 'ephemeralContainerStatuses'] as const

/** The nodes as they are now. */
export interface Nodes {
  readonly names: readonly string[]
  /** Where the attestor of a node's agent asks for the pods there. */
  kubeletPort(node: string): number
  /** The pod of a container; undefined: there is none. */
  podOf(name: ContainerName): JsonRecord | undefined
  /** The file into which a process of a container writes its PID; undefined: it has not started, or there are no cgroups. */
  procsOf(name: ContainerName): string | undefined
  /** Ends the processes in the cgroups and removes those. */
  stop(): Promise<void>
}

/**
 * Takes over the nodes that are there. Pods that are there and have no node keep none: a pod that waits for its node is an
 * example too.
 */
export async function startNodes(
  cp: ControlPlane,
  cgroups: ContainerCgroups | undefined,
  execPort: number,
): Promise<Nodes> {
  const names = (await cp.admin.list({ apiVersion: 'v1', kind: 'Node' })).flatMap(
    (node) => stringAt(node, 'metadata', 'name') ?? [],
  )
  for (const name of names) await report(cp, name, execPort)
  const kubelets = new Map<string, Kubelet>()
  for (const name of names) kubelets.set(name, await startKubelet())
  const left = new Set((await cp.admin.list(POD)).filter((pod) => nodeOf(pod) === undefined).map(uidOf))
  let pods: readonly JsonRecord[] = []
  const placed = new Set<string>()
  const look = async (): Promise<void> => {
    pods = (await cp.admin.list(POD)).map((pod) => ({ ...POD, ...pod }))
    for (const [name, kubelet] of kubelets) kubelet.tell(pods.filter((pod) => nodeOf(pod) === name))
    for (const [at, pod] of pods.entries()) {
      if (left.has(uidOf(pod))) continue
      await settle(cp, pod, names[at % names.length] ?? '').catch(ignoreRefusal)
    }
    const there = new Set(pods.map(uidOf))
    const gone = [...placed].filter((uid) => !there.has(uid))
    cgroups?.kill(gone)
    // Where the kernel still holds one, the next look removes it.
    cgroups?.remove(gone)
    for (const uid of gone) placed.delete(uid)
  }
  let looking = look()
  await looking
  const timer = setInterval(() => {
    // What goes wrong is seen again half a second later; an API server that has gone ends it all.
    looking = looking.then(look).catch(() => undefined)
  }, LOOK_MS)
  const podOf = ({ namespace, pod }: ContainerName): JsonRecord | undefined =>
    pods.find(
      (one) =>
        stringAt(one, 'metadata', 'namespace') === namespace && stringAt(one, 'metadata', 'name') === pod,
    )
  return {
    names,
    kubeletPort: (node) => kubelets.get(node)?.port ?? 0,
    podOf,
    procsOf: (name) => {
      const pod = podOf(name)
      const id = containerId(pod, name.container)
      if (pod === undefined || id === undefined || cgroups === undefined) return undefined
      placed.add(uidOf(pod))
      return cgroups.place(uidOf(pod), id)
    },
    stop: async () => {
      clearInterval(timer)
      await looking
      for (const kubelet of kubelets.values()) await kubelet.stop()
      cgroups?.kill(placed)
      await until(() => {
        cgroups?.remove(placed)
        return true
      }, 'the kernel to let go of the cgroups')
    },
  }
}

/** The object may have changed or gone since it was listed: the next look sees it as it is. */
function ignoreRefusal(error: unknown): void {
  if (!(error instanceof RestError)) throw error
}

function nodeOf(pod: JsonRecord): string | undefined {
  return stringAt(pod, 'spec', 'nodeName')
}

function uidOf(pod: JsonRecord): string {
  return stringAt(pod, 'metadata', 'uid') ?? ''
}

/** The digits that a container runtime has given a container. */
function containerId(pod: JsonRecord | undefined, container: string): string | undefined {
  return ALL_STATUSES.flatMap((list) => listAt(pod, 'status', list))
    .filter((status) => stringAt(status, 'name') === container)
    .map((status) => stringAt(status, 'containerID')?.replace(/^\w+:\/\//, ''))[0]
}

/** Tells the API server where to find what stands for the node's kubelet. */
async function report(cp: ControlPlane, name: string, port: number): Promise<void> {
  await cp.admin.patch(
    { apiVersion: 'v1', kind: 'Node', name },
    {
      status: {
        addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
        daemonEndpoints: { kubeletEndpoint: { Port: port } },
        conditions: [
          { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'a stand-in: nothing runs here' },
        ],
      },
    },
    'status',
  )
}

/** Does the next thing for a pod that scheduler or kubelet would do. */
async function settle(cp: ControlPlane, pod: JsonRecord, node: string): Promise<void> {
  const [namespace = '', name = ''] = [
    stringAt(pod, 'metadata', 'namespace'),
    stringAt(pod, 'metadata', 'name'),
  ]
  const path = `/api/v1/namespaces/${namespace}/pods/${name}`
  if (stringAt(pod, 'metadata', 'deletionTimestamp') !== undefined) {
    const options = { gracePeriodSeconds: 0, preconditions: { uid: uidOf(pod) } }
    await cp.admin.request({
      method: 'DELETE',
      path,
      body: { kind: 'DeleteOptions', apiVersion: 'v1', ...options },
    })
  } else if (nodeOf(pod) === undefined) {
    const target = { apiVersion: 'v1', kind: 'Node', name: node }
    const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name }, target }
    await cp.admin.request({ method: 'POST', path: `${path}/binding`, body })
  } else if (listAt(pod, 'status', 'containerStatuses').length === 0)
    await cp.admin.patch({ ...POD, namespace, name }, { status: statusOf(pod) }, 'status')
}

/** What a kubelet would report of a pod that runs. */
function statusOf(pod: JsonRecord): JsonRecord {
  const now = new Date().toISOString().replace(/\.\d+/, '')
  const conditions = ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready']
  return {
    phase: 'Running',
    startTime: now,
    conditions: conditions.map((type) => ({ type, status: 'True', lastTransitionTime: now })),
    ...Object.fromEntries(
      STATUSES.map(([list, statuses]) => [
        statuses,
        listAt(pod, 'spec', list)
          .filter(isRecord)
          .map(({ name, image }) => ({
            name,
            image,
            imageID: `${String(image)}@sha256:${'0'.repeat(64)}`,
            containerID: `containerd://${randomBytes(32).toString('hex')}`,
            ready: true,
            started: true,
            restartCount: 0,
            state: { running: { startedAt: now } },
          })),
      ]),
    ),
  }
}
