// The one door: whatever is given beside a clean estate is read, dismissed for a reason, or not known (docs/reading-files.md, "Whole
// trees"). Each row gives one more file or more, and the exit code and the first line that `conflicts` must have.
import { unknownReasonText } from '@kleym/shared/core/model/unknown-reason.ts'
import { describe, expect, test } from 'vitest'
import { inProcess, type Ran } from '../support/in-process.ts'
import { workspace } from '../support/workspace.ts'
import {
  CLEAN,
  ESTATE,
  json,
  OPEN,
  ROWS_DISMISSED,
  ROWS_OPEN,
  SCM,
  SETTINGS,
  THIEF,
  typed,
  type Files,
} from '../support/door-rows.ts'

async function asked(command: string, files: Files, scm = SCM, flags: readonly string[] = []): Promise<Ran> {
  const given = Object.fromEntries(Object.entries(files).map(([name, text]) => [`files/${name}`, text]))
  const cwd = await workspace({ 'files/estate.yaml': ESTATE, 'scm.conf': scm, ...given })
  return inProcess([command, '--offline', '-R', '-f', 'files', ...SETTINGS, ...flags], cwd)
}

describe('what may hold anything leaves the answer open', () => {
  test.each(ROWS_OPEN)('%s', async (_, files) => {
    const { code, stdout } = await asked('conflicts', files)
    expect({ code, first: stdout.slice(0, OPEN.length) }).toEqual({ code: 4, first: OPEN })
  })
})

describe("SCM's configuration", () => {
  test.each<[setting: string, code: number, first: string]>([
    ['staticManifestPath: /manifests', 1, '✗ '],
    ['gcInterval: 10s', 1, '✗ '],
    ['cacheNamespace: a\ncacheNamespaces: {b: }', 1, '✗ '],
    ['validatingWebhookConfigurationName: ""', 1, '✗ '],
    ['leaderElection: {leaderElect: "yes"}', 1, '✗ '],
    ['entryIDPrefix: a\nentryIDPrefixCleanup: a', 1, '✗ '],
    ['gcInterval: 10000000000', 0, CLEAN],
    // What is not known of it decides about kleym's own outputs alone.
    ['className: $CLASS', 0, '· nothing clashes in 1 '],
  ])('%s', async (setting, code, first) => {
    const { code: found, stdout } = await asked('conflicts', {}, `${SCM}${setting}\n`)
    expect({ code: found, first: stdout.slice(0, first.length) }).toEqual({ code, first })
  })
})

const inBrackets = (namespace: string): Files => ({
  'p.yaml': `apiVersion: inference.networking.k8s.io/v1\nkind: InferencePool\nmetadata: {name: {{ .name }}, namespace: ${namespace}}\n`,
})

test('a pool that a chart may make is not known, rather than missing; a placeholder reaches the namespace that it shows', async () => {
  const binding = ESTATE.split('---\n')
    .filter((one) => one.includes('InferenceIdentityBinding'))
    .join('')
    .replace('name: chat, namespace: demo', 'name: next, namespace: demo')
    .replace('poolRef: {name: llama}', 'poolRef: {name: gone}')
  const release = typed('helm.toolkit.fluxcd.io/v2', 'HelmRelease', {
    chart: { spec: { chart: 'inferencepool' } },
    targetNamespace: 'demo',
  })
  expect((await asked('explain', { 'b.yaml': binding }, SCM, ['-A'])).code).toBe(1)
  expect((await asked('explain', { 'b.yaml': binding, 'r.json': release }, SCM, ['-A'])).code).toBe(4)
  const codes = ['other', 'demo'].map(
    async (one) => (await asked('explain', inBrackets(one), SCM, ['-n', 'demo'])).code,
  )
  expect(await Promise.all(codes)).toEqual([0, 4])
})

test.each<[string, string, conflicts: number, explain: number]>([
  ['poolRef: {name: llama}', 'poolRef: {name: "@POOL@"}', 4, 4],
  ['poolRef: {name: llama}', 'poolRef: {name: POOL_NAME}', 4, 4],
  ['serviceAccountName: runner', 'serviceAccountName: "%ACCOUNT%"', 4, 4],
  // What a person may mean is wrong, and says why.
  ['poolRef: {name: llama}', 'poolRef: {name: Llama}', 0, 1],
])('a binding with %s as %s', async (written, marked, ...codes) => {
  const binding = ESTATE.split('---\n')
    .filter((one) => one.includes('InferenceIdentityBinding'))
    .join('')
    .replace('name: chat, namespace: demo', 'name: next, namespace: demo')
  expect(binding).toContain(written)
  const files = { 'b.yaml': binding.replace(written, marked) }
  const found = [await asked('conflicts', files), await asked('explain', files, SCM, ['-A'])]
  expect(found.map(({ code }) => code)).toEqual(codes)
})

const pod = (namespace: string): string =>
  `---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: ${namespace}}
spec: {containers: [{name: web, image: x}]}
---
apiVersion: v1
kind: Namespace
metadata: {name: ${namespace}}
`
const web = (image: string): string =>
  json({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'web' },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image }] } },
    },
  })

test("the provider of OpenShift's identity manager makes a fallback for every namespace but its own", async () => {
  const { code, stdout } = await asked(
    'who-selects',
    {
      'a.yaml': `apiVersion: operator.openshift.io/v1alpha1
kind: SpireOIDCDiscoveryProvider
metadata: {name: cluster}
spec: {}
${pod('web')}${pod('zero-trust-workload-identity-manager')}`,
    },
    `${SCM}className: zero-trust-workload-identity-manager-spire\n`,
  )
  expect(code).toBe(0)
  expect(stdout).toMatch(/pod web\/web[\s\S]*✓ spiffe:\/\/example\.org\/ns\/web\/sa\/default/)
  expect(stdout).not.toContain('ns/zero-trust-workload-identity-manager/sa')
})

const istio = (templates: string): string =>
  web('x').replace(
    '"metadata":{"labels"',
    `"metadata":{"annotations":{"inject.istio.io/templates":"${templates}"},"labels"`,
  )
const spireAgent = (value: string): string =>
  `apiVersion: operator.openshift.io/v1alpha1\nkind: SpireAgent\nmetadata: {name: cluster}\nspec: {workloadAttestors: {disableContainerSelectors: ${value}}}\n`

const argo = (syncPolicy: object): string =>
  json({
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Application',
    metadata: { name: 'x' },
    spec: { source: { path: 'files' }, destination: { namespace: 'demo' }, syncPolicy },
  })

const kyverno = (rule: object): string =>
  json({
    apiVersion: 'kyverno.io/v1',
    kind: 'ClusterPolicy',
    metadata: { name: 'managed' },
    spec: {
      rules: [{ name: 'x', match: { any: [{ resources: { kinds: ['Pod'] } }] }, ...rule }],
    },
  })

describe('admission may add a label that a registration asks for', () => {
  const key = 'spiffe.io/spire-managed-identity'
  const asking = json({
    ...THIEF,
    metadata: { name: 'managed' },
    spec: {
      spiffeIDTemplate: 'spiffe://{{ .TrustDomain }}/{{ .PodMeta.Name }}',
      podSelector: { matchLabels: { [key]: 'true' } },
    },
  })
  test.each<[given: string, files: Files, isOpen: boolean]>([
    ["Istio's template spire", { 'web.json': istio('sidecar,spire') }, true],
    ["Istio's own templates", { 'web.json': istio('sidecar') }, false],
    [
      'a policy of Kyverno that mutates',
      { 'p.json': kyverno({ mutate: { patchStrategicMerge: { metadata: { labels: { [key]: 'true' } } } } }) },
      true,
    ],
    [
      'one that sets a label whose key is computed',
      {
        'p.json': kyverno({
          mutate: { patchStrategicMerge: { metadata: { labels: { '{{ element.key }}': 'true' } } } },
        }),
      },
      true,
    ],
    [
      'one that sets another label',
      {
        'p.json': kyverno({
          mutate: { patchStrategicMerge: { metadata: { labels: { [`x-${key}`]: 'true' } } } },
        }),
      },
      false,
    ],
    [
      'one that validates',
      { 'p.json': kyverno({ validate: { pattern: { metadata: { labels: { [key]: 'true' } } } } }) },
      false,
    ],
    [
      'AssignMetadata of Gatekeeper',
      {
        'p.yaml': `apiVersion: mutations.gatekeeper.sh/v1
kind: AssignMetadata
metadata: {name: x}
spec:
  location: metadata.labels."${key}"
  parameters: {assign: {value: "true"}}
`,
      },
      true,
    ],
    [
      'AssignMetadata of Gatekeeper, without quotes',
      {
        'm.json': asking.replaceAll(key, 'tier'),
        'p.yaml': `apiVersion: mutations.gatekeeper.sh/v1
kind: AssignMetadata
metadata: {name: x}
spec:
  location: metadata.labels.tier
  parameters: {assign: {value: "true"}}
`,
      },
      true,
    ],
    [
      'a MutatingAdmissionPolicy with a JSON patch',
      {
        'p.yaml': `apiVersion: admissionregistration.k8s.io/v1beta1
kind: MutatingAdmissionPolicy
metadata: {name: x}
spec:
  mutations:
  - patchType: JSONPatch
    jsonPatch: {expression: '[JSONPatch{op: "add", path: "/metadata/labels/${key.replace('/', '~1')}", value: "true"}]'}
`,
      },
      true,
    ],
  ])('%s', async (_, files, isOpen) => {
    const { code, stdout } = await asked('who-selects', { 'web.json': web('x'), 'm.json': asking, ...files })
    const isTold = /may set some|may give the pod a label/.test(stdout.replaceAll(/\s+/g, ' '))
    expect({ code, isTold }).toEqual({ code: isOpen ? 4 : 0, isTold: isOpen })
  })

  test.each([
    ['a policy', setting('Namespace', { metadata: { labels: { env: 'prod' } } })],
    ['an Application of Argo CD', argo({ managedNamespaceMetadata: { labels: { env: 'prod' } } })],
    [
      'hierarchical namespaces',
      json({
        apiVersion: 'hnc.x-k8s.io/v1alpha2',
        kind: 'HierarchyConfiguration',
        metadata: { name: 'hierarchy', namespace: 'team-b' },
        spec: { labels: [{ key: 'env', value: 'prod' }] },
      }),
    ],
    [
      'a tenant of Capsule',
      json({
        apiVersion: 'capsule.clastix.io/v1beta2',
        kind: 'Tenant',
        metadata: { name: 'b' },
        spec: { namespaceOptions: { additionalMetadataList: [{ labels: { env: 'prod' } }] } },
      }),
    ],
  ])('and to a Namespace: %s', async (_, giving) => {
    const spec = {
      spiffeIDTemplate: 'spiffe://example.org/x',
      namespaceSelector: { matchLabels: { env: 'prod' } },
    }
    const { stdout } = await asked('who-selects', { 'm.json': json({ ...THIEF, spec }), 'p.json': giving })
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain("asks for more than is known of the namespace's labels")
    expect(stdout).toMatch(/^! /)
  })
})

const overlay = (labels: object): string =>
  kyverno({ mutate: { patchStrategicMerge: { metadata: { labels } } } })
const patch = (patchesJson6902: string): string => kyverno({ mutate: { patchesJson6902 } })
const cel = (expression: string): string =>
  json({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingAdmissionPolicy',
    metadata: { name: 'x' },
    spec: { mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }] },
  })

const askingFor = (value: string): string =>
  json({
    ...THIEF,
    metadata: { name: 'managed' },
    spec: {
      spiffeIDTemplate: 'spiffe://{{ .TrustDomain }}/{{ .PodMeta.Name }}',
      podSelector: { matchLabels: { tier: value } },
    },
  })

describe('admission may change a label that a registration asks for', () => {
  const labelled = web('x').replace('"metadata":{"labels":{', '"metadata":{"labels":{"tier":"silver",')
  test.each<[given: string, policy: string, silver: boolean, gold: boolean, bronze: boolean]>([
    ['to another value', overlay({ tier: 'gold' }), true, true, false],
    ['to its own', overlay({ tier: 'silver' }), false, false, false],
    ['where it is absent', overlay({ '+(tier)': 'gold' }), false, false, false],
    ['if it has a value', overlay({ '(tier)': 'silver', other: 'x' }), false, false, false],
    ['to a value that is worked out', overlay({ tier: '{{ request.namespace }}' }), true, true, true],
    ['to nothing', overlay({ tier: null }), true, false, false],
    [
      'by a patch',
      patch('- path: "/metadata/labels/tier"\n  op: replace\n  value: gold\n'),
      true,
      true,
      false,
    ],
    ['by a patch that removes it', patch('- path: /metadata/labels/tier\n  op: remove\n'), true, true, true],
    [
      'by CEL',
      cel('Object{metadata: Object.metadata{labels: Object.metadata.labels{"tier": "gold"}}}'),
      true,
      true,
      false,
    ],
    [
      'by CEL that works it out',
      cel('Object{metadata: Object.metadata{labels: {"tier": "a" + x}}}'),
      true,
      true,
      true,
    ],
    [
      'among labels that are worked out',
      cel('Object{metadata: Object.metadata{labels: variables.x}}'),
      true,
      true,
      true,
    ],
    [
      'by Gatekeeper, which changes none',
      json({
        apiVersion: 'mutations.gatekeeper.sh/v1',
        kind: 'AssignMetadata',
        metadata: { name: 'x' },
        spec: { location: 'metadata.labels.tier', parameters: { assign: { value: 'gold' } } },
      }),
      false,
      false,
      false,
    ],
  ])('%s', async (_, policy, ...open) => {
    const codes = ['silver', 'gold', 'bronze'].map(async (value) => {
      const files = { 'web.json': labelled, 'm.json': askingFor(value), 'p.json': policy }
      const { stdout } = await asked('who-selects', files, SCM, ['deployment/web', '-n', 'web'])
      return stdout.replaceAll(/\s+/g, ' ').includes('may set some')
    })
    expect(await Promise.all(codes)).toEqual(open)
  })

  test('but none by which the workload finds its pods', async () => {
    const selecting = labelled.replace('"matchLabels":{', '"matchLabels":{"tier":"silver",')
    const files = {
      'web.json': selecting,
      'm.json': askingFor('silver'),
      'p.json': overlay({ tier: 'gold' }),
    }
    const { stdout, stderr } = await asked('who-selects', files)
    expect(stdout).not.toContain('may set some')
    expect(stderr).not.toContain('ClusterPolicy')
  })
})

const pool = (name: string, matchLabels: object): string =>
  json({
    apiVersion: 'inference.networking.k8s.io/v1',
    kind: 'InferencePool',
    metadata: { name, namespace: 'demo' },
    spec: { selector: { matchLabels } },
  })

test.each<[given: string, label: object, code: number]>([
  ['a label of a second pool', { tier: 'x' }, 4],
  ['another label', { other: 'x' }, 0],
])('a pod to which admission adds %s may be in two pools', async (_, labels, code) => {
  const policy = json({
    apiVersion: 'kyverno.io/v1',
    kind: 'ClusterPolicy',
    metadata: { name: 'tiers' },
    spec: { rules: [{ name: 'x', mutate: { patchStrategicMerge: { metadata: { labels } } } }] },
  })
  // The pools `one` and `two` exclude each other.
  const pools = { 'one.json': pool('one', { tier: 'y' }), 'two.json': pool('two', { tier: 'x' }) }
  const { code: found, stdout } = await asked('conflicts', { ...pools, 'p.json': policy }, SCM, [
    '--fail-on',
    'warning',
  ])
  expect(found).toBe(code)
  expect(/KLM306[^]*ClusterPolicy.kyverno.io tiers may set labels of the pod/.test(stdout)).toBe(code === 4)
})

const config = (text: string): string =>
  json({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'agent', namespace: 'spire' },
    data: { 'agent.conf': text },
  })

const setting = (kind: string, set: object): string =>
  kyverno({ match: { any: [{ resources: { kinds: [kind] } }] }, mutate: { patchStrategicMerge: set } })

describe('who holds what pods get as a whole, beside a policy that', () => {
  const wholePods = ESTATE.replace(
    'spec: {poolRef: {name: llama}, objectiveRef: {name: chat}, serviceAccountName: runner, containerName: vllm}',
    'spec: {mode: PoolOnly, poolRef: {name: llama}, serviceAccountName: runner}',
  )
  test.each<[given: string, policy: string, isOpen: boolean]>([
    ['labels pods', setting('Pod', { metadata: { labels: { 'sidecar.istio.io/inject': 'true' } } }), true],
    [
      'annotates pods',
      setting('Pod', { metadata: { annotations: { 'linkerd.io/inject': 'enabled' } } }),
      true,
    ],
    [
      'keeps a sidecar away',
      setting('Pod', { metadata: { annotations: { 'linkerd.io/inject': 'disabled' } } }),
      false,
    ],
    ['sets another annotation', setting('Pod', { metadata: { annotations: { team: 'x' } } }), false],
    [
      'annotates Namespaces',
      setting('Namespace', { metadata: { annotations: { 'linkerd.io/inject': 'enabled' } } }),
      true,
    ],
    [
      'labels Services',
      setting('Service', { metadata: { labels: { 'sidecar.istio.io/inject': 'true' } } }),
      false,
    ],
    [
      'labels pods of another namespace',
      kyverno({
        match: { any: [{ resources: { kinds: ['Pod'], namespaces: ['ops'] } }] },
        mutate: { patchStrategicMerge: { metadata: { labels: { 'sidecar.istio.io/inject': 'true' } } } },
      }),
      false,
    ],
    [
      'labels pods of this namespace, or of some that a pattern names',
      kyverno({
        match: {
          any: [
            { resources: { kinds: ['Pod'], namespaces: ['ops'] } },
            { resources: { kinds: ['Pod'], namespaces: ['de*'] } },
          ],
        },
        mutate: { patchStrategicMerge: { metadata: { labels: { 'sidecar.istio.io/inject': 'true' } } } },
      }),
      true,
    ],
    [
      'labels what names alone match, but Services',
      kyverno({
        match: { any: [{ resources: { names: ['x*'] } }] },
        exclude: { any: [{ resources: { kinds: ['Service'] } }] },
        mutate: { patchStrategicMerge: { metadata: { labels: { 'sidecar.istio.io/inject': 'true' } } } },
      }),
      true,
    ],
    [
      'labels templates',
      setting('Deployment', {
        spec: { template: { metadata: { labels: { 'sidecar.istio.io/inject': 'true' } } } },
      }),
      true,
    ],
    [
      'adds a container by a patch',
      patch('- op: add\n  path: /spec/containers/-\n  value: {name: logs, image: x}\n'),
      true,
    ],
    [
      'adds one whose name is worked out',
      patch('[{"op": "add", "path": "/spec/containers/-", "value": {"name": "{{ x }}"}}]'),
      true,
    ],
    [
      'changes an image by a patch',
      patch('- op: replace\n  path: /spec/containers/0/image\n  value: x\n'),
      false,
    ],
    [
      'adds a container in CEL',
      cel('Object{spec: Object.spec{containers: [Object.spec.containers{name: "logs"}]}}'),
      true,
    ],
    [
      'changes each container in CEL',
      cel(
        'Object{spec: Object.spec{containers: object.spec.containers.map(c, Object.spec.containers{name: c.name})}}',
      ),
      false,
    ],
    [
      'names a container that Gatekeeper makes where it is not there',
      json({
        apiVersion: 'mutations.gatekeeper.sh/v1',
        kind: 'Assign',
        metadata: { name: 'x' },
        spec: {
          applyTo: [{ groups: [''], kinds: ['Pod'], versions: ['v1'] }],
          location: 'spec.containers[name: logs].image',
          parameters: { assign: { value: 'x' } },
        },
      }),
      true,
    ],
    ['adds a container', setting('Pod', { spec: { containers: [{ name: 'logs', image: 'x' }] } }), true],
    [
      'changes containers that are there',
      setting('Pod', { spec: { containers: [{ '(name)': '*', securityContext: {} }, { name: 'vllm' }] } }),
      false,
    ],
    [
      'changes each container',
      setting('Pod', { spec: { containers: [{ name: '{{ element.name }}', imagePullPolicy: 'Always' }] } }),
      false,
    ],
  ])('%s', async (_, policy, isOpen) => {
    const id = 'spiffe://example.org/ns/demo/pool/llama'
    const files = { 'estate.yaml': wholePods, 'p.json': policy }
    const { code, stdout } = await asked('who-selects', files, SCM, ['-A', '--spiffe-id', id])
    expect(wholePods).toContain('PoolOnly')
    expect({ code, mark: stdout.slice(0, 1) }).toEqual(
      isOpen ? { code: 4, mark: '!' } : { code: 0, mark: '✓' },
    )
  })
})

describe('an agent that finds no selectors of containers issues no identity of one', () => {
  const hcl = (option: string): string =>
    config(
      `agent {}\nplugins {\n  WorkloadAttestor "k8s" {\n    plugin_data {\n      ${option}\n    }\n  }\n}\n`,
    )
  const DISABLED = 'disable_container_selectors = true'
  test.each<[given: string, files: Files, code: number, first: string]>([
    ['an agent.conf', { 'a.json': hcl(DISABLED) }, 1, '✗ 1 error'],
    [
      'an agent.conf in JSON',
      {
        'a.json': config(
          json({
            plugins: { WorkloadAttestor: [{ k8s: { plugin_data: { disable_container_selectors: true } } }] },
          }),
        ),
      },
      1,
      '✗ 1 error',
    ],
    [
      'an agent.conf that a kustomization puts into a ConfigMap',
      {
        'k/kustomization.yaml': 'configMapGenerator: [{name: spire-agent, files: [agent.conf]}]\n',
        'k/agent.conf': `plugins { WorkloadAttestor "k8s" { plugin_data { ${DISABLED} } } }\n`,
      },
      1,
      '✗ 1 error',
    ],
    [
      'the same as a text of the kustomization',
      {
        'k/kustomization.yaml': `configMapGenerator:
- name: spire-agent
  literals:
  - 'agent.conf=plugins { WorkloadAttestor "k8s" { plugin_data { ${DISABLED} } } }'
`,
      },
      1,
      '✗ 1 error',
    ],
    ["OpenShift's SpireAgent", { 'a.yaml': spireAgent('"true"') }, 1, '✗ 1 error'],
    ['a comment', { 'a.json': hcl(`# ${DISABLED}`) }, 0, CLEAN],
    ['none that has it', { 'a.yaml': spireAgent('"false"') }, 0, CLEAN],
  ])('%s', async (_, files, code, first) => {
    const { code: found, stdout } = await asked('conflicts', files)
    const isTold = stdout.includes('the agent has disable_container_selectors')
    expect({ code: found, first: stdout.slice(0, first.length), isTold }).toEqual({
      code,
      first,
      isTold: code === 1,
    })
  })
  test('one of two agents', async () => {
    const files = { 'a.json': hcl(DISABLED), 'b.yaml': spireAgent('"false"') }
    const { stdout } = await asked('who-selects', files)
    expect(stdout).toMatch(/^! .* undetermined/)
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('a.json:1), and others have not')
  })
  test.each<[given: string, files: Files, why: string]>([
    [
      'one of two agents',
      { 'a.json': hcl(DISABLED), 'b.yaml': spireAgent('"false"') },
      'and others have not',
    ],
    [
      'an agent that fills in a variable',
      { 'a.json': hcl('disable_container_selectors = ${DISABLED}') },
      'the agent may have disable_container_selectors',
    ],
  ])('%s: whether it reaches a container is not known', async (_, files, why) => {
    const { code, stdout } = await asked('conflicts', files)
    expect({ code, mark: stdout.slice(0, 1) }).toEqual({ code: 4, mark: '!' })
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(why)
  })
})

const agentConfig = (option: string, end = ''): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: agent }\ndata:\n  agent.conf: |\n    plugins { WorkloadAttestor "k8s" { plugin_data { ${option} } } }\n${end}`

test('an agent whose configuration cannot be read may tell the labels of namespaces', async () => {
  const files = {
    'a.yaml': agentConfig(''),
    'b.yaml': agentConfig('enable_namespace_labels = true', '  x: [\n'),
  }
  expect((await asked('who-selects', { 'a.yaml': files['a.yaml'] })).code).toBe(0)
  expect((await asked('who-selects', files)).code).toBe(4)
})

/** The mark of the registration that is for the labels of namespaces. */
const markOf = ({ stdout }: Ran): string | undefined =>
  /(.) spiffe:\/\/example.org\/labelled/.exec(stdout)?.[1]

test.each([
  ['does not', agentConfig('')],
  ['cannot be read', agentConfig('', '  x: [\n')],
])(
  'of two agents one tells the labels of namespaces, and the other %s: who holds what depends',
  async (_, other) => {
    const labelled = typed('spire.spiffe.io/v1alpha1', 'ClusterSPIFFEID', {
      spiffeIDTemplate: 'spiffe://example.org/labelled',
      workloadSelectorTemplates: ['k8s:ns-label:kubernetes.io/metadata.name:demo'],
    })
    const files = { 'x.yaml': labelled, 'a.yaml': agentConfig('enable_namespace_labels = true') }
    expect(markOf(await asked('who-selects', files))).toBe('✓')
    const both = { ...files, 'b.yaml': other.replace('name: agent', 'name: other') }
    expect(markOf(await asked('who-selects', both))).toBe('!')
  },
)

const service = (model: string): string =>
  typed('serving.kserve.io/v1alpha1', 'LLMInferenceService', { model: { uri: model } })

test('a workload that is defined twice is no doubt where nothing gives an identity', async () => {
  const files = { 'a.json': web('x'), 'b.json': web('y') }
  const cwd = await workspace({ ...files, 'scm.conf': SCM })
  const { code } = await inProcess(['who-selects', '-A', '--offline', '-f', '.', ...SETTINGS], cwd)
  expect(code).toBe(0)
  expect((await asked('who-selects', files)).code).toBe(4)
  const services = await workspace({ 'a.json': service('x'), 'b.json': service('y'), 'scm.conf': SCM })
  expect((await inProcess(['who-selects', '-A', '--offline', '-f', '.', ...SETTINGS], services)).code).toBe(0)
})

test('a chart of workloads that cannot be rendered is no doubt where nothing gives an identity', async () => {
  const template = web('{{ .Values.image }}')
  const chart = { 'c/Chart.yaml': 'apiVersion: v2\nname: c\n', 'c/templates/web.yaml': template }
  const cwd = await workspace({ ...chart, 'scm.conf': SCM, 'web.json': web('x') })
  const { code, stderr } = await inProcess(
    ['conflicts', '--offline', '-R', '-f', '.', '--render', ...SETTINGS],
    cwd,
  )
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: expect.stringContaining('cannot render a chart (c): this answer does not depend on it'),
  })
  expect((await asked('conflicts', chart, SCM, ['--render'])).code).toBe(4)
})

const askedAlone = async (args: readonly string[], files: Files): Promise<Ran> => {
  const cwd = await workspace({ ...files, 'scm.conf': SCM })
  return inProcess([...args, '--offline', '-R', '-f', '.', ...SETTINGS], cwd)
}
const poolOf = (name: string, labels: object = { pool: name }): string =>
  json({
    apiVersion: 'inference.networking.k8s.io/v1',
    kind: 'InferencePool',
    metadata: { name, namespace: 'web' },
    spec: {
      selector: { matchLabels: labels },
      targetPorts: [{ number: 8000 }],
      endpointPickerRef: { name: 'epp', port: { number: 9002 } },
    },
  })
const TWICE = { 'a.json': web('x'), 'b.json': web('y') }
const CHART = {
  'c/Chart.yaml': 'apiVersion: v2\nname: c\n',
  'c/templates/web.yaml':
    'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: {{ .Release.Name }}, namespace: web}\n',
}
const STATED = `
apiVersion: test.kleym.sonda.red/v1alpha1
kind: IdentityTest
metadata: {name: t}
spec: {containers: [{subject: {namespace: web, workload: deployment/absent}, holds: {none: true}}]}
`

test.each([
  ['a pod', { 'a.json': web('x'), 'b.json': web('y') }, 'Deployment web/web'],
  ['a pool', { 'a.json': web('x'), 'q2.json': poolOf('q') }, 'InferencePool web/q'],
])('that two pools share pods depends where %s is defined twice', async (_, files, which) => {
  const pools = { 'p.json': poolOf('p', { app: 'web' }), 'q.json': poolOf('q', { app: 'web' }) }
  const { stdout } = await askedAlone(['conflicts', '-o', 'json'], { ...pools, ...files })
  const found = { code: 'KLM306', dependsOn: [expect.any(String)] }
  expect(JSON.parse(stdout)).toMatchObject({ findings: [found] })
  expect(stdout).toContain(`depends: ${which} may be other than it was read`)
})

const MAY_SHARE = { 'p.json': poolOf('p', { app: 'web' }), 'q.json': poolOf('q', { tier: 'gpu' }) }

test('where nothing gives an identity, pools that no pod can be in together ask for no workload that was not read', async () => {
  const pools = { 'p.json': poolOf('p'), 'q.json': poolOf('q') }
  expect((await askedAlone(['conflicts'], { ...pools, ...CHART, 'other.json': web('z') })).code).toBe(0)
  expect((await askedAlone(['conflicts'], { ...MAY_SHARE, ...TWICE })).code).toBe(0)
})

describe('where nothing gives an identity, a workload that was not read matters', () => {
  test.each([
    ['two pools may share its pods', ['conflicts'], MAY_SHARE],
    ['its pods may be those of a pool', ['suggest', '-A'], { 'p.json': poolOf('p', { app: 'web' }) }],
    ['it may be the one that is named', ['who-selects', 'deployment/absent', '-n', 'web'], {}],
    ['it may be the one that is named', ['why', 'deployment/absent', '-n', 'web'], {}],
    ['a test may be about it', ['test', 't.yaml'], { 't.yaml': STATED }],
  ] as const)('%s: %j', async (_, args, files) => {
    expect((await askedAlone(args, { ...files, ...CHART, 'other.json': web('z') })).code).toBe(4)
  })

  test.each([
    ['its container may be the one that is named', ['who-selects', 'deployment/web', '-n', 'web'], {}],
    ['its container may be the other one', ['who-selects', 'deployment/web', '-n', 'web', '-c', 'x'], {}],
    ['its container may be the other one', ['why', 'deployment/web', '-n', 'web', '-c', 'x'], {}],
  ] as const)('one that is defined twice, too; %s: %j', async (_, args, files) => {
    expect((await askedAlone(args, { ...files, ...TWICE })).code).toBe(4)
  })
})

test('an output that reaches no container depends on a workload that is no whole object', async () => {
  const binding = json({
    apiVersion: 'kleym.sonda.red/v1alpha1',
    kind: 'InferenceIdentityBinding',
    metadata: { name: 'b', namespace: 'web' },
    spec: { poolRef: { name: 'p' }, serviceAccountName: 'runner', mode: 'PoolOnly' },
  })
  const files = { 'b.json': binding, 'p.json': poolOf('p', { app: 'web' }), 'web.json': web('x') }
  const part =
    'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: part, namespace: web}\nspec: {replicas: 3}\n'
  expect((await askedAlone(['conflicts'], files)).code).toBe(1)
  const { code, stdout } = await askedAlone(['conflicts', '-o', 'json'], { ...files, 'part.yaml': part })
  expect(code).toBe(4)
  const found = { code: 'KLM404', severity: 'warning', dependsOn: [expect.any(String)] }
  expect(JSON.parse(stdout)).toMatchObject({ findings: [found] })
})

test('an object that is defined twice is reported in those words', () => {
  const why = { verb: 'read', what: 'a.yaml:1 and b.yaml:1', cause: 'ambiguous' } as const
  expect(unknownReasonText(why)).toBe('defined twice: a.yaml:1, b.yaml:1')
})

describe('what cannot matter is dismissed', () => {
  test.each(ROWS_DISMISSED)('%s', async (_, files) => {
    const { code, stdout } = await asked('conflicts', files)
    expect({ code, first: stdout.slice(0, CLEAN.length) }).toEqual({ code: 0, first: CLEAN })
  })
})
