// What is left of a pod gives every answer that the whole pod gives: whatever a template reads is kept. Held by rendering
// random templates with the pod as it is and as it is trimmed for them.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { leastSeen, runs } from '@kleym/testing/runs.ts'
import { mentionsOf } from '@kleym/shared/core/base/go/template/mentions.ts'
import { parseTemplate, type Rendered, type TemplateData } from '@kleym/shared/core/base/go/template/index.ts'
import { own, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import { readPod, recordAt } from '@kleym/shared/core/model/objects/pod.ts'
import { isMirrorPod } from '@kleym/shared/core/predict/spire/attestor.ts'
import { RandomTemplates } from '@kleym/testing/random-templates.ts'
import { keepingApplied, podTrim, withoutManagedFields } from '../../src/cluster/trim.ts'
import { isFinishedJob } from '@kleym/shared/core/model/objects/workload.ts'

/** A pod that has something in every field that a template of these tests names. */
const POD: JsonRecord = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'llama-7d9f-x2x',
    generateName: 'llama-7d9f-',
    namespace: 'team-a',
    uid: 'uid-1',
    resourceVersion: '4711',
    generation: 3,
    creationTimestamp: '2026-01-02T03:04:05Z',
    deletionTimestamp: '2026-01-03T03:04:05Z',
    deletionGracePeriodSeconds: 30,
    labels: { app: 'llama', tier: 'gpu-1' },
    annotations: { team: 'blue', app: 'noted' },
    ownerReferences: [
      { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'llama-7d9f', uid: 'o-1', controller: true },
    ],
    finalizers: ['f.example/one', 'f.example/two'],
    managedFields: [{ manager: 'kubectl', operation: 'Apply', apiVersion: 'v1' }],
  },
  spec: {
    serviceAccountName: 'runner',
    serviceAccount: 'runner',
    nodeName: 'node-1',
    hostPID: true,
    priority: 7,
    restartPolicy: 'Always',
    runtimeClassName: 'gvisor',
    terminationGracePeriodSeconds: 30,
    nodeSelector: { gpu: 'a100' },
    securityContext: { runAsUser: 1000, supplementalGroups: [1, 2] },
    containers: [
      { name: 'vllm', image: 'vllm:1', args: ['--port=8000'], ports: [{ containerPort: 8000 }] },
      { name: 'proxy', image: 'proxy:2', tty: true },
    ],
    initContainers: [{ name: 'setup', image: 'busybox:1', restartPolicy: 'Always', command: ['true'] }],
    ephemeralContainers: [{ name: 'debug', image: 'busybox:1', stdin: true }],
    tolerations: [{ key: 'gpu', operator: 'Exists' }],
    volumes: [{ name: 'tmp', emptyDir: {} }],
  },
  status: {
    phase: 'Running',
    containerStatuses: [{ name: 'vllm', image: 'vllm:1', imageID: 'sha256:1', ready: true }],
  },
}

const NODE = { value: { name: 'node-1', uid: 'node-uid-1', labels: { zone: 'z1' } }, complete: true }

function dataOf(pod: JsonRecord): TemplateData {
  return {
    trustDomain: 'example.org',
    clusterName: 'prod',
    clusterDomain: 'cluster.local',
    podMeta: { value: recordAt(pod, 'metadata'), complete: true },
    podSpec: { value: recordAt(pod, 'spec'), complete: true },
    nodeMeta: NODE,
    nodeSpec: { value: {}, complete: true },
  }
}

function render(template: string, pod: JsonRecord): Rendered {
  const parsed = parseTemplate(template)
  return parsed.kind === 'template'
    ? parsed.render(dataOf(pod))
    : { kind: 'failed', message: `not parsed: ${parsed.kind}` }
}

function trimmedFor(template: string): JsonRecord {
  return podTrim({ mentions: mentionsOf(template), images: false })(POD)
}

/** Whether a trimmed pod has lost something that a template could read. */
function hasLost({ metadata, spec }: JsonRecord): boolean {
  return JSON.stringify([metadata, spec]) !== JSON.stringify([POD['metadata'], POD['spec']])
}

const field = fc.constantFrom(
  '.PodMeta.Name',
  '.PodMeta.Labels',
  '.PodMeta.Labels.app',
  '.PodMeta.Annotations.team',
  '.PodMeta.Annotations',
  '.PodMeta.Finalizers',
  '.PodMeta.GetName',
  '.PodMeta.GetAnnotations',
  '.PodMeta.OwnerReferences',
  '.PodMeta.UID',
  '.PodMeta.GenerateName',
  '.PodMeta.Generation',
  '.PodMeta.DeletionGracePeriodSeconds',
  '.PodMeta.ResourceVersion',
  '.PodMeta.ManagedFields',
  '.PodMeta.Nope',
  '.PodMeta',
  '.PodSpec',
  '.PodSpec.NodeName',
  '.PodSpec.ServiceAccountName',
  '.PodSpec.DeprecatedServiceAccount',
  '.PodSpec.Containers',
  '.PodSpec.HostPID',
  '.PodSpec.Priority',
  '.PodSpec.RuntimeClassName',
  '.PodSpec.NodeSelector.gpu',
  '.PodSpec.SecurityContext.RunAsUser',
  '.PodSpec.RestartPolicy',
  '.PodSpec.Tolerations',
  '.PodSpec.InitContainers',
  '.PodSpec.Nope',
  '.NodeMeta.Name',
  '.NodeMeta.Labels.zone',
  '.TrustDomain',
  '.ClusterName',
  '.Nope',
)
/** What hangs on a dot or a variable that is a part of the pod. */
const below = fc.constantFrom(
  '.Name',
  '.Labels',
  '.Labels.app',
  '.Annotations',
  '.Annotations.team',
  '.Finalizers',
  '.Generation',
  '.NodeName',
  '.HostPID',
  '.Priority',
  '.Containers',
  '.RuntimeClassName',
  '.GetFinalizers',
  '.Image',
  '.PodMeta.Finalizers',
  '.PodSpec.HostPID',
  '.PodMeta',
  '.PodSpec',
  '.Kind',
  '.team',
  '.app',
  '',
)
/** Templates of which most render: each construct by which a template can get at a field of a pod. */
const { template: written } = fc.letrec<{ template: string; piece: string; operand: string }>((tie) => ({
  template: fc.array(tie('piece'), { minLength: 1, maxLength: 3 }).map((pieces) => pieces.join('')),
  operand: fc.oneof(
    { depthSize: 'small' },
    { weight: 8, arbitrary: field },
    { weight: 2, arbitrary: field.map((one) => `$${one}`) },
    { weight: 2, arbitrary: fc.tuple(tie('operand'), below).map(([of, name]) => `(${of})${name}`) },
    { weight: 1, arbitrary: fc.constantFrom('.', '$', '"a"', '1') },
    { weight: 1, arbitrary: tie('operand').map((one) => `(print ${one})`) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(tie('operand'), fc.constantFrom('"app"', '"team"', '0'))
        .map(([of, key]) => `(index ${of} ${key})`),
    },
    { weight: 1, arbitrary: tie('operand').map((one) => `(len ${one})`) },
  ),
  piece: fc.oneof(
    { depthSize: 'small' },
    { weight: 2, arbitrary: fc.constantFrom('/', 'x') },
    { weight: 6, arbitrary: tie('operand').map((one) => `{{ ${one} }}`) },
    { weight: 2, arbitrary: tie('operand').map((one) => `{{ ${one} | printf "%v" }}`) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(field, below)
        .map(([of, name]) => `{{ with ${of} }}{{ .${name.slice(1)} }}{{ end }}`),
    },
    { weight: 2, arbitrary: fc.tuple(field, below).map(([of, name]) => `{{ $v := ${of} }}{{ $v${name} }}`) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(field, below)
        .map(([of, name]) => `{{ range $k, $v := ${of} }}{{ $k }}{{ $v${name} }}{{ end }}`),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(field, tie('template'))
        .map(([of, inner]) => `{{ range ${of} }}${inner}{{ else }}e{{ end }}`),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(tie('operand'), tie('template'), tie('template'))
        .map(([of, yes, no]) => `{{ if ${of} }}${yes}{{ else if not ${of} }}y{{ else }}${no}{{ end }}`),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(tie('operand'), tie('template'))
        .map(([of, no]) => `{{ if not ${of} }}{{ else }}${no}{{ end }}`),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(field, below)
        .map(([of, name]) => `{{ define "t" }}{{ $${name} }}{{ end }}{{ template "t" ${of} }}`),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(field, field).map(([of, inner]) => `{{ block "b" ${of} }}{{ ${inner} }}{{ end }}`),
    },
    { weight: 1, arbitrary: field.map((of) => `{{ define "d" }}{{ ${of} }}{{ end }}{{ template "d" . }}`) },
  ),
}))

/** Templates as the fuzzer of the evaluator writes them: the whole grammar, and broken ones. */
const fuzzed = fc
  .tuple(fc.nat(), fc.constantFrom('', '{{$x := .TrustDomain}}{{$y := 1.5}}{{$i := 0}}'))
  .map(([seed, declared]) => `${declared}${new RandomTemplates(seed).next()}`)

describe('a template renders the same of the trimmed pod as of the whole one', () => {
  test.each([
    { says: 'written to reach into the pod', templates: written, count: 3000 },
    { says: 'of the evaluator’s fuzzer', templates: fuzzed, count: 3000 },
  ])('$says', ({ templates, count }) => {
    const seen = { text: 0, textOfLess: 0 }
    fc.assert(
      fc.property(templates, (template) => {
        const trimmed = trimmedFor(template)
        const whole = render(template, POD)
        if (whole.kind === 'text') seen.text++
        if (whole.kind === 'text' && hasLost(trimmed) && whole.text !== template) seen.textOfLess++
        expect(render(template, trimmed)).toEqual(whole)
      }),
      { numRuns: runs(count) },
    )
    // What the property is about must have happened, and often: a text, from a pod that had lost something.
    expect(seen.text).toBeGreaterThan(leastSeen(count / 10))
    expect(seen.textOfLess).toBeGreaterThan(leastSeen(count / 30))
  })

  test.each([
    '{{ len .PodMeta.ManagedFields }}',
    '{{ if .PodMeta.ManagedFields }}a{{ else }}b{{ end }}',
    '{{ with .PodMeta }}{{ len .ManagedFields }}{{ end }}',
    '{{ len .PodMeta.GetManagedFields }}',
    '{{ range .NodeMeta.ManagedFields }}{{ .Manager }}{{ end }}',
  ])('%s is unknown rather than told from a pod without its managed fields', (template) => {
    expect(render(template, POD)).toMatchObject({ kind: 'unknown' })
    expect(render(template, trimmedFor(template))).toMatchObject({ kind: 'unknown' })
  })
})

test('a trimmed pod is the same pod to the selectors', () => {
  const bare = podTrim({ mentions: new Set(), images: true })(POD)
  const { metadata: _, spec: __, status: ___, ...whole } = readPod({ value: POD })
  expect(readPod({ value: bare })).toMatchObject(whole)
})

test('the mirror of a static pod is known for one when it is trimmed', () => {
  const annotations = { 'kubernetes.io/config.mirror': 'abc', team: 'blue' }
  const mirror = { ...POD, metadata: { ...recordAt(POD, 'metadata'), annotations } }
  const trimmed = podTrim({ mentions: new Set(), images: false })(mirror)
  expect(isMirrorPod(readPod({ value: trimmed }))).toBe(true)
  expect(recordAt(recordAt(trimmed, 'metadata'), 'annotations')).not.toHaveProperty('team')
})

test('what asks a webhook for a sidecar is kept, as the rules about injected containers read it', () => {
  const annotations = { 'linkerd.io/inject': 'enabled', team: 'blue' }
  const asking = { ...POD, metadata: { ...recordAt(POD, 'metadata'), annotations } }
  const trimmed = podTrim({ mentions: new Set(), images: false })(asking)
  expect(recordAt(recordAt(trimmed, 'metadata'), 'annotations')).toEqual({ 'linkerd.io/inject': 'enabled' })
})

const keptOf = (mentions: readonly string[], images = false): JsonRecord =>
  podTrim({ mentions: new Set(mentions), images })(POD)

describe('what is kept of a pod', () => {
  test('without a mention: what every answer reads', () => {
    expect(keptOf([])).toEqual({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'llama-7d9f-x2x',
        generateName: 'llama-7d9f-',
        namespace: 'team-a',
        uid: 'uid-1',
        labels: { app: 'llama', tier: 'gpu-1' },
        ownerReferences: recordAt(POD, 'metadata')['ownerReferences'],
        creationTimestamp: '2026-01-02T03:04:05Z',
        deletionTimestamp: '2026-01-03T03:04:05Z',
      },
      spec: {
        serviceAccountName: 'runner',
        serviceAccount: 'runner',
        nodeName: 'node-1',
        containers: [
          { name: 'vllm', image: 'vllm:1' },
          { name: 'proxy', image: 'proxy:2' },
        ],
        initContainers: [{ name: 'setup', image: 'busybox:1', restartPolicy: 'Always' }],
        ephemeralContainers: [{ name: 'debug', image: 'busybox:1' }],
        volumes: [],
      },
    })
  })

  test('what leads to the Workload API, so that the findings about it are those of the whole pod', () => {
    const socket = { name: 'socket', mountPath: '/spiffe', subPath: 'public', readOnly: true }
    const token = { name: 'kube-api-access-x2x', mountPath: '/var/run/secrets' }
    const fetch = { command: ['spire-agent', 'api', 'fetch', 'x509'] }
    const spec = {
      ...recordAt(POD, 'spec'),
      containers: [
        {
          name: 'vllm',
          args: ['--model=x'],
          volumeMounts: [socket, token],
          env: [
            { name: 'SPIFFE_ENDPOINT_SOCKET', value: 'unix:///spiffe/agent.sock' },
            { name: 'HF_HOME', value: '/models' },
          ],
          lifecycle: { postStart: { exec: fetch }, preStop: { sleep: { seconds: 5 } } },
        },
        { name: 'proxy', volumeMounts: [token], lifecycle: { postStart: { exec: { command: ['true'] } } } },
      ],
      initContainers: [{ name: 'fetch', ...fetch, volumeMounts: [token] }],
      ephemeralContainers: [],
      volumes: [
        { name: 'socket', csi: { driver: 'csi.spiffe.io', readOnly: true } },
        { name: 'run', hostPath: { path: '/run/spire', type: 'Directory' } },
        { name: 'kube-api-access-x2x', projected: { sources: [] } },
      ],
    }
    expect(podTrim({ mentions: new Set(), images: false })({ ...POD, spec })['spec']).toEqual({
      serviceAccountName: 'runner',
      serviceAccount: 'runner',
      nodeName: 'node-1',
      containers: [
        {
          name: 'vllm',
          volumeMounts: [{ name: 'socket', mountPath: '/spiffe', subPath: 'public' }],
          env: [{ name: 'SPIFFE_ENDPOINT_SOCKET', value: 'unix:///spiffe/agent.sock' }],
          lifecycle: { postStart: { exec: fetch } },
        },
        { name: 'proxy' },
      ],
      initContainers: [{ name: 'fetch', ...fetch }],
      ephemeralContainers: [],
      volumes: [
        { name: 'socket', csi: { driver: 'csi.spiffe.io', readOnly: true } },
        { name: 'run', hostPath: { path: '/run/spire', type: 'Directory' } },
      ],
    })
  })

  test.each([
    [
      'names that are kept anyway',
      ['PodMeta.Name', 'PodMeta.Labels', 'PodSpec.NodeName', 'NodeMeta.UID'],
      [],
    ],
    ['annotations', ['PodMeta.Annotations'], ['annotations']],
    [
      'another field of the metadata',
      ['PodMeta.Finalizers'],
      ['annotations', 'deletionGracePeriodSeconds', 'finalizers', 'generation', 'resourceVersion'],
    ],
  ])('with a mention of %s', (_says, mentions, more) => {
    const before = Object.keys(recordAt(keptOf([]), 'metadata'))
    const after = Object.keys(recordAt(keptOf(mentions), 'metadata'))
    expect(after.filter((key) => !before.includes(key)).toSorted()).toEqual(more)
    expect(keptOf(mentions)['spec']).toEqual(keptOf([])['spec'])
  })

  test.each([['*'], ['PodSpec'], ['PodSpec.HostPID']])('the whole spec with a mention of %s', (mention) => {
    expect(keptOf([mention])['spec']).toEqual(POD['spec'])
  })

  test('the phase of a pod without a node: one that has failed waits for none', () => {
    const trim = podTrim({ mentions: new Set(), images: false })
    const { nodeName: _, ...spec } = recordAt(POD, 'spec')
    const status = { phase: 'Failed', reason: 'NodeAffinity' }
    expect(trim({ ...POD, spec, status })['status']).toEqual({ phase: 'Failed' })
    expect(trim({ ...POD, status })).not.toHaveProperty('status')
  })

  test('images of the status where a selector asks for them', () => {
    expect(keptOf([], true)['status']).toEqual({
      containerStatuses: [{ name: 'vllm', image: 'vllm:1', imageID: 'sha256:1' }],
    })
  })

  test.each<[string, JsonRecord]>([
    ['nothing', {}],
    ['texts', { metadata: 'x', spec: 'y', status: 'z' }],
    ['nulls', { metadata: null, spec: null, status: null }],
    ['lists', { metadata: [], spec: { containers: [1, null, 'x'], initContainers: 'x' }, status: [] }],
  ])('a pod of %s does not stop the reading', (_says, pod) => {
    const trimmed = podTrim({ mentions: new Set(), images: true })(pod)
    expect(readPod({ value: trimmed }).containers).toEqual(readPod({ value: pod }).containers)
  })
})

describe('everything but the bookkeeping', () => {
  const object = {
    kind: 'Node',
    metadata: { name: 'n1', managedFields: [1] },
    spec: { a: 1 },
    data: { b: 2 },
    status: { c: 3 },
  }

  test.each([
    [true, { ...object, metadata: { name: 'n1' } }],
    [false, { kind: 'Node', metadata: { name: 'n1' }, spec: { a: 1 }, data: { b: 2 } }],
  ])('with the status: %s', (status, kept) => {
    expect(withoutManagedFields({ status })(object)).toEqual(kept)
  })

  test('an object without a status is given none', () => {
    expect(withoutManagedFields({ status: true })({ kind: 'Node', metadata: {} })).not.toHaveProperty(
      'status',
    )
  })
})

test('of an object that a file shadows the record of its applies is kept, and of no other', () => {
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{}' }
  const [update, apply] = ['Update', 'Apply'].map((operation) => ({ operation, fieldsV1: {} }))
  const object = (name: string): JsonRecord => ({
    kind: 'Pod',
    metadata: { name, annotations, managedFields: [update, apply] },
  })
  const trim = keepingApplied(
    podTrim({ mentions: new Set(), images: false }),
    (one) => own(own(one, 'metadata'), 'name') === 'a',
  )
  const metadata = (name: string): unknown => own(trim(object(name)), 'metadata')
  expect(metadata('a')).toEqual({ name: 'a', annotations, managedFields: [apply] })
  expect(metadata('b')).toEqual({ name: 'b' })
})

const job = (type: string, status: string, kind = 'Job'): JsonRecord => ({
  kind,
  status: {
    conditions: [
      { type: 'Suspended', status: 'True' },
      { type, status },
    ],
  },
})

describe('a Job', () => {
  test.each([
    ['that is complete', job('Complete', 'True'), true],
    ['that has failed', job('Failed', 'True'), true],
    ['that is not complete', job('Complete', 'False'), false],
    ['that is about to fail', job('FailureTarget', 'True'), false],
    ['without a status', { kind: 'Job' }, false],
    ['of another kind', job('Complete', 'True', 'Deployment'), false],
  ])('%s', (_says, object, finished) => {
    expect(isFinishedJob(object)).toBe(finished)
  })
})

test('what a container with an image of SPIRE runs is kept: it may be its client', () => {
  const client = { name: 'a', image: 'ghcr.io/spiffe/spire-agent:1.15.3', args: ['api', 'watch'] }
  const server = { name: 'b', image: 'vllm:1', args: ['serve'] }
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { containers: [client, server] },
  }
  const kept = podTrim({ mentions: new Set(), images: false })(pod)
  expect(kept['spec']).toEqual({ containers: [client, { name: 'b', image: 'vllm:1' }] })
})
