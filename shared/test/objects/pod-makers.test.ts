// What is filled in later in a pod template of another kind is not known, and what a policy generates is made.
import { expect, test } from 'vitest'
import { readPodMaker } from '../../src/core/model/objects/pod-makers.ts'
import { UNKNOWN_CONTAINER } from '../../src/core/model/objects/pod.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'

const podTemplate = (text: string): JsonRecord => ({
  metadata: { labels: { app: text, tier: 'gold' } },
  spec: { serviceAccountName: text, containers: [{ name: text, image: 'v' }] },
})

const deployment = (text: string): JsonRecord => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'server', namespace: text },
  spec: { template: podTemplate(text) },
})

const made = (value: JsonRecord): ReturnType<typeof readPodMaker> => readPodMaker({ value, isUnread: true })

const template = (text: string): JsonRecord => ({
  apiVersion: 'template.openshift.io/v1',
  kind: 'Template',
  metadata: { name: 'app', namespace: 'team-a' },
  objects: [deployment(text)],
})

const policy = (rule: JsonRecord): JsonRecord => ({
  apiVersion: 'kyverno.io/v1',
  kind: 'ClusterPolicy',
  metadata: { name: 'app' },
  spec: { rules: [{ name: 'one', ...rule }] },
})

test.each(['${NAME}', '${schema.spec.name}', '{{ .Values.name }}', '$(NAME)'])(
  'a label, an account, a container and a namespace of %s may be any',
  (text) => {
    const [pod] = made(template(text))?.anywhere ?? []
    expect(pod).toMatchObject({
      labels: new Map([['tier', 'gold']]),
      unknownLabels: new Set(['app']),
      containers: [{ name: UNKNOWN_CONTAINER }],
      perhaps: { knowsAccount: false },
    })
  },
)

test('what is written out is known', () => {
  const [pod] = made(template('team-b'))?.pods ?? []
  expect(pod).toMatchObject({
    namespace: 'team-b',
    labels: new Map([
      ['app', 'team-b'],
      ['tier', 'gold'],
    ]),
    unknownLabels: new Set(),
    containers: [{ name: 'team-b' }],
    serviceAccountName: 'team-b',
  })
})

test('a policy makes what it generates, and nothing of what it validates or changes', () => {
  const generate = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'x', data: deployment('team-b') }
  expect(made(policy({ generate }))?.pods.map(({ namespace }) => namespace)).toEqual(['team-b'])
  expect(made(policy({ validate: { pattern: deployment('team-b') } }))).toBeUndefined()
  expect(made(policy({ mutate: { patchStrategicMerge: deployment('team-b') } }))).toBeUndefined()
})

test('a maker whose name is made up is called by its beginning', () => {
  const value = {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Rollout',
    metadata: { generateName: 'canary-', namespace: 'team-a' },
    spec: { template: podTemplate('server') },
  }
  expect(made(value)?.pods).toMatchObject([{ ref: { name: 'canary-*' } }])
})
