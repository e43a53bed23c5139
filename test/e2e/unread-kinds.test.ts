// Kinds that hold pods and that kleym does not read: whatever they touch is not known, never `nothing clashes` with exit code 0.
import { beforeAll, describe, expect, test } from 'vitest'
import { UNREAD_KINDS } from '../../shared/src/core/model/objects/pod-makers.ts'
import { CARRIED_KINDS } from '../../shared/src/core/model/objects/known-makers.ts'
import { ask } from './ask.ts'
import { built, kleym, type Run } from './plugin.ts'
import { BINDING, documents, NODE, OBJECTIVE, POD, POOL, SMALL } from './workspace.ts'

beforeAll(built)

const WORLD = documents(POOL, OBJECTIVE, BINDING)
const POD_SPEC =
  '{serviceAccountName: runner, containers: [{name: vllm, image: vllm, volumeMounts: [{name: socket, mountPath: /spiffe}]}], volumes: [{name: socket, csi: {driver: csi.spiffe.io, readOnly: true}}]}'
const SELECTOR = 'selector: {matchLabels: {app: llama}}'
const TEMPLATE = `{metadata: {labels: {app: llama}}, spec: ${POD_SPEC}}`

function object(kind: string, apiVersion: string, spec: string, name = 'llama'): string {
  return `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: ${name}, namespace: team-a}\nspec: ${spec}\n`
}

/** One of each kind of the issue, as its project writes it, with a template that fits the binding. */
const WITH_TEMPLATE: readonly (readonly [kind: string, manifest: string])[] = [
  ['Rollout', object('Rollout', 'argoproj.io/v1alpha1', `{template: ${TEMPLATE}}`)],
  [
    'RayCluster',
    object(
      'RayCluster',
      'ray.io/v1',
      `{headGroupSpec: {template: ${TEMPLATE}}, workerGroupSpecs: [{template: ${TEMPLATE}}]}`,
    ),
  ],
  ['Service', object('Service', 'serving.knative.dev/v1', `{template: ${TEMPLATE}}`)],
  [
    'JobSet',
    object(
      'JobSet',
      'jobset.x-k8s.io/v1alpha2',
      `{replicatedJobs: [{name: a, template: {spec: {template: ${TEMPLATE}}}}]}`,
    ),
  ],
  ['Sandbox', object('Sandbox', 'agents.x-k8s.io/v1alpha1', `{podTemplate: ${TEMPLATE}}`)],
  ['a kind that nobody knows yet', object('Fleet', 'example.dev/v1', `{groups: {a: {pods: ${POD_SPEC}}}}`)],
]

describe.each(WITH_TEMPLATE)('the template of %s counts as perhaps', (_kind, manifest) => {
  test('nothing is known to clash, and the exit code is 4', async () => {
    const { code, stdout, stderr } = await ask(documents(WORLD, manifest), 'conflicts')
    expect(stdout).toContain('nothing is known to clash')
    expect(stdout).not.toContain('nothing clashes')
    expect(stderr).toMatch(
      /not known: missing the pods that \w+\.[\w.-]+ team-a\/llama makes; give them with -f/,
    )
    expect(code).toBe(4)
  })

  test('explain names it as perhaps reached', async () => {
    const { code, stdout } = await ask(documents(WORLD, manifest), 'explain', 'team-a/chat')
    expect(stdout).toMatch(/is ready, but whether it reaches a container is undetermined: .*perhaps .*llama/)
    expect(stdout).not.toContain('no container gets')
    expect(stdout).not.toMatch(/no pod carries the labels of InferencePool llama(?! \(depends on what)/)
    expect(code).toBe(4)
  })
})

const KINDS = [
  ...UNREAD_KINDS.withPools.map((name) => ({ name, makesPools: true })),
  ...UNREAD_KINDS.withoutPools.map((name) => ({ name, makesPools: false })),
].filter(({ name }) => !CARRIED_KINDS.includes(name))

describe.each(KINDS)('$name makes pods without a template that can be read', ({ name, makesPools }) => {
  const [kind = '', ...parts] = name.split('.')
  const group = parts.join('.')
  const manifest = object(kind, `${group}/v1alpha1`, '{model: {uri: x}}')

  test('nothing is known to clash, and the exit code is 4', async () => {
    const { code, stdout } = await ask(documents(WORLD, manifest), 'conflicts')
    expect(stdout).toContain('nothing is known to clash')
    expect(code).toBe(4)
  })

  test(`a pool that is not there is ${makesPools ? 'not known' : 'missing'}`, async () => {
    const { code, stdout } = await ask(documents(OBJECTIVE, BINDING, manifest), 'explain', 'team-a/chat')
    expect(stdout).toContain(makesPools ? 'is undetermined' : 'TargetPoolNotFound')
    expect(code).toBe(makesPools ? 4 : 1)
  })
})

describe('an object of a kind that is not read changes nothing', () => {
  test.each([
    [
      'where its labels rule the pool out',
      documents(
        WORLD,
        object(
          'Rollout',
          'argoproj.io/v1alpha1',
          `{template: ${TEMPLATE.replace('app: llama', 'app: web')}}`,
        ),
      ),
    ],
    [
      'in another namespace',
      documents(
        WORLD,
        object('Rollout', 'argoproj.io/v1alpha1', `{template: ${TEMPLATE}}`).replace('team-a', 'team-b'),
      ),
    ],
    [
      'where a pod shows what it makes',
      documents(SMALL, object('Rollout', 'argoproj.io/v1alpha1', `{template: ${TEMPLATE}}`)),
    ],
    [
      'where an object names it as its owner',
      documents(
        WORLD,
        object('Rollout', 'argoproj.io/v1alpha1', `{template: ${TEMPLATE}}`),
        NODE,
        POD.replace(
          '  labels: {app: llama}\n',
          '  ownerReferences: [{apiVersion: argoproj.io/v1alpha1, kind: Rollout, name: llama, uid: u}]\n  labels: {app: llama, other: x}\n',
        ),
      ),
    ],
    [
      'that makes no pods of it',
      documents(WORLD, object('ServingRuntime', 'serving.kserve.io/v1alpha1', POD_SPEC)),
    ],
    [
      'that is a policy with a pattern of a pod',
      documents(
        WORLD,
        object('Policy', 'kyverno.io/v1', `{rules: [{validate: {pattern: {spec: ${POD_SPEC}}}}]}`),
      ),
    ],
  ])('%s', async (_where, manifests) => {
    const { code, stdout } = await ask(manifests, 'conflicts')
    expect(stdout).toContain('nothing clashes')
    expect(code).toBe(0)
  })

  test('but where its service account rules the binding out: that the identity reaches no container depends on it', async () => {
    const rollout = object(
      'Rollout',
      'argoproj.io/v1alpha1',
      `{template: ${TEMPLATE.replace('runner', 'web')}}`,
    )
    const { code, stdout } = await ask(documents(WORLD, rollout), 'conflicts')
    expect(stdout).toMatch(/^! 1 warning in 1 binding the identity reaches no container \(KLM404\)/)
    expect(code).toBe(4)
  })
})

/** The pool with one more label in its selector. */
function byLabel(label: string): string {
  return POOL.replace('{app: llama}', `{app: llama, ${label}}`)
}

const DEPLOYMENT = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: llama, namespace: team-a}, spec: {${SELECTOR}, template: ${TEMPLATE}}}`
const THIEF =
  '{apiVersion: spire.spiffe.io/v1alpha1, kind: ClusterSPIFFEID, metadata: {name: thief}, spec: {spiffeIDTemplate: "spiffe://example.org/x"}}'
/** A manifest within objects of other kinds. */
function within(item: string): readonly (readonly [string, string])[] {
  return [
    [
      'ManifestWork',
      `apiVersion: work.open-cluster-management.io/v1
kind: ManifestWork
metadata: {name: w, namespace: cluster-1}
spec: {workload: {manifests: [${item}]}}
`,
    ],
    [
      'Template',
      `apiVersion: template.openshift.io/v1\nkind: Template\nmetadata: {name: w, namespace: templates}\nobjects: [${item}]\n`,
    ],
  ]
}

describe('an object that holds other objects', () => {
  test.each(within(DEPLOYMENT))(
    '%s: its workloads are perhaps in the namespace that they name',
    async (_kind, one) => {
      const { code, stdout, stderr } = await ask(documents(WORLD, one), 'explain', 'team-a/chat')
      expect(stdout).toContain('whether it reaches a container is undetermined')
      expect(stderr).toMatch(/not known: missing the pods that (ManifestWork|Template)\.\S+ \S+\/w makes/)
      expect(code).toBe(4)
    },
  )

  test.each([
    ...within(DEPLOYMENT.replace(', namespace: team-a', '')),
    [
      'HelmRelease',
      `apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: w, namespace: flux}\nspec: {values: {pods: ${POD_SPEC}}}\n`,
    ],
  ] as const)('%s: what names no namespace may be in any', async (_kind, one) => {
    const { code, stdout } = await ask(documents(WORLD, one), 'explain', 'team-a/chat')
    expect(stdout).toContain('whether it reaches a container is undetermined')
    expect(code).toBe(4)
  })

  test.each([
    ...within(THIEF),
    [
      'HelmRelease',
      `apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: w, namespace: flux}\nspec: {values: {extraObjects: [${THIEF}]}}\n`,
    ],
  ] as const)('%s: its registrations are not known', async (kind, one) => {
    const { code, stdout, stderr } = await ask(documents(WORLD, one), 'conflicts')
    expect(stdout).toContain('nothing is known to clash')
    expect(stderr).toContain(`${kind} w holds objects that are not read where they stand: ClusterSPIFFEID`)
    expect(code).toBe(4)
  })

  test('is no matter where they stand in the files by themselves, and a reference is none', async () => {
    const [, work] = within(THIEF)[0] ?? ['', '']
    const rendered = await ask(documents(SMALL, work, `${THIEF}\n`), 'conflicts')
    expect(rendered.stderr).not.toContain('holds objects')
    const reference = `apiVersion: cert-manager.io/v1
kind: Check
metadata: {name: w}
spec: {of: {apiVersion: spire.spiffe.io/v1alpha1, kind: ClusterSPIFFEID, name: thief}}
`
    const { code, stdout } = await ask(documents(SMALL, reference), 'conflicts')
    expect(stdout).toContain('✓ nothing clashes')
    expect(code).toBe(0)
  })
})

/** A ConfigMap or a Secret of an add-on manager or of a ClusterResourceSet; `data` in YAML. */
function holder(kind: string, data: string): string {
  return `apiVersion: v1\nkind: ${kind}\nmetadata: {name: addon, namespace: kube-system}\n${data}\n`
}

const REGISTRATION_TEXT = `apiVersion: v1
kind: Namespace
metadata: {name: x}
---
apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata:
  name: thief
spec: {spiffeIDTemplate: "spiffe://example.org/x"}
`
const AS_TEXT = JSON.stringify(REGISTRATION_TEXT)
const AS_JSON = JSON.stringify(
  '{"kind":"ClusterSPIFFEIDList","apiVersion":"spire.spiffe.io/v1alpha1","items":[]}',
)
const AS_TEMPLATE = JSON.stringify(
  '{{ if .x }}\napiVersion: spire.spiffe.io/v1alpha1\nkind: ClusterSPIFFEID\nmetadata: {name: {{ .x }}}\n{{ end }}\n',
)

describe('text in a ConfigMap or a Secret that is a manifest', () => {
  test.each([
    ['in a ConfigMap', holder('ConfigMap', `data: {a.yaml: ${AS_TEXT}}`)],
    ['as JSON', holder('ConfigMap', `data: {a.json: ${AS_JSON}}`)],
    ['that is a template', holder('ConfigMap', `data: {a.yaml: ${AS_TEMPLATE}}`)],
    ['in a Secret', holder('Secret', `stringData: {a.yaml: ${AS_TEXT}}`)],
    ...['', '-', '--'].map((before) => [
      `in base64, ${before.length} bytes from its beginning`,
      holder(
        'Secret',
        `data: {a.yaml: ${Buffer.from(`${before}\n${REGISTRATION_TEXT}`).toString('base64')}}`,
      ),
    ]),
    [
      'in the values of a chart',
      `apiVersion: helm.cattle.io/v1\nkind: HelmChart\nmetadata: {name: addon, namespace: kube-system}\nspec: {valuesContent: ${AS_TEXT}}\n`,
    ],
  ])('%s: what it may register is not known', async (_where, one) => {
    const { code, stdout, stderr } = await ask(documents(WORLD, one ?? ''), 'conflicts')
    expect(stdout).toContain('nothing is known to clash')
    expect(stderr).toContain('addon holds objects that are not read where they stand: ClusterSPIFFEID')
    expect(code).toBe(4)
  })

  test.each([
    [
      'stands in the files by itself',
      documents(holder('ConfigMap', `data: {a.yaml: ${AS_TEXT}}`), `${THIEF}\n`),
    ],
    [
      'only mentions a kind',
      holder(
        'ConfigMap',
        'data: {README: "apiVersion spire.spiffe.io/v1alpha1 has ClusterSPIFFEID, kind of."}',
      ),
    ],
    [
      'is of no kind that decides',
      holder(
        'ConfigMap',
        `data: {a.yaml: ${JSON.stringify('apiVersion: v1\nkind: Service\nmetadata: {name: a}\n')}}`,
      ),
    ],
  ])('is no matter where it %s', async (_where, one) => {
    const { code, stdout } = await ask(documents(WORLD, one), 'conflicts')
    expect(stdout).toContain('✓ nothing clashes')
    expect(code).toBe(0)
  })

  test('is no further doubt than the namespace that it names', async () => {
    const pool = JSON.stringify(
      POOL.replace('{name: llama, namespace: team-a}', '\n  name: x\n  namespace: team-b'),
    )
    const one = holder('ConfigMap', `data: {a.yaml: ${pool}}`)
    const { stdout } = await ask(documents(WORLD, POD, NODE, one), 'explain', 'team-a/chat')
    expect(stdout).toContain('1 container gets')
  })
})

function crd(scope: string): string {
  return `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: fleets.example.dev
spec:
  group: example.dev
  names:
    kind: Fleet
    plural: fleets
  scope: ${scope}
`
}

function crdInBrackets(scope: string): string {
  return `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: fleets.example.dev}, spec: {group: example.dev, names: {kind: Fleet}, scope: ${scope}}}\n`
}

function unplaced(manifest: string): string {
  return manifest.replace(', namespace: team-a', '')
}

describe('an object that names no namespace', () => {
  const rollout = object('Rollout', 'argoproj.io/v1alpha1', `{template: ${TEMPLATE}}`)
  const fleet = object('Fleet', 'example.dev/v1', `{groups: {a: {pods: ${POD_SPEC}}}}`)
  test.each([
    ['whose kind may have none, makes its pods in any', [unplaced(fleet)]],
    ['whose CRD gives its kind none, makes its pods in any', [unplaced(fleet), crd('Cluster')]],
    [
      'whose CRD, in brackets, gives its kind none, makes its pods in any',
      [unplaced(fleet), crdInBrackets('Cluster')],
    ],
    [
      'whose CRDs disagree, makes its pods in any',
      [unplaced(fleet), crd('Namespaced'), crdInBrackets('Cluster')],
    ],
  ])('%s', async (_what, manifests) => {
    const world = documents(WORLD, ...manifests)
    const conflicts = await ask(world, 'conflicts')
    expect(conflicts.stdout).toContain('nothing is known to clash')
    expect(conflicts.stderr).toContain('what Fleet.example.dev llama makes may be in any namespace')
    expect(conflicts.code).toBe(4)
    const explained = await ask(world, 'explain', 'team-a/chat')
    expect(explained.stdout).toContain('perhaps Fleet.example.dev')
    expect(explained.code).toBe(4)
  })

  test.each([
    ['whose CRD gives its kind one', [unplaced(fleet), crd('Namespaced')]],
    ['whose CRD, in brackets, gives its kind one', [unplaced(fleet), crdInBrackets('Namespaced')]],
    ['whose kind is known to have one', [unplaced(rollout)]],
  ])('%s, is in the one in force', async (_what, manifests) => {
    const { code, stdout, stderr } = await ask(documents(WORLD, ...manifests), 'conflicts')
    expect(stdout).toContain('✓ nothing clashes')
    expect(stderr).toContain('1 object that names no namespace: assumed to be in default')
    expect(code).toBe(0)
    const inForce = await ask(documents(WORLD, ...manifests), 'conflicts', '-n', 'team-a')
    expect(inForce.code).toBe(4)
  })

  test('is no matter in a namespace where an object names it as its owner', async () => {
    const owned = POD.replace(
      '  labels: {app: llama}\n',
      '  ownerReferences: [{apiVersion: example.dev/v1, kind: Fleet, name: llama, uid: u}]\n  labels: {app: llama}\n',
    )
    const { code, stdout } = await ask(documents(WORLD, owned, NODE, unplaced(fleet)), 'conflicts')
    expect(stdout).toContain('✓ nothing clashes')
    expect(code).toBe(0)
  })
})

describe('a Rollout that takes the template of a Deployment', () => {
  const ROLLOUT = object(
    'Rollout',
    'argoproj.io/v1alpha1',
    '{workloadRef: {apiVersion: apps/v1, kind: Deployment, name: llama}}',
  )

  test('which is not among the files: what it makes is not known', async () => {
    const { code, stdout } = await ask(documents(WORLD, ROLLOUT), 'conflicts')
    expect(stdout).toContain('nothing is known to clash')
    expect(code).toBe(4)
  })

  test('which is among the files: it is asked about as that', async () => {
    const deployment = object('Deployment', 'apps/v1', `{${SELECTOR}, template: ${TEMPLATE}}`)
    const { code, stdout } = await ask(documents(WORLD, ROLLOUT, deployment), 'conflicts')
    expect(stdout).toContain('✓ nothing clashes')
    expect(code).toBe(0)
  })
})

describe('a label that a controller is known to set', () => {
  const set = object('StatefulSet', 'apps/v1', `{replicas: 2, ${SELECTOR}, template: ${TEMPLATE}}`)
  const group = object(
    'LeaderWorkerSet',
    'leaderworkerset.x-k8s.io/v1',
    `{leaderWorkerTemplate: {size: 3, workerTemplate: ${TEMPLATE}}}`,
  )

  test.each([
    ['the first pod of a StatefulSet', 'apps.kubernetes.io/pod-index: "0"', set, 1],
    ['a pod that a StatefulSet has not', 'apps.kubernetes.io/pod-index: "2"', set, 0],
    ['the leader of a LeaderWorkerSet', 'leaderworkerset.sigs.k8s.io/worker-index: "0"', group, 1],
    ['one worker of a LeaderWorkerSet', 'leaderworkerset.sigs.k8s.io/worker-index: "2"', group, 1],
    ['a worker that there is not', 'leaderworkerset.sigs.k8s.io/worker-index: "3"', group, 0],
  ])('%s', async (_what, label, workload, containers) => {
    const world = documents(byLabel(label), OBJECTIVE, BINDING, workload)
    const { code, stdout } = await ask(world, 'explain', 'team-a/chat')
    expect(stdout).not.toContain('perhaps')
    expect(stdout).toContain(containers === 1 ? '1 container gets' : 'reaches no container among these files')
    expect(code).toBe(0)
  })
})

test('who-selects shows what such a pod may hold, and is not complete', async () => {
  const rollout = object('Rollout', 'argoproj.io/v1alpha1', `{template: ${TEMPLATE}}`)
  const { code, stdout } = await ask(documents(WORLD, rollout), 'who-selects', '-A')
  expect(stdout).toContain('Rollout.argoproj.io team-a/llama')
  expect(stdout).toContain('depends')
  expect(code).toBe(4)
})

test('a container that no pod has is no error where such a pod may have it', async () => {
  const rollout = object('Rollout', 'argoproj.io/v1alpha1', `{template: ${TEMPLATE}}`)
  const other = POD.replace('name: vllm', 'name: proxy')
  const { code, stdout } = await ask(documents(WORLD, other, NODE, rollout), 'explain', 'team-a/chat')
  expect(stdout).not.toContain('KLM404')
  expect(code).toBe(4)
})

test('diff does not say that no container gains an identity', async () => {
  const rollout = object('Rollout', 'argoproj.io/v1alpha1', `{template: ${TEMPLATE}}`)
  const { code, stdout } = await ask(documents(WORLD, rollout), 'diff')
  expect(stdout).not.toContain('no container gains or loses')
  expect(code).toBe(4)
})

/** Asks about the example. */
async function about(...args: readonly string[]): Promise<Run> {
  const settings = ['--trust-domain', 'example.org', '--scm-config', 'examples/scm-config.yaml']
  const files = ['--offline', '-R', '-f', 'examples/unread-kinds']
  return kleym([...args, ...files, ...settings, '--clusterspiffeid-class-name', 'spire-mgmt-spire'])
}

describe('examples/unread-kinds', () => {
  test('no answer about them is complete', async () => {
    const { code, stdout, stderr } = await about('conflicts')
    expect(stdout).toContain('nothing is known to clash')
    expect(stderr).toContain('the pods that Rollout.argoproj.io canary/granite makes')
    expect(code).toBe(4)
  })

  test('the pool that KAITO makes is not known', async () => {
    const { code, stdout } = await about('explain', 'served/phi-4')
    expect(stdout).toContain('is undetermined')
    expect(stdout).toContain('Workspace')
    expect(code).toBe(4)
  })
})

test('a template whose service account rules the binding out is one that the identity perhaps does not reach', async () => {
  const rollout = object(
    'Rollout',
    'argoproj.io/v1alpha1',
    `{template: ${TEMPLATE.replace('runner', 'web')}}`,
  )
  const { code, stdout } = await ask(documents(WORLD, rollout), 'conflicts')
  expect(stdout).toContain('KLM404')
  expect(stdout).toContain('depends: kleym does not know what its controller makes of the template')
  expect(code).toBe(4)
})
