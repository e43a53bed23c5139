// Pods that exist and wait for a node: they hold nothing now, and what they will hold once they have a node is never said to be nothing.
import { expect, test } from 'vitest'
import { foreign, pod, world } from '@kleym/testing/finding-cases.ts'
import { binding } from '@kleym/testing/manifests.ts'
import { analysisOf } from '@kleym/testing/random-tenants.ts'
import { findingsOf } from '@kleym/testing/at-once.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'
import { effectOf } from '../../src/core/answers/explain/effect.ts'
import { outcomesOf } from '../identity-tests/run-test.ts'

const CHAT_ID = 'spiffe://example.org/ns/team-a/objective/chat'
const WHY = 'the pod is not scheduled to a node yet'

/** A pod of another namespace that waits for a node. */
function waiting(parts: JsonRecord = {}, metadata: JsonRecord = {}): JsonRecord {
  const made = pod({
    labels: { app: 'x' },
    spec: { nodeName: undefined },
    metadata: { namespace: 'team-b', name: 'queued', uid: 'uid-of-queued', ...metadata },
  })
  return { ...made, ...parts }
}

/** A pod of another namespace on a node. */
function on(nodeName: string, parts: JsonRecord = {}, metadata: JsonRecord = {}): JsonRecord {
  const made = pod({
    labels: { app: 'x' },
    spec: { nodeName },
    metadata: { namespace: 'team-b', name: 'elsewhere', uid: 'uid-of-elsewhere', ...metadata },
  })
  return { ...made, ...parts }
}

/** Gives the ID of a binding to it, by a template that says nothing of itself. */
const THIEF = foreign('thief', {
  podSelector: { matchLabels: { app: 'x' } },
  spiffeIDTemplate: '{{ if true }}spiffe://example.org/ns/team-a/objective/chat{{ end }}',
})

/** The severity of each finding of a code, and what it depends on. */
function told(code: string, ...objects: readonly JsonRecord[]): unknown {
  return findingsOf(analysisOf(world(binding(), pod(), ...objects)))
    .filter((one) => one.code === code)
    .map(({ severity, dependsOn }) => [severity, dependsOn])
}

test('an identity that a waiting pod of another namespace will be given is reported as one that depends', () => {
  expect(told('KLM308', THIEF, waiting())).toEqual([
    ['warning', ['whether pods without a node will be scheduled']],
  ])
  expect(told('KLM308', THIEF)).toEqual([])
})

const OVER: readonly (readonly [what: string, parts: JsonRecord, metadata: JsonRecord])[] = [
  ['has failed', { status: { phase: 'Failed' } }, {}],
  ['has ended', { status: { phase: 'Succeeded' } }, {}],
  ['is being deleted', {}, { deletionTimestamp: '2026-01-02T00:00:00Z' }],
]

test('so does one that the pods of a template will be given on a Node that is not there', () => {
  const workload: JsonRecord = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: 'pinned', namespace: 'team-b', uid: 'uid-of-pinned' },
    spec: { template: { metadata: { labels: { app: 'x' } }, spec: on('n9')['spec'] } },
  }
  expect(told('KLM308', THIEF, workload)).toEqual([['warning', ['whether the nodes of pods are there']]])
})

test.each(OVER)('a pod without a node that %s gets none any more', (_, ...of) => {
  expect(told('KLM308', THIEF, waiting(...of))).toEqual([])
})

test.each(OVER)('one that %s has its entries if its Node is there, though that was not read', (_, ...of) => {
  expect(told('KLM308', THIEF, on('n9', ...of))).toEqual([
    ['warning', ['whether the nodes of pods are there']],
  ])
})

test.each(OVER)(
  'a pod without a node that %s does not stand for the next one of its workload',
  (_, ...of) => {
    const workload: JsonRecord = {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { name: 'next', namespace: 'team-b', uid: 'uid-of-next' },
      spec: { template: { metadata: { labels: { app: 'x' } }, spec: waiting()['spec'] } },
    }
    expect(told('KLM308', THIEF, workload, waiting(...of))).toEqual([['error', undefined]])
  },
)

test('so does one that a pod will be given whose Node is not there, and not one whose Node is', () => {
  expect(told('KLM308', THIEF, on('n9'))).toEqual([['warning', ['whether the nodes of pods are there']]])
  expect(told('KLM308', THIEF, on('n1'))).toEqual([['error', undefined]])
})

test('a right that a waiting pod will be given may be that of all who hold its ID, and of the pod', () => {
  const spiffeIDTemplate = 'spiffe://example.org/ops'
  const admin = foreign('admin', {
    admin: true,
    podSelector: { matchLabels: { app: 'x' } },
    spiffeIDTemplate,
    workloadSelectorTemplates: ['k8s:container-name:vllm'],
  })
  const user = foreign('user', {
    podSelector: { matchLabels: { app: 'llama' } },
    spiffeIDTemplate,
    workloadSelectorTemplates: ['k8s:container-name:vllm'],
  })
  const may = ['warning', ['whether pods without a node will be scheduled']]
  expect(told('KLM310', admin, user, waiting())).toEqual([may, may])
  expect(told('KLM310', admin, user)).toEqual([])
})

test('several identities of a waiting pod are the warning that they are, one for each container', () => {
  const registrations = ['one', 'two'].map((name) =>
    foreign(name, {
      spiffeIDTemplate: `spiffe://example.org/${name}`,
      podSelector: { matchLabels: { app: 'x' } },
    }),
  )
  expect(told('KLM303', ...registrations, waiting())).toEqual([
    ['warning', ['whether pods without a node will be scheduled']],
    ['warning', ['whether pods without a node will be scheduled']],
  ])
})

test('an ID with the name of the node may be that of a binding', () => {
  const byNode = foreign('node', {
    podSelector: { matchLabels: { app: 'x' } },
    spiffeIDTemplate: 'spiffe://example.org/ns/team-a/objective/{{ .PodSpec.NodeName }}',
  })
  expect(told('KLM308', byNode, waiting())).toHaveLength(1)
})

test('a change that reaches a waiting pod alone does not come to nothing', () => {
  const [before, after] = [[], [THIEF]].map(
    (more) => analysisOf(world(binding(), pod(), waiting(), ...more)).settled,
  )
  if (before === undefined || after === undefined) throw new Error('there are two')
  const { gained, lost, uncertain } = effectOf(before, after)
  expect([gained, lost]).toEqual([[], []])
  expect(JSON.stringify(uncertain)).toContain(WHY)
  expect(effectOf(after, after).uncertain).toEqual([])
})

test('so does one after which it depends on the node whether a waiting pod is given what it would be given now', () => {
  const [before, after] = [{ app: 'x' }, { app: 'x', 'topology.kubernetes.io/zone': 'z1' }].map(
    (matchLabels) => {
      const zonal = foreign('zonal', {
        podSelector: { matchLabels },
        spiffeIDTemplate: 'spiffe://example.org/zonal',
      })
      return analysisOf(world(binding(), pod(), waiting(), zonal)).settled
    },
  )
  if (before === undefined || after === undefined) throw new Error('there are two')
  expect(effectOf(before, after).uncertain.length).toBeGreaterThan(0)
})

test('a waiting pod leaves no step of a rename open: it will hold what others of its kind hold', () => {
  const [before, after] = [[], [THIEF]].map(
    (more) => analysisOf(world(binding(), pod(), waiting(), ...more)).settled,
  )
  if (before === undefined || after === undefined) throw new Error('there are two')
  expect(effectOf(before, after, { isOfWaiting: false }).uncertain).toEqual([])
})

test('a test of who holds an identity is not known while a waiting pod may take it', () => {
  const spec = {
    identities: [
      {
        spiffeID: CHAT_ID,
        heldBy: { exactly: [{ namespace: 'team-a', pod: 'llama-0', container: 'vllm' }] },
      },
    ],
  }
  const outcomes = (...more: readonly JsonRecord[]): readonly string[] =>
    outcomesOf(spec, analysisOf(world(binding(), pod(), waiting(), ...more))).map(({ state }) => state)
  expect(outcomes()).toEqual(['passed'])
  expect(outcomes(THIEF)).toEqual(['unknown'])
})
