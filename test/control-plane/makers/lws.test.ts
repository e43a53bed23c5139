// The pods that LWS's own controller makes of random LeaderWorkerSets and DisaggregatedSets are those that kleym expands offline.
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { dig, listAt, stringAt, type JsonRecord } from '../../../shared/src/core/base/json.ts'
import { readWorkloadPods } from '../../../shared/src/core/model/objects/workload.ts'
import { FIRST_BUILD_MS } from '../client-binaries.ts'
import type { ControlPlane } from '../control-plane.ts'
import { idOf } from '../rest.ts'
import { disagreements } from './agreement.ts'
import { create, podsOf, startMaker, type MakerPlane } from './maker-plane.ts'
import { leaderWorkerSpec, objectsOf } from './random-stacks.ts'

const LWS = 'leaderworkerset.sigs.k8s.io'
const DISAGGREGATED = 'disaggregatedset.x-k8s.io'

const SETS = objectsOf(
  { apiVersion: 'leaderworkerset.x-k8s.io/v1', kind: 'LeaderWorkerSet' },
  leaderWorkerSpec({}, [undefined, 0, 1, 2, 3]),
  1,
)
const DISAGGREGATED_SETS = objectsOf(
  { apiVersion: `${DISAGGREGATED}/v1`, kind: 'DisaggregatedSet' },
  fc
    .array(
      leaderWorkerSpec({ [`${DISAGGREGATED}/role`]: ['other'], [`${DISAGGREGATED}/slice`]: ['1'] }, [1, 2]),
      { minLength: 2, maxLength: 3 },
    )
    .map((specs) => ({
      roles: specs.map((spec, at) => ({ name: ['prefill', 'decode', 'encode'][at], spec })),
    })),
  2,
)

let plane: MakerPlane

beforeAll(async () => {
  plane = await startMaker('lws', lwsAt)
}, FIRST_BUILD_MS)
afterAll(() => plane.cp.stop())

/** https://lws.sigs.k8s.io/docs/reference/config.v1alpha1/ */
function lwsAt(cp: ControlPlane, port: number): { readonly args: readonly string[] } {
  const certDir = join(cp.folder, 'webhook')
  mkdirSync(certDir)
  copyFileSync(cp.serving.certificate, join(certDir, 'tls.crt'))
  copyFileSync(cp.serving.key, join(certDir, 'tls.key'))
  const config = join(cp.folder, 'lws.yaml')
  writeFileSync(
    config,
    stringify({
      apiVersion: 'config.lws.x-k8s.io/v1alpha1',
      kind: 'Configuration',
      leaderElection: { leaderElect: false },
      internalCertManagement: { enable: false },
      webhook: { host: '127.0.0.1', port, certDir },
      metrics: { bindAddress: '0' },
      health: { healthProbeBindAddress: '0' },
    }),
  )
  return { args: ['--config', config, '--kubeconfig', cp.kubeconfig()] }
}

function countIn(spec: unknown): number {
  return Number(dig(spec, 'replicas') ?? 1) * Number(dig(spec, 'leaderWorkerTemplate', 'size') ?? 1)
}

function partOf(pod: JsonRecord): string {
  return labelOf(pod, `${LWS}/worker-index`) === '0' ? 'leader' : 'worker'
}

function labelOf(pod: JsonRecord, key: string): string {
  return stringAt(pod, 'metadata', 'labels', key) ?? ''
}

test('the pods of LeaderWorkerSets, also by their numbers', async () => {
  await create(plane, SETS)
  const counts = new Map(SETS.map((set) => [idOf(set).name, countIn(set['spec'])]))
  const pods = await podsOf(plane, (pod) => labelOf(pod, `${LWS}/name`), counts)
  expect(pods.length).toBeGreaterThan(SETS.length)
  expect(disagreements(SETS, pods, (pod) => `${labelOf(pod, `${LWS}/name`)} ${partOf(pod)}`)).toEqual([])
  expect(SETS.flatMap((set) => misnumbered(set, pods))).toEqual([])
})

/** Numbers of pods that are reported wrongly. */
function misnumbered(set: JsonRecord, pods: readonly JsonRecord[]): readonly string[] {
  const keys = [`${LWS}/group-index`, `${LWS}/worker-index`]
  const told = readWorkloadPods({ value: set }, new Set(keys)).map(({ labels }) =>
    keys.map((key) => labels.get(key)).join('-'),
  )
  const real = pods
    .filter((pod) => labelOf(pod, `${LWS}/name`) === idOf(set).name)
    .map((pod) => keys.map((key) => labelOf(pod, key)).join('-'))
  // Without pods there is one template for all.
  const differing = real.length === 0 ? [] : new Set(told).symmetricDifference(new Set(real))
  return [...differing].map((number) => `${idOf(set).name}: ${number}`)
}

test('the pods of DisaggregatedSets', async () => {
  await create(plane, DISAGGREGATED_SETS)
  const counts = new Map(
    DISAGGREGATED_SETS.map((set) => [
      idOf(set).name,
      listAt(set, 'spec', 'roles').reduce((sum: number, role) => sum + countIn(dig(role, 'spec')), 0),
    ]),
  )
  const pods = await podsOf(plane, (pod) => labelOf(pod, `${DISAGGREGATED}/name`), counts)
  const found = disagreements(DISAGGREGATED_SETS, pods, (pod) =>
    [labelOf(pod, `${DISAGGREGATED}/name`), labelOf(pod, `${DISAGGREGATED}/role`), partOf(pod)].join(' '),
  )
  expect(found).toEqual([])
})
