// Our CRD on a real API server: what it refuses and with which message, and what `kubectl get` shows. docs/contract.md §2.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonRecord } from '../../shared/src/core/base/json.ts'
import { startControlPlane, type ControlPlane } from './control-plane.ts'

let cp: ControlPlane
beforeAll(async () => {
  cp = await startControlPlane({ controllers: [] })
})
afterAll(() => cp?.stop())

const API = { apiVersion: 'kleym.sonda.red/v1alpha1', kind: 'InferenceIdentityBinding' }
const PER_OBJECTIVE: JsonRecord = {
  mode: 'PerObjective',
  poolRef: { name: 'llama' },
  objectiveRef: { name: 'chat' },
  serviceAccountName: 'runner',
  containerName: 'vllm',
}
const PER_VARIANT: JsonRecord = {
  mode: 'PerVariant',
  poolRef: { name: 'llama' },
  serviceAccountName: 'runner',
  identityBoundary: { variant: 'prefill' },
}
const POOL_ONLY: JsonRecord = { mode: 'PoolOnly', poolRef: { name: 'llama' }, serviceAccountName: 'runner' }

function binding(spec: JsonRecord | undefined, name = 'chat'): JsonRecord {
  return { ...API, metadata: { name, namespace: 'default' }, ...(spec === undefined ? {} : { spec }) }
}

/** A spec with fields changed; undefined takes one out. */
function changed(spec: JsonRecord, change: JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries({ ...spec, ...change }).filter(([, value]) => value !== undefined))
}

/** What kubectl says about an object that the server is asked to take, as a user would see it. */
async function refusal(object: JsonRecord): Promise<string> {
  const { status, stderr } = await cp.kubectl(['create', '--dry-run=server', '-f', '-'], {
    input: JSON.stringify(object),
  })
  return status === 0 ? '' : stderr.trim()
}

test.each<[string, JsonRecord]>([
  ['PerObjective with everything', PER_OBJECTIVE],
  ['PoolOnly with the least', POOL_ONLY],
  ['PoolOnly with an objective', changed(POOL_ONLY, { objectiveRef: { name: 'chat' } })],
  ['PoolOnly with an empty container', changed(POOL_ONLY, { containerName: '' })],
  ['PerVariant with a variant', PER_VARIANT],
  ['PerVariant with an objective', changed(PER_VARIANT, { objectiveRef: { name: 'chat' } })],
  [
    'PerVariant with a variant in capitals',
    changed(PER_VARIANT, { identityBoundary: { variant: 'Prefill_1.x' } }),
  ],
  ['no mode with an objective and a container', changed(PER_OBJECTIVE, { mode: undefined })],
  ['no mode with a variant', changed(PER_VARIANT, { mode: undefined })],
  [
    'no mode with a variant and an empty container',
    changed(PER_VARIANT, { mode: undefined, containerName: '' }),
  ],
  [
    'a pool of the older group',
    changed(PER_OBJECTIVE, { poolRef: { name: 'llama', group: 'inference.networking.x-k8s.io' } }),
  ],
])('takes a binding: %s', async (_what, spec) => {
  expect(await refusal(binding(spec))).toBe('')
})

test.each<[string, JsonRecord | undefined, readonly string[]]>([
  ['no spec', undefined, ['spec: Required value']],
  [
    'PerObjective without an objective',
    changed(PER_OBJECTIVE, { objectiveRef: undefined }),
    ['spec.objectiveRef is required when spec.mode is PerObjective'],
  ],
  [
    'PerObjective without a container',
    changed(PER_OBJECTIVE, { containerName: undefined }),
    ['spec.containerName is required when spec.mode is PerObjective'],
  ],
  [
    'PerObjective with an empty container',
    changed(PER_OBJECTIVE, { containerName: '' }),
    ['spec.containerName is required when spec.mode is PerObjective'],
  ],
  [
    'no mode and no container',
    changed(PER_OBJECTIVE, { mode: undefined, containerName: undefined }),
    ['spec.containerName is required when spec.mode is PerObjective'],
  ],
  [
    'PoolOnly with a container',
    changed(POOL_ONLY, { containerName: 'vllm' }),
    ['spec.containerName must be empty when spec.mode is PoolOnly'],
  ],
  [
    'an unknown mode',
    changed(POOL_ONLY, { mode: 'PerPod' }),
    ['spec.mode: Unsupported value: "PerPod"', '"PoolOnly", "PerVariant", "PerObjective"'],
  ],
  [
    'PerVariant without a variant',
    changed(PER_VARIANT, { identityBoundary: undefined }),
    ['spec.identityBoundary.variant is required when spec.mode is PerVariant'],
  ],
  [
    'PerVariant with an empty boundary',
    changed(PER_VARIANT, { identityBoundary: {} }),
    ['spec.identityBoundary.variant: Required value'],
  ],
  ...['', '.', '..', 'a/b', ' prefill', 'prefill-', 'v'.repeat(64)].map(
    (variant) =>
      [
        `PerVariant with the variant ${JSON.stringify(variant)}`,
        changed(PER_VARIANT, { identityBoundary: { variant } }),
        ['spec.identityBoundary.variant: '],
      ] as [string, JsonRecord, string[]],
  ),
  [
    'PerVariant with a container',
    changed(PER_VARIANT, { containerName: 'vllm' }),
    ['spec.containerName must be empty when spec.mode is PerVariant'],
  ],
  [
    'PoolOnly with a variant',
    changed(POOL_ONLY, { identityBoundary: { variant: 'prefill' } }),
    ['spec.identityBoundary must be absent unless spec.mode is PerVariant'],
  ],
  [
    'no mode with a variant, an objective and a container',
    changed(PER_OBJECTIVE, { mode: undefined, identityBoundary: { variant: 'prefill' } }),
    ['spec.mode is required here: spec.identityBoundary means PerVariant'],
  ],
  [
    'no mode with a variant and an objective',
    changed(PER_VARIANT, { mode: undefined, objectiveRef: { name: 'chat' } }),
    ['spec.mode is required here: spec.identityBoundary means PerVariant'],
  ],
  [
    'no boundary at all',
    changed(POOL_ONLY, { mode: undefined }),
    ['spec names no boundary: set spec.mode to PoolOnly, or spec.identityBoundary'],
  ],
  ['no pool', changed(POOL_ONLY, { poolRef: undefined }), ['spec.poolRef: Required value']],
  ['a pool without a name', changed(POOL_ONLY, { poolRef: {} }), ['spec.poolRef.name: Required value']],
  [
    'a pool of an unknown group',
    changed(POOL_ONLY, { poolRef: { name: 'llama', group: 'example.org' } }),
    ['spec.poolRef.group: Unsupported value: "example.org"'],
  ],
  [
    'a pool name that is no object name',
    changed(POOL_ONLY, { poolRef: { name: 'Llama_1' } }),
    ['spec.poolRef.name: Invalid value: "Llama_1"'],
  ],
  [
    'no service account',
    changed(POOL_ONLY, { serviceAccountName: undefined }),
    ['spec.serviceAccountName: Required value'],
  ],
  [
    'a container name that is no container name',
    changed(PER_OBJECTIVE, { containerName: 'vllm.1' }),
    ['spec.containerName: Invalid value: "vllm.1"'],
  ],
])('refuses a binding: %s', async (_what, spec, words) => {
  const said = await refusal(binding(spec))
  for (const word of words) expect(said).toContain(word)
})

test('a binding without a mode is stored without one', async () => {
  await cp.apply([binding(changed(PER_VARIANT, { mode: undefined }), 'inferred')])
  const stored = await cp.admin.get({ ...API, name: 'inferred', namespace: 'default' })
  expect(stored?.['spec']).toEqual(changed(PER_VARIANT, { mode: undefined }))
})

test('kubectl get iib shows mode, pool, objective, verdict and identity', async () => {
  await cp.apply([binding(PER_OBJECTIVE, 'shown')])
  const since = '2026-01-01T00:00:00Z'
  const condition = (type: string, status: string, reason: string): JsonRecord => ({
    type,
    status,
    reason,
    message: '',
    observedGeneration: 1,
    lastTransitionTime: since,
  })
  await cp.admin.patch(
    { ...API, name: 'shown', namespace: 'default' },
    {
      status: {
        observedGeneration: 1,
        conditions: [
          condition('Conflict', 'False', 'Resolved'),
          condition('Ready', 'True', 'Reconciled'),
          condition('InForce', 'Unknown', 'Pending'),
        ],
        computedSpiffeIDs: [
          { mode: 'PerObjective', spiffeID: 'spiffe://example.org/ns/default/objective/chat' },
        ],
      },
    },
    'status',
  )
  const { stdout } = await cp.kubectl(['get', 'iib', 'shown'])
  const [header = '', row = ''] = stdout.split('\n').map((line) => line.trim().split(/\s+/))
  expect(header).toEqual([
    'NAME',
    'MODE',
    'POOL',
    'OBJECTIVE',
    'READY',
    'REASON',
    'IN-FORCE',
    'SPIFFE-ID',
    'AGE',
  ])
  expect(row.slice(0, -1)).toEqual([
    'shown',
    'PerObjective',
    'llama',
    'chat',
    'True',
    'Reconciled',
    'Unknown',
    'spiffe://example.org/ns/default/objective/chat',
  ])
})
