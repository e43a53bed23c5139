// What KServe's own controller makes of random LLMInferenceServices is what kleym expands from them offline.
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '@kleym/testing/wait.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dig, listAt, stringAt, type JsonRecord } from '../../../shared/src/core/base/json.ts'
import { readSnapshot } from '../../../shared/src/core/snapshot/index.ts'
import { FIRST_BUILD_MS } from '../client-binaries.ts'
import { kserveObjects } from '../module-crds.ts'
import { pool } from '../objects.ts'
import { freePorts } from '../ports.ts'
import { idOf } from '../rest.ts'
import { create, NAMESPACE, startMaker, type MakerPlane } from './maker-plane.ts'
import { CONFIGS, OTHER_POOL, SERVICES } from './random-services.ts'

const KSERVE = 'kserve'
const POOLS = 'inference.networking.k8s.io/v1'
/** What a controller may make of a service. */
const MADE = [
  { apiVersion: 'apps/v1', kind: 'Deployment' },
  { apiVersion: 'leaderworkerset.x-k8s.io/v1', kind: 'LeaderWorkerSet' },
  { apiVersion: POOLS, kind: 'InferencePool' },
]
/** Some twenty calls for each service, of twenty in a second. */
const MADE_MS = 240_000
const AT_ONCE = 10

/** Some services after the others: each turn is waited for by itself. */
const TURNS = Array.from({ length: Math.ceil(SERVICES.length / AT_ONCE) }, (_, turn) =>
  SERVICES.slice(turn * AT_ONCE, (turn + 1) * AT_ONCE),
)

let plane: MakerPlane
/** Those that KServe ships, in the namespace of its controller. */
let shipped: readonly JsonRecord[]

beforeAll(async () => {
  const [probes = 0] = await freePorts(1)
  plane = await startMaker('kserve', (cp, port) => {
    const certificates = join(cp.folder, 'k8s-webhook-server/serving-certs')
    mkdirSync(certificates, { recursive: true })
    copyFileSync(cp.serving.certificate, join(certificates, 'tls.crt'))
    copyFileSync(cp.serving.key, join(certificates, 'tls.key'))
    return {
      args: [
        `--kubeconfig=${cp.kubeconfig()}`,
        `--webhook-port=${port}`,
        `--health-probe-addr=127.0.0.1:${probes}`,
        '--metrics-addr=0',
      ],
      // Where it looks for the certificate of its webhooks.
      env: { TMPDIR: cp.folder },
    }
  })
  shipped = (await kserveObjects()).map((object) => ({
    ...object,
    metadata: { name: idOf(object).name, namespace: KSERVE },
  }))
  await create(plane, [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: KSERVE } },
    ...shipped,
    ...CONFIGS,
    pool(NAMESPACE, OTHER_POOL, { tier: 'gold' }),
  ])
}, FIRST_BUILD_MS)
afterAll(() => plane.cp.stop())

/** What an object comes to, as far as kleym reads it: names, owners, pods, selectors. By the name of each object. */
function shownOf(objects: readonly JsonRecord[]): Readonly<Record<string, unknown>> {
  const {
    templates: { read: templates },
    pools,
    podMakers,
  } = readSnapshot({
    objects: objects.map((value) => ({ value, ...(isUnread(value) && { isUnread: true as const }) })),
  })
  const pods = templates.map((pod) => [
    `${pod.ref.kind} ${pod.ref.name} ${pod.part}`.trim(),
    {
      labels: byKey(pod.labels),
      unknown: [...pod.unknownLabels].toSorted(),
      account: pod.serviceAccountName,
      containers: pod.containers.map(({ name, role }) => `${role} ${name}`).toSorted(),
    },
  ])
  const selected = pools.read
    .filter(({ meta }) => meta.name !== OTHER_POOL)
    .map(({ group, meta, selector }) => [
      `InferencePool ${meta.name}`,
      { group, labels: selector.ok && byKey(selector.labels) },
    ])
  return Object.fromEntries([...pods, ...selected, ...podMakers.map(({ name }) => [name, undefined])])
}

function byKey(labels: ReadonlyMap<string, string>): Readonly<Record<string, unknown>> {
  return Object.fromEntries([...labels.keys()].toSorted().map((key) => [key, labels.get(key)]))
}

function isUnread({ kind }: JsonRecord): boolean {
  return !MADE.some((made) => made.kind === kind)
}

/** What kleym says that it makes, from files; undefined: that is not certain. */
function toldOf(
  service: JsonRecord,
  more: readonly JsonRecord[],
): Readonly<Record<string, unknown>> | undefined {
  const told = shownOf([service, ...CONFIGS, pool(NAMESPACE, OTHER_POOL, { tier: 'gold' }), ...more])
  return Object.hasOwn(told, idOf(service).name) ? undefined : told
}

/** What the controller has made of each service so far, by its owner. */
async function madeSoFar(): Promise<ReadonlyMap<string, readonly JsonRecord[]>> {
  const lists = await Promise.all(MADE.map((kind) => plane.cp.admin.list({ ...kind, namespace: NAMESPACE })))
  const all = lists.flatMap((list, at) => list.map((object) => ({ ...MADE[at], ...object })))
  return Map.groupBy(all, ownerOf)
}

function ownerOf(object: JsonRecord): string {
  const owner = listAt(object, 'metadata', 'ownerReferences').find((one) => dig(one, 'controller') === true)
  return stringAt(owner, 'kind') === 'LLMInferenceService' ? (stringAt(owner, 'name') ?? '') : ''
}

/** Labels of unknown value are not compared, but for those that every template of the kind has. */
function comparable(shown: unknown, told: unknown): unknown {
  const unknown = new Set(listAt(told, 'unknown'))
  const labels = Object.entries(dig(shown, 'labels') ?? {}).filter(([key]) => !unknown.has(key))
  return { ...Object(shown), labels: Object.fromEntries(labels), unknown: undefined }
}

function differencesOf(
  told: Readonly<Record<string, unknown>>,
  real: Readonly<Record<string, unknown>>,
): readonly string[] {
  return [...new Set([...Object.keys(told), ...Object.keys(real)])].flatMap((key) => {
    if (!Object.hasOwn(real, key)) return [`${key} is not made`]
    if (!Object.hasOwn(told, key)) return [`${key} is not told`]
    const [left, right] = [comparable(told[key], told[key]), comparable(real[key], told[key])]
    return JSON.stringify(left) === JSON.stringify(right)
      ? []
      : [`${key} is reported as ${JSON.stringify(left)} and is ${JSON.stringify(right)}`]
  })
}

test.each(TURNS)('what is made of LLMInferenceServices: %#', async (...services) => {
  const told = services.flatMap((service) => {
    const made = toldOf(service, [])
    // What KServe ships is known as it is.
    expect(toldOf(service, shipped)).toEqual(made)
    return made === undefined ? [] : [[idOf(service).name, made] as const]
  })
  // Most of them are certain.
  expect(told.length).toBeGreaterThan(services.length / 2)
  await create(plane, services)
  let found: readonly string[] = []
  const agree = async (): Promise<boolean> => {
    const real = await madeSoFar()
    found = told.flatMap(([name, made]) =>
      differencesOf(made, shownOf(real.get(name) ?? [])).map((line) => `${name}: ${line}`),
    )
    return found.length === 0
  }
  await until(agree, 'all to be made', MADE_MS).catch(() => undefined)
  expect(found).toEqual([])
})

/** The names of all objects of a kind, but for the pool that is no one's. */
async function namesOf(apiVersion: string, kind: string): Promise<readonly string[]> {
  const list = await plane.cp.admin.list({ apiVersion, kind, namespace: NAMESPACE })
  return list.map((object) => idOf(object).name).filter((name) => name !== OTHER_POOL)
}

test('a pool of the older group stands beside each, and no objective is made', async () => {
  const older = await until(async () => {
    const [names, all] = await Promise.all([
      namesOf('inference.networking.x-k8s.io/v1alpha2', 'InferencePool'),
      namesOf(POOLS, 'InferencePool'),
    ])
    return names.length === all.length && names
  }, 'pools of the older group')
  expect(older.length).toBeGreaterThan(0)
  expect(await namesOf('inference.networking.x-k8s.io/v1alpha2', 'InferenceObjective')).toEqual([])
  expect(await namesOf('llm-d.ai/v1alpha2', 'InferenceObjective')).toEqual([])
})
