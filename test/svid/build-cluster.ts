// What the suites put on the API server, and how it goes away again: batches of objects in waves of one age each, with
// references to UIDs that only the server gives.
import { dig, isRecord, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import type { ControlPlane } from '../control-plane/control-plane.ts'
import { idOf, RestError, type ObjectId } from '../control-plane/rest.ts'
import { until } from '@kleym/testing/wait.ts'
import type { Spire } from './spire.ts'

const AT_A_TIME = 8

/** An object to apply, and what is done to it afterwards. */
export interface PlacedObject {
  readonly object: JsonRecord
  /** A pod's, as a kubelet would report it. */
  readonly phase?: string
  /** Deleted after everything is there; a finalizer or the grace period of a pod with a node keeps it. */
  readonly terminating?: boolean
}

/** Pieces by age: `creationTimestamp` has whole seconds, and each wave but the first begins in a second of its own. */
export type Waves = readonly (readonly PlacedObject[])[]

/** Applies waves; `<uid:Kind/namespace/name>` in a text becomes the UID of an object of an earlier wave. */
export async function build(cp: ControlPlane, waves: Waves): Promise<void> {
  const uids = new Map<string, string>()
  for (const [at, wave] of waves.entries()) {
    if (at > 0) await nextSecond()
    const put = async ({ object, phase }: PlacedObject): Promise<void> => {
      const made = await placed(cp, withUids(object, uids))
      uids.set(uidKey(object), stringAt(made, 'metadata', 'uid') ?? '')
      if (phase !== undefined) await cp.admin.patch(idOf(object), { status: { phase } }, 'status')
    }
    // A busy API server can answer for a pod before it has the namespace that was asked for first.
    const isSpace = ({ object }: PlacedObject): boolean => object['kind'] === 'Namespace'
    await inParallel(wave.filter(isSpace), put)
    await inParallel(
      wave.filter((one) => !isSpace(one)),
      put,
    )
  }
  const going = waves.flat().filter(({ terminating }) => terminating === true)
  await inParallel(going, ({ object }) => cp.admin.delete(idOf(object)))
}

/** Creates an object, which costs the API server half of what it costs to apply it; one that is there already is applied. */
async function placed({ admin }: ControlPlane, object: JsonRecord): Promise<JsonRecord> {
  if (STAYS.has(String(object['kind']))) return admin.apply(object)
  return admin.create(object).catch((error: unknown) => {
    if (error instanceof RestError && error.status === 409) return admin.apply(object)
    throw error
  })
}

function uidKey(object: JsonRecord): string {
  const id = idOf(object)
  return `${id.kind}/${id.namespace === undefined ? '' : `${id.namespace}/`}${id.name}`
}

function withUids(object: JsonRecord, uids: ReadonlyMap<string, string>): JsonRecord {
  const text = JSON.stringify(object).replaceAll(/<uid:([^>]+)>/g, (whole, key: string) => {
    const uid = uids.get(key)
    if (uid === undefined) throw new Error(`${whole} stands for no object of an earlier wave`)
    return uid
  })
  const filled: unknown = JSON.parse(text)
  if (!isRecord(filled)) throw new TypeError('an object is a mapping')
  return filled
}

/** The server's clock is this machine's. */
async function nextSecond(): Promise<void> {
  const now = Math.floor(Date.now() / 1000)
  await until(() => Math.floor(Date.now() / 1000) > now, 'the next second', 5000)
}

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values()
  const one = async (): Promise<void> => {
    for (const item of queue) await work(item)
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, one))
}

/** What stays from batch to batch, so that only an apply takes away what an earlier one has said. */
const STAYS: ReadonlySet<string> = new Set(['Namespace', 'Node'])
/** Every other kind of which a batch leaves something. */
const GOES = [
  ['spire.spiffe.io/v1alpha1', 'ClusterSPIFFEID'],
  ['spire.spiffe.io/v1alpha1', 'ClusterStaticEntry'],
  ['v1', 'Pod'],
  ['v1', 'Endpoints'],
] as const

/** Removes what batches have built, and waits until the server holds no entry. */
export async function clear(cp: ControlPlane, spire: Spire): Promise<void> {
  for (const [apiVersion, kind] of GOES) {
    const objects = await cp.admin.list({ apiVersion, kind })
    await inParallel(objects, async (item) => {
      const object = { ...item, apiVersion, kind }
      if (dig(item, 'metadata', 'finalizers') !== undefined)
        await cp.admin.patch(idOf(object), { metadata: { finalizers: null } }).catch(ignoreGone)
      await deleteNow(cp, idOf(object))
    })
  }
  await until(async () => (await spire.entries()).length === 0, 'the server to hold no entry')
}

/** It went with its last finalizer. */
function ignoreGone(): void {}

async function deleteNow(cp: ControlPlane, id: ObjectId): Promise<void> {
  if (id.kind !== 'Pod') return cp.admin.delete(id)
  // There is no kubelet that would end it.
  const path = `/api/v1/namespaces/${id.namespace ?? ''}/pods/${id.name}?gracePeriodSeconds=0`
  await cp.admin.request({ method: 'DELETE', path })
}

/** A node; SCM knows it by its UID. */
export function node(name: string, labels: Readonly<Record<string, string>> = {}): JsonRecord {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, labels } }
}

export function namespace(name: string, labels: Readonly<Record<string, string>> = {}): JsonRecord {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }
}

/** A pod on node `n1` with service account `runner` and container `vllm`, unless `spec` says otherwise. */
export function pod(space: string, name: string, meta: JsonRecord = {}, spec: JsonRecord = {}): JsonRecord {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: space, ...meta },
    spec: {
      nodeName: 'n1',
      serviceAccountName: 'runner',
      containers: [{ name: 'vllm', image: 'vllm:1' }],
      ...spec,
    },
  }
}

/** A pod that the pool `llama` of an estate selects, on node `gpu-1`, unless `spec` says otherwise. */
export function llamaPod(space: string, name: string, spec: JsonRecord = {}): JsonRecord {
  const usual = { nodeName: 'gpu-1', serviceAccountName: 'llama' }
  return pod(space, name, { labels: { app: 'llama' } }, { ...usual, ...spec })
}

export function serviceAccount(space: string, name: string): JsonRecord {
  return { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: space } }
}
