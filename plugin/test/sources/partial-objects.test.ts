// Patches that no kustomization names lie in folders beside the objects that they are for: they give no pods of their own.
import { stringAt } from '@kleym/shared/core/base/json.ts'
import { describe, expect, test } from 'vitest'
import { WANTED_KINDS } from '../../src/gather/wanted-kinds.ts'
import { load } from '../support/load-files.ts'
import { workspace } from '../support/workspace.ts'

const deployment = (spec: string, name = 'web'): string =>
  `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: ${name}, namespace: team-a}\n${spec}`
const SELECTOR = 'selector: {matchLabels: {app: web}}'
const LABELS = 'metadata: {labels: {app: web}}'
const WHOLE = deployment(`spec: {${SELECTOR}, template: {${LABELS}, spec: {containers: [{name: web}]}}}\n`)

async function read(text: string): Promise<{ names: readonly string[]; notes: string; subjects: unknown }> {
  const loaded = await load(await workspace({ 'a.yaml': text }), { rules: { wanted: WANTED_KINDS } })
  expect(loaded.problems.filter(({ isNoted }) => isNoted !== true)).toEqual([])
  return {
    names: loaded.objects.map(({ value }) => stringAt(value, 'metadata', 'name') ?? ''),
    notes: loaded.notes.join('\n'),
    subjects: loaded.problems.flatMap(({ reach = [] }) => reach),
  }
}

describe('a workload that cannot be a whole object is left out with a note, and its pods were not looked at', () => {
  test.each([
    ['has no spec.template.spec.containers', 'spec: {replicas: 3}\n'],
    ['has no spec.template.spec.containers', ''],
    [
      'has no spec.template.spec.containers',
      `spec: {${SELECTOR}, template: {${LABELS}, spec: {containers: []}}}\n`,
    ],
    ['has no spec.selector', `spec: {template: {${LABELS}, spec: {containers: [{name: web, env: []}]}}}\n`],
    [
      'has no spec.selector',
      `spec: {selector: {}, template: {${LABELS}, spec: {containers: [{name: web}]}}}\n`,
    ],
    [
      'has a container without a name',
      `spec: {${SELECTOR}, template: {${LABELS}, spec: {containers: [{image: web}]}}}\n`,
    ],
    [
      'has a $patch among its containers',
      `spec: {${SELECTOR}, template: {${LABELS}, spec: {containers: [{name: web, $patch: delete}]}}}\n`,
    ],
    ['has a $patch', '$patch: delete\n'],
    [
      'has a spec.selector that the labels of its own template do not match',
      `spec: {${SELECTOR}, template: {metadata: {labels: {app: other}}, spec: {containers: [{name: web}]}}}\n`,
    ],
    [
      'has a spec.selector that the API server refuses: matchExpressions[0]: ',
      `spec: {selector: {matchExpressions: [{key: app, operator: Is}]}, template: {${LABELS}, spec: {containers: [{name: web}]}}}\n`,
    ],
    [
      'has two containers with the name web',
      `spec: {${SELECTOR}, template: {${LABELS}, spec: {containers: [{name: web}], initContainers: [{name: web}]}}}\n`,
    ],
    [
      'has a label tier that is no text: put its value into quotes',
      `spec: {${SELECTOR}, template: {metadata: {labels: {app: web, tier: 1}}, spec: {containers: [{name: web}]}}}\n`,
    ],
  ])('%s: %j', async (lack, spec) => {
    const { names, notes, subjects } = await read(deployment(spec))
    expect(names).toEqual([])
    expect(notes).toContain(
      `left out 1 workload that is no whole object: it is a patch, or the API server refuses it (a.yaml, document 1, line 1: Deployment web ${lack}`,
    )
    expect(subjects).toEqual([{ kind: 'Deployment.apps', namespace: 'team-a', name: 'web' }])
  })

  test.each([
    ['a Job', 'apiVersion: batch/v1\nkind: Job\nmetadata: {name: web}\nspec: {suspend: true}\n'],
    [
      'a CronJob',
      'apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: web}\nspec: {schedule: "1 * * * *"}\n',
    ],
    [
      'a LeaderWorkerSet',
      'apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nmetadata: {name: web}\nspec: {replicas: 2}\n',
    ],
  ])('%s', async (_kind, text) => {
    const { names, notes } = await read(text)
    expect(names).toEqual([])
    expect(notes).toContain('no whole object')
  })

  test.each([
    ['has no spec.containers', LABELS, 'spec: {containers: []}'],
    ['has a container without a name', LABELS, 'spec: {containers: [{image: web}]}'],
    ['has two containers with the name web', LABELS, 'spec: {containers: [{name: web}, {name: web}]}'],
    [
      'has a label tier that is no text: put its value into quotes',
      'metadata: {labels: {tier: 1}}',
      'spec: {containers: [{name: web}]}',
    ],
  ])('a bare pod: %s', async (lack, metadata, spec) => {
    const named = metadata.replace('{labels', '{name: web, namespace: team-a, labels')
    const { names, notes, subjects } = await read(`apiVersion: v1\nkind: Pod\n${named}\n${spec}\n`)
    expect(names).toEqual([])
    expect(notes).toContain(`Pod web ${lack}`)
    expect(subjects).toEqual([{ kind: 'Pod', namespace: 'team-a', name: 'web' }])
  })

  test('beside the object that it is for, which is read as it stands', async () => {
    const { names, notes } = await read(`${deployment('spec: {replicas: 3}\n')}---\n${WHOLE}`)
    expect(names).toEqual(['web'])
    expect(notes).toContain('no whole object')
  })

  test('many are one line', async () => {
    const patches = Array.from({ length: 9 }, (_, at) => deployment('spec: {replicas: 3}\n', `web-${at}`))
    const { notes } = await read(patches.join('---\n'))
    expect(notes).toContain('left out 9 workloads that are no whole objects')
    expect(notes).toContain('web-2')
    expect(notes).toContain('; and 6 more)')
    expect(notes).not.toContain('web-3')
  })
})

test.each([
  ['a whole one', WHOLE],
  [
    'a Job, which needs no selector',
    'apiVersion: batch/v1\nkind: Job\nmetadata: {name: web}\nspec: {template: {spec: {containers: [{name: web}]}}}\n',
  ],
])('%s is read', async (_what, text) => {
  const { names, notes } = await read(text)
  expect(names).toEqual(['web'])
  expect(notes).not.toContain('left out')
})

test('a patch of a kind that decides is a doubt about that object alone', async () => {
  const patch =
    'apiVersion: inference.networking.k8s.io/v1\nkind: InferencePool\nmetadata: {name: llama, namespace: team-a}\n$patch: delete\n'
  const { problems, objects } = await load(await workspace({ 'a.yaml': patch }), {})
  expect(objects).toEqual([])
  expect(problems).toMatchObject([
    {
      what: 'InferencePool that is a patch',
      reach: [{ kind: 'InferencePool.inference.networking.k8s.io', namespace: 'team-a', name: 'llama' }],
    },
  ])
})
