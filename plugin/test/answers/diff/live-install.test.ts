// What SPIRE's install is made of, compared with the live cluster as with a base of files: each object of it that the files hold.
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { qualifiedKind } from '@kleym/shared/core/model/kinds.ts'
import { readMeta } from '@kleym/shared/core/model/objects/meta.ts'
import { objectKey } from '@kleym/shared/core/model/objects/object-key.ts'
import { PART_KINDS } from '@kleym/shared/core/model/objects/spire-makeup.ts'
import { RESOURCES, resourceName } from '@kleym/shared/kube/resources.ts'
import { drop, failure, json } from '@kleym/testing/faults/behaviour.ts'
import { CHAT_BINDING, CHAT_OBJECTS } from '../../support/chat-world.ts'
import { inProcess, type Ran } from '../../support/in-process.ts'
import { onPlayedCluster, type Played, type RanLive } from '../../support/played-cluster.ts'
import {
  AGENT,
  AGENT_CONFIG,
  DRIVER,
  IN_NAMESPACE,
  NAMESPACE,
  POLICY,
  ROLE,
  ROLE_BINDING,
  SCM,
  SCM_CONFIG,
  SERVER,
  SERVER_CONFIG,
  SERVICE,
  WEBHOOK,
} from '../../support/spire-install.ts'
import { workspace } from '../../support/workspace.ts'
import { WANTED_KINDS } from '../../../src/gather/wanted-kinds.ts'
import { CRD as CRD_KIND } from '../../../src/sources/crd-scopes.ts'

const CRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: clusterspiffeids.spire.spiffe.io}
spec:
  group: spire.spiffe.io
  names: {kind: ClusterSPIFFEID, plural: clusterspiffeids}
  scope: Cluster
  versions:
  - name: v1alpha1
    served: true
    schema:
      openAPIV3Schema:
        properties:
          spec: {properties: {spiffeIDTemplate: {type: string}, className: {type: string}, hint: {type: string}}}
`
const INSTALL = [
  NAMESPACE,
  SCM,
  SCM_CONFIG,
  SERVER,
  SERVER_CONFIG,
  AGENT,
  AGENT_CONFIG,
  ROLE,
  ROLE_BINDING,
  ...IN_NAMESPACE,
  SERVICE,
  WEBHOOK,
  DRIVER,
  CRD,
]
const OUTPUT = `apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: {name: llama}
spec: {className: spire, spiffeIDTemplate: 'spiffe://acme.example/llama', podSelector: {matchLabels: {app: llama}}}
`
const LIVE = [CHAT_OBJECTS, OUTPUT, ...INSTALL]
const SETTINGS = ['--trust-domain', 'acme.example', '--clusterspiffeid-class-name', 'spire']

/** `diff` of one file with the cluster. */
function diff(
  file: string,
  { live = LIVE, ...played }: Played & { readonly live?: readonly string[] } = {},
): Promise<RanLive> {
  return onPlayedCluster(live, { 'pr.yaml': file }, ['diff', '-f', 'pr.yaml', ...SETTINGS], played)
}

function edited(manifest: string, from: string, to: string): string {
  if (!manifest.includes(from)) throw new Error(`${manifest} has no ${from}`)
  return manifest.replace(from, to)
}

const EDITS: readonly (readonly [what: string, file: string, said: string])[] = [
  [
    'a ClusterRole that gives less',
    edited(ROLE, '[get, list, watch]', '[get, list]'),
    'ServiceAccount spire/scm may watch pods on one side, and not on the other',
  ],
  [
    'a ClusterRoleBinding without its subject',
    edited(ROLE_BINDING, 'name: scm, namespace: spire', 'name: other, namespace: spire'),
    'ServiceAccount spire/scm may',
  ],
  [
    'a Role that gives less',
    edited(IN_NAMESPACE[0] ?? '', '[get, list, watch]', '[get, list]'),
    'ServiceAccount spire/scm may watch configmaps in spire on one side, and not on the other',
  ],
  [
    'a RoleBinding without its subject',
    edited(IN_NAMESPACE[1] ?? '', 'name: scm, namespace: spire', 'name: other, namespace: spire'),
    'ServiceAccount spire/scm may',
  ],
  ['a port of a Service', edited(SERVICE, '8081', '8082'), 'Service spire/server has another'],
  ['a Service of other pods', edited(SERVICE, 'app: server', 'app: other'), 'Service spire/server is there'],
  [
    'the webhook',
    edited(WEBHOOK, '[clusterspiffeids]', "['*']"),
    'ValidatingWebhookConfiguration scm has another webhooks[v.spiffe.io].rules[0].resources',
  ],
  ['the CSIDriver', edited(DRIVER, 'Ephemeral', 'Persistent'), 'CSIDriver csi.spiffe.io has another'],
  ['a new policy of the network', POLICY, 'NetworkPolicy spire/deny is there on one side'],
  [
    'a namespace that takes fewer pods',
    edited(NAMESPACE, 'name: spire}}', 'name: spire, pod-security.kubernetes.io/enforce: restricted}}'),
    'Namespace spire has another pod security',
  ],
  [
    'the configuration of the server',
    edited(SERVER_CONFIG, '[{"prod"', '[{"dev"'),
    'clusters of the SPIRE server',
  ],
  [
    'the configuration of the agents',
    edited(AGENT_CONFIG, 'cluster = "prod"', 'cluster = "dev"'),
    'cluster of the SPIRE agents is "prod" on one side, is "dev" on the other',
  ],
  [
    'a configuration of the agents that cannot be read',
    edited(AGENT_CONFIG, 'agent { trust_domain', 'agent = { ] trust_domain'),
    'the configuration of the SPIRE agents can be read on one side',
  ],
  [
    'what a ConfigMap holds beside a configuration',
    edited(SCM_CONFIG, 'a: b', 'a: c'),
    'another content of pod.volumes[config].configMap',
  ],
  [
    'a configuration of the server under the next generated name',
    [
      edited(SERVER_CONFIG, '[{"prod"', '[{"dev"').replace('name: spire-server', 'name: spire-server-2'),
      SERVER.replace('configMap: {name: spire-server}', 'configMap: {name: spire-server-2}'),
    ].join('---\n'),
    'on the other',
  ],
  [
    'a workload that is to run elsewhere',
    edited(SERVER, 'containers: [', 'nodeSelector: {zone: none}\n      containers: ['),
    'StatefulSet spire/spire-server has another pod.nodeSelector.zone on the other side',
  ],
  [
    'arguments of a program',
    edited(SCM, '[--config=scm.yaml]', '[--config=other.yaml]'),
    'has another pod.containers[scm].args on the other side',
  ],
  ['a server without replicas', edited(SERVER, 'spec:\n', 'spec:\n  replicas: 0\n'), 'spire-server'],
]

const SELECTORS = '[{matchExpressions: [{key: of, operator: Exists}, {key: none, operator: DoesNotExist}]}]'
/** SCM's role. A controller has written its rules. */
const AGGREGATED = `${ROLE}aggregationRule: {clusterRoleSelectors: ${SELECTORS}}\n`
const NESTED = AGGREGATED.replace('name: scm', 'name: middle, labels: {of: scm}').replaceAll(
  'key: of,',
  'key: part,',
)
const AGGREGATED_PART = ROLE.replace('name: scm', 'name: part, labels: {of: scm}')
const NESTED_PART = ROLE.replace('name: scm', 'name: part, labels: {part: scm}')

test.each<[what: string, part: string, file: string]>([
  ['gives less', AGGREGATED_PART, edited(AGGREGATED_PART, '[get, list, watch]', '[get, list]')],
  ['is no part any more', AGGREGATED_PART, edited(AGGREGATED_PART, ', labels: {of: scm}', '')],
  ['is left out by a new label', AGGREGATED_PART, edited(AGGREGATED_PART, 'of: scm', 'of: scm, none: ""')],
  ['is a part of a part, and gives less', NESTED_PART, edited(NESTED_PART, 'list, watch', 'list')],
])('a part of an aggregated role that %s leaves open what containers hold', async (_, part, file) => {
  const nested = part === NESTED_PART ? [NESTED] : []
  const live = [...LIVE.filter((one) => one !== ROLE), AGGREGATED, ...nested, part]
  const { code, stdout } = await diff(file, { live })
  expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(/ServiceAccount spire\/scm may \w+ pods on one side/)
  expect(code).toBe(4)
  expect((await diff(part, { live })).code).toBe(0)
})

test.each(EDITS)('%s leaves open what containers hold', async (_, file, said) => {
  const { code, stdout } = await diff(file)
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain(said)
  expect(stdout).toMatch(/^! 1 container undetermined/)
  expect(code).toBe(4)
})

/** As the API server completes what is applied. */
const COMPLETED = LIVE.map((one) =>
  one
    .replace(/^ {4}spec: \{/m, '    spec: {dnsPolicy: ClusterFirst, schedulerName: default-scheduler, ')
    .replace(/^ {4}spec:$/m, '    spec:\n      dnsPolicy: ClusterFirst\n      restartPolicy: Always')
    .replaceAll(/configMap: \{name: ([\w-]+)\}/g, 'configMap: {name: $1, defaultMode: 420}')
    .replace('targetPort: 8081', 'targetPort: 8081, protocol: TCP')
    .replace('spec: {selector: {app: server}', 'spec: {clusterIP: 10.0.0.1, selector: {app: server}')
    .replace('{volumeLifecycleModes', '{attachRequired: true, volumeLifecycleModes')
    .replace('resources: [clusterspiffeids]', "resources: [clusterspiffeids], scope: '*'"),
)
const GENERATED = [
  edited(SERVER, 'configMap: {name: spire-server}', 'configMap: {name: spire-server-2}'),
  edited(SERVER_CONFIG, 'name: spire-server,', 'name: spire-server-2,'),
]
const EMPTY_BUNDLE = `apiVersion: v1
kind: ConfigMap
metadata: {name: spire-agent, namespace: spire}
`

test.each<[what: string, file: string]>([
  ['all of it', INSTALL.join('---\n')],
  ['a configuration under the next generated name', GENERATED.join('---\n')],
  ['a role that gives more', edited(ROLE, '[pods, nodes]', '[pods, nodes, services]')],
  ['another version of an image', edited(SERVER, '1.15.3', '1.15.4')],
])('%s, as it is live, changes nothing', async (_, file) => {
  for (const isUnrecorded of [false, true])
    for (const live of [LIVE, COMPLETED]) {
      const { code, stdout } = await diff(file, { live, isUnrecorded })
      expect(stdout).toMatch(/^✓ no container gains or loses an identity/)
      expect(code).toBe(0)
    }
})

const FORMER = edited(SERVER, '      volumes:', '      hostNetwork: true\n      volumes:')

test.each<[what: string, file: string, said: string]>([
  ['a field', SERVER, 'StatefulSet spire/spire-server has another pod.hostNetwork'],
  [
    'a volume',
    edited(FORMER, 'volumes: [{name: config, configMap: {name: spire-server}}]', 'volumes: []'),
    'StatefulSet spire/spire-server has another pod.volumes[config]',
  ],
])('a manifest that no longer has %s makes something else', async (_, file, said) => {
  const live = LIVE.map((one) => (one === SERVER ? FORMER : one))
  for (const isUnrecorded of [false, true]) {
    const { code, stdout } = await diff(file, { live, isUnrecorded })
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(said)
    expect(code).toBe(4)
  }
})

const HOST_SOCKET = edited(AGENT, 'volumes: [', 'volumes: [{name: s, hostPath: {path: /run, type: Socket}}, ')

test.each<[field: string, live: string, file: string]>([
  ['spec.volumeLifecycleModes', DRIVER, edited(DRIVER, '{volumeLifecycleModes: [Ephemeral]}', '{}')],
  ['spec.podInfoOnMount', edited(DRIVER, 'spec: {', 'spec: {podInfoOnMount: true, '), DRIVER],
  ['spec.ports[0].targetPort', SERVICE, edited(SERVICE, ', targetPort: 8081', '')],
  ['spec.type', edited(SERVICE, 'spec: {', 'spec: {type: NodePort, '), SERVICE],
  [
    'spec.policyTypes',
    edited(POLICY, '[Ingress]', '[Egress]'),
    edited(POLICY, ', policyTypes: [Ingress]', ''),
  ],
  [
    'webhooks[v.spiffe.io].failurePolicy',
    edited(WEBHOOK, '  side', '  failurePolicy: Ignore\n  side'),
    WEBHOOK,
  ],
  [
    'webhooks[v.spiffe.io].clientConfig.service.port',
    edited(WEBHOOK, '{name: scm,', '{port: 9443, name: scm,'),
    WEBHOOK,
  ],
  [
    'pod.dnsPolicy',
    edited(AGENT, 'hostPID: true', 'hostPID: true\n      dnsPolicy: ClusterFirstWithHostNet'),
    AGENT,
  ],
  ['pod.volumes[s].hostPath.type', HOST_SOCKET, edited(HOST_SOCKET, ', type: Socket', '')],
  [
    'pod.nodeSelector.type',
    edited(SERVER, '      volumes:', '      nodeSelector: {type: gpu}\n      volumes:'),
    SERVER,
  ],
])('a manifest without %s gives it the value that it has by itself', async (field, given, file) => {
  const name = readMeta(parse(given)).name
  const live = [CHAT_OBJECTS, OUTPUT, ...INSTALL.filter((one) => !isSameObject(one, given)), given]
  for (const isUnrecorded of [false, true]) {
    const { code, stdout } = await diff(file, { live, isUnrecorded })
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(`${name} has another ${field} on the other side`)
    expect(code).toBe(4)
  }
})

function isSameObject(one: string, other: string): boolean {
  return objectKey(parse(one)) === objectKey(parse(other))
}

test.each([
  ['the account gives no token', 'automountServiceAccountToken: false'],
  ['the user is root', 'securityContext: {runAsUser: 0}'],
  ['pods of the node go at once', 'tolerations: [{key: a, effect: NoExecute, tolerationSeconds: 0}]'],
])('a zero of a manifest says that %s', async (_, field) => {
  const file = edited(SCM, 'serviceAccountName: scm', `serviceAccountName: scm\n      ${field}`)
  const { code, stdout } = await diff(file)
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
    'Deployment spire/spire-controller-manager has another pod.',
  )
  expect(code).toBe(4)
})

test('a ConfigMap that holds nothing leaves what a program has put into the live one', async () => {
  const bundle = `${EMPTY_BUNDLE}data: {bundle.crt: abc}\n`.replace('spire-agent', 'bundle')
  const mounting = edited(AGENT, 'configMap: {name: spire-agent}', 'configMap: {name: bundle}')
  const live = [...LIVE.map((one) => (one === AGENT ? mounting : one)), bundle]
  const file = [mounting, EMPTY_BUNDLE.replace('spire-agent', 'bundle')].join('---\n')
  expect((await diff(file, { live, isUnrecorded: true })).code).toBe(0)
})

/** A policy of the network that lets `from` in. */
function lettingIn(from: string): string {
  return POLICY.replace('policyTypes', `ingress: ${from}, policyTypes`)
}

test.each<[what: string, before: string, after: string]>([
  ['nobody', '[{}]', '[]'],
  ['pods of its own namespace alone', '[{from: [{namespaceSelector: {}}]}]', '[{from: [{podSelector: {}}]}]'],
])('a policy of the network that lets in %s, and let in all, is another one', async (_, before, after) => {
  for (const isUnrecorded of [false, true]) {
    const live = [...LIVE, lettingIn(before)]
    const { code, stdout } = await diff(lettingIn(after), { live, isUnrecorded })
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('NetworkPolicy spire/deny has another spec.ingress[0]')
    expect(code).toBe(4)
    expect((await diff(lettingIn(before), { live, isUnrecorded })).code).toBe(0)
  }
})

const FORBIDDEN = failure(403, 'Forbidden')
const CRD_EDIT = edited(CRD, 'className: {type: string}, ', '')

describe('a CRD', () => {
  test('that loses a field leaves open what its objects give', async () => {
    const { code, stdout, stderr } = await diff(CRD_EDIT)
    expect(stderr).toContain(
      'the change takes away spec.className from the CRD of ClusterSPIFFEID.spire.spiffe.io',
    )
    expect(stdout).not.toContain('✓ no container')
    expect(code).toBe(4)
  })

  test('that the dump of a cluster has with more fields does so too', async () => {
    const cwd = await workspace({ 'dump.yaml': LIVE.join('---\n'), 'pr.yaml': CRD_EDIT })
    const args = ['diff', '--offline', '--live', 'dump.yaml', '-f', 'pr.yaml', ...SETTINGS]
    const { code, stderr } = await inProcess(args, cwd)
    expect(stderr).toContain('the change takes away spec.className')
    expect(code).toBe(4)
  })

  test('that is new, or has more, takes nothing away', async () => {
    const without = LIVE.filter((one) => one !== CRD)
    expect((await diff(CRD_EDIT, { live: without })).code).toBe(0)
    expect((await diff(CRD.replace('hint:', 'more: {type: string}, hint:'))).code).toBe(0)
  })

  test('that may not be read may lose something', async () => {
    const { code, stderr } = await diff(CRD, { instead: { 'get customresourcedefinitions': FORBIDDEN } })
    expect(stderr).toContain('the change may take away something from the CRD of ClusterSPIFFEID')
    expect(stderr).toContain(
      'apiGroups: ["apiextensions.k8s.io"], verbs: [get], resources: [customresourcedefinitions]',
    )
    expect(code).toBe(4)
  })
})

describe('what may not be read', () => {
  test.each<[what: string, file: string, rule: string]>([
    ['clusterroles', ROLE, 'rbac.authorization.k8s.io'],
    ['clusterrolebindings', ROLE_BINDING, 'rbac.authorization.k8s.io'],
    ['roles', IN_NAMESPACE[0] ?? '', 'rbac.authorization.k8s.io'],
    ['rolebindings', IN_NAMESPACE[1] ?? '', 'rbac.authorization.k8s.io'],
    ['services', SERVICE, ''],
    ['validatingwebhookconfigurations', WEBHOOK, 'admissionregistration.k8s.io'],
    ['csidrivers', DRIVER, 'storage.k8s.io'],
    ['networkpolicies', POLICY, 'networking.k8s.io'],
    ['configmaps', AGENT_CONFIG, ''],
  ])('%s may be other ones on the other side', async (plural, file, group) => {
    const { code, stdout, stderr } = await diff(file, { instead: { [`get ${plural}`]: FORBIDDEN } })
    expect(stdout).toMatch(/^! 1 container undetermined/)
    expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(/is the same on both sides is not known: cannot get/)
    expect(stderr).toContain(`apiGroups: ["${group}"], verbs: [get], resources: [${plural}]`)
    expect(code).toBe(4)
  })

  test.each([
    ['is gone', failure(410, 'Gone')],
    ['fails', failure(500, 'InternalError')],
    ['comes from a proxy', failure(404, 'NotFound')],
    ['does not come', drop],
  ])('an answer that %s is no answer', async (_, behaviour) => {
    const { code, stdout } = await diff(SERVICE, { instead: { 'get services': behaviour } })
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('whether Service spire/server is the same on both sides')
    expect(code).toBe(4)
  })

  test.each([
    ['of another name', { metadata: { name: 'other', namespace: 'spire' } }],
    ['of another namespace', { metadata: { name: 'server', namespace: 'other' } }],
    ['without metadata', {}],
    ['in a list', { kind: 'ServiceList', items: [] }],
  ])('an object %s is not the one that was asked for', async (_, answered) => {
    const instead = { 'get services': json({ apiVersion: 'v1', kind: 'Service', ...answered }) }
    const { code, stdout } = await diff(edited(SERVICE, '8081', '8082'), { instead })
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('whether Service spire/server is the same on both sides')
    expect(code).toBe(4)
  })

  test('roles beside one that gives less may have given it, or not', async () => {
    const less = edited(ROLE, '[get, list, watch]', '[get, list]')
    const { code, stdout, stderr } = await diff(less, {
      instead: { 'list clusterrolebindings': FORBIDDEN },
    })
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
      'whether each ClusterRoleBinding.rbac.authorization.k8s.io is the same on both sides is not known',
    )
    expect(stderr).toContain('verbs: [list], resources: [clusterrolebindings]')
    expect(code).toBe(4)
  })
})

/** What was asked for by name. */
function namedIn({ requests }: RanLive): readonly string[] {
  return requests.filter((one) => one.startsWith('get ') && !one.startsWith('get namespaces/'))
}

/** `diff` of one file with a dump. */
async function diffOfDump(live: readonly string[], file: string): Promise<Ran> {
  const cwd = await workspace({ 'dump.yaml': live.join('---\n'), 'pr.yaml': file })
  return inProcess(['diff', '--offline', '-A', '--live', 'dump.yaml', '-f', 'pr.yaml', ...SETTINGS], cwd)
}

describe('a dump', () => {
  test.each(EDITS)('shows that of %s', async (_, file) => {
    const { code, stdout } = await diffOfDump(LIVE, file)
    expect(stdout).toMatch(/^! 1 container undetermined/)
    expect(code).toBe(4)
  })

  test.each<[kind: string, file: string]>([
    ['ClusterRole', ROLE],
    ['Service', SERVICE],
    ['ConfigMap', AGENT_CONFIG],
    ['CustomResourceDefinition', CRD],
  ])('without a %s does not say that it is the same', async (kind, file) => {
    const live = LIVE.filter((one) => !one.includes(`kind: ${kind}\n`))
    const { code, stdout, stderr } = await diffOfDump(live, file)
    expect(`${stdout}${stderr}`.replaceAll(/\s+/g, ' ')).toContain(`missing ${kind}`)
    expect(code).toBe(4)
    expect((await diffOfDump(LIVE, file)).code).toBe(0)
  })
})

describe('what is asked for', () => {
  const POOL = CHAT_OBJECTS.split('---\n')[0] ?? ''
  const APP = [SERVICE, POLICY, SCM_CONFIG].map((one) =>
    one.replace('namespace: spire', 'namespace: demo').replace(/^ {2}scm.yaml: .*\n/m, ''),
  )

  test.each<[what: string, file: string]>([
    ['pools and bindings', [POOL, CHAT_BINDING].join('---\n')],
    ['Services, policies of the network and ConfigMaps of others', APP.join('---\n')],
  ])('for %s is nothing by name', async (_, file) => {
    const ran = await diff(file)
    expect(namedIn(ran)).toEqual([])
    expect(ran.requests.filter((one) => /role|crd|service\b/.test(one))).toEqual([])
  })

  test('for a binding and its pool is one list of each kind, in their namespace', async () => {
    const live = [CHAT_OBJECTS, ...INSTALL]
    const { requests, code } = await diff([POOL, CHAT_BINDING].join('---\n'), { live })
    const ofPods = requests.filter((one) => one.startsWith('list pods') || one.startsWith('list daemonsets'))
    expect(ofPods).toEqual(['list pods in demo', 'list daemonsets in demo'])
    expect(code).toBe(1)
  })

  test('for a role that takes nothing away is that role, in its namespace', async () => {
    const own = (IN_NAMESPACE[0] ?? '').replace('namespace: spire', 'namespace: demo')
    const ran = await diff(own, { live: [...LIVE, own] })
    expect(namedIn(ran)).toEqual(['get roles/leases'])
    expect(ran.requests.filter((one) => one.startsWith('list role'))).toEqual([])
    expect(ran.requests).not.toContain('list pods')
    expect(ran.code).toBe(0)
  })

  test('for a role of a team that gives less is who has it, in its namespace', async () => {
    const [role = '', bound = ''] = IN_NAMESPACE.map((one) =>
      one.replaceAll('namespace: spire', 'namespace: demo'),
    )
    const less = edited(role, '[get, list, watch]', '[get]')
    const ran = await diff(less, { live: [...LIVE, role, bound] })
    expect(namedIn(ran)).toEqual(['get roles/leases'])
    expect(ran.requests.filter((one) => one.startsWith('list role'))).toEqual(['list rolebindings in demo'])
    expect(ran.requests).not.toContain('list pods')
    expect(ran.code).toBe(0)
  })

  test.each([
    ['an account of SPIRE', 'name: scm, namespace: spire'],
    ['all accounts', 'name: "system:serviceaccounts"'],
  ])('for a role of a team that gives less to %s is everything', async (_, subject) => {
    const [role = '', bound = ''] = IN_NAMESPACE.map((one) =>
      one.replace('namespace: spire', 'namespace: demo'),
    )
    const given = edited(bound, 'name: scm, namespace: spire', subject).replace(
      'ServiceAccount, name: "',
      'Group, name: "',
    )
    const ran = await diff(edited(role, '[get, list, watch]', '[get]'), { live: [...LIVE, role, given] })
    expect(ran.stdout.replaceAll(/\s+/g, ' ')).toContain('may list configmaps in demo on one side')
    expect(ran.code).toBe(4)
  })

  test('for very many objects of one kind is one list of it', async () => {
    const many = Array.from({ length: 40 }, (_, at) => SERVICE.replace('name: server,', `name: s${at},`))
    const ran = await diff(many.join('---\n'), { live: [...LIVE, ...many] })
    expect(namedIn(ran)).toEqual([])
    expect(ran.requests).toContain('list services in spire')
    expect(ran.code).toBe(0)
  })

  test('is all that answers and comparisons read of files: there is a way to read each kind', () => {
    const readable = new Set(RESOURCES.map(resourceName))
    const kinds = WANTED_KINDS.filter(({ isNameless }) => isNameless !== true).map(qualifiedKind)
    expect([...kinds, ...PART_KINDS.keys(), CRD_KIND].filter((kind) => !readable.has(kind))).toEqual([])
  })
})
