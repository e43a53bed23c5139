// The pods that a workload's controller will make: what it adds to the template.
import { describe, expect, test } from 'vitest'
import { mayGiveName } from '../../src/core/model/objects/pod-workloads.ts'
import { isWorkload, readWorkloadPods } from '../../src/core/model/objects/workload.ts'
import type { Fields } from '../spire/estate.ts'
import { TEMPLATE, workload } from './workloads.ts'

const SUBGROUP_INDEX = 'leaderworkerset.sigs.k8s.io/subgroup-index'

/** A LeaderWorkerSet of two groups of two, with labels in its only template. */
function grouped(labels: Fields, maxSurge?: number | string): Fields {
  return workload('LeaderWorkerSet', {
    replicas: 2,
    rolloutStrategy: { rollingUpdateConfiguration: { maxSurge } },
    leaderWorkerTemplate: { size: 2, workerTemplate: { ...TEMPLATE, metadata: { labels } } },
  })
}

/** `part owner labels / open labels` of each pod. */
function described(object: Fields): readonly string[] {
  return readWorkloadPods({ value: object }).map(({ part, owner, labels, unknownLabels, exists, name }) => {
    const known = [...labels].map(([key, value]) => `${key}=${value}`).toSorted()
    return [
      `${part}${part === '' ? '' : ' '}${owner?.kind ?? ''}/${owner?.name ?? '?'}`,
      known.join(','),
      [...unknownLabels].toSorted().join(','),
      `${exists} ${name}`,
    ].join(' | ')
  })
}

describe('the pods of a workload', () => {
  const rows: readonly { kind: string; object: Fields; pods: readonly string[] }[] = [
    {
      kind: 'Deployment',
      object: workload('Deployment'),
      pods: ['ReplicaSet/? | app=llama | pod-template-hash | false undefined'],
    },
    {
      kind: 'StatefulSet',
      object: workload('StatefulSet'),
      pods: [
        'StatefulSet/llama | app=llama | apps.kubernetes.io/pod-index,controller-revision-hash,statefulset.kubernetes.io/pod-name | false undefined',
      ],
    },
    {
      kind: 'DaemonSet',
      object: workload('DaemonSet'),
      pods: [
        'DaemonSet/llama | app=llama | controller-revision-hash,pod-template-generation | false undefined',
      ],
    },
    {
      kind: 'ReplicaSet',
      object: workload('ReplicaSet'),
      pods: ['ReplicaSet/llama | app=llama |  | false undefined'],
    },
    {
      kind: 'Job, not stored yet',
      object: workload('Job'),
      pods: [
        'Job/llama | app=llama,batch.kubernetes.io/job-name=llama,job-name=llama | batch.kubernetes.io/controller-uid,controller-uid | false undefined',
      ],
    },
    {
      kind: 'Job, stored and indexed',
      object: workload('Job', { completionMode: 'Indexed' }, { uid: 'j' }),
      pods: [
        'Job/llama | app=llama,batch.kubernetes.io/controller-uid=j,batch.kubernetes.io/job-name=llama,controller-uid=j,job-name=llama | batch.kubernetes.io/job-completion-index | false undefined',
      ],
    },
    {
      kind: 'Job with a selector by hand',
      object: workload('Job', { manualSelector: true }),
      pods: ['Job/llama | app=llama |  | false undefined'],
    },
    {
      kind: 'CronJob',
      object: workload('CronJob', { jobTemplate: { spec: { template: TEMPLATE } } }),
      pods: [
        'Job/? | app=llama | batch.kubernetes.io/controller-uid,batch.kubernetes.io/job-name,controller-uid,job-name | false undefined',
      ],
    },
    {
      kind: 'LeaderWorkerSet with one template',
      object: workload('LeaderWorkerSet', { leaderWorkerTemplate: { size: 2, workerTemplate: TEMPLATE } }),
      pods: [
        'leader StatefulSet/llama | app=llama,leaderworkerset.sigs.k8s.io/name=llama,leaderworkerset.sigs.k8s.io/worker-index=0 | apps.kubernetes.io/pod-index,controller-revision-hash,leaderworkerset.sigs.k8s.io/group-index,leaderworkerset.sigs.k8s.io/group-key,leaderworkerset.sigs.k8s.io/template-revision-hash,statefulset.kubernetes.io/pod-name | false undefined',
        'worker StatefulSet/? | app=llama,leaderworkerset.sigs.k8s.io/name=llama | apps.kubernetes.io/pod-index,controller-revision-hash,leaderworkerset.sigs.k8s.io/group-index,leaderworkerset.sigs.k8s.io/group-key,leaderworkerset.sigs.k8s.io/template-revision-hash,leaderworkerset.sigs.k8s.io/worker-index,statefulset.kubernetes.io/pod-name | false undefined',
      ],
    },
    {
      kind: 'something of another group',
      object: { ...workload('Deployment'), apiVersion: 'example.org/v1' },
      pods: [],
    },
  ]
  test.each(rows)('$kind', ({ object, pods }) => {
    expect(described(object)).toEqual(pods)
    expect(isWorkload(object)).toBe(pods.length > 0)
  })

  test('a LeaderWorkerSet of one has no workers, and its leader may have a template of its own', () => {
    const leaderTemplate = { spec: { containers: [{ name: 'lead' }] } }
    const object = workload('LeaderWorkerSet', {
      leaderWorkerTemplate: { workerTemplate: TEMPLATE, leaderTemplate },
    })
    expect(
      readWorkloadPods({ value: object }).map(({ part, containers }) => [part, containers[0]?.name]),
    ).toEqual([['leader', 'lead']])
  })

  test.each<[policy: string | undefined, labels: Fields, subgrouped: readonly string[]]>([
    [undefined, {}, ['leader', 'worker']],
    ['LeaderExcluded', {}, ['worker']],
    ['LeaderWorker', { [SUBGROUP_INDEX]: '9' }, []],
    ['LeaderWorker', { [SUBGROUP_INDEX]: '' }, ['leader', 'worker']],
  ])('subgroups of policy %s, with labels %j, are of %j', (subGroupPolicyType, labels, subgrouped) => {
    const object = workload('LeaderWorkerSet', {
      leaderWorkerTemplate: {
        size: 3,
        subGroupPolicy: { subGroupPolicyType, subGroupSize: 2 },
        workerTemplate: { ...TEMPLATE, metadata: { labels } },
      },
    })
    const keyed = readWorkloadPods({ value: object }).filter(({ unknownLabels }) =>
      unknownLabels.has('leaderworkerset.sigs.k8s.io/subgroup-key'),
    )
    expect(keyed.map(({ part }) => part)).toEqual(subgrouped)
    expect(keyed.every(({ unknownLabels }) => unknownLabels.has(SUBGROUP_INDEX))).toBe(true)
  })

  describe('where a label that numbers pods is asked for', () => {
    const POD_INDEX = 'apps.kubernetes.io/pod-index'
    const WORKER_INDEX = 'leaderworkerset.sigs.k8s.io/worker-index'
    const GROUP_INDEX = 'leaderworkerset.sigs.k8s.io/group-index'
    test('a StatefulSet numbers its pods from its start', () => {
      const numbered = workload('StatefulSet', { replicas: 2, ordinals: { start: 5 } })
      expect(labelled(numbered, POD_INDEX)).toEqual([
        ['5', '5'],
        ['6', '6'],
      ])
      expect(labelled(numbered, 'statefulset.kubernetes.io/pod-name')).toEqual([
        ['5', 'llama-5'],
        ['6', 'llama-6'],
      ])
    })

    test('more pods than can be told apart, or none, stay one template', () => {
      expect(labelled(workload('StatefulSet', { replicas: 65 }), POD_INDEX)).toEqual([['65 pods', 'unknown']])
      for (const replicas of [0, '2', 1.5])
        expect(labelled(workload('StatefulSet', { replicas }), POD_INDEX)).toEqual([['', 'unknown']])
    })

    test('the groups of a LeaderWorkerSet have the number that its leaders carry in their template', () => {
      expect(labelled(grouped({ [GROUP_INDEX]: '5' }), GROUP_INDEX)).toEqual([
        ['leader', '5'],
        ['worker', '5'],
      ])
    })

    test('a LeaderWorkerSet that surges has groups of numbers beyond its replicas', () => {
      expect(labelled(grouped({}, '25%'), GROUP_INDEX)).toEqual([
        ['leader', 'unknown'],
        ['worker', 'unknown'],
      ])
      expect(labelled(grouped({}, 0), GROUP_INDEX)).toHaveLength(4)
    })

    test('the workers of a LeaderWorkerSet count from 1, its leaders are 0', () => {
      const leaderWorkerTemplate = { size: 3, workerTemplate: TEMPLATE }
      const set = workload('LeaderWorkerSet', { replicas: 2, leaderWorkerTemplate })
      expect(labelled(set, WORKER_INDEX)).toEqual([
        ['leader', '0'],
        ['worker 1', '1'],
        ['worker 2', '2'],
      ])
      expect(labelled(set, GROUP_INDEX)).toEqual([
        ['leader 0', '0'],
        ['leader 1', '1'],
        ['worker 0', '0'],
        ['worker 1', '1'],
      ])
    })
  })

  test('a controller overwrites a label of its own that the template sets', () => {
    const template = { metadata: { labels: { 'pod-template-hash': 'mine' } }, spec: {} }
    expect(described(workload('Deployment', { template }))).toEqual([
      'ReplicaSet/? |  | pod-template-hash | false undefined',
    ])
  })

  test('roles, the default service account and the labels that a node may add', () => {
    const template = { spec: { ...TEMPLATE.spec, serviceAccountName: undefined } }
    const [made] = readWorkloadPods({ value: workload('Deployment', { template }) })
    expect(made?.serviceAccountName).toBe('default')
    expect(made?.containers.map(({ name, role }) => `${name}: ${role}`)).toEqual([
      'vllm: regular',
      'proxy: native sidecar',
      'fetch: init',
    ])
    expect([...(made?.possibleLabels ?? [])]).toEqual([
      'topology.kubernetes.io/region',
      'topology.kubernetes.io/zone',
    ])
  })
})

/** What the pods of a workload carry of a label that is asked for. */
function labelled(object: Fields, label: string): readonly unknown[] {
  return readWorkloadPods({ value: object }, new Set([label])).map(({ part, labels, unknownLabels }) => [
    part,
    labels.get(label) ?? (unknownLabels.has(label) ? 'unknown' : 'none'),
  ])
}

test('a workload whose name is made up gives names that begin as its own', () => {
  const value = { ...workload('Job'), metadata: { generateName: 'warm-', namespace: 'team-a' } }
  const [pod] = readWorkloadPods({ value })
  expect(pod?.ref.name).toBe('warm-*')
  expect(['warm-x7k2p-4zq8d', 'cold-x7k2p'].map((name) => pod && mayGiveName(pod, name))).toEqual([
    true,
    false,
  ])
})
