// What the chart renders, with the real Helm, held against a real API server: every object is taken as it is, pods under
// the Pod Security Standard `restricted`; and bad values are refused in words.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseSettings } from '../../operator/src/settings/settings.ts'
import { mayBeNull, settingsOf } from '../../scripts/chart/files.ts'
import { VALUES } from '../../scripts/chart/values.ts'
import { dig, isRecord, listAt, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { FIRST_BUILD_MS } from './client-binaries.ts'
import { startControlPlane, type ControlPlane } from './control-plane.ts'
import { POOL_CRDS } from './crds.ts'
import type { KubectlResult } from './kubectl.ts'
import {
  CHART,
  CHART_VALUES,
  demand,
  helmOn,
  LEAST,
  objectsIn,
  ofKind,
  RELEASE,
  RELEASE_NAMESPACE,
  restrictedNamespace,
  valuesFile,
  type Helm,
} from './helm.ts'
import { monitoringCrds } from './module-crds.ts'
import { until } from '@kleym/testing/wait.ts'

const BINDINGS_CRD = 'inferenceidentitybindings.kleym.sonda.red'
const IN_NAMESPACE = ['--namespace', RELEASE_NAMESPACE] as const

let cp: ControlPlane
let helm: Helm
beforeAll(async () => {
  cp = await startControlPlane()
  helm = await helmOn(cp)
  const accounts = ['kleym-operator', 'compiler'].map((name) => ({
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name, namespace: RELEASE_NAMESPACE },
  }))
  await cp.apply([restrictedNamespace(RELEASE_NAMESPACE), ...accounts])
  for (const crd of await monitoringCrds()) await cp.installCrd(crd)
}, FIRST_BUILD_MS)
afterAll(() => cp?.stop())

function template(...args: readonly string[]): Promise<string> {
  return demand(helm('template', RELEASE, CHART, ...IN_NAMESPACE, ...args))
}

/** The pods that a Deployment would make, and those of the chart itself. */
function podsOf(objects: readonly JsonRecord[]): readonly JsonRecord[] {
  return ofKind(objects, 'Deployment').map((deployment) => {
    const { metadata, spec } = Object(dig(deployment, 'spec', 'template'))
    const made = { ...metadata, name: 'kleym-operator-0', namespace: RELEASE_NAMESPACE }
    return { apiVersion: 'v1', kind: 'Pod', metadata: made, spec }
  })
}

/** Asks the API server whether it would take them all. */
function dryRun(objects: readonly JsonRecord[]): Promise<KubectlResult> {
  const args = ['apply', '--server-side', '--dry-run=server', '--validate=strict', '-f', '-']
  // One list: a kubectl before 1.31 reads no JSON documents that `---` divides.
  return cp.kubectl(args, { input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }) })
}

describe.each(CHART_VALUES)('with the values of ci/%s-values.yaml', (name) => {
  const values = ['--values', valuesFile(name)]

  test('helm lint finds nothing wrong', async () => {
    const { status, stdout } = await helm('lint', CHART, '--strict', ...values)
    expect(stdout).toContain('1 chart(s) linted, 0 chart(s) failed')
    expect(status).toBe(0)
  })

  test('the API server takes every object, and every pod under `restricted`, without a warning', async () => {
    const objects = objectsIn(await template(...values))
    const pods = podsOf(objects)
    expect(pods).toHaveLength(1)
    const { status, stdout, stderr } = await dryRun([...objects, ...pods])
    expect(stderr).toBe('')
    expect(status).toBe(0)
    expect(stdout.trim().split('\n')).toHaveLength(objects.length + pods.length)
  })

  test('the same values give the same bytes, and every image has one version', async () => {
    const rendered = await template(...values)
    expect(await template(...values)).toBe(rendered)
    const images = [...rendered.matchAll(/^\s*image: "?([^"\n]+)"?$/gm)].map(([, image = '']) => image)
    expect(images.length).toBeGreaterThan(0)
    for (const image of images) expect(image).toMatch(/^[\w./-]+(:\d[\w.-]+|@sha256:[0-9a-f]{64})$/)
  })

  test('no role has a wildcard, or reads secrets', async () => {
    const objects = objectsIn(await template(...values))
    const rules = ['ClusterRole', 'Role'].flatMap((kind) =>
      ofKind(objects, kind).flatMap((role) => listAt(role, 'rules')),
    )
    const words = rules.flatMap((rule) =>
      isRecord(rule) ? Object.values(rule).flatMap((value) => (Array.isArray(value) ? value : [])) : [],
    )
    expect(words.filter((word) => /\*|secrets/.test(String(word)))).toEqual([])
  })
})

test('a pod that is less than restricted would be refused, so the test above can fail', async () => {
  const loose = ['--set', 'securityContext.capabilities=null']
  const { status, stderr } = await dryRun(podsOf(objectsIn(await template(...LEAST, ...loose))))
  expect(stderr).toContain('violates PodSecurity "restricted')
  expect(status).not.toBe(0)
})

test.each<[what: string, replicas: number, budgets: number]>([
  ['none at one replica', 1, 0],
  ['one at two', 2, 1],
])('PodDisruptionBudgets: %s', async (_what, replicas, budgets) => {
  const objects = objectsIn(await template(...LEAST, '--set', `replicas=${replicas}`))
  expect(ofKind(objects, 'PodDisruptionBudget')).toHaveLength(budgets)
})

test('two replicas prefer different nodes, and one, or one with affinities of its own, prefers nothing', async () => {
  const affinityOf = async (...values: readonly string[]): Promise<unknown> => {
    const [pod] = podsOf(objectsIn(await template(...LEAST, ...values)))
    return dig(pod, 'spec', 'affinity')
  }
  const preferred = 'preferredDuringSchedulingIgnoredDuringExecution'
  const [first] = listAt(await affinityOf('--set', 'replicas=2'), 'podAntiAffinity', preferred)
  const labels = dig(first, 'podAffinityTerm', 'labelSelector', 'matchLabels')
  const [deployment] = ofKind(objectsIn(await template(...LEAST)), 'Deployment')
  expect(labels).toEqual(dig(deployment, 'spec', 'selector', 'matchLabels'))
  expect(await affinityOf('--set', 'replicas=1')).toBeUndefined()
  const own = { nodeAffinity: {} }
  expect(await affinityOf('--set', 'replicas=2', '--set-json', `affinity=${JSON.stringify(own)}`)).toEqual(
    own,
  )
})

test('on OpenShift the pods name no IDs, which restricted-v2 gives, and stay as restricted as elsewhere', async () => {
  const objects = objectsIn(await template(...LEAST, '--set', 'openshift=true'))
  const pods = [...podsOf(objects), ...ofKind(objects, 'Pod')]
  expect(pods).toHaveLength(2)
  for (const pod of pods)
    expect(dig(pod, 'spec', 'securityContext')).toEqual({
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    })
  expect((await dryRun(pods)).stderr).toBe('')
})

test('a security context of the pods that is set to null is none', async () => {
  const objects = objectsIn(await template(...LEAST, '--set', 'podSecurityContext=null'))
  expect(podsOf(objects).map((pod) => dig(pod, 'spec', 'securityContext'))).toEqual([undefined])
})

test('every map and every list may be null, and is empty then', async () => {
  const all = settingsOf(VALUES).filter(([, setting]) => mayBeNull(setting))
  expect(all.length).toBeGreaterThan(20)
  const shown = 'metrics.rules.enabled=true,metrics.dashboard.enabled=true,metrics.monitor.kind=PodMonitor'
  const further = 'networkPolicy.enabled=true,policies.poolPods.enabled=true'
  const given = [shown, further, ...all.map(([path]) => `${path}=null`)]
  const objects = objectsIn(await template(...LEAST, ...given.flatMap((set) => ['--set', set])))
  expect(await dryRun(ofKind(objects, 'ValidatingAdmissionPolicy'))).toMatchObject({ status: 0, stderr: '' })
  const [pod] = podsOf(objects)
  const [container] = listAt(pod, 'spec', 'containers')
  expect([dig(pod, 'spec', 'nodeSelector'), dig(container, 'livenessProbe', 'periodSeconds')]).toEqual([
    undefined,
    undefined,
  ])
  expect(dig(container, 'livenessProbe', 'httpGet', 'path')).toBe('/healthz')
})

test('a name that YAML would read as a number or as true is a name everywhere', async () => {
  const [name, space] = ['1', '2024']
  await cp.apply([restrictedNamespace(space)])
  const file = join(cp.folder, 'names.json')
  const values = {
    trustDomain: 'example.org',
    image: { registry: 'registry.example.org' },
    replicas: 2,
    serviceAccount: { name: 'true' },
    networkPolicy: { enabled: true },
    resourceQuotas: [{ namespace: space, bindings: 1 }],
    policies: {
      bindingStatus: { enabled: true },
      serviceAccounts: { enabled: true },
      poolPods: { enabled: true },
    },
    metrics: {
      monitor: { kind: 'ServiceMonitor' },
      rules: { enabled: true },
      dashboard: { enabled: true, namespace: space },
    },
  }
  writeFileSync(file, JSON.stringify(values))
  const rendered = await demand(helm('template', name, CHART, '--namespace', space, '--values', file))
  const { stderr } = await dryRun(objectsIn(rendered))
  // The test pod comes with its service account, which a dry run does not make.
  expect(stderr.replace(/^.*serviceaccount "true" not found.*\n/, '')).toBe('')
})

test.each([
  'registry.example.org',
  'localhost:5000',
  '[::1]:5000/a',
  '123.dkr.ecr.eu.amazonaws.com/a/b_c',
  '',
])('an image of the registry %j', async (registry) => {
  const [pod] = podsOf(objectsIn(await template(...LEAST, '--set', `image.registry=${registry}`)))
  const [container] = listAt(pod, 'spec', 'containers')
  const image = [registry, 'kleym-operator'].filter((part) => part !== '').join('/')
  expect(stringAt(container, 'image')).toMatch(new RegExp(`^${RegExp.escape(image)}:`))
})

test('the FlowSchema is about the Lease of the operator that the chart runs', async () => {
  const objects = objectsIn(await template(...LEAST))
  const [schema] = ofKind(objects, 'FlowSchema')
  const [rule] = listAt(schema, 'spec', 'rules')
  const [subject] = listAt(rule, 'subjects')
  const [pod] = podsOf(objects)
  expect(dig(subject, 'serviceAccount', 'name')).toBe(dig(pod, 'spec', 'serviceAccountName'))
  const off = objectsIn(
    await template(...LEAST, '--set', 'leaderElection.enabled=false', '--set', 'replicas=1'),
  )
  expect(ofKind(off, 'FlowSchema')).toEqual([])
})

test('an upgrade without leader election ends one operator before the next one starts', async () => {
  // What is there already is left out.
  const there = 'crds.enabled=false,serviceAccount.create=false,serviceAccount.name=compiler'
  const strategyWith = async (enabled: boolean): Promise<unknown> => {
    const values = [...LEAST, '--set', `${there},leaderElection.enabled=${String(enabled)}`]
    await demand(helm('upgrade', '--install', RELEASE, CHART, ...IN_NAMESPACE, ...values))
    const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'kleym-operator' }
    return dig(await cp.admin.get({ ...deployment, namespace: RELEASE_NAMESPACE }), 'spec', 'strategy')
  }
  const rolling = await strategyWith(true)
  expect(rolling).toHaveProperty('type', 'RollingUpdate')
  expect(await strategyWith(false)).toEqual({ type: 'Recreate' })
  expect(await strategyWith(true)).toEqual(rolling)
  await demand(helm('uninstall', RELEASE, ...IN_NAMESPACE))
})

/** An output of ours that has lost its labels. */
const OUTPUT = { apiVersion: 'spire.spiffe.io/v1alpha1', kind: 'ClusterSPIFFEID', name: 'of-chat' }
const IS_IN_FORCE = 'the identity of binding team-a/chat is in force'

/** Installs with these values, with that output in force. `isHeld` resolves when the guard holds it, or nothing any more. */
async function installGuarded(
  ...values: readonly string[]
): Promise<{ readonly isHeld: (held: boolean) => Promise<unknown> }> {
  await demand(helm('install', RELEASE, CHART, ...IN_NAMESPACE, ...LEAST, ...values))
  const annotations = { 'kleym.sonda.red/binding': 'team-a/chat', 'kleym.sonda.red/binding-uid': 'any' }
  const spec = { spiffeIDTemplate: 'spiffe://example.org/ns/team-a/objective/chat' }
  const { name, ...kind } = OUTPUT
  await cp.apply([{ ...kind, metadata: { name, annotations }, spec }])
  // A policy is in force a moment after it was made: this is what Helm asks for before it deletes anything.
  const asked = ['create', 'configmap', 'kleym-uninstall', ...IN_NAMESPACE, '--dry-run=server']
  return {
    isHeld: (held) =>
      until(
        async () => {
          const { status, stderr } = await cp.kubectl(asked)
          return held ? stderr.includes(IS_IN_FORCE) : status === 0
        },
        `the policy to see that the identity is ${held ? 'there' : 'gone'}`,
      ),
  }
}

test('an identity that has lost its labels holds an uninstall back too', async () => {
  const there = 'crds.enabled=false,serviceAccount.create=false,serviceAccount.name=compiler'
  const { isHeld } = await installGuarded('--set', there)
  await isHeld(true)
  const held = await helm('uninstall', RELEASE, ...IN_NAMESPACE)
  expect(held.stderr).toContain(IS_IN_FORCE)
  expect(held.status).not.toBe(0)
  await cp.admin.delete(OUTPUT)
  await isHeld(false)
  await demand(helm('uninstall', RELEASE, ...IN_NAMESPACE))
})

test('neither an upgrade without the CRD, nor a rollback, nor a hand deletes a binding while an identity is in force', async () => {
  const there = 'serviceAccount.create=false,serviceAccount.name=compiler'
  const { isHeld } = await installGuarded('--set', `crds.enabled=false,${there}`)
  const upgrade = (...args: readonly string[]): Promise<KubectlResult> =>
    helm('upgrade', RELEASE, CHART, ...IN_NAMESPACE, '--reuse-values', ...args)
  await demand(upgrade('--take-ownership', '--set', 'crds.enabled=true,crds.keep=false'))
  const crd = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name: BINDINGS_CRD }
  const uidOf = async (): Promise<unknown> => dig(await cp.admin.get(crd), 'metadata', 'uid')
  const uid = await uidOf()
  const refused = await upgrade('--set', 'crds.enabled=false')
  expect(refused.stderr).toContain('crds.enabled: the CRD is part of this release and is not kept')
  expect(refused.status).not.toBe(0)
  await isHeld(true)
  await helm('rollback', RELEASE, '1', ...IN_NAMESPACE)
  expect(dig(await cp.admin.get(crd), 'metadata', 'deletionTimestamp')).toBeUndefined()
  expect(await uidOf()).toBe(uid)
  const byHand = ['delete', 'crd', BINDINGS_CRD, '--dry-run=server']
  expect((await cp.kubectl(byHand)).stderr).toContain(
    `${IS_IN_FORCE} (ClusterSPIFFEID of-chat), and is withdrawn`,
  )
  // Other CRDs are none of its business.
  expect((await cp.kubectl(['delete', 'crd', ...POOL_CRDS, '--dry-run=server'])).status).toBe(0)
  await cp.admin.delete(OUTPUT)
  await isHeld(false)
  expect((await cp.kubectl(byHand)).stderr).toBe('')
  // In an upgrade of its own it is kept, and then it may leave the release.
  await demand(upgrade('--take-ownership', '--set', 'crds.enabled=true,crds.keep=true'))
  await demand(upgrade('--set', 'crds.enabled=false'))
  await demand(helm('uninstall', RELEASE, ...IN_NAMESPACE))
  expect(await uidOf()).toBe(uid)
})

test('the network policy is about the pods of the operator, and about that of helm test', async () => {
  const objects = objectsIn(await template(...LEAST, '--set', 'networkPolicy.enabled=true'))
  const [policy] = ofKind(objects, 'NetworkPolicy')
  const labels = dig(policy, 'spec', 'podSelector', 'matchLabels')
  const [{ key, values, ...how }] = Object(dig(policy, 'spec', 'podSelector', 'matchExpressions'))
  expect(how).toEqual({ operator: 'In' })
  const pods = [...podsOf(objects), ...ofKind(objects, 'Pod')].map((pod) => dig(pod, 'metadata', 'labels'))
  expect(pods).toEqual([expect.objectContaining(labels), expect.objectContaining(labels)])
  expect(pods.map((own) => Object(own)[key])).toEqual(values)
})

test('the rights for reviews of tokens come with secure metrics only', async () => {
  const plain = await template(...LEAST)
  expect(plain).not.toContain('tokenreviews')
  expect(await template('--values', valuesFile('hardened-spire'))).toContain('tokenreviews')
})

test('the notes name the pod label of variants, and the operator is told it', async () => {
  const sets = ['--set', 'variantLabelKey=llm-d.ai/role']
  const [deployment] = ofKind(objectsIn(await template(...LEAST, ...sets)), 'Deployment')
  const [container] = listAt(deployment, 'spec', 'template', 'spec', 'containers')
  expect(listAt(container, 'args')).toContain('--variant-label-key=llm-d.ai/role')
  // Even a dry run of Helm 3 refuses what is there already and of no release.
  const elsewhere = ['--set', 'serviceAccount.name=of-the-release', '--set', 'crds.enabled=false']
  const notes = await demand(
    helm('install', RELEASE, CHART, ...IN_NAMESPACE, ...LEAST, ...sets, ...elsewhere, '--dry-run=client'),
  )
  expect(notes).toContain('variants      by the pod label llm-d.ai/role')
})

test('kubectl kleym finds the operator, its trust domain and its class in the Deployment', async () => {
  const [deployment] = ofKind(
    objectsIn(await template('--values', valuesFile('hardened-spire'))),
    'Deployment',
  )
  expect(stringAt(deployment, 'metadata', 'labels', 'app.kubernetes.io/name')).toBe('kleym')
  const [container] = listAt(deployment, 'spec', 'template', 'spec', 'containers')
  expect(listAt(container, 'args')).toEqual(
    expect.arrayContaining(['--trust-domain=example.org', '--clusterspiffeid-class-name=spire-mgmt-spire']),
  )
})

test('the notes warn of kinds that are not there, and the install goes on', async () => {
  const plane = await startControlPlane({
    without: [
      'clusterspiffeids.spire.spiffe.io',
      'inferencepools.inference.networking.k8s.io',
      'inferencepools.inference.networking.x-k8s.io',
      'inferenceidentitybindings.kleym.sonda.red',
    ],
    controllers: [],
  })
  try {
    const install = await helmOn(plane)
    const notes = await demand(
      install('install', RELEASE, CHART, ...IN_NAMESPACE, '--create-namespace', ...LEAST),
    )
    expect(notes).toContain('WARNING: the cluster has no ClusterSPIFFEID (spire.spiffe.io/v1alpha1)')
    expect(notes).toContain('WARNING: the cluster has no InferencePool')
    expect(notes).toContain('WARNING: className is empty.')
  } finally {
    await plane.stop()
  }
})

const FLAG_OF: Readonly<Record<string, string>> = {
  trustDomain: '--trust-domain',
  className: '--clusterspiffeid-class-name',
  takeOver: '--take-over',
  outputLabels: '--output-label',
  variantLabelKey: '--variant-label-key',
  resyncPeriod: '--resync-period',
}

/** The operator's flags, with those that a value of the chart stands for. */
function argsWith(value: string, given: unknown): readonly string[] {
  const flag = FLAG_OF[value]
  const texts = isRecord(given)
    ? Object.entries(given).map(([key, text]) => `${key}=${String(text)}`)
    : [given].flat().map(String)
  return [
    '--trust-domain=example.org',
    ...texts.map((text) => (flag === undefined ? text : `${flag}=${text}`)),
  ]
}

describe('a bad value fails at helm install, with a sentence', () => {
  test.each<[what: string, sets: readonly string[], says: string | RegExp]>([
    [
      'no trust domain',
      ['trustDomain='],
      'trustDomain: is not set, and there is no identity without one; set it to the trust domain of your SPIRE server',
    ],
    [
      'a trust domain with a scheme',
      ['trustDomain=spiffe://example.org'],
      'is no trust domain, which holds a-z',
    ],
    [
      'a trust domain in capitals',
      ['trustDomain=Example.org'],
      'trustDomain: "Example.org" is no trust domain',
    ],
    [
      'a trust domain that is too long',
      [`trustDomain=${'a'.repeat(256)}`],
      'trustDomain: is 256 characters long',
    ],
    ['a class with a blank', ['className= spire'], 'className: " spire" begins or ends with a blank'],
    [
      'a label key that is none',
      ['variantLabelKey=LLM-D.ai/role'],
      'variantLabelKey: "LLM-D.ai/role" is no label key',
    ],
    ['no label key', ['variantLabelKey='], 'variantLabelKey: "" is no label key'],
    [
      'a label key without room for a value',
      [`variantLabelKey=${'k'.repeat(180)}/${'n'.repeat(63)}`],
      'variantLabelKey: is 244 characters long',
    ],
    ['latest', ['image.tag=latest'], 'image.tag: "latest" is not one version'],
    ['a tag that is none', ['image.tag=a/b'], 'image.tag: "a/b" is no tag of an image'],
    ['half a digest', ['image.digest=sha256:12'], 'image.digest: "sha256:12" is no digest'],
    [
      'no registry',
      ['image.registry=set-your-registry.invalid'],
      'image.registry: is not set, and this chart comes with no image',
    ],
    ['no image', ['image.repository='], 'image.repository: is empty'],
    [
      'a registry with a scheme',
      ['image.registry=https://registry.example.org'],
      'image.registry: "https://registry.example.org" is no registry',
    ],
    [
      'a registry that ends with a slash',
      ['image.registry=registry.example.org/'],
      'image.registry: "registry.example.org/" is no registry',
    ],
    ['an image in capitals', ['image.repository=Kleym'], 'image.repository: "Kleym" is no name of an image'],
    [
      'an image with its tag',
      ['image.repository=kleym-operator:1'],
      'image.repository: "kleym-operator:1" is no name of an image',
    ],
    [
      'several operators that all write',
      ['replicas=2', 'leaderElection.enabled=false'],
      'replicas: 2 operators without leader election would all write',
    ],
    [
      'a budget that stops drains',
      ['replicas=2', 'podDisruptionBudget.minAvailable=2'],
      '2 of 2 operators must stay',
    ],
    ['a period that is none', ['resyncPeriod=often'], 'resyncPeriod: "often" is no period'],
    ['no service account to run as', ['serviceAccount.create=false'], 'serviceAccount.name: is empty'],
    ['two servers on one port', ['probes.port=8080'], 'probes.port: is 8080, as is metrics.port'],
    [
      'a flag twice',
      ['extraArgs={--trust-domain=other.org}'],
      'extraArgs: --trust-domain is set by the chart, and the last of two would win; use trustDomain instead',
    ],
    [
      'a label that selects',
      ['podLabels.app\\.kubernetes\\.io/name=other'],
      'podLabels: app.kubernetes.io/name is how Helm, the chart and kubectl kleym find their objects',
    ],
    [
      'HTTPS without a certificate',
      ['metrics.secure.enabled=true'],
      'metrics.secure.certificateSecret: is empty',
    ],
    [
      'HTTPS for nothing',
      ['metrics.secure.enabled=true', 'metrics.enabled=false'],
      'metrics.secure.enabled: there are no metrics to protect',
    ],
    [
      'a monitor of nothing',
      ['metrics.enabled=false', 'metrics.monitor.kind=PodMonitor'],
      'metrics.monitor.kind: a PodMonitor would scrape metrics that the operator does not serve',
    ],
    [
      'a monitor of no Service',
      ['metrics.service.enabled=false', 'metrics.monitor.kind=ServiceMonitor'],
      'a ServiceMonitor finds the operator through a Service, and there is none',
    ],
    [
      'two quotas of one namespace',
      [
        'resourceQuotas[0].namespace=team-a',
        'resourceQuotas[0].bindings=1',
        'resourceQuotas[1].namespace=team-a',
        'resourceQuotas[1].bindings=2',
      ],
      'resourceQuotas: namespace team-a is listed twice, and one quota would replace the other',
    ],
    // Helm up to 3.17 has another validator, which says the same in other words.
    [
      'a value that there is not',
      ['trustdomain=example.org'],
      /additional properties 'trustdomain' not allowed|\(root\): Additional property trustdomain is not allowed/,
    ],
    [
      'a nested one',
      ['image.sha=12'],
      /at '\/image': additional properties 'sha' not allowed|image: Additional property sha is not allowed/,
    ],
    [
      'a text for a number',
      ['replicas=two'],
      /at '\/replicas': got string, want integer|replicas: Invalid type\. Expected: integer, given: string/,
    ],
    ...[
      ['serviceAccount', 'name', 'Kleym'],
      ['priorityClassName', '', 'a_b'],
      ['metrics.secure', 'certificateSecret', 'a/b'],
      ['metrics.dashboard', 'namespace', 'a.b'],
      ['podLabels', 'team', 'a b'],
      ['commonLabels', 'team', '-'],
    ].map(([owner = '', key = '', value = '']): [string, string[], RegExp] => {
      const path = [owner, key].filter((part) => part !== '').join('.')
      const pointer = path.replaceAll('.', '/')
      return [
        `${path} that is no name or label of Kubernetes`,
        [`${path}=${value}`],
        new RegExp(`at '/${pointer}': '${value}' does not match pattern|${path}: Does not match pattern`),
      ]
    }),
    [
      'a label without a key that Kubernetes takes',
      ['podLabels.a b=c'],
      /at '\/podLabels': additional properties 'a b' not allowed|podLabels: Additional property a b is not allowed/,
    ],
    [
      'a quota in what is no namespace',
      ['resourceQuotas[0].namespace=Team', 'resourceQuotas[0].bindings=1'],
      /at '\/resourceQuotas\/0\/namespace'|resourceQuotas\.0\.namespace: Does not match pattern/,
    ],
    [
      'a limit that is null, which is not the default',
      ['bindingsPerNamespace=null'],
      /missing property 'bindingsPerNamespace'|bindingsPerNamespace is required/,
    ],
    [
      'a fence that is null',
      ['policies.serviceAccounts.enabled=true', 'policies.serviceAccounts.verb=null'],
      /at '\/policies\/serviceAccounts': missing property 'verb'|verb is required/,
    ],
    [
      'a precedence that is for exempt requests alone',
      ['flowSchema.matchingPrecedence=1'],
      /at '\/flowSchema\/matchingPrecedence': minimum: got 1, want 2|matchingPrecedence: Must be greater than or equal to 2/,
    ],
    [
      'too many workers',
      ['workers=100'],
      /at '\/workers': maximum: got 100, want 64|workers: Must be less than or equal to 64/,
    ],
    [
      'a level that there is not',
      ['logLevel=chatty'],
      /at '\/logLevel': value must be one of|logLevel: logLevel must be one of/,
    ],
  ])('%s', async (_what, sets, says) => {
    const given = sets.flatMap((set) => ['--set', set])
    const { status, stderr } = await helm('install', RELEASE, CHART, ...IN_NAMESPACE, ...LEAST, ...given)
    expect(stderr).toMatch(says)
    expect(status).not.toBe(0)
    expect((await demand(helm('list', '--all-namespaces', '--short'))).trim()).toBe('')
  })

  // The operator would end at once with what the chart lets through, again and again.
  const LONG = 'x'.repeat(254)
  test.each<[value: string, given: readonly unknown[]]>([
    ['trustDomain', ['a', 'a'.repeat(255), 'a'.repeat(256), '', 'A', 'a b', 'a/b', '.', 'a:1', 'a\n']],
    ['className', ['', 'a', 'a b', ' a', 'a\tb', '{{.X}}', '"', "'", '\\', LONG]],
    [
      'takeOver',
      [['a/b'], ['a/b.c', 'd/e'], ['a'], ['a/b/c'], ['A/b'], ['a/'], ['/b'], ['a/b_c'], ['a.b/c'], [' a/b']],
    ],
    ['takeOver', [[`a/${LONG}`], [`a/${LONG.slice(1)}`], [`${'x'.repeat(63)}/a`], [`${'x'.repeat(64)}/a`]]],
    [
      'outputLabels',
      [{ a: 'b' }, { 'a.b/c': '' }, { 'a..b/c': 'd' }, { 'a-.b/c': 'd' }, { 'a/b/c': 'd' }, { A: 'b' }],
    ],
    [
      'outputLabels',
      [{ [`${LONG}/a`]: 'b' }, { [`${LONG.slice(1)}/a`]: 'b' }, { a: '-' }, { a: 'x'.repeat(64) }],
    ],
    ['variantLabelKey', ['a', 'a.b/c', 'a..b/c', '', '-a', 'A.b/c', `${'k'.repeat(180)}/${'n'.repeat(62)}`]],
    [
      'resyncPeriod',
      ['0', '0s', '10h30m', '1.5h', '1ms', '99ms', '100ms', '576h', '576h1ms', '9999h', '1d', '1.h', ''],
    ],
    ['resyncPeriod', ['1h30m20.25s', '0.001h', '0.00001h', '99999999999h', ' 1h', '1h ', '-1h', '.5h']],
    [
      'extraArgs',
      [['--kubeconfig=/x'], ['--context=a'], ['--kubeconfig'], ['a'], ['--'], ['--foo=1'], ['-v']],
    ],
    ['extraArgs', [['--help'], ['-h'], ['--version'], [''], ['--contextual=a']]],
  ])('%s: what the chart takes, the operator takes, and nothing else', async (value, given) => {
    const file = join(cp.folder, 'values.json')
    for (const one of given) {
      writeFileSync(file, JSON.stringify({ trustDomain: 'example.org', [value]: one }))
      const { status } = await helm(
        'template',
        RELEASE,
        CHART,
        '--set',
        'image.registry=r.example',
        '--values',
        file,
      )
      const { kind } = parseSettings(argsWith(value, one), {})
      expect({ one, taken: status === 0 }).toEqual({ one, taken: kind === 'run' })
    }
  })

  test('a Kubernetes that is too old', async () => {
    const { status, stderr } = await helm('template', RELEASE, CHART, ...LEAST, '--kube-version', '1.29.0')
    expect(stderr).toContain('chart requires kubeVersion: >=1.30.0-0')
    expect(status).not.toBe(0)
  })
})
