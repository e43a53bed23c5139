// Random LLMInferenceServices that KServe takes, the same for the same seed, and what they take from.
import * as fc from 'fast-check'
import type { JsonRecord } from '../../../shared/src/core/base/json.ts'
import { ACCOUNTS, NAMESPACE } from './maker-plane.ts'
import { objectsOf, someOf } from './random-stacks.ts'

const API = 'serving.kserve.io/v1alpha2'

/** A pool that services name. */
export const OTHER_POOL = 'other-pool'

const IMAGE = { image: 'registry.example/any' }

function config(name: string, spec: JsonRecord): JsonRecord {
  return {
    apiVersion: API,
    kind: 'LLMInferenceServiceConfig',
    metadata: { name, namespace: NAMESPACE },
    spec: { model: { uri: '' }, ...spec },
  }
}

/** Objects that services take from. */
export const CONFIGS: readonly JsonRecord[] = [
  config('of-runner', {
    labels: { team: 'b', child: '{{ ChildName .ObjectMeta.Name `-of` }}' },
    template: {
      serviceAccountName: 'runner',
      containers: [{ name: 'main', env: [{ name: 'A', value: 'b' }] }],
    },
  }),
  config('with-log', { template: { containers: [{ name: 'log', ...IMAGE }] } }),
  config('in-two', { prefill: { labels: { team: 'p' }, template: { containers: [{ name: 'main' }] } } }),
]

const CONTAINERS = fc.subarray([
  { name: 'main', env: [{ name: 'A', value: 'c' }] },
  { name: 'log', ...IMAGE },
])
const INIT = fc.subarray([
  { name: 'fetch', ...IMAGE },
  { name: 'storage-initializer', env: [{ name: 'A', value: 'c' }] },
  { name: 'route', ...IMAGE, restartPolicy: 'Always' },
])

const TEMPLATE = fc
  .record({ account: fc.constantFrom(undefined, undefined, ...ACCOUNTS), containers: CONTAINERS, init: INIT })
  .map(({ account, containers, init }) => ({
    ...(account !== undefined && { serviceAccountName: account }),
    containers: containers.length === 0 ? [{ name: 'main' }] : containers,
    ...(init.length > 0 && { initContainers: init }),
  }))

const LABELS = someOf({
  team: ['a'],
  'llm-d.ai/role': ['mine'],
  'app.kubernetes.io/name': ['other'],
  'kserve.io/component': ['mine'],
})

/** A workload of one node, or of several that serve parts of the data. */
const WORKLOAD = fc
  .record({
    labels: fc.option(LABELS, { nil: undefined }),
    template: fc.option(TEMPLATE, { nil: undefined }),
    worker: fc.option(TEMPLATE, { nil: undefined, freq: 3 }),
    size: fc.constantFrom({ data: 4, dataLocal: 2 }, { data: 1, dataLocal: 1 }),
    replicas: fc.constantFrom(undefined, 0, 2),
  })
  .map(({ labels, template, worker, size, replicas }) => ({
    ...(labels !== undefined && { labels }),
    ...(template !== undefined && { template }),
    ...(replicas !== undefined && { replicas }),
    ...(worker !== undefined && { worker, parallelism: size }),
  }))

const MODEL = fc.oneof(
  fc.constantFrom<JsonRecord>(
    { uri: 'hf://a/b' },
    { uri: 's3://bucket/model' },
    { uri: 'oci://registry.example/model' },
  ),
  fc.constantFrom<JsonRecord>(
    { uri: 'pvc://models/llama' },
    { uri: 'pvc://models/llama', lora: { adapters: [{ name: 'x', uri: 'hf://a/x' }] } },
    { uri: 'pvc://models/llama', lora: { adapters: [{ name: 'x', uri: 'pvc://models/x' }] } },
    { uri: 'hf://a/b', lora: { adapters: [{ name: 'x', uri: 's3://bucket/x' }] } },
  ),
)

const ROUTER = fc.constantFrom<JsonRecord | undefined>(
  undefined,
  { scheduler: {} },
  { scheduler: {} },
  { scheduler: { labels: { team: 'c', 'app.kubernetes.io/name': 'other' } } },
  {
    scheduler: {
      template: { serviceAccountName: 'runner', containers: [{ name: 'main' }, { name: 'log', ...IMAGE }] },
    },
  },
  {
    scheduler: {
      pool: {
        spec: {
          selector: { matchLabels: { tier: 'silver' } },
          targetPorts: [{ number: 8001 }],
          endpointPickerRef: {
            name: '{{ ChildName .ObjectMeta.Name `-epp-service` }}',
            port: { number: 9002 },
          },
        },
      },
    },
  },
  { scheduler: { pool: { ref: { name: OTHER_POOL } } } },
  {
    scheduler: {
      pool: { ref: { name: OTHER_POOL } },
      template: { containers: [{ name: 'main', ...IMAGE }] },
    },
  },
)

const SPEC = fc
  .record({
    model: MODEL,
    main: WORKLOAD,
    prefill: fc.option(WORKLOAD, { nil: undefined }),
    router: ROUTER,
    baseRefs: fc.subarray(['of-runner', 'with-log', 'in-two']),
    tracing: fc.constantFrom(undefined, undefined, undefined, {}),
    storage: fc.constantFrom(undefined, undefined, undefined, false),
  })
  .map(({ model, main, prefill, router, baseRefs, tracing, storage }) => ({
    model,
    ...main,
    ...(prefill !== undefined && { prefill }),
    ...(router !== undefined && { router }),
    ...(baseRefs.length > 0 && { baseRefs: baseRefs.map((name) => ({ name })) }),
    ...(tracing !== undefined && { tracing }),
    // Adapters need what fetches them.
    ...(storage !== undefined && !('lora' in model) && { storageInitializer: { enabled: storage } }),
  }))

const METADATA = [
  {},
  {},
  { labels: { 'kueue.x-k8s.io/queue-name': 'q', team: 'd' } },
  { annotations: { 'serving.kserve.io/stop': 'true' } },
  {},
]

export const SERVICES: readonly JsonRecord[] = objectsOf(
  { apiVersion: API, kind: 'LLMInferenceService' },
  SPEC,
  3,
).map((service, at) => {
  // Some names are too long for those of what is made.
  const name = `llm-${at}${at % 7 === 0 ? '-'.padEnd(36 + (at % 5), 'x') : ''}`
  return { ...service, metadata: { namespace: NAMESPACE, name, ...METADATA[at % METADATA.length] } }
})
