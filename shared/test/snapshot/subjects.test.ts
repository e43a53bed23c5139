// Which pods and templates of workloads an answer is about.
import { describe, expect, test } from 'vitest'
import type { JsonRecord } from '../../src/core/json.ts'
import { readSnapshot } from '../../src/core/snapshot/snapshot.ts'
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
  const registered = snapshot.clusterSpiffeIds
  return podsInQuestionOf(snapshot, { registered, variantLabelKey }).map(({ ref }) => ref.name)
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
