// The chart's optional fences on a real API server: who may name which service account in a binding, who may run what a
// pool selects, and how many bindings a namespace may have; asked as the users themselves.
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dig, isRecord, listAt, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { startDeployed, type DeployedOperator } from './chart-operator.ts'
import { FIRST_BUILD_MS } from './client-binaries.ts'
import { DEFAULT_CONTROLLERS, startControlPlane, type ControlPlane } from './control-plane.ts'
import { CHART, demand, helmOn, LEAST, RELEASE, RELEASE_NAMESPACE, type Helm } from './helm.ts'
import { binding, bindingId, estate, namespace, objective, pool, untilReason } from './objects.ts'
import { freePorts } from './ports.ts'
import { RestError, type ObjectId } from './rest.ts'
import { serverMinor } from './server-minor.ts'
import { until } from '@kleym/testing/wait.ts'

const ADA = 'ada'
const BOB = 'bob'
/** What scales a workload for its HorizontalPodAutoscaler. */
const AUTOSCALER = 'system:serviceaccount:kube-system:horizontal-pod-autoscaler'
const SPACE = 'team-a'
/** It may have two bindings. */
const CROWDED = 'team-q'
const RBAC = 'rbac.authorization.k8s.io'
/** The pod label of variants. */
const ROLE = 'llm-d.ai/role'

let cp: ControlPlane
let helm: Helm
let operator: DeployedOperator
beforeAll(async () => {
  cp = await startControlPlane({
    users: [
      { name: ADA },
      { name: BOB },
      { name: AUTOSCALER, groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system'] },
    ],
    without: ['inferenceidentitybindings.kleym.sonda.red'],
    controllers: [
      ...DEFAULT_CONTROLLERS,
      'deployment-controller',
      'replicaset-controller',
      'statefulset-controller',
      'validatingadmissionpolicy-status-controller',
      'resourcequota-controller',
    ],
  })
  helm = await helmOn(cp)
  await cp.apply([
    namespace(RELEASE_NAMESPACE),
    ...estate(SPACE),
    namespace(CROWDED),
    {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'llama', namespace: SPACE },
    },
    pool(SPACE, 'phi', { app: 'phi', tier: 'gpu' }),
    legacyPool('old', { app: 'old' }),
    pool(SPACE, 'first', { app: 'numbered', 'statefulset.kubernetes.io/pod-name': 'b-0' }),
    pool(SPACE, 'zonal', { app: 'zonal', 'topology.kubernetes.io/zone': 'a' }),
    objective(SPACE, 'chat', 'llama'),
    // Both may write everything here; only Ada is trusted with an identity and with a pool.
    ...[ADA, BOB, AUTOSCALER].flatMap((user) => grant(user, 'writes', WRITES)),
    pool(SPACE, 'deepseek', { app: 'deepseek' }),
    // Bob may serve one variant of a pool, and not the pool.
    ...grant(BOB, 'decode', [
      rule('inference.networking.k8s.io', ['inferencepools/decode'], ['serve'], ['deepseek']),
    ]),
    ...grant(ADA, 'deepseek', [
      rule('inference.networking.k8s.io', ['inferencepools'], ['serve'], ['deepseek']),
    ]),
    ...grant(ADA, 'identity', [rule('', ['serviceaccounts'], ['use'], ['llama'])]),
    ...grant(ADA, 'pools', [
      rule('inference.networking.k8s.io', ['inferencepools'], ['serve'], ['llama']),
      rule('inference.networking.x-k8s.io', ['inferencepools'], ['serve'], ['old']),
    ]),
  ])
  const [probes = 0, metrics = 0] = await freePorts(2)
  const sets = [
    `probes.port=${probes}`,
    `metrics.port=${metrics}`,
    'policies.serviceAccounts.enabled=true',
    'policies.poolPods.enabled=true',
    'policies.bindingStatus.enabled=true',
    // The harness's controllers all are one user.
    'policies.poolPods.exemptUsers={kube-controller-manager}',
    `variantLabelKey=${ROLE}`,
    `resourceQuotas[0].namespace=${CROWDED}`,
    'resourceQuotas[0].bindings=2',
  ].flatMap((set) => ['--set', set])
  await demand(helm('install', RELEASE, CHART, '--namespace', RELEASE_NAMESPACE, ...LEAST, ...sets))
  await policiesAreInForce()
  operator = await startDeployed(cp, RELEASE_NAMESPACE)
  await operator.leads()
}, FIRST_BUILD_MS)
afterAll(() => cp?.stop())

const WRITES = [
  rule(
    'kleym.sonda.red',
    ['inferenceidentitybindings', 'inferenceidentitybindings/status'],
    ['create', 'update', 'patch', 'get'],
  ),
  rule(
    '',
    [
      'pods',
      'pods/status',
      'pods/binding',
      'pods/ephemeralcontainers',
      'pods/resize',
      'bindings',
      'podtemplates',
      'replicationcontrollers',
      'replicationcontrollers/scale',
    ],
    ['create', 'update', 'patch', 'get'],
  ),
  rule(
    'apps',
    [
      'deployments',
      'replicasets',
      'statefulsets',
      'daemonsets',
      'deployments/scale',
      'replicasets/scale',
      'statefulsets/scale',
      'controllerrevisions',
    ],
    ['create', 'update', 'patch', 'get', 'delete'],
  ),
  rule('batch', ['jobs', 'cronjobs'], ['create', 'update', 'patch', 'get']),
]

function rule(
  group: string,
  resources: readonly string[],
  verbs: readonly string[],
  names?: readonly string[],
): JsonRecord {
  return { apiGroups: [group], resources, verbs, ...(names === undefined ? {} : { resourceNames: names }) }
}

/** A role in the namespace for one user. */
function grant(user: string, what: string, rules: readonly JsonRecord[]): readonly JsonRecord[] {
  const metadata = { name: `${user}-${what}`, namespace: SPACE }
  const apiVersion = `${RBAC}/v1`
  const subjects = [{ apiGroup: RBAC, kind: 'User', name: user }]
  return [
    { apiVersion, kind: 'Role', metadata, rules },
    {
      apiVersion,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: RBAC, kind: 'Role', name: metadata.name },
      subjects,
    },
  ]
}

function legacyPool(name: string, selector: Readonly<Record<string, string>>): JsonRecord {
  return {
    apiVersion: 'inference.networking.x-k8s.io/v1alpha2',
    kind: 'InferencePool',
    metadata: { name, namespace: SPACE },
    spec: { selector, targetPortNumber: 8000, extensionRef: { name: 'epp' } },
  }
}

const SPEC = { serviceAccountName: 'default', containers: [{ name: 'vllm', image: 'vllm:1' }] }
type Labels = Readonly<Record<string, string>>

function template(labels: Labels): JsonRecord {
  return { metadata: { labels }, spec: SPEC }
}

function pod(name: string, labels: Labels): JsonRecord {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: SPACE, labels }, spec: SPEC }
}

function deployment(name: string, labels: Labels): JsonRecord {
  const spec = { replicas: 1, selector: { matchLabels: labels }, template: template(labels) }
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, namespace: SPACE }, spec }
}

function job(labels: Labels): JsonRecord {
  return { template: { ...template(labels), spec: { ...SPEC, restartPolicy: 'Never' } } }
}

/** Why the API server says no; undefined where it does not. */
async function refusal(act: Promise<unknown>): Promise<string | undefined> {
  try {
    await act
    return undefined
  } catch (error) {
    if (error instanceof RestError && error.status === 403) return error.message
    throw error
  }
}

/** The API server learns of policies by and by: each refuses what it must before a test asks. */
async function policiesAreInForce(): Promise<void> {
  for (const [what, probe] of Object.entries({
    binding: {
      ...binding(SPACE, 'probe'),
      path: 'apis/kleym.sonda.red/v1alpha1',
      plural: 'inferenceidentitybindings',
    },
    pool: { ...pod('probe', { app: 'llama' }), path: 'api/v1', plural: 'pods' },
    'older pool': { ...pod('probe', { app: 'old' }), path: 'api/v1', plural: 'pods' },
  })) {
    const { path, plural, ...body } = probe
    await until(async () => {
      const answer = await cp.as(BOB).request({
        method: 'POST',
        path: `/${path}/namespaces/${SPACE}/${plural}?dryRun=All`,
        body,
      })
      return answer.status === 403
    }, `the policy about a ${what} to be in force`)
  }
}

describe('who may use which service account in a binding', () => {
  test('whoever has the verb `use` on it may, and the operator does the rest', async () => {
    await cp.as(ADA).create(binding(SPACE, 'chat'))
    const ready = await untilReason(cp, SPACE, 'chat', 'Reconciled')
    expect(stringAt(ready, 'status', 'clusterSPIFFEID', 'name')).toMatch(/^kleym-team-a-chat-/)
  })

  test('whoever has not is refused, in words', async () => {
    expect(await refusal(cp.as(BOB).create(binding(SPACE, 'sneaky')))).toContain(
      `${BOB} may not use service account ${SPACE}/llama, for which this binding registers an identity`,
    )
  })

  test('the right is for one service account, not for all', async () => {
    const other = binding(SPACE, 'other', { serviceAccountName: 'default' })
    expect(await refusal(cp.as(ADA).create(other))).toContain(`may not use service account ${SPACE}/default`)
  })

  test.each<[what: string, spec: JsonRecord, refused: boolean]>([
    ['to point a binding at other pods', { containerName: 'router' }, true],
    ['to take the service account of somebody else', { serviceAccountName: 'default' }, true],
    ['to leave the identity as it is', {}, false],
  ])('it takes it to change a binding: %s', async (_what, spec, refused) => {
    const change = { metadata: { annotations: { 'example.org/note': 'b' } }, spec }
    const said = await refusal(cp.as(BOB).patch(bindingId(SPACE, 'chat'), change))
    expect(said !== undefined).toBe(refused)
  })
})

/** The labels of the Deployment `served`. */
const SERVED = { app: 'llama', of: 'served' }

/** As an autoscaler and `kubectl scale` do it. */
function scale(user: string, replicas: number): Promise<unknown> {
  return cp.as(user).patch(appsId('Deployment', 'served'), { spec: { replicas } }, 'scale')
}

/** A change of Bob's. */
function changeServed(patch: JsonRecord): Promise<unknown> {
  return cp.as(BOB).patch(appsId('Deployment', 'served'), patch)
}

/** Server-side apply of Bob's, without the number of replicas, as for a workload that is scaled by itself. */
function applyServed(image: string): Promise<unknown> {
  const selector = { matchLabels: SERVED }
  return cp.as(BOB).apply({ ...deployment('served', SERVED), spec: { selector, template: withImage(image) } })
}

function withImage(image: string): JsonRecord {
  const [container] = SPEC.containers
  const labels = { ...SERVED, round: '2' }
  return { metadata: { labels }, spec: { ...SPEC, containers: [{ ...container, image }] } }
}

test('no other operator writes the status of a binding, and this one goes on', async () => {
  const id = bindingId(SPACE, 'chat')
  // A policy is in force a moment after it is there.
  const said = await until(
    async () => refusal(cp.as(BOB).patch(id, { status: { conditions: [] } }, 'status')),
    'the policy about the status to be in force',
  )
  expect(said).toContain(
    `${BOB} may not write the status of a binding, which system:serviceaccount:${RELEASE_NAMESPACE}:`,
  )
  expect(said).toContain('remove one of the two')
  await cp.as(ADA).create(binding(SPACE, 'later', { objectiveRef: { name: 'none' } }))
  await untilReason(cp, SPACE, 'later', 'TargetObjectiveNotFound')
  await cp.admin.delete(bindingId(SPACE, 'later'))
})

describe('who may run what a pool selects', () => {
  test.each<[what: string, user: string, object: JsonRecord, says: string | undefined]>([
    ['a pod of a pool, by whoever may serve it', ADA, pod('a', { app: 'llama', more: 'x' }), undefined],
    [
      'a pod of a pool, by somebody else',
      BOB,
      pod('b', { app: 'llama' }),
      `${BOB} may not serve pool ${SPACE}/llama`,
    ],
    ['a pod of another pool', ADA, pod('c', { app: 'phi', tier: 'gpu' }), `may not serve pool ${SPACE}/phi`],
    ['a pod with half of the labels of a pool', BOB, pod('d', { app: 'phi' }), undefined],
    ['a pod of no pool', BOB, pod('e', { app: 'web' }), undefined],
    ['a pod without labels', BOB, pod('f', {}), undefined],
    ['a pod of the older kind of pool', BOB, pod('g', { app: 'old' }), `may not serve pool ${SPACE}/old`],
    ['the same by whoever may serve it', ADA, pod('h', { app: 'old' }), undefined],
    ['a Deployment', BOB, deployment('b', { app: 'llama' }), `may not serve pool ${SPACE}/llama`],
    ...['ReplicaSet', 'StatefulSet', 'DaemonSet'].map((kind): [string, string, JsonRecord, string] => [
      `a ${kind}`,
      BOB,
      { ...deployment('b', { app: 'llama' }), kind },
      `may not serve pool ${SPACE}/llama`,
    ]),
    [
      'a ReplicationController',
      BOB,
      {
        apiVersion: 'v1',
        kind: 'ReplicationController',
        metadata: { name: 'b', namespace: SPACE },
        spec: { selector: { app: 'llama' }, template: template({ app: 'llama' }) },
      },
      `may not serve pool ${SPACE}/llama`,
    ],
    [
      'a StatefulSet whose controller adds the label that is missing',
      BOB,
      { ...deployment('b', { app: 'numbered' }), kind: 'StatefulSet' },
      `may not serve pool ${SPACE}/first`,
    ],
    ['a pod without that label', BOB, pod('i', { app: 'numbered' }), undefined],
    [
      'a pod whose node adds the label that is missing',
      BOB,
      pod('j', { app: 'zonal' }),
      `may not serve pool ${SPACE}/zonal`,
    ],
    [
      'a Job',
      BOB,
      {
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: { name: 'b', namespace: SPACE },
        spec: job({ app: 'llama' }),
      },
      `may not serve pool ${SPACE}/llama`,
    ],
    [
      'a CronJob',
      BOB,
      {
        apiVersion: 'batch/v1',
        kind: 'CronJob',
        metadata: { name: 'b', namespace: SPACE },
        spec: { schedule: '0 0 * * *', jobTemplate: { spec: job({ app: 'llama' }) } },
      },
      `may not serve pool ${SPACE}/llama`,
    ],
    [
      'a PodTemplate',
      BOB,
      {
        apiVersion: 'v1',
        kind: 'PodTemplate',
        metadata: { name: 'b', namespace: SPACE },
        template: template({ app: 'llama' }),
      },
      `may not serve pool ${SPACE}/llama`,
    ],
  ])('%s', async (_what, user, object, says) => {
    const said = await refusal(cp.as(user).create(object))
    expect(said ?? 'allowed').toContain(says ?? 'allowed')
  })

  test('the controllers make the pods of a Deployment that was allowed', async () => {
    await cp.as(ADA).create(deployment('served', SERVED))
    const made = await until(async () => {
      const pods = await cp.admin.list({ apiVersion: 'v1', kind: 'Pod', namespace: SPACE })
      return pods.find((one) => stringAt(one, 'metadata', 'labels', 'of') === 'served')
    }, 'its pod')
    expect(stringAt(made, 'metadata', 'labels', 'app')).toBe('llama')
  })

  test.each<[what: string, patch: JsonRecord, refused: boolean]>([
    [
      'another image runs as the identity',
      { spec: { template: { spec: { terminationGracePeriodSeconds: 5 } } } },
      true,
    ],
    ['there are to be more of it', { spec: { replicas: 2 } }, true],
    ['there are to be fewer of it', { spec: { replicas: 0 } }, false],
    ['it is annotated', { metadata: { annotations: { note: 'b' } } }, false],
  ])('somebody else changes that Deployment: %s', async (_what, patch, refused) => {
    const id = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'served', namespace: SPACE }
    expect((await refusal(cp.as(BOB).patch(id, patch))) !== undefined).toBe(refused)
  })

  test('what such a change makes is not asked about: controllers roll it out', async () => {
    const spec = { replicas: 1, template: { metadata: { labels: { round: '2' } } } }
    await cp.as(ADA).patch(appsId('Deployment', 'served'), { spec })
    const made = await until(async () => {
      const pods = await cp.admin.list({ apiVersion: 'v1', kind: 'Pod', namespace: SPACE })
      return pods.find((one) => dig(one, 'metadata', 'labels', 'round') === '2')
    }, 'a pod of the new template')
    expect(dig(made, 'metadata', 'labels')).toMatchObject(SERVED)
  })

  test.each<[what: string, outcome: 'allowed' | 'denied', act: () => Promise<unknown>]>([
    ['a HorizontalPodAutoscaler scales it up', 'allowed', () => scale(AUTOSCALER, 4)],
    ['`kubectl scale` to more pods', 'denied', () => scale(BOB, 5)],
    ['`kubectl scale` to fewer', 'allowed', () => scale(BOB, 1)],
    ['`kubectl rollout restart`', 'denied', () => changeServed(RESTART)],
    ['`kubectl rollout pause`, `resume` or `undo`', 'denied', () => changeServed({ spec: { paused: true } })],
    ['another image', 'denied', () => changeServed({ spec: { template: withImage('vllm:2') } })],
    [
      'its labels, annotations and finalizers',
      'allowed',
      () => changeServed({ metadata: { labels: { a: 'b' } } }),
    ],
    ['a GitOps controller applies what is there already', 'allowed', () => applyServed('vllm:1')],
    ['a GitOps controller applies another image', 'denied', () => applyServed('vllm:2')],
    ['a GitOps controller makes it anew', 'denied', () => cp.as(BOB).apply(deployment('anew', SERVED))],
  ])('without the right, as docs/install.md says: %s: %s', async (what, outcome, act) => {
    expect(readFileSync('docs/install.md', 'utf8')).toContain(`| ${what} | ${outcome} |`)
    expect((await refusal(act())) === undefined ? 'allowed' : 'denied').toBe(outcome)
  })

  test('the largest template that the API server stores is compared within its limits', async () => {
    const made = deployment('large', { app: 'llama', of: 'large' })
    const [container] = SPEC.containers
    // 1.1 MB, near what the API server stores. 290,000 values of one letter were within the limits too, and took half a minute on a
    // machine that did other work. The last value is what changes.
    const ending = (last: string): JsonRecord => {
      const args = [...Array.from({ length: 50_000 }, () => 'a'.repeat(18)), last]
      return {
        ...template({ app: 'llama', of: 'large' }),
        spec: { ...SPEC, containers: [{ ...container, args }] },
      }
    }
    await cp
      .as(ADA)
      .create({ ...made, spec: { ...Object(made['spec']), replicas: 0, template: ending('a') } })
    const change = (patch: JsonRecord): Promise<string | undefined> =>
      refusal(cp.as(BOB).patch(appsId('Deployment', 'large'), patch))
    expect(await change({ metadata: { annotations: { note: 'b' } } })).toBeUndefined()
    expect(await change({ spec: { template: ending('b') } })).toContain(
      `${BOB} may not serve pool ${SPACE}/llama`,
    )
  })

  test('somebody else labels a running pod into a pool', async () => {
    const id = { apiVersion: 'v1', kind: 'Pod', name: 'e', namespace: SPACE }
    const said = await refusal(cp.as(BOB).patch(id, { metadata: { labels: { app: 'llama' } } }))
    expect(said).toContain(`${BOB} may not serve pool ${SPACE}/llama`)
  })

  test.each<[what: string, patch: JsonRecord, refused: boolean]>([
    ['its labels with it', { metadata: { labels: { app: 'llama' } } }, true],
    ['nothing else', { status: { message: 'fine' } }, false],
  ])('somebody else writes the status of a running pod: %s', async (_what, patch, refused) => {
    const id = { apiVersion: 'v1', kind: 'Pod', name: 'e', namespace: SPACE }
    const said = await refusal(cp.as(BOB).patch(id, patch, 'status'))
    expect(said ?? 'allowed').toContain(
      refused ? "a change of a pod's status must not change its labels" : 'allowed',
    )
  })
})

/** A Deployment that selects its pods by a label of its own. */
function ofDecode(labels: Labels): JsonRecord {
  const made = deployment('decode', labels)
  const selector = { matchLabels: { of: 'decode' } }
  return { ...made, spec: { ...Object(made['spec']), selector } }
}

describe('who may run a variant of a pool', () => {
  const of = (variant: string, more: Labels = {}): Labels => ({ app: 'deepseek', [ROLE]: variant, ...more })
  const refused = (what: string): string => `${BOB} may not serve ${what}pool ${SPACE}/deepseek`

  test.each<[what: string, user: string, object: JsonRecord, says: string | undefined]>([
    ['his own, by whoever may serve that one', BOB, pod('decode', of('decode')), undefined],
    ['another one', BOB, pod('prefill', of('prefill')), refused('variant prefill of ')],
    ['pods of no variant', BOB, pod('none', { app: 'deepseek' }), refused('')],
    ['any, by whoever may serve the pool', ADA, pod('prefill', of('prefill')), undefined],
    ['a Deployment of his own', BOB, ofDecode(of('decode', { of: 'decode' })), undefined],
    ['a Deployment of another', BOB, deployment('prefill', of('prefill')), refused('variant prefill of ')],
    [
      'his variant of another pool',
      BOB,
      pod('other', { app: 'llama', [ROLE]: 'decode' }),
      'pool team-a/llama',
    ],
    ['a variant of no pool', BOB, pod('free', { app: 'web', [ROLE]: 'prefill' }), undefined],
  ])('%s', async (_what, user, object, says) => {
    const said = await refusal(cp.as(user).create(object))
    expect(said ?? 'allowed').toContain(says ?? 'allowed')
  })

  test('a Deployment of his own has its pods made, and may not become another', async () => {
    const made = await until(async () => {
      const pods = await cp.admin.list({ apiVersion: 'v1', kind: 'Pod', namespace: SPACE })
      return pods.find((one) => stringAt(one, 'metadata', 'labels', 'of') === 'decode')
    }, 'its pod')
    expect(dig(made, 'metadata', 'labels', ROLE)).toBe('decode')
    const id = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'decode', namespace: SPACE }
    const labels = { metadata: { labels: { [ROLE]: 'prefill' } } }
    expect(await refusal(cp.as(BOB).patch(id, { spec: { template: labels } }))).toContain(
      refused('variant prefill of '),
    )
    expect(await asBob('PATCH', 'apps/deployments/decode', { spec: { replicas: 2 } })).toBe('allowed')
    // A scale does not tell what the pods will be.
    expect(await asBob('PATCH', 'apps/deployments/decode/scale', { spec: { replicas: 3 } })).toMatch(
      // Of several pools any may say it.
      /bob may not serve pool team-a\/[a-z]+, and the scale of a workload does not tell/,
    )
  })

  test.each<[what: string, name: string, user: string, labels: JsonRecord]>([
    ['changed', 'decode', ADA, { [ROLE]: 'prefill' }],
    ['removed', 'decode', ADA, { [ROLE]: null }],
    ['added', 'a', ADA, { [ROLE]: 'decode' }],
    ['changed on a pod of no pool, which could join one', 'free', BOB, { [ROLE]: 'decode' }],
    ['changed while its pod leaves the pool', 'decode', ADA, { [ROLE]: 'prefill', app: 'web' }],
  ])('of a pod that lives it is not %s, whoever asks', async (_what, name, user, labels) => {
    const id = { apiVersion: 'v1', kind: 'Pod', name, namespace: SPACE }
    const said = await refusal(cp.as(user).patch(id, { metadata: { labels } }))
    expect(said).toContain(
      `no user may set, change or remove the label ${ROLE} of a pod that lives: it tells which identity the pod has`,
    )
  })

  test('other labels of such a pod change as before', async () => {
    const id = { apiVersion: 'v1', kind: 'Pod', name: 'decode', namespace: SPACE }
    expect(await refusal(cp.as(BOB).patch(id, { metadata: { labels: { note: 'b' } } }))).toBeUndefined()
    expect(await refusal(cp.as(ADA).patch(id, { metadata: { labels: { app: 'web' } } }))).toBeUndefined()
    expect(await refusal(cp.as(BOB).patch(id, { metadata: { labels: { app: 'deepseek' } } }))).toBeUndefined()
  })
})

/** A request of Bob's, by its path below the namespace; why it is refused. */
async function asBob(method: string, path: string, body: JsonRecord): Promise<string> {
  const [group = '', rest = ''] = path.startsWith('apps/')
    ? ['apis/apps/v1', path.slice('apps/'.length)]
    : ['api/v1', path]
  const answer = await cp.as(BOB).request({
    method,
    path: `/${group}/namespaces/${SPACE}/${rest}`,
    body,
    contentType: method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
  })
  if (answer.status < 300) return 'allowed'
  if (answer.status === 403) return stringAt(answer.body, 'message') ?? ''
  throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
}

const ROLLBACK = 'deprecated.deployment.rollback.to'
/** What `kubectl rollout restart` sends. */
const RESTART = {
  spec: {
    template: { metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': '2026-01-01T00:00:00Z' } } },
  },
}
/** Workloads that Bob makes before there is a pool: kind, name, labels of their pods, and what else they say. */
const OLDER: readonly [kind: string, name: string, labels: Labels, spec: JsonRecord][] = [
  ['Deployment', 'paused', { app: 'late' }, { paused: true }],
  ['Deployment', 'rolling', { app: 'late' }, { replicas: 8 }],
  [
    'StatefulSet',
    'parted',
    { app: 'late' },
    {
      replicas: 2,
      podManagementPolicy: 'Parallel',
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 5 } },
    },
  ],
  ['DaemonSet', 'daemons', { app: 'late' }, {}],
]

/** Takes the template of one of them out of the pool. */
const OUT_OF_POOL = { template: { metadata: { labels: { app: null } } } }

async function statusOf(kind: string, name: string): Promise<JsonRecord> {
  const status = dig(await cp.admin.get(appsId(kind, name)), 'status')
  return isRecord(status) ? status : {}
}

/** How many pods of a workload have the labels that its template had first. */
async function olderPods(more: string): Promise<number> {
  const pods = await cp.admin.list({ apiVersion: 'v1', kind: 'Pod', namespace: SPACE })
  return pods.filter((one) => {
    const labels = dig(one, 'metadata', 'labels')
    return isRecord(labels) && labels['more'] === more && labels['app'] === 'late'
  }).length
}

function appsId(kind: string, name: string): ObjectId {
  return { apiVersion: 'apps/v1', kind, name, namespace: SPACE }
}

describe('ways around it', () => {
  test.each(['pods/unbound/binding', 'bindings'])(
    'a binding (%s) that brings labels to its pod',
    async (path) => {
      const name = `unbound-${path === 'bindings' ? 'a' : 'b'}`
      await cp.as(BOB).create(pod(name, { app: 'web' }))
      const to = (labels: Labels): JsonRecord => ({
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name, namespace: SPACE, labels },
        target: { apiVersion: 'v1', kind: 'Node', name: 'n' },
      })
      const at = path.replace('unbound', name)
      expect(await asBob('POST', at, to({ app: 'llama' }))).toContain(
        'a binding must not bring labels to its pod',
      )
      expect(await asBob('POST', at, to({ 'topology.kubernetes.io/zone': 'b' }))).toBe('allowed')
      const bound = await cp.admin.get({ apiVersion: 'v1', kind: 'Pod', name, namespace: SPACE })
      expect(dig(bound, 'metadata', 'labels')).toMatchObject({ app: 'web' })
    },
  )

  test.each(['ephemeralcontainers', 'resize'])(
    'a change of %s that brings labels to its pod',
    async (path) => {
      const name = `with-${path}`
      await cp.as(BOB).create(pod(name, { app: 'web' }))
      const labels = { app: 'llama', [ROLE]: 'prefill' }
      const served = path !== 'resize' || (await serverMinor(cp)) >= 33
      const answer = await asBob('PATCH', `pods/${name}/${path}`, { metadata: { labels } }).catch(String)
      // The API server takes the request where it serves it, and leaves the labels as they were.
      expect(answer).toMatch(served ? /^allowed$/ : /: 404 /)
      const after = await cp.admin.get({ apiVersion: 'v1', kind: 'Pod', name, namespace: SPACE })
      expect(dig(after, 'metadata', 'labels')).toEqual({ app: 'web' })
    },
  )

  test('the revision of a StatefulSet that is deleted and made anew with the labels of a pool', async () => {
    const labels = { of: 'stateful' }
    const id = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'stateful', namespace: SPACE }
    const set = deployment(id.name, labels)
    // Its controller makes all of its pods from the current revision.
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { partition: 1 } }
    const spec = { ...Object(set['spec']), serviceName: id.name, replicas: 0, updateStrategy }
    await cp.as(BOB).create({ ...set, kind: id.kind, spec })
    const name = await until(
      async () => stringAt(await cp.admin.get(id), 'status', 'currentRevision'),
      'its revision',
    )
    const revisionId = { apiVersion: 'apps/v1', kind: 'ControllerRevision', name, namespace: SPACE }
    const revision = await cp.admin.get(revisionId)
    const { labels: marks, ownerReferences } = Object(dig(revision, 'metadata'))
    const forged = {
      apiVersion: revisionId.apiVersion,
      kind: revisionId.kind,
      metadata: { name, namespace: SPACE, labels: marks, ownerReferences },
      revision: 1,
      data: { spec: { template: { ...template({ ...labels, app: 'llama' }), $patch: 'replace' } } },
    }
    expect(await asBob('POST', 'apps/controllerrevisions', forged)).toMatch(
      // Of several pools any may say it.
      /bob may not serve pool team-a\/[a-z]+, and what a revision holds is merged into pods/,
    )
    // The way is a real one: whoever has every right on everything comes through.
    await cp.admin.delete(revisionId)
    await cp.admin.create(forged)
    await cp.admin.patch(id, { spec: { replicas: 1 } })
    const made = await until(
      () => cp.admin.get({ apiVersion: 'v1', kind: 'Pod', name: `${id.name}-0`, namespace: SPACE }),
      'its pod',
    )
    expect(dig(made, 'metadata', 'labels')).toMatchObject({ app: 'llama' })
  })

  describe('workloads that were there before the pool', () => {
    const late = { app: 'late' }
    const workloads: readonly [kind: string, plural: string][] = [
      ['Deployment', 'apps/deployments'],
      ['ReplicaSet', 'apps/replicasets'],
      ['StatefulSet', 'apps/statefulsets'],
      ['ReplicationController', 'replicationcontrollers'],
    ]
    beforeAll(async () => {
      for (const [kind] of workloads) {
        const name = `late-${kind.toLowerCase()}`
        const spec = { replicas: 1, template: template({ ...late, more: name }) }
        const isOld = kind === 'ReplicationController'
        await cp.as(BOB).create({
          apiVersion: isOld ? 'v1' : 'apps/v1',
          kind,
          metadata: { name, namespace: SPACE },
          spec: { ...spec, selector: isOld ? { more: name } : { matchLabels: { more: name } } },
        })
      }
      const other = { matchLabels: { app: 'other' } }
      const spec = { replicas: 1, selector: other, template: template({ app: 'other' }) }
      await cp.as(BOB).create({ ...deployment('other', { app: 'other' }), spec })
      const suspended = { ...job(late), suspend: true }
      await cp.as(BOB).create({
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: { name: 'late', namespace: SPACE },
        spec: suspended,
      })
      await cp.as(BOB).create({
        apiVersion: 'batch/v1',
        kind: 'CronJob',
        metadata: { name: 'late', namespace: SPACE },
        spec: { schedule: '0 0 * * *', suspend: true, jobTemplate: { spec: job(late) } },
      })
      const onDelete = { updateStrategy: { type: 'OnDelete' } }
      for (const [kind, name, labels, more] of OLDER) {
        const made = deployment(name, { more: name })
        const rest = { template: template({ ...labels, more: name }), ...more }
        const { replicas, ...kept } = Object(made['spec'])
        const amount = kind === 'DaemonSet' ? onDelete : { replicas }
        await cp.as(BOB).create({ ...made, kind, spec: { ...kept, ...amount, ...rest } })
      }
      // Rollouts that leave pods of the older template: no pod is ever ready, and the partition holds.
      await until(
        async () => stringAt(await statusOf('StatefulSet', 'parted'), 'currentRevision'),
        'a revision',
      )
      await until(async () => (await olderPods('rolling')) === 8, 'the pods of the first template')
      await cp.as(BOB).patch(appsId('Deployment', 'rolling'), { spec: OUT_OF_POOL })
      await cp.admin.patch(appsId('StatefulSet', 'parted'), { spec: OUT_OF_POOL })
      await until(async () => {
        const deployed = await statusOf('Deployment', 'rolling')
        const parted = await statusOf('StatefulSet', 'parted')
        return (
          Number(deployed['updatedReplicas']) > 0 &&
          deployed['updatedReplicas'] !== deployed['replicas'] &&
          parted['currentRevision'] !== parted['updateRevision']
        )
      }, 'both to be rolled out')
      await cp.apply([pool(SPACE, 'late', late)])
      // The API server learns of a pool by and by.
      await until(
        async () =>
          (await asBob('POST', 'pods?dryRun=All', pod('probe-late', late))).includes('may not serve'),
        'the new pool to be asked about',
      )
    })

    test.each(workloads)('a %s makes no more pods', async (kind, plural) => {
      const at = `${plural}/late-${kind.toLowerCase()}`
      const refused = `${BOB} may not serve pool ${SPACE}/late`
      await until(async () => {
        const { body } = await cp.admin.request({
          method: 'GET',
          path: `/${plural.startsWith('apps/') ? 'apis/apps/v1' : 'api/v1'}/namespaces/${SPACE}/${at.replace('apps/', '')}/scale`,
        })
        return (stringAt(body, 'status', 'selector') ?? '') !== ''
      }, 'its scale')
      const doubted = /bob may not serve pool team-a\/[a-z]+, and the scale of a workload does not tell/
      expect(await asBob('PATCH', at, { spec: { replicas: 2 } })).toContain(refused)
      expect(await asBob('PATCH', `${at}/scale`, { spec: { replicas: 2 } })).toMatch(doubted)
      expect(await asBob('PATCH', `${at}/scale`, { spec: { replicas: 0 } })).toBe('allowed')
      expect(await asBob('PATCH', `${at}/scale`, { spec: { replicas: 1 } })).toMatch(doubted)
    })

    test.each<[what: string, kind: string, name: string, patch: JsonRecord]>([
      ['is no longer paused', 'Deployment', 'paused', { spec: { paused: false } }],
      [
        'is rolled back by its annotation',
        'Deployment',
        'rolling',
        { metadata: { annotations: { [ROLLBACK]: '1' } } },
      ],
      ['grows in the middle of a rollout', 'Deployment', 'rolling', { spec: { replicas: 9 } }],
      [
        'rolls out with more pods at a time',
        'Deployment',
        'paused',
        { spec: { strategy: { rollingUpdate: { maxSurge: 3 } } } },
      ],
      ['is restarted', 'Deployment', 'paused', RESTART],
      [
        'has another partition',
        'StatefulSet',
        'late-statefulset',
        { spec: { updateStrategy: { rollingUpdate: { partition: 1 } } } },
      ],
      [
        'grows where its current pods are of an older template',
        'StatefulSet',
        'parted',
        { spec: { replicas: 5 } },
      ],
      [
        'replaces its pods by itself',
        'DaemonSet',
        'daemons',
        { spec: { updateStrategy: { type: 'RollingUpdate' } } },
      ],
      ['has another schedule', 'CronJob', 'late', { spec: { schedule: '1 0 * * *' } }],
      [
        'has another history, and more jobs at a time',
        'CronJob',
        'late',
        { spec: { failedJobsHistoryLimit: 3, concurrencyPolicy: 'Replace' } },
      ],
      ['runs more pods at a time', 'Job', 'late', { spec: { parallelism: 2 } }],
    ])('somebody else changes one so that it %s: %s %s', async (_what, kind, name, patch) => {
      const id = kind.endsWith('Job') ? { ...appsId(kind, name), apiVersion: 'batch/v1' } : appsId(kind, name)
      // Of several pools any may say it, where an older template may come.
      const refused = /may not serve pool team-a\/(late|[a-z]+, and this may make pods of an older template)/
      expect(await refusal(cp.as(BOB).patch(id, patch))).toMatch(refused)
      expect(await refusal(cp.as(ADA).patch(id, patch))).toMatch(refused)
    })

    test.each<[what: string, kind: string, name: string, patch: JsonRecord]>([
      [
        'is annotated and labelled',
        'Deployment',
        'paused',
        { metadata: { annotations: { a: 'b' }, labels: { a: 'b' } } },
      ],
      ['has no pods', 'Deployment', 'paused', { spec: { replicas: 0 } }],
      ['keeps fewer old revisions', 'Deployment', 'paused', { spec: { revisionHistoryLimit: 1 } }],
      ['gives up earlier', 'Deployment', 'paused', { spec: { progressDeadlineSeconds: 700 } }],
      ['shrinks in the middle of a rollout', 'Deployment', 'rolling', { spec: { replicas: 3 } }],
      [
        'shrinks where its current pods are of an older template',
        'StatefulSet',
        'parted',
        { spec: { replicas: 1 } },
      ],
      [
        'keeps fewer jobs',
        'CronJob',
        'late',
        { spec: { successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: null } },
      ],
      ['is suspended once more', 'Job', 'late', { spec: { suspend: true } }],
      ['goes away by itself', 'Job', 'late', { spec: { ttlSecondsAfterFinished: 5 } }],
    ])('somebody else changes one so that it %s: %s %s', async (_what, kind, name, patch) => {
      const id = kind.endsWith('Job') ? { ...appsId(kind, name), apiVersion: 'batch/v1' } : appsId(kind, name)
      expect(await refusal(cp.as(BOB).patch(id, patch))).toBeUndefined()
    })

    test.each<[what: string, kind: string, name: string]>([
      ['in the middle of its rollout', 'Deployment', 'rolling'],
      ['below its partition', 'StatefulSet', 'parted'],
    ])(
      'the way is a real one: what grows %s gets pods of the older template: %s',
      async (_what, kind, name) => {
        const before = await olderPods(name)
        await cp.admin.patch(appsId(kind, name), { spec: { replicas: 12 } })
        expect(await until(async () => (await olderPods(name)) > before, 'an older pod')).toBe(true)
      },
    )

    test('another workload, which selects by another value of the label, is scaled freely', async () => {
      expect(await asBob('PATCH', 'apps/deployments/other/scale', { spec: { replicas: 3 } })).toBe('allowed')
    })

    test.each(['Job', 'CronJob'])('a suspended %s does not go on', async (kind) => {
      const id = { apiVersion: 'batch/v1', kind, name: 'late', namespace: SPACE }
      expect(await refusal(cp.as(BOB).patch(id, { spec: { suspend: false } }))).toContain(
        `${BOB} may not serve pool ${SPACE}/late`,
      )
      expect(
        await refusal(cp.as(BOB).patch(id, { metadata: { annotations: { note: 'b' } } })),
      ).toBeUndefined()
    })

    test('whoever may serve the pool scales them', async () => {
      await cp.apply(
        grant(ADA, 'late', [rule('inference.networking.k8s.io', ['inferencepools'], ['serve'], ['late'])]),
      )
      const id = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'late-deployment', namespace: SPACE }
      await until(
        async () => (await refusal(cp.as(ADA).patch(id, { spec: { replicas: 2 } }))) === undefined,
        'the new right',
      )
      expect(dig(await cp.admin.get(id), 'spec', 'replicas')).toBe(2)
    })
  })
})

test('a quota lets so many bindings into its namespace, and the next when one has gone', async () => {
  const count = 'count/inferenceidentitybindings.kleym.sonda.red'
  const quota = { apiVersion: 'v1', kind: 'ResourceQuota', namespace: CROWDED, name: 'kleym-bindings' }
  const stated = async (what: 'hard' | 'used'): Promise<string | undefined> =>
    stringAt(await cp.admin.get(quota), 'status', what, count)
  const wish = (name: string): Promise<string | undefined> => refusal(cp.admin.create(binding(CROWDED, name)))
  const path = `/apis/kleym.sonda.red/v1alpha1/namespaces/${CROWDED}/inferenceidentitybindings?dryRun=All`
  /** What the quota says of one more: its admission goes by a copy of the quota, which follows what is stated. */
  const said = async (): Promise<string | undefined> => {
    const { body } = await cp.admin.request({ method: 'POST', path, body: binding(CROWDED, 'asked') })
    return stringAt(body, 'message')
  }
  // Of a kind that has just come nothing is counted yet, and then nobody may have one. It is within half a minute, once
  // there is another number: docs/install.md.
  const early = new Set<string | undefined>()
  await until(async () => {
    if ((await stated('used')) !== undefined) return true
    early.add(await said())
    for (const bindings of ['3', '2']) await cp.admin.patch(quota, { spec: { hard: { [count]: bindings } } })
    return false
  }, 'the quota to be counted')
  early.delete(undefined)
  for (const why of early) expect(why).toContain('status unknown for quota: kleym-bindings')
  await until(async () => (await stated('hard')) === '2', 'the number of the chart to count')
  await until(async () => (await said()) === undefined, 'a binding to be let in')
  expect(await wish('first')).toBeUndefined()
  expect(await wish('second')).toBeUndefined()
  const full = `exceeded quota: kleym-bindings, requested: ${count}=1, used: ${count}=2, limited: ${count}=2`
  await until(async () => (await said())?.includes(full) === true, 'the quota to be full')
  expect(await wish('third')).toContain(full)
  await cp.admin.delete(bindingId(CROWDED, 'first'))
  await until(async () => (await said()) === undefined, 'the deleted one to be counted no more')
  expect(await wish('third')).toBeUndefined()
})

test('the policies compile: the controller that checks their types warns of nothing', async () => {
  const kind = { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingAdmissionPolicy' }
  const policies = await until(async () => {
    const all = await cp.admin.list(kind)
    const areChecked = all.every((policy) => isRecord(dig(policy, 'status', 'typeChecking')))
    return areChecked && all
  }, 'the policies to be checked')
  expect(policies.map((policy) => stringAt(policy, 'metadata', 'name') ?? '').toSorted()).toEqual([
    'kleym-binding-status',
    'kleym-pool-pods',
    'kleym-pool-pods-status',
    'kleym-pool-pods-variant',
    'kleym-pool-pods-x',
    'kleym-service-accounts',
    'kleym-uninstall-guard',
  ])
  expect(
    policies.flatMap((policy) => listAt(policy, 'status', 'typeChecking', 'expressionWarnings')),
  ).toEqual([])
})

test('a policy about a kind that is not there is refused: it would refuse every pod', async () => {
  await cp.removeCrd('inferencepools.inference.networking.x-k8s.io')
  const sets = ['--reuse-values', '--set', 'policies.poolPods.kinds={inference.networking.x-k8s.io}']
  const { status, stderr } = await helm('upgrade', RELEASE, CHART, '--namespace', RELEASE_NAMESPACE, ...sets)
  expect(stderr).toContain(
    'policies.poolPods.kinds: the cluster has no InferencePool of inference.networking.x-k8s.io',
  )
  expect(status).not.toBe(0)
})
