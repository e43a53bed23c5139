// What known controllers make of their objects, before it exists: the pods and pools, as far as they are certain.
import { describe, expect, test } from 'vitest'
import type { JsonRecord } from '../../src/core/base/json.ts'
import { readSnapshot } from '../../src/core/snapshot/index.ts'
import type { Pod } from '../../src/core/model/objects/pod.ts'

const NAMESPACE = 'team-a'

function object(apiVersion: string, kind: string, spec: unknown, metadata: JsonRecord = {}): JsonRecord {
  return { apiVersion, kind, metadata: { name: 'llama', namespace: NAMESPACE, ...metadata }, spec }
}

const service = (spec: JsonRecord, metadata: JsonRecord = {}): JsonRecord =>
  object(
    'serving.kserve.io/v1alpha2',
    'LLMInferenceService',
    { model: { uri: 'pvc://models/llama' }, ...spec },
    metadata,
  )

function snapshotOf(...values: readonly JsonRecord[]) {
  const read = new Set(['InferencePool', 'LeaderWorkerSet', 'StatefulSet'])
  return readSnapshot({
    objects: values.map((value) => ({ value, ...(!read.has(String(value['kind'])) && { isUnread: true }) })),
  })
}

const shown = ({ ref, part, labels, serviceAccountName, containers, unknownLabels }: Pod): unknown => ({
  ref: `${ref.kind} ${ref.name}${part === '' ? '' : ` (${part})`}`,
  labels: Object.fromEntries(labels),
  account: serviceAccountName,
  containers: containers.map(({ name, role }) => `${role} ${name}`),
  unknown: [...unknownLabels].toSorted(),
})

const template = (labels: JsonRecord): JsonRecord => ({
  metadata: { labels },
  spec: { serviceAccountName: 'runner', containers: [{ name: 'vllm' }] },
})

const workload = (which: string, role: string, more: JsonRecord = {}): JsonRecord => ({
  'app.kubernetes.io/component': `llminferenceservice-workload${which}`,
  'app.kubernetes.io/name': 'llama',
  'app.kubernetes.io/part-of': 'llminferenceservice',
  'kserve.io/component': 'workload',
  'llm-d.ai/role': role,
  ...more,
})

const deployment = (name: string, account: string, containers: readonly string[], labels: JsonRecord) => ({
  ref: `Deployment ${name}`,
  labels,
  account,
  containers,
  unknown: ['pod-template-hash'],
})

const config = (name: string, spec: unknown, namespace = 'kserve'): JsonRecord => ({
  apiVersion: 'serving.kserve.io/v1alpha2',
  kind: 'LLMInferenceServiceConfig',
  metadata: { name, namespace },
  spec,
})

const mounting = (mountPath: string): JsonRecord => ({
  template: { containers: [{ name: 'main', volumeMounts: [{ name: 'spiffe', mountPath }] }] },
})

const sizedRole = (name: string, size: number): JsonRecord => ({
  name,
  spec: { leaderWorkerTemplate: { size, workerTemplate: template({ app: 'llama', model: 'llama' }) } },
})

const labelsOfRole = (of: string): JsonRecord => ({
  'disaggregatedset.x-k8s.io/name': 'llama',
  'disaggregatedset.x-k8s.io/role': of,
  model: 'llama',
})

const made = (apiVersion: string, kind: string, spec: unknown, metadata: JsonRecord = {}): unknown =>
  snapshotOf(object(apiVersion, kind, spec, metadata)).templates.read.map((pod) => ({
    labels: Object.fromEntries(pod.labels),
    unknown: [...pod.unknownLabels],
    owner: pod.owner,
    account: pod.serviceAccountName,
  }))

const told = (apiVersion: string, kind: string, spec: unknown): unknown =>
  snapshotOf(object(apiVersion, kind, spec)).podMakers.flatMap(({ pods }) =>
    pods.map((pod) => ({
      part: pod.part,
      labels: Object.fromEntries(pod.labels),
      account: pod.perhaps?.knowsAccount === true ? pod.serviceAccountName : undefined,
      mayCarryAny: pod.perhaps?.knowsLabels !== true,
      containers: pod.containers.map(({ name }) => name),
    })),
  )

const lone = (
  labels: JsonRecord,
  account: string | undefined,
  mayCarryAny: boolean,
  containers: readonly string[] = [],
) => [{ part: '', labels, account, mayCarryAny, containers: [...containers, '<container>'] }]

describe('an LLMInferenceService', () => {
  test('without more makes one Deployment, and no pool', () => {
    const {
      templates: { read: templates },
      pools,
      podMakers,
    } = snapshotOf(service({}))
    expect(templates.map(shown)).toEqual([
      deployment('llama-kserve', 'default', ['regular main'], workload('', 'both')),
    ])
    expect(pools.read).toEqual([])
    expect(podMakers).toEqual([])
  })

  test('with a scheduler makes a pool that selects its workload, and the pods of the scheduler', () => {
    const {
      templates: { read: templates },
      pools,
    } = snapshotOf(service({ router: { scheduler: {} } }))
    expect(
      pools.read.map(({ group, meta, selector }) => [group, meta.name, selector.ok && [...selector.labels]]),
    ).toEqual([
      [
        'inference.networking.k8s.io',
        'llama-inference-pool',
        [
          ['app.kubernetes.io/name', 'llama'],
          ['app.kubernetes.io/part-of', 'llminferenceservice'],
          ['kserve.io/component', 'workload'],
        ],
      ],
    ])
    expect(templates.map(({ ref, serviceAccountName }) => [ref.name, serviceAccountName])).toEqual([
      ['llama-kserve', 'default'],
      ['llama-kserve-router-scheduler', 'llama-epp-sa'],
    ])
  })

  test('with prefill makes a Deployment for each role, and an account for the one with the routing sidecar', () => {
    const {
      templates: { read: templates },
    } = snapshotOf(
      service({
        model: { uri: 'hf://a/b' },
        labels: { team: 'a' },
        prefill: { template: { serviceAccountName: 'prefiller', containers: [{ name: 'main' }] } },
      }),
    )
    expect(templates.map(shown)).toEqual([
      deployment(
        'llama-kserve',
        'llama-kserve',
        ['regular main', 'native sidecar llm-d-routing-sidecar', 'init storage-initializer'],
        workload('', 'decode', { team: 'a' }),
      ),
      deployment(
        'llama-kserve-prefill',
        'prefiller',
        ['regular main', 'init storage-initializer'],
        workload('-prefill', 'prefill'),
      ),
    ])
  })

  test('an account of the template is that of the pods with the routing sidecar, too', () => {
    const {
      templates: { read: templates },
    } = snapshotOf(
      service({ prefill: {}, template: { serviceAccountName: 'runner', containers: [{ name: 'main' }] } }),
    )
    expect(templates.map(({ serviceAccountName }) => serviceAccountName)).toEqual(['runner', 'default'])
  })

  test('with workers makes a LeaderWorkerSet with an account of its own', () => {
    const {
      templates: { read: templates },
    } = snapshotOf(service({ worker: {}, parallelism: { data: 4, dataLocal: 2 } }))
    expect(
      templates.map((pod) => [
        `${pod.ref.kind} ${pod.ref.name} ${pod.part}`,
        pod.serviceAccountName,
        pod.labels.get('llm-d.ai/role'),
        pod.labels.get('app.kubernetes.io/component'),
      ]),
    ).toEqual([
      [
        'LeaderWorkerSet llama-kserve-mn leader',
        'llama-kserve-mn',
        'both',
        'llminferenceservice-workload-leader',
      ],
      [
        'LeaderWorkerSet llama-kserve-mn worker',
        'llama-kserve-mn',
        undefined,
        'llminferenceservice-workload-worker',
      ],
    ])
  })

  test('takes from objects that it names and from those of KServe, in the order of the controller', () => {
    const {
      templates: { read: templates },
      pools,
    } = snapshotOf(
      service({ baseRefs: [{ name: 'ours' }], router: { scheduler: {} } }),
      config(
        'ours',
        { template: { serviceAccountName: 'of-ours', containers: [{ name: 'log' }] } },
        NAMESPACE,
      ),
      config('kserve-config-llm-template', {
        template: { serviceAccountName: 'of-kserve', containers: [{ name: 'main' }] },
      }),
      config('kserve-config-llm-scheduler', {
        router: {
          scheduler: {
            pool: {
              spec: { selector: { matchLabels: { 'app.kubernetes.io/name': '{{ .ObjectMeta.Name }}' } } },
            },
            template: { containers: [{ name: 'main' }, { name: 'tokenizer' }] },
          },
        },
      }),
    )
    expect(pools.read.map(({ selector }) => selector.ok && [...selector.labels])).toEqual([
      [['app.kubernetes.io/name', 'llama']],
    ])
    expect(
      templates.map(({ serviceAccountName, containers }) => [
        serviceAccountName,
        containers.map(({ name }) => name),
      ]),
    ).toEqual([
      ['of-ours', ['main', 'log']],
      ['llama-epp-sa', ['main', 'tokenizer']],
    ])
  })

  test('with a selector of its own has a pool that selects by that of KServe, too', () => {
    const spec = { selector: { matchLabels: { tier: 'gold' } } }
    const { pools } = snapshotOf(service({ router: { scheduler: { pool: { spec } } } }))
    expect(pools.read.map(({ selector }) => selector.ok && [...selector.labels.keys()].toSorted())).toEqual([
      ['app.kubernetes.io/name', 'app.kubernetes.io/part-of', 'kserve.io/component', 'tier'],
    ])
  })

  test('that names a pool makes neither a pool nor a scheduler', () => {
    const scheduler = { pool: { ref: { name: 'elsewhere' } }, template: { containers: [{ name: 'main' }] } }
    const {
      templates: { read: templates },
      pools,
    } = snapshotOf(service({ router: { scheduler } }))
    expect(templates.map(shown)).toEqual([
      deployment('llama-kserve', 'default', ['regular main'], workload('', 'both')),
    ])
    expect(pools.read).toEqual([])
  })

  test('has pods with its own labels on several nodes, too, and with those of other controllers', () => {
    const {
      templates: { read: templates },
    } = snapshotOf(
      service(
        { labels: { team: 'a' }, worker: {}, parallelism: { data: 2, dataLocal: 1 } },
        { labels: { 'kueue.x-k8s.io/queue-name': 'q', tier: 'gold' } },
      ),
    )
    const ofUsers = ['team', 'kueue.x-k8s.io/queue-name', 'tier']
    expect(templates.map(({ labels }) => ofUsers.map((key) => labels.get(key)))).toEqual([
      ['a', 'q', undefined],
      ['a', 'q', undefined],
    ])
  })

  test('with roles over several nodes makes two LeaderWorkerSets', () => {
    const several = { worker: {}, parallelism: { data: 2, dataLocal: 1 } }
    const {
      templates: { read: templates },
    } = snapshotOf(service({ ...several, prefill: several }))
    expect(
      templates.map(({ ref, part, serviceAccountName, containers }) => [
        `${ref.name} ${part} of ${serviceAccountName}`,
        containers.map(({ name }) => name),
      ]),
    ).toEqual([
      ['llama-kserve-mn leader of llama-kserve-mn', ['main', 'llm-d-routing-sidecar']],
      ['llama-kserve-mn worker of llama-kserve-mn', ['main']],
      ['llama-kserve-mn-prefill leader of llama-kserve-mn-prefill', ['main']],
      ['llama-kserve-mn-prefill worker of llama-kserve-mn-prefill', ['main']],
    ])
  })

  test.each([
    [{}, ['main']],
    [{ config: { inline: { plugins: [{ type: 'queue-scorer' }] } } }, ['main']],
    [{ config: { inline: { plugins: [{ type: 'precise-prefix-cache-scorer' }] } } }, ['main', 'tokenizer']],
    [{ config: { inline: {} } }, ['main', 'tokenizer']],
    [{ annotations: { 'app.kubernetes.io/version': '0.8.1' } }, ['main', 'tokenizer']],
    [
      { config: { inline: { plugins: [{ type: 'predicted-latency-producer' }] } } },
      ['main', 'training-server', 'prediction-server'],
    ],
  ])(
    'with the scheduler %j has a scheduler of containers %j, and of what fetches the model',
    (scheduler, expected) => {
      const {
        templates: { read: templates },
      } = snapshotOf(service({ model: { uri: 'hf://a/b' }, router: { scheduler } }))
      expect([...templates].at(-1)?.containers.map(({ name }) => name)).toEqual([
        ...expected,
        'storage-initializer',
      ])
    },
  )

  test.each([
    ['pvc://models/llama', ['hf://a/adapter'], {}, ['main', 'storage-initializer']],
    ['pvc://models/llama', ['pvc://models/adapter'], {}, ['main']],
    ['oci://registry/llama', [], {}, ['main', 'modelcar', 'modelcar-init']],
    ['hf://a/b', [], { 'internal.serving.kserve.io/localmodel': 'b' }, ['main']],
  ])(
    'fetches %s with adapters %j and labels %j in containers of its own',
    (uri, adapters, labels, expected) => {
      const lora = { adapters: adapters.map((one) => ({ name: 'a', uri: one })) }
      const fetching = {
        containers: [{ name: 'main' }],
        initContainers: [{ name: 'storage-initializer', env: [] }],
      }
      const {
        templates: { read: templates },
      } = snapshotOf(service({ model: { uri, lora }, template: fetching }, { labels }))
      expect(templates.map(({ containers }) => containers.map(({ name }) => name))).toEqual([expected])
    },
  )

  test('keeps a container of the user that fetches where its own is switched off', () => {
    const {
      templates: { read: templates },
    } = snapshotOf(
      service({
        storageInitializer: { enabled: false },
        template: { containers: [{ name: 'main' }], initContainers: [{ name: 'storage-initializer' }] },
      }),
    )
    expect(templates.map(({ containers }) => containers.length)).toEqual([2])
  })

  test('keeps two mounts of one volume', () => {
    const {
      templates: { read: templates },
    } = snapshotOf(
      service({ baseRefs: [{ name: 'ours' }], ...mounting('/a') }),
      config('ours', mounting('/b'), NAMESPACE),
    )
    expect(templates.map(({ spec }) => spec['containers'])).toEqual([
      [
        {
          name: 'main',
          volumeMounts: [
            { name: 'spiffe', mountPath: '/b' },
            { name: 'spiffe', mountPath: '/a' },
          ],
        },
      ],
    ])
  })

  test('that is stopped makes nothing', () => {
    const stopped = { annotations: { 'serving.kserve.io/stop': 'True' } }
    const {
      templates: { read: templates },
      pools,
      podMakers,
    } = snapshotOf(service({ router: { scheduler: {} } }, stopped))
    expect([templates, pools.read, podMakers]).toEqual([[], [], []])
  })

  test.each([
    ['a configuration that is not given', service({ baseRefs: [{ name: 'elsewhere' }] })],
    [
      'a name that makes that of its scheduler too long',
      service({ router: { scheduler: {} } }, { name: 'l'.repeat(40) }),
    ],
    [
      'a name that makes others too long',
      service({ worker: {}, parallelism: { data: 2, dataLocal: 1 } }, { name: 'l'.repeat(54) }),
    ],
    ['plugins that stand elsewhere', service({ router: { scheduler: { config: { ref: { name: 'c' } } } } })],
    [
      'plugins in arguments',
      service({
        router: { scheduler: { template: { containers: [{ name: 'main', args: ['--config-text', ''] }] } } },
      }),
    ],
    ['a model of another kind of address', service({ model: { uri: 'ftp://models' } })],
    ['stages over several nodes', service({ worker: {}, parallelism: { pipeline: 2 } })],
    ['an address that is none', service({ model: { uri: 'hf' } })],
    [
      'an action in a label of workers',
      service({ worker: {}, parallelism: { data: 2, dataLocal: 1 }, labels: { a: '{{ .Other }}' } }),
    ],
    [
      'an action that is not known',
      service({
        router: { scheduler: { pool: { spec: { selector: { matchLabels: { a: '{{ .Other }}' } } } } } },
      }),
    ],
  ])('with %s is a maker of which only names are known', (_, value) => {
    const {
      templates: { read: templates },
      pools,
      podMakers,
    } = snapshotOf(value)
    expect([templates, pools.read]).toEqual([[], []])
    expect(
      podMakers.map(({ makesPools, pods }) => [makesPools, pods.map(({ perhaps }) => perhaps !== undefined)]),
    ).toEqual([[true, [true]]])
  })

  test('takes nothing from another namespace than its own and that of KServe', () => {
    const elsewhere = { template: { serviceAccountName: 'other', containers: [{ name: 'main' }] } }
    const {
      templates: { read: templates },
    } = snapshotOf(service({}), config('kserve-config-llm-template', elsewhere, 'team-b'))
    expect(templates).toEqual([])
  })

  test('is not expanded where an object names it as its owner', () => {
    const pool = object(
      'inference.networking.k8s.io/v1',
      'InferencePool',
      { selector: {} },
      {
        name: 'llama-inference-pool',
        ownerReferences: [
          { apiVersion: 'serving.kserve.io/v1alpha2', kind: 'LLMInferenceService', name: 'llama' },
        ],
      },
    )
    const {
      templates: { read: templates },
      pools,
      podMakers,
    } = snapshotOf(service({ router: { scheduler: {} } }), pool)
    expect([templates.length, pools.read.length, podMakers.length]).toEqual([0, 1, 0])
  })

  test('with a label that its controller sets has one of unknown value', () => {
    const {
      templates: { read: templates },
    } = snapshotOf(service({ labels: { 'llm-d.ai/role': 'mine' } }))
    expect(
      templates.map(({ labels, unknownLabels }) => [
        labels.has('llm-d.ai/role'),
        unknownLabels.has('llm-d.ai/role'),
      ]),
    ).toEqual([[false, true]])
  })
})

test('a DisaggregatedSet makes the pods of a LeaderWorkerSet for each role', () => {
  const set = object('disaggregatedset.x-k8s.io/v1', 'DisaggregatedSet', {
    roles: [sizedRole('prefill', 1), sizedRole('decode', 2)],
  })
  const {
    templates: { read: templates },
    podMakers,
  } = snapshotOf(set)
  expect(
    templates.map((pod) => [
      pod.part,
      Object.fromEntries([...pod.labels].filter(([key]) => !key.startsWith('leaderworkerset'))),
      pod.serviceAccountName,
    ]),
  ).toEqual([
    ['decode leader', labelsOfRole('decode'), 'runner'],
    ['decode worker', labelsOfRole('decode'), 'runner'],
    ['prefill leader', labelsOfRole('prefill'), 'runner'],
  ])
  for (const { unknownLabels, possibleLabels } of templates) {
    for (const key of ['app', 'disaggregatedset.x-k8s.io/revision', 'leaderworkerset.sigs.k8s.io/name'])
      expect(unknownLabels).toContain(key)
    expect(unknownLabels).not.toContain('disaggregatedset.x-k8s.io/slice')
    expect(possibleLabels).toContain('disaggregatedset.x-k8s.io/slice')
  }
  expect(podMakers).toEqual([])
})

test('a label that some versions of a controller set has an unknown value where a template sets it', () => {
  const slice = 'disaggregatedset.x-k8s.io/slice'
  const role = { leaderWorkerTemplate: { workerTemplate: template({ [slice]: '1' }) } }
  const roles = ['prefill', 'decode'].map((name) => ({ name, spec: role }))
  const {
    templates: { read: templates },
  } = snapshotOf(object('disaggregatedset.x-k8s.io/v1', 'DisaggregatedSet', { roles }))
  expect(
    templates.map(({ labels, unknownLabels, possibleLabels }) =>
      [labels, unknownLabels, possibleLabels].map((keys) => keys.has(slice)),
    ),
  ).toEqual([
    [false, true, false],
    [false, true, false],
  ])
})

describe('AIBrix', () => {
  const roles = { roles: [{ name: 'prefill', template: template({ app: 'llama' }) }] }
  const of = 'orchestration.aibrix.ai/v1alpha1'

  test('a StormService makes pods of a RoleSet whose name is not known', () => {
    expect(
      made(of, 'StormService', { template: { metadata: { labels: { name: 'x', app: 'y' } }, spec: roles } }),
    ).toEqual([
      {
        labels: { app: 'llama', 'storm-service-name': 'llama', 'role-name': 'prefill', name: 'x' },
        unknown: ['roleset-name', 'role-template-hash'],
        owner: { kind: 'RoleSet', name: undefined },
        account: 'runner',
      },
    ])
  })

  test('a RoleSet makes its own', () => {
    expect(made(of, 'RoleSet', roles, { labels: { 'storm-service-name': 'storm' } })).toEqual([
      {
        labels: {
          app: 'llama',
          'roleset-name': 'llama',
          'storm-service-name': 'storm',
          'role-name': 'prefill',
        },
        unknown: ['role-template-hash'],
        owner: { kind: 'RoleSet', name: 'llama' },
        account: 'runner',
      },
    ])
  })

  test('the pods of a role in groups are of a PodSet, and keep what their template carries', () => {
    const role = { name: 'prefill', podGroupSize: 2, template: template({ 'role-name': 'mine' }) }
    const labels = { name: 'x', 'storm-service-name': 'storm' }
    expect(made(of, 'RoleSet', { roles: [role] }, { labels })).toEqual([
      {
        labels: { 'roleset-name': 'llama', 'storm-service-name': 'storm', 'role-name': 'mine' },
        unknown: [
          'role-template-hash',
          'stormservice.orchestration.aibrix.ai/podset-name',
          'stormservice.orchestration.aibrix.ai/pod-group-index',
        ],
        owner: { kind: 'PodSet', name: undefined },
        account: 'runner',
      },
    ])
  })

  test('a PodSet gives its labels to pods that lack them', () => {
    const spec = { podGroupSize: 2, template: template({ app: 'llama' }) }
    expect(made(of, 'PodSet', spec, { labels: { app: 'other', tier: 'gold' } })).toEqual([
      {
        labels: { app: 'llama', tier: 'gold', 'stormservice.orchestration.aibrix.ai/podset-name': 'llama' },
        unknown: ['stormservice.orchestration.aibrix.ai/pod-group-index'],
        owner: { kind: 'PodSet', name: 'llama' },
        account: 'runner',
      },
    ])
  })

  test('a runtime that is asked for leaves it open which containers there are', () => {
    const asks = { annotations: { 'stormservice.orchestration.aibrix.ai/sidecar-injection': 'true' } }
    expect(made(of, 'RoleSet', roles, asks)).toEqual([])
  })
})

describe('pods of which a part is known', () => {
  test.each([
    ['kaito.sh/v1beta1', 'Workspace', {}, lone({ 'kaito.sh/workspace': 'llama' }, undefined, true)],
    ['apps.nvidia.com/v1alpha1', 'NIMService', {}, lone({ app: 'llama' }, 'llama', true, ['llama-ctr'])],
    ['apps.nvidia.com/v1alpha1', 'NIMService', { multiNode: {} }, lone({}, 'llama', true, ['llama-ctr'])],
    ['postgresql.cnpg.io/v1', 'Cluster', {}, lone({ 'cnpg.io/cluster': 'llama' }, 'llama', false)],
    [
      'opentelemetry.io/v1beta1',
      'OpenTelemetryCollector',
      { serviceAccount: 'otel' },
      lone(
        {
          'app.kubernetes.io/managed-by': 'opentelemetry-operator',
          'app.kubernetes.io/part-of': 'opentelemetry',
          'app.kubernetes.io/instance': 'team-a.llama',
        },
        'otel',
        false,
        ['otc-container'],
      ),
    ],
    ['opentelemetry.io/v1beta1', 'OpenTelemetryCollector', { mode: 'sidecar' }, []],
    [
      'gateway.networking.k8s.io/v1',
      'Gateway',
      { gatewayClassName: 'kgateway' },
      lone({ 'gateway.networking.k8s.io/gateway-name': 'llama' }, 'llama', false),
    ],
    [
      'gateway.networking.k8s.io/v1',
      'Gateway',
      { gatewayClassName: 'agentgateway', infrastructure: { parametersRef: { name: 'p' } } },
      lone({ 'gateway.networking.k8s.io/gateway-name': 'llama' }, undefined, true),
    ],
    ['gateway.networking.k8s.io/v1', 'Gateway', { gatewayClassName: 'cloud' }, []],
  ])('%s %s %j', (apiVersion, kind, spec, expected) => {
    expect(told(apiVersion, kind, spec)).toEqual(expected)
  })

  test('those of a DynamoGraphDeployment by component, in both of its versions', () => {
    const graph = { 'nvidia.com/dynamo-graph-deployment-name': 'llama' }
    const services = {
      Frontend: { componentType: 'frontend' },
      Worker: {
        componentType: 'worker',
        subComponentType: 'prefill',
        extraPodSpec: { serviceAccountName: 'runner' },
      },
    }
    const components = [{ name: 'decode', podTemplate: { spec: { serviceAccountName: 'runner' } } }]
    const of = (name: string, more: JsonRecord, account?: string, part = name): unknown => ({
      part,
      labels: { ...graph, 'nvidia.com/dynamo-component': name, ...more },
      account,
      mayCarryAny: true,
      containers: ['<container>'],
    })
    expect(told('nvidia.com/v1alpha1', 'DynamoGraphDeployment', { services })).toEqual([
      of('Frontend', { 'nvidia.com/dynamo-component-type': 'frontend' }),
      of('Worker', {}, 'runner'),
    ])
    expect(told('nvidia.com/v1beta1', 'DynamoGraphDeployment', { components })).toEqual([
      of('decode', {}, 'runner', ''),
    ])
  })
})

describe('pods of a StatefulSet are told apart by their numbers', () => {
  const set = object('apps/v1', 'StatefulSet', {
    selector: { matchLabels: { app: 'llama' } },
    template: template({ app: 'llama' }),
  })
  const scaler = (kind: string, apiVersion: string, target: JsonRecord): JsonRecord =>
    object(apiVersion, kind, { scaleTargetRef: { name: 'llama', ...target } }, { name: 'scaler' })
  const asking = {
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ClusterSPIFFEID',
    metadata: { name: 'first' },
    spec: {
      spiffeIDTemplate: 'spiffe://a/b',
      podSelector: { matchLabels: { 'apps.kubernetes.io/pod-index': '0' } },
    },
  }
  const indexes = (...more: readonly JsonRecord[]): unknown =>
    readSnapshot({
      objects: [
        { value: set },
        { value: asking },
        ...more.map((value) => ({ value, isUnread: true as const })),
      ],
    }).templates.read.map(({ labels }) => labels.get('apps.kubernetes.io/pod-index'))

  test('but not where an autoscaler counts them', () => {
    const statefulSet = { apiVersion: 'apps/v1', kind: 'StatefulSet' }
    expect(indexes()).toEqual(['0'])
    expect(indexes(scaler('HorizontalPodAutoscaler', 'autoscaling/v2', statefulSet))).toEqual([undefined])
    expect(indexes(scaler('ScaledObject', 'keda.sh/v1alpha1', statefulSet))).toEqual([undefined])
    expect(
      indexes(scaler('HorizontalPodAutoscaler', 'autoscaling/v2', { ...statefulSet, kind: 'Deployment' })),
    ).toEqual(['0'])
    expect(indexes(scaler('ScaledObject', 'keda.sh/v1alpha1', {}))).toEqual(['0'])
  })
})
