// Which pods and templates of workloads an answer is about.
import { expect, test } from 'vitest'
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

test('a pod takes the place of a template of its shape, unless the template has a label that it lacks', () => {
  const subjects = podsInQuestionOf(
    readSnapshot({
      objects: [
        pod('a', { app: 'llama', size: 'small' }),
        workload('same', { app: 'llama' }),
        workload('no-labels', {}),
        workload('other-size', { app: 'llama', size: 'big' }),
        workload('other-shape', { app: 'llama' }, 'proxy'),
      ].map((value) => ({ value })),
    }),
  )
  expect(subjects.map(({ ref }) => ref.name)).toEqual(['a', 'other-shape', 'other-size'])
})
