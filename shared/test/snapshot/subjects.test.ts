// Which pods and templates of workloads an answer is about.
import { driveAtOnce } from '../../src/core/base/steps.ts'
import { describe, expect, test } from 'vitest'
import type { JsonRecord } from '../../src/core/base/json.ts'
import type { RawObject } from '../../src/core/model/objects/raw.ts'
import { readSnapshot } from '../../src/core/snapshot/snapshot.ts'
import { perhapsPodsOf } from '../../src/core/snapshot/subjects.ts'
import { podsInQuestionOf } from '../../src/core/snapshot/subjects.ts'

type Labels = Readonly<Record<string, string>>

function pod(name: string, labels: Labels): JsonRecord {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'team-a', uid: `uid-of-${name}`, labels },
    spec: { serviceAccountName: 'runner', containers: [{ name: 'vllm' }] },
  }
}

function workload(name: string, labels: Labels, container = 'vllm'): JsonRecord {
  const spec = { serviceAccountName: 'runner', containers: [{ name: container }] }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'team-a', uid: `uid-of-${name}` },
    spec: { template: { metadata: { labels }, spec } },
  }
}

function pool(labels: Labels): JsonRecord {
  return {
    apiVersion: 'inference.networking.k8s.io/v1',
    kind: 'InferencePool',
    metadata: { name: 'llama', namespace: 'team-a' },
    spec: { selector: { matchLabels: labels } },
  }
}

function registration(spiffeIDTemplate: string): JsonRecord {
  return {
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ClusterSPIFFEID',
    metadata: { name: 'by-label' },
    spec: { spiffeIDTemplate },
  }
}

function namesInQuestion(objects: readonly JsonRecord[], variantLabelKey?: string): readonly string[] {
  const snapshot = readSnapshot({ objects: objects.map((value) => ({ value })) })
  const registered = [...snapshot.clusterSpiffeIds.read]
  return driveAtOnce(podsInQuestionOf(snapshot, { registered, variantLabelKey })).map(({ ref }) => ref.name)
}

test('a pod takes the place of a template of its shape, unless the template has a label that it lacks', () => {
  expect(
    namesInQuestion([
      pod('a', { app: 'llama', size: 'small' }),
      workload('same', { app: 'llama' }),
      workload('no-labels', {}),
      workload('other-size', { app: 'llama', size: 'big' }),
      workload('other-shape', { app: 'llama' }, 'proxy'),
    ]),
  ).toEqual(['a', 'other-shape', 'other-size'])
})

describe('a pod that has a label more than a template', () => {
  const [old, edited] = [pod('a', { app: 'llama', size: 'small' }), workload('edited', { app: 'llama' })]
  const bare = workload('bare', {})

  test.each<[what: string, objects: readonly JsonRecord[], variantLabelKey?: string]>([
    ['that a pool selects by', [pool({ app: 'llama', size: 'small' })]],
    ['that a template of a SPIFFE ID reads', [registration('spiffe://x/{{ index .PodMeta.Labels "size" }}')]],
    [
      'and a template reads all',
      [registration('spiffe://x/{{ range $k, $v := .PodMeta.Labels }}{{ $k }}{{ end }}')],
    ],
    ['that says the variant', [], 'size'],
  ])('%s does not take its place', (_, objects, variantLabelKey) => {
    expect(namesInQuestion([...objects, old, edited, bare], variantLabelKey)).toEqual(['a', 'bare', 'edited'])
  })

  test.each<[what: string, objects: readonly JsonRecord[]]>([
    [
      'that nothing asks for',
      [pool({ app: 'llama' }), registration('spiffe://x/{{ index .PodMeta.Labels "app" }}')],
    ],
    ['that its controller adds', [pool({ 'pod-template-hash': 'small' })]],
  ])('%s takes its place', (_, objects) => {
    const labels = { app: 'llama', 'pod-template-hash': 'small', size: 'small' }
    expect(namesInQuestion([...objects, pod('a', labels), edited])).toEqual(['a'])
  })
})

type Template = Readonly<{ annotations?: Labels; finalizers?: readonly string[]; spec?: JsonRecord }>

const SPEC = { serviceAccountName: 'runner', containers: [{ name: 'vllm', image: 'server:1' }] }

/** A pod of the workload below, as an API server holds it. */
function podMade({
  annotations,
  finalizers,
  spec,
}: Template): JsonRecord & { readonly metadata: JsonRecord } {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'old',
      namespace: 'team-a',
      uid: 'u',
      labels: { app: 'llama' },
      annotations,
      finalizers,
    },
    spec: { ...SPEC, nodeName: 'n1', restartPolicy: 'Always', securityContext: {}, ...spec },
  }
}

function made({ annotations, finalizers, spec }: Template, kind = 'Deployment'): JsonRecord {
  const metadata = { labels: { app: 'llama' }, annotations, finalizers, creationTimestamp: null }
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: { name: 'edited', namespace: 'team-a', uid: 'w' },
    spec: { template: { metadata, spec: { ...SPEC, ...spec } } },
  }
}

function rollout(template: Template): JsonRecord {
  return { ...made(template), apiVersion: 'argoproj.io/v1alpha1', kind: 'Rollout' }
}

function selecting(selector: string): JsonRecord {
  const object = registration('spiffe://x/y')
  return { ...object, spec: { spiffeIDTemplate: 'spiffe://x/y', workloadSelectorTemplates: [selector] } }
}

const WHO_OK = { annotations: { who: 'ok', note: 'a' } }
const BY_WHO = registration('spiffe://x/{{ .PodMeta.Annotations.who }}')
const BY_CLASS = registration('spiffe://x/{{ .PodSpec.PriorityClassName }}')
const BY_SPEC = registration('spiffe://x/{{ printf "%v" .PodSpec }}')
const IMAGE_2 = { spec: { containers: [{ name: 'vllm', image: 'server:2' }] } }
const TOKEN = { name: 'kube-api-access-x', mountPath: '/var/run/secrets' }
const DEFAULTED = {
  spec: {
    containers: [{ ...SPEC.containers[0], volumeMounts: [TOKEN], terminationMessagePolicy: 'File' }],
    tolerations: [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists' }],
    volumes: [{ name: 'kube-api-access-x' }],
    dnsPolicy: 'ClusterFirst',
    priority: 0,
  },
}

function perhapsBeside(
  template: Template,
  registered = BY_WHO,
  labels: Readonly<Record<string, string>> = {},
): readonly string[] {
  const old = podMade(WHO_OK)
  const metadata = { ...old.metadata, labels: { app: 'llama', ...labels } }
  const objects: readonly RawObject[] = [
    { value: registered },
    { value: { ...old, metadata } },
    { value: rollout(template), isUnread: true },
  ]
  const snapshot = readSnapshot({ objects })
  const registrations = { registered: [...snapshot.clusterSpiffeIds.read], variantLabelKey: undefined }
  return perhapsPodsOf(snapshot, registrations, [...snapshot.pods.read]).map(({ ref }) => ref.name)
}

function ownedMetadata(name: string, kind: string): JsonRecord {
  const ownerReferences = [{ kind, name: 'x', controller: true }]
  return { name, namespace: 'team-a', uid: name, ownerReferences }
}

test('a workload in a cluster that will make no pods any more is not asked about', () => {
  const template = { metadata: { labels: { app: 'x' } }, spec: SPEC }
  const set = (name: string, replicas: number, owner = 'Deployment'): JsonRecord => ({
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: ownedMetadata(name, owner),
    spec: { replicas, template },
  })
  const job = (name: string, type: string): JsonRecord => ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: ownedMetadata(name, 'CronJob'),
    spec: { template },
    status: { conditions: [{ type, status: 'True' }] },
  })
  const yetToBe = { ...set('manifest', 0), metadata: { name: 'manifest', namespace: 'team-a' } }
  const over = [set('earlier', 0), job('ended', 'Complete'), job('failed', 'Failed')]
  const others = [set('latest', 1), set('by-hand', 0, 'Other'), job('suspended', 'Suspended'), yetToBe]
  expect(namesInQuestion([...over, ...others]).toSorted()).toEqual([
    'by-hand',
    'latest',
    'manifest',
    'suspended',
  ])
})

describe('a pod does not take the place of a template', () => {
  test.each<[what: string, registered: JsonRecord, pod: Template, template: Template]>([
    ['that changes an annotation that is read', BY_WHO, WHO_OK, { annotations: { who: 'chat' } }],
    ['that adds one', BY_WHO, {}, { annotations: { who: 'chat' } }],
    ['that drops one', BY_WHO, WHO_OK, { annotations: { note: 'a' } }],
    [
      'that changes one which index reads',
      registration('spiffe://x/{{ index .PodMeta.Annotations "example.org/who" }}'),
      { annotations: { 'example.org/who': 'ok' } },
      { annotations: { 'example.org/who': 'chat' } },
    ],
    [
      'that changes one which a label names',
      registration('spiffe://x/{{ index .PodMeta.Annotations .PodMeta.Labels.app }}'),
      { annotations: { llama: 'ok' } },
      { annotations: { llama: 'chat' } },
    ],
    [
      'that changes one which range reads',
      registration('spiffe://x/{{ range .PodMeta.Annotations }}{{ . }}{{ end }}'),
      WHO_OK,
      { annotations: { who: 'chat', note: 'a' } },
    ],
    [
      'that changes one which is read by its getter',
      registration('spiffe://x/{{ .PodMeta.GetAnnotations.who }}'),
      WHO_OK,
      { annotations: { who: 'chat', note: 'a' } },
    ],
    [
      'that changes one which a DNS name reads',
      { ...BY_WHO, spec: { spiffeIDTemplate: 'x', dnsNameTemplates: ['{{ .PodMeta.Annotations.who }}'] } },
      WHO_OK,
      { annotations: { who: 'chat' } },
    ],
    [
      'that changes one which a selector reads',
      selecting('k8s:pod-label:app:{{ .PodMeta.Annotations.who }}'),
      WHO_OK,
      { annotations: { who: 'chat' } },
    ],
    [
      'that changes finalizers that are read',
      registration('spiffe://x/{{ index .PodMeta.Finalizers 0 }}'),
      { finalizers: ['a/b'] },
      { finalizers: ['a/c'] },
    ],
    [
      'that changes a field of the spec',
      BY_CLASS,
      { spec: { priorityClassName: 'ok' } },
      { spec: { priorityClassName: 'chat' } },
    ],
    ['that adds one', BY_CLASS, {}, { spec: { priorityClassName: 'chat' } }],
    ['that drops one', BY_CLASS, { spec: { priorityClassName: 'ok' } }, {}],
    [
      'that changes one which is read with with',
      registration('spiffe://x/{{ with .PodSpec }}{{ .Hostname }}{{ end }}'),
      { spec: { hostname: 'ok' } },
      { spec: { hostname: 'chat' } },
    ],
    [
      'that drops a host name, which no controller of a Deployment adds',
      registration('spiffe://x/{{ .PodSpec.Hostname }}'),
      { spec: { hostname: 'ok' } },
      {},
    ],
    [
      'that changes part of one',
      registration('spiffe://x/{{ .PodSpec.NodeSelector.zone }}'),
      { spec: { nodeSelector: { zone: 'a', other: 'b' } } },
      { spec: { nodeSelector: { zone: 'b', other: 'b' } } },
    ],
    [
      'that changes an image where the spec is read',
      registration('spiffe://x/{{ (index .PodSpec.Containers 0).Image }}'),
      DEFAULTED,
      IMAGE_2,
    ],
    [
      'that changes anything where all of the spec is read',
      BY_SPEC,
      DEFAULTED,
      { spec: { hostNetwork: true } },
    ],
    [
      'that drops the first item of a list that is read',
      registration('spiffe://x/{{ (index .PodSpec.Volumes 0).Name }}'),
      {
        spec: {
          volumes: [
            { name: 'ok', emptyDir: {} },
            { name: 'chat', emptyDir: {} },
          ],
        },
      },
      { spec: { volumes: [{ name: 'chat', emptyDir: {} }] } },
    ],
    [
      'that drops an argument where the containers are read',
      registration('spiffe://x/{{ index (index .PodSpec.Containers 0).Args 0 }}'),
      { spec: { containers: [{ name: 'vllm', args: ['ok', 'chat'] }] } },
      { spec: { containers: [{ name: 'vllm', args: ['chat'] }] } },
    ],
    [
      'that drops a field of which the pod has no default',
      registration('spiffe://x/{{ .PodSpec.SchedulerName }}'),
      { spec: { schedulerName: 'custom' } },
      {},
    ],
    [
      'that adds a toleration behind those of before',
      registration('spiffe://x/{{ range .PodSpec.Tolerations }}{{ .Key }}{{ end }}'),
      { spec: { tolerations: [{ key: 'gpu' }] } },
      { spec: { tolerations: [{ key: 'gpu' }, { key: 'chat' }] } },
    ],
    [
      'that drops a toleration that is no default',
      registration('spiffe://x/{{ range .PodSpec.Tolerations }}{{ .Key }}{{ end }}'),
      { spec: { tolerations: [{ key: 'gpu' }] } },
      {},
    ],
    [
      'that goes to other nodes where a label of the node is read',
      registration('spiffe://x/{{ index .NodeMeta.Labels "who" }}'),
      { spec: { nodeSelector: { who: 'ok' } } },
      { spec: { nodeSelector: { who: 'chat' } } },
    ],
    ['that names another node', selecting('k8s:ns:team-a'), {}, { spec: { nodeName: 'n2' } }],
    [
      'of which a field is read that the API server fills in',
      registration('spiffe://x/{{ .PodSpec.RestartPolicy }}'),
      {},
      { spec: { securityContext: {} } },
    ],
    [
      'of which something is read to which admission adds',
      registration(
        'spiffe://x/{{ range .PodSpec.Tolerations }}{{ .Key }}{{ end }}{{ len .PodSpec.Volumes }}',
      ),
      {
        spec: {
          tolerations: [{ key: 'gpu' }, { key: 'node.kubernetes.io/not-ready', operator: 'Exists' }],
          volumes: [{ name: 'kube-api-access-x', projected: { defaultMode: 420 } }],
          schedulerName: 'default-scheduler',
        },
      },
      { spec: { tolerations: [{ key: 'gpu' }] } },
    ],
    ['of which all of the spec is read, and the pod has defaults', BY_SPEC, DEFAULTED, {}],
    [
      'of which the host name is read, which the controller gives each pod',
      registration('spiffe://x/{{ .PodSpec.Hostname }}'),
      { spec: { hostname: 'edited-0' } },
      {},
    ],
    [
      'that changes an image that a selector asks for',
      selecting('k8s:container-image:server:2'),
      {},
      IMAGE_2,
    ],
    ['that changes an image that a selector may ask for', selecting('{{ "k8s:pod-image:x" }}'), {}, IMAGE_2],
  ])('%s', (_, registered, old, template) => {
    expect(namesInQuestion([registered, podMade(old), made(template)])).toEqual(['old', 'edited'])
  })

  test('whose new pods a webhook gives a sidecar that a selector asks for', () => {
    const template = made({ annotations: { 'sidecar.istio.io/inject': 'true' } })
    const objects = [selecting('k8s:container-name:istio-proxy'), podMade({}), template]
    expect(namesInQuestion(objects)).toEqual(['old', 'edited'])
  })

  test('whose namespace has come to ask for the sidecar', () => {
    const namespace = {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'team-a', labels: { 'istio-injection': 'enabled' } },
    }
    const objects = [selecting('k8s:container-name:istio-proxy'), namespace, podMade({}), made({})]
    expect(namesInQuestion(objects)).toEqual(['old', 'edited'])
  })

  test('of a kind that kleym does not read', () => {
    expect(perhapsBeside({ annotations: { who: 'ok' } })).toEqual([])
    expect(perhapsBeside({ annotations: { who: 'chat' } })).toEqual(['edited'])
    expect(perhapsBeside({ annotations: { who: 'ok' }, spec: { serviceAccountName: 'other' } })).toEqual([
      'edited',
    ])
  })

  test('of a kind that kleym does not read, that drops a label which a registration reads or must not see', () => {
    const reading = registration('spiffe://x/{{ with .PodMeta.Labels.team }}{{ . }}{{ else }}chat{{ end }}')
    const avoiding = {
      ...registration('spiffe://x/y'),
      spec: {
        spiffeIDTemplate: 'spiffe://x/y',
        podSelector: { matchExpressions: [{ key: 'team', operator: 'DoesNotExist' }] },
      },
    }
    for (const registered of [reading, avoiding]) {
      expect(perhapsBeside({}, registered, { team: 'a' })).toEqual(['edited'])
      expect(perhapsBeside({}, registered)).toEqual([])
      // Its controller may add these.
      expect(
        perhapsBeside({}, registered, { 'argoproj.io/x': 'a', 'rollouts-pod-template-hash': 'b' }),
      ).toEqual([])
    }
  })
})

describe('a pod takes the place of a template', () => {
  test.each<[what: string, registered: JsonRecord, pod: Template, template: Template]>([
    ['with another annotation that nothing reads', BY_WHO, WHO_OK, { annotations: { who: 'ok', note: 'b' } }],
    [
      'where only a label of the metadata is read',
      registration('spiffe://x/{{ with index .PodMeta.Labels "app" }}{{ . }}{{ end }}'),
      WHO_OK,
      { annotations: { who: 'chat' } },
    ],
    [
      'where the annotation is read of what with gives',
      registration('spiffe://x/{{ with .PodMeta }}{{ .Annotations.who }}{{ end }}'),
      WHO_OK,
      { annotations: { who: 'ok' } },
    ],
    ['with another field of the spec that nothing reads', BY_CLASS, {}, { spec: { hostNetwork: true } }],
    ['with another image that no selector asks for', selecting('k8s:pod-label:app:image'), {}, IMAGE_2],
  ])('%s', (_, registered, old, template) => {
    expect(namesInQuestion([registered, podMade(old), made(template)])).toEqual(['old'])
  })

  test('whose controller adds to the affinity', () => {
    const required = 'requiredDuringSchedulingIgnoredDuringExecution'
    const onNode = registration('spiffe://x/{{ index .NodeMeta.Labels "zone" }}')
    const affinity = (nodes: string, other = 'a'): JsonRecord => ({
      nodeAffinity: { [required]: { nodeSelectorTerms: [{ nodes }] } },
      podAntiAffinity: { other },
    })
    const daemon = made({ spec: { affinity: affinity('linux') } }, 'DaemonSet')
    const ofNode = podMade({ spec: { affinity: affinity('n1') } })
    expect(namesInQuestion([onNode, ofNode, daemon])).toEqual(['old'])
    const moved = podMade({ spec: { affinity: affinity('n1', 'b') } })
    expect(namesInQuestion([onNode, moved, daemon])).toEqual(['old', 'edited'])
  })

  test('whose containers differ in what is not read of them', () => {
    const byImage = registration('spiffe://x/{{ (index .PodSpec.Containers 0).Image }}')
    const [container] = SPEC.containers
    const old = podMade({
      spec: { containers: [{ ...container, env: [{ name: 'A' }], resources: { limits: {} } }] },
    })
    expect(namesInQuestion([byImage, old, made({})])).toEqual(['old'])
  })
})
