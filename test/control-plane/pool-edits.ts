// One tenant whose pool many bindings name, and who edits it all the time; and a binding elsewhere, again and again: how long
// after its creation it is ready.
import { performance } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { within } from '@kleym/testing/wait.ts'
import type { ControlPlane } from './control-plane.ts'
import { binding, conditionOf, estate, namespace, objective, pool } from './objects.ts'
import { watched, type Watched } from './watched.ts'

export interface PoolEdits {
  readonly bindings: number
  readonly editsPerSecond: number
  /** How many labels the pool selects by; each is valid. */
  readonly labels: number
  readonly seconds: number
}

const TENANT = 'tenant'
export const ELSEWHERE = 'elsewhere'
/** Within which each is ready, or something is very wrong. */
const READY_MS = 120_000
/** How many requests are sent at the same time. */
const CONNECTIONS = 8

/** The objects of both tenants, before the edits. */
export async function createTenants(cp: ControlPlane, { bindings, labels }: PoolEdits): Promise<void> {
  const names = Array.from({ length: bindings }, (_, at) => `binding-${at}`)
  await cp.apply([...estate(ELSEWHERE), namespace(TENANT), pool(TENANT, 'llama', labelsOf(labels, 'first'))])
  const objects: JsonRecord[] = names.flatMap((name) => [
    objective(TENANT, name, 'llama'),
    binding(TENANT, name, { containerName: name }),
  ])
  const queue = objects.values()
  const create = async (): Promise<void> => {
    for (const object of queue) await cp.admin.create(object)
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, create))
}

/** Runs a wait of one binding, and may measure meanwhile. */
type Around = (wait: () => Promise<number>) => Promise<number>

/**
 * Edits the tenant's pool for some time, never if there are to be none a second; how long each binding elsewhere took to be
 * ready, in milliseconds.
 */
export async function readyBesideEdits(
  cp: ControlPlane,
  edits: PoolEdits,
  around: Around = (wait) => wait(),
): Promise<readonly number[]> {
  const { editsPerSecond, labels, seconds } = edits
  const over = performance.now() + seconds * 1000
  const edit = async (): Promise<void> => {
    if (editsPerSecond === 0) return
    const id = { apiVersion: 'inference.networking.k8s.io/v1', kind: 'InferencePool', name: 'llama' }
    for (let made = 0; performance.now() < over; made++) {
      const due = performance.now() + 1000 / editsPerSecond
      const selector = { matchLabels: labelsOf(labels, `edit-${made}`) }
      await cp.admin.patch({ ...id, namespace: TENANT }, { spec: { selector } })
      await pause(Math.max(0, due - performance.now()))
    }
  }
  const bindings = await watched(
    cp,
    `/apis/kleym.sonda.red/v1alpha1/namespaces/${ELSEWHERE}/inferenceidentitybindings`,
  )
  const times: number[] = []
  const look = async (): Promise<void> => {
    for (let made = 0; performance.now() < over; made++)
      times.push(await around(() => readyElsewhere(cp, bindings, `new-${made}`)))
  }
  await Promise.all([edit(), look()])
  bindings.end()
  return times
}

async function readyElsewhere(cp: ControlPlane, bindings: Watched, name: string): Promise<number> {
  await cp.apply([objective(ELSEWHERE, name, 'llama')])
  const isReady = bindings.next(
    (object) =>
      stringAt(object, 'metadata', 'name') === name && conditionOf(object, 'Ready')?.['status'] === 'True',
  )
  const from = performance.now()
  await cp.apply([binding(ELSEWHERE, name, { containerName: name })])
  await within(isReady, `${name} elsewhere to be ready`, READY_MS)
  return performance.now() - from
}

/** Valid labels, the first of which changes. */
function labelsOf(count: number, value: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, at) => [`example.org/label-${at}`, at === 0 ? value : 'x']),
  )
}
