// One tenant whose pool many bindings name, and who edits it all the time; and a binding elsewhere, again and again: how long
// after its creation it is ready.
import { performance } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import type { JsonRecord } from '../../shared/src/core/json.ts'
import { until } from '@kleym/testing/wait.ts'
import type { ControlPlane } from './control-plane.ts'
import { binding, bindingId, conditionOf, estate, member, namespace, objective, pool } from './objects.ts'

export interface PoolEdits {
  readonly bindings: number
  readonly editsPerSecond: number
  /** How many labels the pool selects by; each is valid. */
  readonly labels: number
  readonly seconds: number
}

const TENANT = 'tenant'
export const ELSEWHERE = 'elsewhere'
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

/** Edits the tenant's pool for some time; how long each binding elsewhere took to be ready, in milliseconds. */
export async function readyBesideEdits(cp: ControlPlane, edits: PoolEdits): Promise<readonly number[]> {
  const { editsPerSecond, labels, seconds } = edits
  const over = performance.now() + seconds * 1000
  const edit = async (): Promise<void> => {
    const id = { apiVersion: 'inference.networking.k8s.io/v1', kind: 'InferencePool', name: 'llama' }
    for (let made = 0; performance.now() < over; made++) {
      const due = performance.now() + 1000 / editsPerSecond
      const selector = { matchLabels: labelsOf(labels, `edit-${made}`) }
      await cp.admin.patch({ ...id, namespace: TENANT }, { spec: { selector } })
      await pause(Math.max(0, due - performance.now()))
    }
  }
  const times: number[] = []
  const look = async (): Promise<void> => {
    for (let made = 0; performance.now() < over; made++) times.push(await readyElsewhere(cp, `new-${made}`))
  }
  await Promise.all([edit(), look()])
  return times
}

async function readyElsewhere(cp: ControlPlane, name: string): Promise<number> {
  await cp.apply(member(ELSEWHERE, name, { containerName: name }))
  const from = performance.now()
  await until(
    async () => conditionOf(await cp.admin.get(bindingId(ELSEWHERE, name)), 'Ready')?.['status'] === 'True',
    `${name} elsewhere to be ready`,
    120_000,
  )
  return performance.now() - from
}

/** Valid labels, the first of which changes. */
function labelsOf(count: number, value: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, at) => [`example.org/label-${at}`, at === 0 ? value : 'x']),
  )
}
