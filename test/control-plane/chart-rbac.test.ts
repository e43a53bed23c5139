// The operator under exactly the roles of the chart, with exactly the arguments that the chart gives it, on a real
// authorizer: all of the contract works with them, nothing of them is left unused, and each verb is missed when it is gone.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { get } from 'node:https'
import { dig, isRecord, listAt, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { certificate } from '@kleym/testing/faults/certificates.ts'
import type { AuditEvent } from './audit.ts'
import { startDeployed, type DeployedOperator } from './chart-operator.ts'
import { FIRST_BUILD_MS } from './client-binaries.ts'
import { startControlPlane, type ControlPlane } from './control-plane.ts'
import { startFaultProxy, type FaultProxy } from './fault-proxy.ts'
import { CHART, demand, helmOn, RELEASE, RELEASE_NAMESPACE, restrictedNamespace } from './helm.ts'
import { untilBindingGone } from './in-force.ts'
import {
  binding,
  bindingId,
  estate,
  eventsOf,
  member,
  outputId,
  outputsOf,
  poolOnly,
  untilReason,
} from './objects.ts'
import { checkRights } from '../../operator/src/check/checks.ts'
import { rightsWanted } from '../../operator/src/check/rights.ts'
import { clusterOf } from '../../operator/src/settings/cluster.ts'
import { createApi } from '../../shared/src/kube/client.ts'
import { systemClock } from '../../shared/src/kube/clock.ts'
import { operatorAccess } from './operator-access.ts'
import { freePorts } from './ports.ts'
import { requestToken, type ObjectId } from './rest.ts'
import { rightsInForce } from './rights-in-force.ts'
import { rightIn, rightsOf, without, type Right } from './rights.ts'
import { until, within } from '@kleym/testing/wait.ts'

const ACCOUNT = `system:serviceaccount:${RELEASE_NAMESPACE}:kleym-operator`
const SCRAPER = 'prometheus'
const POOL_GROUPS = ['inference.networking.k8s.io', 'inference.networking.x-k8s.io'] as const
const OBJECTIVE_GROUPS = [...POOL_GROUPS, 'llm-d.ai'] as const
const CLUSTER_ROLE: ObjectId = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  name: 'kleym-operator',
}
const ROLE: ObjectId = { ...CLUSTER_ROLE, kind: 'Role', namespace: RELEASE_NAMESPACE }
const LEASE: ObjectId = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  name: 'kleym-operator',
  namespace: RELEASE_NAMESPACE,
}

let cp: ControlPlane
let proxy: FaultProxy
let operator: DeployedOperator
let metricsPort = 0
let roles: readonly JsonRecord[] = []
let spaces = 0

beforeAll(async () => {
  cp = await startControlPlane({ without: ['inferenceidentitybindings.kleym.sonda.red'] })
  proxy = await startFaultProxy(cp)
  await cp.installCrd(gaObjectives())
  const tls = { 'tls.crt': certificate('server.crt'), 'tls.key': certificate('server.key') }
  await cp.apply([
    restrictedNamespace(RELEASE_NAMESPACE),
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'kleym-metrics', namespace: RELEASE_NAMESPACE },
      type: 'kubernetes.io/tls',
      stringData: tls,
    },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: SCRAPER, namespace: 'default' } },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'prometheus-reads-kleym' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'kleym-metrics-reader' },
      subjects: [{ kind: 'ServiceAccount', name: SCRAPER, namespace: 'default' }],
    },
  ])
  const [probes = 0, metrics = 0] = await freePorts(2)
  metricsPort = metrics
  const helm = await helmOn(cp)
  const sets = [
    'trustDomain=example.org',
    'image.registry=registry.example.org',
    `probes.port=${probes}`,
    `metrics.port=${metrics}`,
    'metrics.secure.enabled=true',
    'metrics.secure.certificateSecret=kleym-metrics',
  ].flatMap((set) => ['--set', set])
  await demand(helm('install', RELEASE, CHART, '--namespace', RELEASE_NAMESPACE, ...sets))
  roles = await Promise.all([CLUSTER_ROLE, ROLE].map(roleNow))
  operator = await start()
  await operator.leads()
}, FIRST_BUILD_MS)
afterAll(async () => {
  await proxy?.stop()
  await cp?.stop()
})

function start(): Promise<DeployedOperator> {
  return startDeployed(cp, RELEASE_NAMESPACE, { server: proxy.server })
}

/** InferenceObjective of `inference.networking.k8s.io/v1`, which the contract reads where it is served. */
function gaObjectives(): JsonRecord {
  const crd = structuredClone(cp.crd('inferenceobjectives.inference.networking.x-k8s.io'))
  const [version] = listAt(crd, 'spec', 'versions')
  return {
    ...crd,
    metadata: {
      name: 'inferenceobjectives.inference.networking.k8s.io',
      annotations: { 'api-approved.kubernetes.io': 'unapproved, for a test' },
    },
    spec: {
      ...Object(dig(crd, 'spec')),
      group: 'inference.networking.k8s.io',
      versions: [{ ...Object(version), name: 'v1' }],
    },
  }
}

async function roleNow(id: ObjectId): Promise<JsonRecord> {
  const { metadata, ...role } = (await cp.admin.get(id)) ?? {}
  const { name, namespace, labels, annotations } = Object(metadata)
  return { ...role, metadata: { name, namespace, labels, annotations } }
}

/** The requests of the operator that name a resource. */
async function requests(): Promise<readonly AuditEvent[]> {
  const events = await cp.audit({ user: ACCOUNT, stage: 'all' })
  return events.filter(({ resource }) => resource !== '')
}

/** A new namespace with pool `llama`. */
async function newSpace(): Promise<string> {
  const space = `team-${++spaces}`
  await cp.apply(estate(space))
  return space
}

/** A new namespace with a settled binding `chat`. */
async function settledSpace(): Promise<string> {
  const space = await newSpace()
  await cp.apply(member(space, 'chat'))
  await untilReason(cp, space, 'chat', 'Reconciled')
  return space
}

async function outputName(space: string): Promise<string> {
  const [output] = await outputsOf(cp, space, 'chat')
  return stringAt(output, 'metadata', 'name') ?? ''
}

function scrape(token: string): Promise<number> {
  const status = new Promise<number>((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` }
    const target = {
      host: '127.0.0.1',
      servername: 'localhost',
      port: metricsPort,
      path: '/metrics',
      headers,
    }
    get({ ...target, ca: certificate('ca.crt') }, (response) => {
      response.resume()
      response.once('end', () => resolve(response.statusCode ?? 0))
    }).once('error', reject)
  })
  return within(status, 'an answer of /metrics')
}

/** The answer of the next such write is lost, so that the operator must look what became of it. */
async function loseAnswer(method: string, path: RegExp, act: () => Promise<void>): Promise<void> {
  const injection = proxy.inject({ method, path, fault: { kind: 'drop answer' } })
  await act()
  await injection.hit()
  injection.remove()
}

async function lookForPool(group: string): Promise<void> {
  const space = await newSpace()
  await cp.apply([poolOnly(space, 'lost', { poolRef: { name: 'nobody', group } })])
}

async function lookForObjective(group: string): Promise<void> {
  const space = await newSpace()
  await cp.apply([binding(space, 'lost', { objectiveRef: { name: 'nobody', group } })])
}

async function newBinding(): Promise<void> {
  await cp.apply(member(await newSpace(), 'chat'))
}

async function editOutput(space: string): Promise<void> {
  await cp.admin.patch(outputId(await outputName(space)), { spec: { ttl: '1h' } })
}

async function restart(): Promise<void> {
  await operator.stop()
  operator = await start()
}

async function forgetTheLease(): Promise<void> {
  await operator.stop()
  await cp.admin.delete(LEASE)
  operator = await start()
}

async function scrapeAnew(): Promise<void> {
  await scrape(await requestToken(cp.admin, 'default', SCRAPER))
}

describe('with all of its rights', () => {
  test('it compiles, repairs, resolves collisions, follows references, and finishes deletions', async () => {
    const space = await settledSpace()
    expect(await eventsOf(cp, space, 'chat', 1)).toEqual(['Normal Reconciled'])
    await editOutput(space)
    await until(
      async () => dig(await cp.admin.get(outputId(await outputName(space))), 'spec', 'ttl') === undefined,
      'the edit to be undone',
    )
    await cp.apply(member(space, 'twin'))
    for (const name of ['twin', 'chat']) await untilReason(cp, space, name, 'IdentityCollision')
    await cp.admin.delete(bindingId(space, 'twin'))
    await untilReason(cp, space, 'chat', 'Reconciled')
    for (const group of POOL_GROUPS) {
      await lookForPool(group)
      await untilReason(cp, `team-${spaces}`, 'lost', 'TargetPoolNotFound')
    }
    for (const group of OBJECTIVE_GROUPS) {
      await lookForObjective(group)
      await untilReason(cp, `team-${spaces}`, 'lost', 'TargetObjectiveNotFound')
    }
    await cp.admin.delete(bindingId(space, 'chat'))
    await untilBindingGone(cp, space, 'chat')
    expect(await outputsOf(cp, space, 'chat')).toEqual([])
  })

  test('it looks what became of a write whose answer is lost', async () => {
    await loseAnswer('POST', /\/clusterspiffeids/, newBinding)
    await loseAnswer('PUT', /\/inferenceidentitybindings\/[^/]+\/status/, newBinding)
    for (const space of [spaces - 1, spaces].map((number) => `team-${number}`)) {
      await untilReason(cp, space, 'chat', 'Reconciled')
      expect(await outputsOf(cp, space, 'chat')).toHaveLength(1)
    }
  })

  test('it serves the metrics over HTTPS to a user with the role for them, and to no other', async () => {
    expect(await scrape(await requestToken(cp.admin, 'default', SCRAPER))).toBe(200)
    expect(await scrape(await requestToken(cp.admin, 'default', 'default'))).toBe(403)
    expect(await scrape('nobody')).toBe(401)
  })

  test('it starts again, and makes its Lease when there is none', async () => {
    await forgetTheLease()
    await operator.leads()
    expect(await operator.stop()).toBe('exit code 0')
    operator = await start()
    await operator.leads()
  })

  test('nothing that it asked for was forbidden, and it has used each right of its roles', async () => {
    const asked = await requests()
    const used = new Set(asked.filter(({ status }) => status < 400 || status === 404).map(rightIn))
    expect(asked.filter(({ status }) => status === 403).map(({ uri }) => uri)).toEqual([])
    expect([...used].toSorted()).toEqual(roles.flatMap(rightsOf).toSorted())
  })
})

const BINDINGS = 'inferenceidentitybindings.kleym.sonda.red'
const OUTPUTS = 'clusterspiffeids.spire.spiffe.io'
const CRDS = 'customresourcedefinitions.apiextensions.k8s.io'
const LEASES = 'leases.coordination.k8s.io'
const READ = [
  BINDINGS,
  OUTPUTS,
  CRDS,
  ...POOL_GROUPS.map((group) => `inferencepools.${group}`),
  ...OBJECTIVE_GROUPS.map((group) => `inferenceobjectives.${group}`),
]

type Act = (settled: string) => Promise<void>

/** What makes the operator want each right; `settled` is a namespace with a binding `chat` that was ready before. */
const WANTED: readonly (readonly [wants: Right, act: Act])[] = [
  [`patch ${BINDINGS}`, newBinding],
  [`update ${BINDINGS}/status`, newBinding],
  [`create ${OUTPUTS}`, newBinding],
  ['create events.events.k8s.io', newBinding],
  [`update ${OUTPUTS}`, editOutput],
  [`delete ${OUTPUTS}`, (settled) => cp.admin.delete(bindingId(settled, 'chat'))],
  [`get ${OUTPUTS}`, () => loseAnswer('POST', /\/clusterspiffeids/, newBinding)],
  [`get ${BINDINGS}`, () => loseAnswer('PUT', /\/inferenceidentitybindings\/[^/]+\/status/, newBinding)],
  ...POOL_GROUPS.map((group) => [`get inferencepools.${group}`, () => lookForPool(group)] as const),
  ...OBJECTIVE_GROUPS.map(
    (group) => [`get inferenceobjectives.${group}`, () => lookForObjective(group)] as const,
  ),
  ['create tokenreviews.authentication.k8s.io', scrapeAnew],
  ['create subjectaccessreviews.authorization.k8s.io', scrapeAnew],
  ...READ.flatMap((resource) => [
    [`list ${resource}`, restart] as const,
    [`watch ${resource}`, restart] as const,
  ]),
  [`get ${LEASES}`, restart],
  [`update ${LEASES}`, restart],
  [`create ${LEASES}`, forgetTheLease],
]

/** What `--check` says of the rights; rights on the Lease are in its namespace. */
async function checkedRights(): Promise<string> {
  const kubeconfig = await cp.kubeconfigForServiceAccount(RELEASE_NAMESPACE, 'kleym-operator')
  const cluster = await clusterOf({ kubeconfig, context: undefined }, { env: {}, clock: systemClock })
  const client = createApi(cluster, { userAgent: 'kleym-test', clock: systemClock })
  const tls = { certFile: '', keyFile: '' }
  const settings = { metrics: { address: { host: undefined, port: 0 }, tls } }
  const { says } = await checkRights(
    client,
    rightsWanted(settings, { ...LEASE, namespace: RELEASE_NAMESPACE }),
  )
  client.close()
  return says.replaceAll(` in namespace ${RELEASE_NAMESPACE}`, '')
}

/** They are about an output that is there. */
const NEED_A_BINDING: readonly Right[] = [`update ${OUTPUTS}`, `delete ${OUTPUTS}`]

describe('without one of its rights', () => {
  const settled = new Map<Right, string>()

  test('each of them is tried', () => {
    expect(WANTED.map(([wants]) => wants).toSorted()).toEqual(roles.flatMap(rightsOf).toSorted())
  })

  beforeAll(async () => {
    for (const wants of NEED_A_BINDING) settled.set(wants, await settledSpace())
  })

  test('of none, the check asks for exactly those of the chart', async () => {
    expect(await checkedRights()).toBe(`all ${WANTED.length} that an operator uses`)
  })

  // In the order of the table: what comes after a restart leaves an operator behind that misses something.
  test.each(WANTED)('%s: the operator misses it', async (wants, act) => {
    const since = await cp.auditMark()
    for (const role of roles) if (rightsOf(role).includes(wants)) await cp.admin.replace(without(role, wants))
    await rightsInForce(cp.admin)
    try {
      expect(await checkedRights()).toBe(`may not ${wants}`)
      await act(settled.get(wants) ?? '')
      await until(async () => {
        const events = await cp.audit({ user: ACCOUNT, since })
        return events.some((event) => event.status === 403 && rightIn(event) === wants)
      }, `${wants} to be refused`)
    } finally {
      for (const role of roles) await cp.admin.replace(role)
      await rightsInForce(cp.admin)
    }
    const all = await cp.audit({ user: ACCOUNT, since })
    const forbidden = all.filter(({ status, resource }) => status === 403 && resource !== '')
    expect([...new Set(forbidden.map(rightIn))]).toEqual([wants])
  })
})

test('the suites of the operator run with the same rights, but for reviews of tokens', () => {
  const suites = operatorAccess().flatMap((object) => rightsOf(object))
  const chart = roles
    .flatMap(rightsOf)
    .filter((one) => !one.startsWith('create tokenreviews') && !one.startsWith('create subjectaccessreviews'))
  expect(suites.toSorted()).toEqual(chart.toSorted())
})

test('every role of the chart is one that this suite knows', async () => {
  const named = await cp.admin.list({ apiVersion: CLUSTER_ROLE.apiVersion, kind: 'ClusterRole' })
  const ours = named.filter(
    (role) => isRecord(role) && stringAt(role, 'metadata', 'labels', 'app.kubernetes.io/name') === 'kleym',
  )
  expect(ours.map((role) => stringAt(role, 'metadata', 'name') ?? '').toSorted()).toEqual([
    'kleym-editor',
    'kleym-metrics-reader',
    'kleym-operator',
    'kleym-reader',
    'kleym-scm-config-reader',
    'kleym-viewer',
  ])
})
