// SPIRE's own parts that do not fit to SCM, or that only differ between the two sides of a diff: no registration changes, and what
// comes to containers may.
import { expect, test } from 'vitest'
import { CHAT_BINDING, CHAT_OBJECTS, CHAT_SCM, operatorDeployment } from '../support/chat-world.ts'
import { inProcess, type Ran } from '../support/in-process.ts'
import { workspace } from '../support/workspace.ts'

const operator = operatorDeployment('acme.example', 'spire')
const OBJECTS = [CHAT_BINDING, CHAT_OBJECTS, operator, CHAT_SCM].join('---\n')

const SERVER = `apiVersion: apps/v1
kind: StatefulSet
metadata: {name: spire-server, namespace: spire}
spec:
  replicas: 1
  serviceName: server
  selector: {matchLabels: {app: server}}
  template:
    metadata: {labels: {app: server}}
    spec: {containers: [{name: server, image: 'ghcr.io/spiffe/spire-server:1.15.3'}]}
`
const AGENT = `apiVersion: apps/v1
kind: DaemonSet
metadata: {name: spire-agent, namespace: spire}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {hostPID: true, serviceAccountName: spire-agent, containers: [{name: agent, image: 'ghcr.io/spiffe/spire-agent:1.15.3'}]}
`
const AGENT_CONFIG = `apiVersion: v1
kind: ConfigMap
metadata: {name: spire-agent, namespace: spire}
data:
  agent.conf: |
    agent { trust_domain = "acme.example", server_address = "spire-server", socket_path = "/run/spire/agent.sock", log_level = "INFO" }
    plugins {
      NodeAttestor "k8s_psat" { plugin_data { cluster = "prod" } }
      WorkloadAttestor "k8s" { plugin_data {} }
    }
`
/** In JSON, as SPIRE's chart writes it. */
const SERVER_CONFIG = `apiVersion: v1
kind: ConfigMap
metadata: {name: spire-server, namespace: spire}
data:
  server.conf: |
    {"server": {"trust_domain": "acme.example", "ca_ttl": "24h"}, "plugins": {
      "DataStore": [{"sql": {"plugin_data": {}}}],
      "NodeAttestor": [{"k8s_psat": {"plugin_data": {"clusters": [{"prod": {
        "service_account_allow_list": ["spire:spire-agent"]}}]}}}]}}
`
const CSI_DRIVER = AGENT.replaceAll('spire-agent', 'spiffe-csi-driver').replaceAll('agent', 'driver')
const PARTS = [SERVER, AGENT, AGENT_CONFIG, SERVER_CONFIG, CSI_DRIVER]

/** What the hardened chart installs around them, in short. */
const MOUNTING = `apiVersion: apps/v1
kind: Deployment
metadata: {name: spire-controller-manager, namespace: spire}
spec:
  selector: {matchLabels: {app: scm}}
  template:
    metadata: {labels: {app: scm}}
    spec:
      serviceAccountName: scm
      containers:
      - name: scm
        image: ghcr.io/spiffe/spire-controller-manager:0.7.0
        args: [--config=scm.yaml]
        resources: {limits: {memory: 64Mi}}
      volumes:
      - {name: config, configMap: {name: scm-abc}}
      - {name: socket, hostPath: {path: /run/spire/server}}
`
const MOUNTED = `apiVersion: v1
kind: ConfigMap
metadata: {name: scm-abc, namespace: spire}
data: {more.yaml: 'a: b'}
`
const ROLE = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: scm}
rules:
- {apiGroups: [''], resources: [pods, nodes], verbs: [get, list, watch]}
`
const ROLE_BINDING = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: scm}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: scm}
subjects: [{kind: ServiceAccount, name: scm, namespace: spire}]
`
/** Roles of everybody, with a thousand rights each. */
const LONG_ROLES = Array.from({ length: 60 }, (_, role) => {
  const resources = Array.from({ length: 1000 }, (__, at) => `r${role}-${at}`).join(', ')
  return [
    ROLE.replace('name: scm', `name: long-${role}`)
      .replace('pods, nodes', resources)
      .replace('get, list, watch', 'get'),
    ROLE_BINDING.replaceAll('name: scm', `name: long-${role}`).replace(
      /subjects: .*/,
      'subjects: [{kind: Group, name: system:authenticated}]',
    ),
  ]
}).flat()
const SERVICE = `apiVersion: v1
kind: Service
metadata: {name: scm, namespace: spire}
spec: {selector: {app: scm}, ports: [{port: 443, targetPort: 9443}]}
`
const WEBHOOK = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: scm}
webhooks:
- name: v.spiffe.io
  clientConfig: {service: {name: scm, namespace: spire}}
  rules: [{apiGroups: [spire.spiffe.io], resources: [clusterspiffeids]}]
`
const DRIVER = `apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: csi.spiffe.io}
spec: {volumeLifecycleModes: [Ephemeral]}
`
const SPIRE_NAMESPACE = `apiVersion: v1
kind: Namespace
metadata: {name: spire, labels: {kubernetes.io/metadata.name: spire}}
`
const policyIn = (namespace: string): string => `apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: deny, namespace: ${namespace}}
spec: {podSelector: {}, policyTypes: [Ingress]}
`
const INSTALL = [MOUNTING, MOUNTED, ROLE, ROLE_BINDING, SERVICE, WEBHOOK, DRIVER, SPIRE_NAMESPACE]

/** The install, with a text in the place of another one. */
function installed(from: string, to: string): readonly string[] {
  const text = INSTALL.join('---\n')
  if (!text.includes(from)) throw new Error(`no part has ${from}`)
  return [text.replace(from, to)]
}

async function diff(before: readonly string[], after: readonly string[]): Promise<Ran> {
  const [base, head] = [before, after].map((parts) => [OBJECTS, ...parts].join('---\n'))
  const files = { 'base/all.yaml': base ?? '', 'head/all.yaml': head ?? '' }
  return inProcess(['diff', '--offline', '-A', '--base', 'base', '-f', 'head'], await workspace(files))
}

/** The parts, with a text in the place of another one. */
function changed(from: string, to: string): readonly string[] {
  const text = PARTS.join('---\n')
  if (!text.includes(from)) throw new Error(`no part has ${from}`)
  return [text.replace(from, to)]
}

test.each<[what: string, after: readonly string[], said: string]>([
  ['a server that is scaled to zero', changed('replicas: 1', 'replicas: 0'), 'spire-server runs on one side'],
  ['a server that goes', PARTS.slice(1), 'spire-server runs on one side, is not there on the other'],
  [
    'agents that go',
    [SERVER, AGENT_CONFIG, SERVER_CONFIG, CSI_DRIVER],
    'spire-agent runs on one side, is not there',
  ],
  [
    'agents whose configuration cannot be read any more',
    changed('agent { trust_domain', 'agent = { ] trust_domain'),
    'the configuration of the SPIRE agents can be read on one side, cannot be read: agent = { ]',
  ],
  [
    'configurations that go',
    [SERVER, AGENT, CSI_DRIVER],
    'the configuration of the SPIRE agents can be read on one side, is not there on the other',
  ],
  [
    'a CSI driver that goes',
    PARTS.slice(0, -1),
    'spiffe-csi-driver runs on one side, is not there on the other',
  ],
  [
    'another cluster of the agents',
    changed('cluster = "prod"', 'cluster = "dev"'),
    'cluster of the SPIRE agents is "prod" on one side, is "dev" on the other',
  ],
  [
    'another trust domain of the agents',
    changed('trust_domain = "acme.example"', 'trust_domain = "other.example"'),
    'trust_domain of the SPIRE agents',
  ],
  [
    'another server of the agents',
    changed('server_address = "spire-server"', 'server_address = "other"'),
    'server_address of the SPIRE agents',
  ],
  [
    'another trust domain of the server',
    changed('"trust_domain": "acme.example"', '"trust_domain": "other.example"'),
    'trust_domain of the SPIRE server',
  ],
  ['another cluster of the server', changed('[{"prod"', '[{"dev"'), 'clusters of the SPIRE server'],
  [
    'agents on fewer nodes',
    changed('hostPID: true,', 'hostPID: true, nodeSelector: {zone: a},'),
    'the choice of nodes of the SPIRE agents has no conditions on one side, nodeSelector {"zone":"a"} on the other',
  ],
  [
    'agents that bear other taints',
    changed('hostPID: true,', 'hostPID: true, tolerations: [{operator: Exists}],'),
    'tolerations [{"operator":"Exists"}] on the other',
  ],
  [
    'agents under another account',
    changed('serviceAccountName: spire-agent', 'serviceAccountName: other'),
    'is spire/spire-agent on one side, is spire/other on the other',
  ],
  [
    'agents that attest processes in another way',
    changed('WorkloadAttestor "k8s"', 'WorkloadAttestor "unix"'),
    'WorkloadAttestor of the SPIRE agents is "k8s" on one side, is "unix" on the other',
  ],
  [
    'agents that tell labels of namespaces',
    changed(
      'WorkloadAttestor "k8s" { plugin_data {',
      'WorkloadAttestor "k8s" { plugin_data { enable_namespace_labels = true',
    ),
    'enable_namespace_labels of the SPIRE agents is false on one side, is true on the other',
  ],
  [
    'another socket of the agents',
    changed('/run/spire/agent.sock', '/run/other.sock'),
    'socket_path of the SPIRE agents is "/run/spire/agent.sock" on one side, is "/run/other.sock" on the other',
  ],
  [
    'agents that attest themselves in another way',
    changed('NodeAttestor "k8s_psat"', 'NodeAttestor "x509pop"'),
    'NodeAttestor of the SPIRE agents is "k8s_psat" on one side, is "x509pop" on the other',
  ],
  [
    'agents that get other IDs',
    changed('{"prod": {', '{"prod": {"use_pod_uid_for_agent_id": true,'),
    'the SPIFFE ID of the SPIRE agents of cluster "prod" ends in the UID of their node on one side',
  ],
  ['other accounts of agents', changed('spire:spire-agent', 'spire:other'), 'spire:other'],
])('what containers hold is undetermined by %s', async (_what, after, said) => {
  const { code, stdout } = await diff(PARTS, after)
  expect(stdout).toMatch(/^! 1 container undetermined/)
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain(said)
  expect(code).toBe(4)
})

test.each<[what: string, after: readonly string[], said: string]>([
  [
    'a role that goes',
    INSTALL.filter((one) => one !== ROLE),
    'ServiceAccount spire/scm may get pods on one side, and not on the other',
  ],
  [
    'a binding of a role that goes',
    INSTALL.filter((one) => one !== ROLE_BINDING),
    'ServiceAccount spire/scm may get pods on one side',
  ],
  [
    'a role that gives less',
    installed('[pods, nodes], verbs: [get, list, watch]', '[pods, nodes], verbs: [get, list]'),
    'ServiceAccount spire/scm may watch pods on one side',
  ],
  [
    'a ConfigMap that goes and is mounted',
    INSTALL.filter((one) => one !== MOUNTED),
    'Deployment spire/spire-controller-manager has another content of pod.volumes[config].configMap',
  ],
  ['what stands in a ConfigMap that is mounted', installed('a: b', 'a: c'), 'has another content of'],
  [
    'arguments of a program',
    installed('[--config=scm.yaml]', '[]'),
    'has another pod.containers[scm].args on the other side',
  ],
  [
    'a folder of a node',
    installed('/run/spire/server', '/run/other'),
    'has another pod.volumes[socket].hostPath.path on the other side',
  ],
  [
    'a Service that goes',
    INSTALL.filter((one) => one !== SERVICE),
    'Service spire/scm is there on one side, and not on the other',
  ],
  ['a port of a Service', installed('targetPort: 9443', 'targetPort: 9444'), 'Service spire/scm has another'],
  [
    'a webhook that goes',
    INSTALL.filter((one) => one !== WEBHOOK),
    'ValidatingWebhookConfiguration scm is there on one side',
  ],
  [
    'what a webhook is asked about',
    installed('resources: [clusterspiffeids]', "resources: ['*']"),
    'ValidatingWebhookConfiguration scm has another webhooks[v.spiffe.io].rules[0].resources',
  ],
  [
    'a CSIDriver that goes',
    INSTALL.filter((one) => one !== DRIVER),
    'CSIDriver csi.spiffe.io is there on one side',
  ],
  [
    'a policy of the network that comes',
    [...INSTALL, policyIn('spire')],
    'NetworkPolicy spire/deny is there on one side, and not on the other',
  ],
  [
    'a namespace that takes fewer pods',
    installed(
      'labels: {kubernetes.io/metadata.name: spire}',
      'labels: {kubernetes.io/metadata.name: spire, pod-security.kubernetes.io/enforce: restricted}',
    ),
    'Namespace spire has another pod security on the other side',
  ],
])('%s of the install leaves open what containers hold', async (_what, after, said) => {
  const { code, stdout } = await diff(INSTALL, after)
  expect(stdout).toMatch(/^! 1 container undetermined/)
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain(said)
  expect(code).toBe(4)
})

test('a setting of SCM that kleym does not follow leaves open what containers hold', async () => {
  const scm = `${CHAT_SCM}spireServerSocketPath: /run/`
  const [base, head] = ['a', 'b'].map((one) =>
    [CHAT_BINDING, CHAT_OBJECTS, operator, scm + one].join('\n---\n'),
  )
  const files = { 'base/all.yaml': base ?? '', 'head/all.yaml': head ?? '' }
  const { code, stdout } = await inProcess(
    ['diff', '--offline', '-A', '--base', 'base', '-f', 'head'],
    await workspace(files),
  )
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
    "SCM's spireServerSocketPath is another one on the other side",
  )
  expect(code).toBe(4)
})

/** A server whose configuration a kustomization puts into a ConfigMap. */
const served = (folder: string, port: string): Readonly<Record<string, string>> => ({
  [`${folder}/all.yaml`]: [OBJECTS, SERVER].join('---\n'),
  [`${folder}/spire/kustomization.yaml`]:
    'configMapGenerator: [{name: spire-server, files: [server.conf]}]\n',
  [`${folder}/spire/server.conf`]: `server { bind_port = "${port}" }\nplugins { DataStore "sql" { plugin_data {} } }\n`,
})

test('a server.conf that a kustomization puts into a ConfigMap counts like that ConfigMap', async () => {
  const cwd = await workspace({ ...served('base', '8081'), ...served('head', '9081') })
  const { code, stdout } = await inProcess(
    ['diff', '--offline', '-A', '-R', '--base', 'base', '-f', 'head'],
    cwd,
  )
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
    'a setting of the SPIRE server is server.bind_port "8081" on one side, is server.bind_port "9081" on the other',
  )
  expect(code).toBe(4)
})

test.each<[what: string, code: number, parts: readonly string[]]>([
  ['where nothing of SPIRE is among the files', 0, []],
  ['beside SCM', 4, [MOUNTING]],
])(
  'a role that a kustomization changes and that is not rendered, %s: exit code %s',
  async (_, code, parts) => {
    const of = (folder: string): Readonly<Record<string, string>> => ({
      [`${folder}/all.yaml`]: [CHAT_BINDING, CHAT_OBJECTS, CHAT_SCM, ...parts].join('---\n'),
      [`${folder}/roles/kustomization.yaml`]: 'namePrefix: a-\nresources: [role.yaml]\n',
      [`${folder}/roles/role.yaml`]: ROLE,
    })
    const settings = ['--trust-domain', 'acme.example', '--clusterspiffeid-class-name', '']
    const ran = await inProcess(
      ['diff', '--offline', ...settings, '-A', '-R', '--base', 'base', '-f', 'head'],
      await workspace({ ...of('base'), ...of('head') }),
    )
    expect(`${String(ran.code)} ${ran.stdout}`).toMatch(new RegExp(`^${String(code)} `))
  },
)

test('a dump that the API server has completed is made of the same as its manifest', async () => {
  const completed = INSTALL.map((one) =>
    one
      .replace('metadata: {', "metadata: {uid: u, creationTimestamp: '2026-01-01T00:00:00Z', ")
      .replace(
        '      serviceAccountName: scm',
        '      dnsPolicy: ClusterFirst\n      serviceAccountName: scm',
      )
      .replace('targetPort: 9443', 'targetPort: 9443, protocol: TCP'),
  )
  const files = {
    'dump.yaml': [OBJECTS, ...completed].join('---\n'),
    'all.yaml': [OBJECTS, ...INSTALL].join('---\n'),
  }
  const args = ['diff', '--offline', '-A', '--live', 'dump.yaml', '-f']
  const same = await inProcess([...args, 'all.yaml'], await workspace(files))
  expect(same.stdout).not.toContain('undetermined')
  const less = ROLE.replace('[pods, nodes]', '[nodes]')
  const narrowed = await inProcess([...args, 'role.yaml'], await workspace({ ...files, 'role.yaml': less }))
  expect(narrowed.stdout.replaceAll(/\s+/g, ' ')).toContain('may get pods on one side')
  expect(narrowed.code).not.toBe(0)
})

test.each<[what: string, before: readonly string[], after: readonly string[]]>([
  [
    'rights that are given in other words, and more of them',
    INSTALL,
    installed(
      "apiGroups: [''], resources: [pods, nodes], verbs: [get, list, watch]",
      "apiGroups: ['*'], resources: ['*'], verbs: ['*']",
    ),
  ],
  [
    'sixty thousand rights of everybody, which stay',
    [...INSTALL, ...LONG_ROLES],
    [...INSTALL, ...LONG_ROLES],
  ],
  ['limits of a container', INSTALL, installed('64Mi', '128Mi')],
  [
    'a ConfigMap under the next generated name',
    INSTALL,
    installed('scm-abc', 'scm-def').map((one) => one.replace('scm-abc', 'scm-def')),
  ],
  ['a policy of the network in another namespace', INSTALL, [...INSTALL, policyIn('demo')]],
  ['a role of others that goes', [...INSTALL, ROLE.replaceAll('scm', 'other')], INSTALL],
  [
    'a level of the log and a lifetime',
    PARTS,
    changed('INFO', 'DEBUG').map((one) => one.replace('24h', '12h')),
  ],
  [
    'conditions of nodes that are none',
    PARTS,
    changed('hostPID: true,', 'hostPID: true, nodeSelector: {}, tolerations: [],'),
  ],
  ['a patch of the images', PARTS, changed('1.15.3', '1.15.4')],
  ['more replicas of the server', PARTS, changed('replicas: 1', 'replicas: 3')],
  ['parts that come, which the change before took to be elsewhere', [], PARTS],
  ['a comment behind a setting', PARTS, changed('"INFO" }', '"INFO" } # cluster = "other"')],
])('%s leaves open nothing', async (_what, before, after) => {
  const { code, stdout } = await diff(before, after)
  expect(stdout).toMatch(/^✓/)
  expect(code).toBe(0)
})

test.each<[what: string, parts: readonly string[], said: string]>([
  ['agents of another cluster', changed('cluster = "prod"', 'cluster = "dev"'), "SCM's clusterName is prod"],
  [
    'a server of another trust domain',
    changed('"trust_domain": "acme.example"', '"trust_domain": "other.example"'),
    'trust_domain of the SPIRE server is "other.example", and SCM\'s trustDomain is acme.example',
  ],
  ['a server without replicas', changed('replicas: 1', 'replicas: 0'), 'spire-server has no replicas'],
  [
    'agents that do not ask the kubelet about processes',
    changed('WorkloadAttestor "k8s"', 'WorkloadAttestor "unix"'),
    'WorkloadAttestor of the SPIRE agents is "unix", and the entries of SCM have selectors of k8s',
  ],
  [
    'agents that attest themselves in another way',
    changed('NodeAttestor "k8s_psat"', 'NodeAttestor "x509pop"'),
    'NodeAttestor of the SPIRE agents is "x509pop", and SCM\'s parentIDTemplate asks for k8s_psat',
  ],
  [
    'a server that takes agents of another cluster',
    changed('[{"prod"', '[{"dev"'),
    'clusters of the SPIRE server is "dev", and SCM\'s clusterName is prod',
  ],
  [
    'a server that does not attest agents of pods',
    changed('"k8s_psat": {"plugin_data"', '"join_token": {"plugin_data"'),
    'NodeAttestor of the SPIRE server is "join_token", and SCM\'s parentIDTemplate asks for k8s_psat',
  ],
  [
    'agents that do not see the processes of their nodes',
    changed('hostPID: true,', ''),
    'hostPID of the SPIRE agents is "false", and an agent must see the processes of its node',
  ],
  [
    'agents whose ID ends in the UID of their pod',
    changed('{"prod": {', '{"prod": {"use_pod_uid_for_agent_id": true,'),
    'the SPIFFE ID of the SPIRE agents of cluster "prod" ends in the UID of their pod (use_pod_uid_for_agent_id)',
  ],
  [
    'agents under an account that the server does not take',
    changed('spire:spire-agent', 'spire:other'),
    'the service account of the SPIRE agents is spire/spire-agent, and service_account_allow_list of the SPIRE server is "spire:other"',
  ],
])('with %s it is not known what a container holds', async (_what, parts, said) => {
  const { stdout } = await inProcess(
    ['who-selects', 'pod/llama-0', '-n', 'demo', '--offline', '-f', 'all.yaml'],
    await workspace({ 'all.yaml': [OBJECTS, ...parts].join('---\n') }),
  )
  expect(stdout).toMatch(/^! .*undetermined/)
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain(said)
})

test.each<[what: string, parts: readonly string[]]>([
  ['that fit', PARTS],
  [
    'that take agents of several clusters',
    changed('[{"prod": {', '[{"cm": {"use_pod_uid_for_agent_id": true}, "prod": {'),
  ],
  [
    'with several attestors of processes',
    changed(
      'WorkloadAttestor "k8s"',
      'WorkloadAttestor "unix" { plugin_data {} }\n      WorkloadAttestor "k8s"',
    ),
  ],
  [
    'with an attestor that a variable names',
    changed('WorkloadAttestor "k8s"', 'WorkloadAttestor "${ATTESTOR}"'),
  ],
  [
    'with an agent beside one program',
    [
      SERVER,
      AGENT_CONFIG,
      SERVER_CONFIG,
      AGENT.replace('DaemonSet', 'Deployment').replace('hostPID: true', 'shareProcessNamespace: true'),
    ],
  ],
  ['with a variable', changed('cluster = "prod"', 'cluster = "${CLUSTER}"')],
  [
    'of a second cluster beside them',
    [...PARTS, AGENT_CONFIG.replaceAll('spire', 'dev').replace('prod', 'dev')],
  ],
])('parts %s leave open nothing', async (_what, parts) => {
  const { stdout } = await inProcess(
    ['who-selects', 'pod/llama-0', '-n', 'demo', '--offline', '-f', 'all.yaml'],
    await workspace({ 'all.yaml': [OBJECTS, ...parts].join('---\n') }),
  )
  expect(stdout).toMatch(/^✓/)
})

test("why does not call the node's agent the parent of an entry where the server gives agents other IDs", async () => {
  const agent = `apiVersion: v1
kind: Pod
metadata: {name: agent-1, namespace: spire, uid: a1, creationTimestamp: '2026-01-01T00:00:00Z'}
spec: {nodeName: n1, hostPID: true, serviceAccountName: spire-agent, containers: [{name: agent, image: 'ghcr.io/spiffe/spire-agent:1.15.3'}]}
status: {conditions: [{type: Ready, status: 'True'}]}
---
apiVersion: v1
kind: Node
metadata: {name: n1, uid: n1, creationTimestamp: '2026-01-01T00:00:00Z'}
`
  const asked = async (parts: readonly string[]): Promise<string> => {
    const all = [
      OBJECTS.replace(
        'serviceAccountName: runner\n  containers',
        'nodeName: n1\n  serviceAccountName: runner\n  containers',
      ),
      agent,
      ...parts,
    ]
    const { stdout } = await inProcess(
      ['why', 'pod/llama-0', '-n', 'demo', '--offline', '-f', 'all.yaml'],
      await workspace({ 'all.yaml': all.join('---\n') }),
    )
    return stdout.replaceAll(/\s+/g, ' ')
  }
  const said = "the entry is that of the node's agent"
  expect(await asked(PARTS)).toContain(said)
  const pods = await asked(changed('{"prod": {', '{"prod": {"use_pod_uid_for_agent_id": true,'))
  expect(pods).not.toContain(said)
  expect(pods).toContain('! 5 on the agent')
  // SCM makes the entry all the same.
  expect(pods).toContain('✓ 3 rendered')
  expect(pods).toContain('! 4 on the server the entries of the server were not given')
})

const ON_NODE = OBJECTS.replace(
  'spec:\n  serviceAccountName: runner',
  'spec:\n  nodeName: gpu\n  serviceAccountName: runner',
)
const NODE = `apiVersion: v1
kind: Node
metadata: {name: gpu, uid: n1, labels: {zone: a}}
spec: {taints: [{key: nvidia.com/gpu, value: present, effect: NoSchedule}]}
`
const AGENT_POD = `apiVersion: v1
kind: Pod
metadata: {name: agent-1, namespace: spire, uid: a1}
spec: {nodeName: gpu, hostPID: true, containers: [{name: agent, image: 'ghcr.io/spiffe/spire-agent:1.15.3'}]}
`
const onNode = async (...parts: readonly string[]): Promise<string> => {
  const { stdout } = await inProcess(
    ['who-selects', 'pod/llama-0', '-n', 'demo', '--offline', '-f', 'all.yaml'],
    await workspace({ 'all.yaml': [ON_NODE, ...parts].join('---\n') }),
  )
  return stdout.replaceAll(/\s+/g, ' ')
}

test.each<[what: string, parts: readonly string[], said: string]>([
  [
    'whose taint agents do not tolerate',
    [NODE, ...PARTS],
    'does not tolerate its taint nvidia.com/gpu=present:NoSchedule',
  ],
  [
    'without a label that agents ask for',
    [
      NODE,
      ...changed(
        'hostPID: true,',
        'hostPID: true, tolerations: [{operator: Exists}], nodeSelector: {zone: b},',
      ),
    ],
    'asks for its label zone=b',
  ],
  [
    'whose taint agents tolerate with another value',
    [
      NODE,
      ...changed('hostPID: true,', 'hostPID: true, tolerations: [{key: nvidia.com/gpu, value: other}],'),
    ],
    'does not tolerate its taint',
  ],
])('of a pod on a node %s it is not known what it holds', async (_what, parts, said) => {
  const text = await onNode(...parts)
  expect(text).toMatch(/^! .*undetermined/)
  expect(text).toContain(`no SPIRE agent was found on node gpu: DaemonSet spire/spire-agent ${said}`)
})

test.each<[what: string, parts: readonly string[]]>([
  [
    'agents that tolerate all taints',
    [NODE, ...changed('hostPID: true,', 'hostPID: true, tolerations: [{operator: Exists}],')],
  ],
  [
    'agents that tolerate its taint',
    [
      NODE,
      ...changed(
        'hostPID: true,',
        'hostPID: true, tolerations: [{key: nvidia.com/gpu, value: present, effect: NoSchedule}], nodeSelector: {zone: a},',
      ),
    ],
  ],
  ['a pod of an agent on it', [NODE, AGENT_POD, ...PARTS]],
  ['agents that are not among the files', [NODE, SERVER, AGENT_CONFIG, SERVER_CONFIG]],
  ['no Node among the files', PARTS],
  [
    'a second DaemonSet of agents for it',
    [
      NODE,
      ...PARTS,
      AGENT.replace('name: spire-agent', 'name: gpu-agent').replace(
        'hostPID: true,',
        'hostPID: true, tolerations: [{operator: Exists}],',
      ),
    ],
  ],
  ['a taint that passes', [NODE.replace('nvidia.com/gpu', 'node.kubernetes.io/not-ready'), ...PARTS]],
  ['a taint that only advises', [NODE.replace('NoSchedule', 'PreferNoSchedule'), ...PARTS]],
])('%s leaves open nothing of a pod on a node', async (_what, parts) => {
  expect(await onNode(...parts)).toMatch(/^✓/)
})

test.each<[template: string, said: string]>([
  ['{{ .ClusterName }}/{{ .NodeMeta.Name }}', "SCM's parentIDTemplate does not end in the UID of the node"],
  [
    'dev/{{ .NodeMeta.UID }}',
    'cluster of the SPIRE agents is "prod", and SCM\'s parentIDTemplate asks for dev',
  ],
  ['prod/{{ .NodeMeta.UID }}', '✓ pod demo/llama-0, container vllm, holds'],
  ['{{ .ClusterName }}/{{ with .NodeMeta }}{{ .UID }}{{ end }}', '✓ pod demo/llama-0, container vllm, holds'],
  ['prod/11111111-1111-4111-8111-111111111111', '✓ pod demo/llama-0, container vllm, holds'],
])('of a parentIDTemplate that ends in %s', async (template, said) => {
  const parent = `parentIDTemplate: 'spiffe://{{ .TrustDomain }}/spire/agent/k8s_psat/${template}'\n`
  const { stdout } = await inProcess(
    ['who-selects', 'pod/llama-0', '-n', 'demo', '--offline', '-f', 'all.yaml'],
    await workspace({ 'all.yaml': [`${OBJECTS}${parent}`, ...PARTS].join('---\n') }),
  )
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain(said)
  expect(stdout).toMatch(/^(?:✓|! .*undetermined)/)
})

const DUMPED = "creationTimestamp: '2026-01-01T00:00:00Z'"
const REGISTRATION = `apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: {name: all, uid: c1, ${DUMPED}}
spec: {className: spire, spiffeIDTemplate: 'spiffe://acme.example/all'}
`
test.each<[what: string, parts: readonly string[], isMissing: boolean]>([
  [
    'agents whose ID ends in the UID of their pod',
    changed('{"prod": {', '{"prod": {"use_pod_uid_for_agent_id": true,'),
    true,
  ],
  ['a node without an agent', PARTS, true],
  [
    'a server of another trust domain',
    changed('"trust_domain": "acme.example"', '"trust_domain": "other.example"'),
    false,
  ],
])('verify knows what the server should hold, with %s', async (_what, parts, isMissing) => {
  const [pod, node] = [ON_NODE, NODE].map((one) => one.replace(/uid: (p1|n1)/, `uid: $1, ${DUMPED}`))
  const { stdout } = await inProcess(
    [
      'verify',
      '--entries',
      'entries.json',
      '--as-of',
      '2026-06-01T00:00:00Z',
      '-A',
      '--offline',
      '-f',
      'all.yaml',
    ],
    await workspace({
      'all.yaml': [pod, node, REGISTRATION, ...parts].join('---\n'),
      'entries.json': '{"entries": [], "next_page_token": ""}',
    }),
  )
  expect(stdout.includes('lacks 1 entry')).toBe(isMissing)
})

const twoServers = (first: string, second: string): string =>
  [
    ['a', first],
    ['b', second],
  ]
    .map(([namespace = '', port = '']) =>
      [
        SERVER.replace(
          'spec: {containers: [',
          'spec: {volumes: [{name: config, configMap: {name: spire-server}}], containers: [',
        ),
        SERVER_CONFIG.replace('"ca_ttl"', `"bind_port": "${port}", "ca_ttl"`),
      ]
        .join('---\n')
        .replaceAll('namespace: spire}', `namespace: ${namespace}}`),
    )
    .join('---\n')

test('two servers that swap a setting are other ones', async () => {
  const { code, stdout } = await diff([twoServers('81', '82')], [twoServers('82', '81')])
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
    'StatefulSet a/spire-server has another content of pod.volumes[config].configMap on the other side',
  )
  expect(code).toBe(4)
  const [one = '', other = ''] = [0, 1].map((at) =>
    ['a', 'b']
      .map((namespace, nth) =>
        SERVER.replace('namespace: spire', `namespace: ${namespace}`).replace(
          'replicas: 1',
          `replicas: ${nth === at ? 0 : 1}`,
        ),
      )
      .join('---\n'),
  )
  expect((await diff([one], [other])).code).toBe(4)
  const logged = twoServers('81', '82').replaceAll('"ca_ttl": "24h"', '"ca_ttl": "12h"')
  expect((await diff([twoServers('81', '82')], [logged])).code).toBe(0)
})

/** The operator as its chart starts it. */
const started = operator.replace(
  'image: kleym, ',
  'image: registry.example.org/kleym-operator:0.1.0, command: [/kleym-operator], ',
)

/** `diff` of two states that differ in the operator. */
async function diffOfOperator(after: string): Promise<Ran> {
  const [base = '', head = ''] = [started, after].map((one) =>
    [CHAT_BINDING, CHAT_OBJECTS, one, CHAT_SCM].join('---\n'),
  )
  const cwd = await workspace({ 'base/all.yaml': base, 'head/all.yaml': head })
  return inProcess(['diff', '--offline', '-A', '--base', 'base', '-f', 'head'], cwd)
}

test.each<[what: string, from: string, to: string, said: string]>([
  [
    'on other nodes',
    'spec: {containers',
    'spec: {nodeSelector: {zone: none}, containers',
    'pod.nodeSelector.zone',
  ],
  [
    'as another program',
    'command: [/kleym-operator]',
    'command: [/bin/none]',
    'pod.containers[kleym].command',
  ],
  ['from another image', 'kleym-operator:0.1.0', 'other:0.1.0', 'pod.containers[kleym].image'],
  ['without its command', 'command: [/kleym-operator], ', '', 'pod.containers[kleym].command'],
])('an operator that is started %s may not start', async (_, from, to, said) => {
  const { code, stdout } = await diffOfOperator(started.replace(from, to))
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain(said)
  expect(code).toBe(4)
})

test.each<[what: string, from: string, to: string]>([
  ['another version', 'registry.example.org/kleym-operator:0.1.0', 'mirror.example.org/kleym-operator:0.2.0'],
  ['another setting that decides nothing', 'args: [', 'args: [--bindings-per-namespace=9, '],
  ['a variable', 'command: [', 'env: [{name: A, value: b}], command: ['],
])('an operator with %s starts like before', async (_, from, to) => {
  const { code } = await diffOfOperator(started.replace(from, to))
  expect(code).toBe(0)
})
