// The roles that the chart makes for people, on a real authorizer: `kleym-reader` is enough for every question of
// `kubectl kleym`, the viewer reads, the editor writes, and nothing of it reaches `view` and `edit` unless asked for.
import { join } from 'node:path'
import process from 'node:process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listAt, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { apiVersionOf, INSTALL_KINDS, NAMING_KINDS } from '../../shared/src/core/model/kinds.ts'
import { SCM, SCM_CONFIG } from '../../plugin/test/support/spire-install.ts'
import { WRITE_VERBS } from './audit.ts'
import { FIRST_BUILD_MS } from './client-binaries.ts'
import { startControlPlane, type ControlPlane } from './control-plane.ts'
import { installAndWait } from './crds.ts'
import { CHART, demand, helmOn, LEAST, RELEASE, RELEASE_NAMESPACE, type Helm } from './helm.ts'
import { policyCrds } from './module-crds.ts'
import { binding, estate, member, namespace } from './objects.ts'
import { healthySlot, objectsOfSlot, spireObjects } from '@kleym/testing/why-world.ts'
import { runToEnd } from '@kleym/testing/child-process.ts'
import { until } from '@kleym/testing/wait.ts'

const PLUGIN = join(import.meta.dirname, '../../plugin/src/main.ts')
const SPACE = 'team-a'
const SCM_SPACE = 'spire-server'
/** Where the install of `diff` is. */
const INSTALL_SPACE = 'spire'
/** Bindings, ClusterSPIFFEIDs, and two kinds each of pools and objectives. */
const WATCHED = 6
const RBAC = 'rbac.authorization.k8s.io'
const READER = 'rita'
/** Has the reader's role, and none in SCM's namespaces. */
const PLAIN_READER = 'rose'
const VIEWER = 'vic'
const EDITOR = 'eve'
/** Has Kubernetes' own role `view`, and that `edit`. */
const PLAIN_VIEWER = 'paula'
const PLAIN_EDITOR = 'pete'

/** A pod beside agents and a server, for the answer that asks about those too. */
const SLOT = healthySlot('reader')

let cp: ControlPlane
let helm: Helm
beforeAll(async () => {
  const users = [READER, PLAIN_READER, VIEWER, EDITOR, PLAIN_VIEWER, PLAIN_EDITOR].map((name) => ({ name }))
  cp = await startControlPlane({ users, without: ['inferenceidentitybindings.kleym.sonda.red'] })
  for (const crd of [...(await policyCrds()), ...NAMING_KINDS.map(openCrd)])
    await installAndWait(cp.admin, crd)
  helm = await helmOn(cp)
  await cp.apply(
    [RELEASE_NAMESPACE, SCM_SPACE, 'spire-system', 'istio-system', INSTALL_SPACE, SLOT.space].map(namespace),
  )
  await demand(helm('install', RELEASE, CHART, '--namespace', RELEASE_NAMESPACE, ...LEAST))
  await cp.apply([
    scmConfigMap(),
    ...estate(SPACE),
    ...member(SPACE, 'chat'),
    serviceAccount('spire-system', 'spire-agent'),
    serviceAccount(SLOT.space, 'runner'),
    ...spireObjects(),
    ...objectsOfSlot(SLOT),
    grant(READER, 'kleym-reader'),
    grant(PLAIN_READER, 'kleym-reader'),
    ...[SCM_SPACE, 'spire-system', 'istio-system', INSTALL_SPACE].map((space) =>
      grant(READER, 'kleym-scm-config-reader', space),
    ),
    grant(VIEWER, 'kleym-viewer'),
    grant(EDITOR, 'kleym-editor'),
    grant(PLAIN_VIEWER, 'view'),
    grant(PLAIN_EDITOR, 'edit'),
  ])
}, FIRST_BUILD_MS)
afterAll(() => cp?.stop())

/** What pods run under: the API server takes none whose account is not there. */
function serviceAccount(space: string, name: string): JsonRecord {
  return { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: space } }
}

/** SCM's settings, in the ConfigMap that its workload mounts. */
function scmConfigMap(): JsonRecord {
  const config = {
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ControllerManagerConfig',
    trustDomain: 'example.org',
    clusterName: 'prod',
    className: '',
    watchClassless: true,
  }
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'scm', namespace: SCM_SPACE },
    data: { 'controller-manager-config.yaml': JSON.stringify(config) },
  }
}

function grant(user: string, role: string, space?: string): JsonRecord {
  return {
    apiVersion: `${RBAC}/v1`,
    kind: space === undefined ? 'ClusterRoleBinding' : 'RoleBinding',
    metadata: { name: `${user}-${role}`, ...(space === undefined ? {} : { namespace: space }) },
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: RBAC, kind: 'User', name: user }],
  }
}

/** A kind of another program, with whatever fields: kleym reads a few of them. */
function openCrd({ group, version, kind, plural }: (typeof NAMING_KINDS)[number]): JsonRecord {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${group}`,
      annotations: { 'api-approved.kubernetes.io': 'unapproved, for a test' },
    },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural, singular: kind.toLowerCase() },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  }
}

function reportOf(command: string): unknown {
  const { stdout } = runToEnd(process.execPath, [PLUGIN, command, '-n', SPACE, '-o', 'json'], {
    env: { HOME: cp.folder, KUBECONFIG: cp.kubeconfig(READER) },
  })
  return JSON.parse(stdout)
}

test('the reader reports whom objects of other programs name', async () => {
  const chat = `example.org/ns/${SPACE}/objective/chat`
  await cp.apply([
    {
      apiVersion: 'security.istio.io/v1',
      kind: 'AuthorizationPolicy',
      metadata: { name: 'callers', namespace: SPACE },
      spec: { rules: [{ from: [{ source: { principals: [`spiffe://${chat}`, chat] } }] }] },
    },
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'BackendTLSPolicy',
      metadata: { name: 'models', namespace: SPACE },
      spec: { validation: { subjectAltNames: [{ type: 'URI', uri: `spiffe://${chat}t` }] } },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'client', namespace: SPACE },
      spec: {
        replicas: 0,
        selector: { matchLabels: { app: 'client' } },
        template: {
          metadata: { labels: { app: 'client' } },
          spec: {
            containers: [{ name: 'main', image: 'main', env: [{ name: 'PEER', value: `spiffe://${chat}` }] }],
          },
        },
      },
    },
  ])
  const since = await cp.auditMark()
  const answer = reportOf('policies')
  const states = listAt(answer, 'policies').map((policy) => [
    stringAt(policy, 'kind'),
    listAt(policy, 'rules').flatMap((rule) => listAt(rule, 'sources').map((one) => stringAt(one, 'state'))),
  ])
  expect(states).toEqual([
    ['AuthorizationPolicy', ['dead', 'unheld']],
    ['BackendTLSPolicy', ['dangling']],
  ])
  expect(listAt(answer, 'mentions')).toMatchObject([
    { kind: 'Deployment', name: 'client', field: '.spec.template.spec.containers[0].env[0].value' },
  ])
  expect(listAt(reportOf('conflicts'), 'findings')).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        code: 'KLM610',
        subject: expect.objectContaining({ kind: 'AuthorizationPolicy' }),
      }),
      expect.objectContaining({
        code: 'KLM601',
        subject: expect.objectContaining({ kind: 'BackendTLSPolicy' }),
      }),
    ]),
  )
  const asked = await cp.audit({ user: READER, since })
  const listed = new Set(asked.map(({ resource }) => resource))
  expect(NAMING_KINDS.map(({ plural }) => plural).filter((plural) => !listed.has(plural))).toEqual([])
  expect(asked.filter((event) => event.status === 403).map(({ verb, uri }) => `${verb} ${uri}`)).toEqual([])
})

test.each<[question: string, args: readonly string[]]>([
  ['why', ['explain', 'chat', '-n', SPACE]],
  ['who', ['who-selects', '-A']],
  ['what clashes', ['conflicts', '-A']],
  ['what is yet to be written', ['diff', '-A']],
  ['who names whom', ['policies', '-A']],
  [
    'who names one identity',
    ['who-selects', '-A', '--spiffe-id', `spiffe://example.org/ns/${SPACE}/objective/chat`],
  ],
  ['whether the installation is sound', ['status', '-A']],
  ['why a pod has no SVID', ['why', SLOT.pod.metadata.name, '-n', SLOT.space]],
])('the reader may ask everything: %s', async (_question, args) => {
  const since = await cp.auditMark()
  const { status, stdout, stderr } = runToEnd(process.execPath, [PLUGIN, ...args], {
    env: { HOME: cp.folder, KUBECONFIG: cp.kubeconfig(READER) },
  })
  // 0 and 1 are complete answers.
  expect(`${String(status)} ${stderr}${stdout}`).toMatch(/^[01] /)
  const asked = await cp.audit({ user: READER, since })
  expect(asked.length).toBeGreaterThan(0)
  expect(asked.filter((event) => event.status === 403).map(({ verb, uri }) => `${verb} ${uri}`)).toEqual([])
  expect(asked.filter(({ verb }) => WRITE_VERBS.some((write) => write === verb))).toEqual([])
})

test('the reader may ask everything: what a change of SPIRE itself does', async () => {
  const role = `apiVersion: ${RBAC}/v1
kind: ClusterRole
metadata: {name: scm}
rules: [{apiGroups: [''], resources: [pods], verbs: [get, list]}]
`
  const { status } = await cp.kubectl(['apply', '-f', '-'], { input: role })
  expect(status).toBe(0)
  const kinds = INSTALL_KINDS.map((kind) => {
    const place = kind.namespaced ? { namespace: INSTALL_SPACE } : {}
    const name = kind.kind === 'CSIDriver' ? 'csi.spiffe.io' : 'x'
    return { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata: { name, ...place } }
  })
  const { stdout: crd } = await cp.kubectl(['get', 'crd', 'clusterspiffeids.spire.spiffe.io', '-o', 'json'])
  const files = [role.replace(', list', ''), SCM, SCM_CONFIG, crd, ...kinds.map((one) => JSON.stringify(one))]
  const since = await cp.auditMark()
  const { stderr } = runToEnd(process.execPath, [PLUGIN, 'diff', '-A', '-f', '-'], {
    env: { HOME: cp.folder, KUBECONFIG: cp.kubeconfig(READER) },
    input: files.join('\n---\n'),
  })
  expect(stderr).not.toContain('forbidden')
  const asked = await cp.audit({ user: READER, since })
  const read = new Set(asked.map(({ resource }) => resource))
  const plurals = [...INSTALL_KINDS.map(({ plural }) => plural), 'configmaps', 'customresourcedefinitions']
  expect(plurals.filter((plural) => !read.has(plural))).toEqual([])
  expect(asked.filter((event) => event.status === 403).map(({ verb, uri }) => `${verb} ${uri}`)).toEqual([])
})

test('a namespace of SCM that is not there is no gap', () => {
  const { status, stderr } = runToEnd(process.execPath, [PLUGIN, 'conflicts', '-A'], {
    env: { HOME: cp.folder, KUBECONFIG: cp.kubeconfig(PLAIN_READER) },
  })
  // The chart's operator never runs here: a certain error, beside what is not known.
  expect(status).toBe(1)
  expect(stderr).toContain(`cannot list ConfigMap in namespace ${SCM_SPACE}: forbidden`)
  expect(stderr).not.toContain('zero-trust-workload-identity-manager')
})

test('the reader may ask everything: how it goes on', async () => {
  const since = await cp.auditMark()
  const program = await cp.start({
    name: 'watch',
    command: process.execPath,
    args: [PLUGIN, 'watch', '-A', '--plain'],
    env: { HOME: cp.folder, KUBECONFIG: cp.kubeconfig(READER) },
  })
  try {
    const watched = await until(async () => {
      const all = await cp.audit({ user: READER, since, verbs: ['watch'], stage: 'ResponseStarted' })
      const kinds = new Set(all.map(({ resource, group }) => `${resource}.${group}`))
      return kinds.size >= WATCHED && kinds
    }, 'every kind to be watched')
    expect(watched.size).toBe(WATCHED)
    const asked = await cp.audit({ user: READER, since })
    expect(asked.filter((event) => event.status === 403).map(({ verb, uri }) => `${verb} ${uri}`)).toEqual([])
  } finally {
    await program.signal('SIGTERM')
    await program.end()
  }
})

/** The status of a request for the bindings of the namespace. */
async function asks(user: string, method: 'GET' | 'POST'): Promise<number> {
  const path = `/apis/kleym.sonda.red/v1alpha1/namespaces/${SPACE}/inferenceidentitybindings`
  const answer = await cp
    .as(user)
    .request(
      method === 'GET'
        ? { method, path }
        : { method, path: `${path}?dryRun=All`, body: binding(SPACE, 'new') },
    )
  return answer.status
}

test.each<[who: string, user: string, read: number, write: number]>([
  ['the viewer', VIEWER, 200, 403],
  ['the editor', EDITOR, 200, 201],
])('%s reads and writes bindings as far as the role goes', async (_who, user, read, write) => {
  expect(await asks(user, 'GET')).toBe(read)
  expect(await asks(user, 'POST')).toBe(write)
})

/** The statuses of reading and writing. */
async function both(user: string): Promise<string> {
  return `${await asks(user, 'GET')} ${await asks(user, 'POST')}`
}

const TO_VIEW = ['--set', 'rbac.aggregateToView=true'] as const
const TO_EDIT = ['--set', 'rbac.aggregateToEdit=true'] as const

/** Each sets all values anew: no row rests on the one before it. */
test.each<[what: string, set: readonly string[], viewer: string, editor: string]>([
  ['nothing by default', [], '403 403', '403 403'],
  ['reading, for view and edit', TO_VIEW, '200 403', '200 403'],
  ['writing too, for edit', [...TO_VIEW, ...TO_EDIT], '200 403', '200 201'],
])('the roles of Kubernetes get what the values say: %s', async (_what, set, viewer, editor) => {
  await demand(helm('upgrade', RELEASE, CHART, '--namespace', RELEASE_NAMESPACE, ...LEAST, ...set))
  const wanted = `view ${viewer}, edit ${editor}`
  // The aggregation is the work of a controller.
  const found = await until(async () => {
    const now = `view ${await both(PLAIN_VIEWER)}, edit ${await both(PLAIN_EDITOR)}`
    if (now !== wanted) throw new Error(now)
    return now
  }, wanted)
  expect(found).toBe(wanted)
})
