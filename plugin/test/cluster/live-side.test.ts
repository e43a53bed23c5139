// What a question reads of a cluster, and what could not be read: as gaps, absent kinds and unverified references, never as nothing.
import { describe, expect, test } from 'vitest'
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import { readMeta } from '@kleym/shared/core/model/objects/meta.ts'
import { recordAt } from '@kleym/shared/core/model/objects/pod.ts'
import { readLiveSide, type LiveQuestion, type LiveSide } from '../../src/cluster/live-side.ts'
import { ClusterReader } from '../../src/cluster/reader.ts'
import { api, FakeClient, type Answers } from '../support/fake-client.ts'

const QUESTION: LiveQuestion = {
  namespaces: ['team-a'],
  scmNamespaces: [],
  kind: undefined,
  policies: false,
  names: false,
  federation: false,
  files: [],
}
const POD = {
  metadata: { name: 'p', namespace: 'team-a', uid: 'u', annotations: { team: 'blue' }, finalizers: ['f'] },
  spec: { hostPID: true, containers: [{ name: 'vllm', args: ['x'] }] },
  status: { containerStatuses: [{ name: 'vllm', imageID: 'sha256:1' }] },
}
const csid = (spec: JsonRecord): JsonRecord => ({ metadata: { name: 'c', uid: 'u' }, spec })
const CSIDS = 'ClusterSPIFFEID.spire.spiffe.io'

async function read(
  answers: Answers,
  question: Partial<LiveQuestion> = {},
): Promise<{ side: LiveSide; calls: readonly string[] }> {
  const fake = new FakeClient(answers)
  const side = await readLiveSide(new ClusterReader(fake.client, 'dev'), { ...QUESTION, ...question })
  return { side, calls: fake.calls }
}

const namesOf = ({ objects }: LiveSide): readonly string[] =>
  objects.map(({ value }) => `${String(value['kind'])}/${readMeta(value).name}`).toSorted()

test('one namespace takes at most twenty requests, and none of another namespace', async () => {
  const { calls, side } = await read({})
  expect(calls.length).toBeLessThanOrEqual(20)
  const everywhere = calls.filter((call) => !call.includes(' team-a'))
  expect(everywhere.toSorted()).toEqual([
    'GET /apis',
    // In one piece: pages of the usual size would be twenty more of them in a large cluster.
    `list ${CSIDS} limit=10000`,
    'list ClusterStaticEntry.spire.spiffe.io limit=10000',
    'list Deployment.apps app.kubernetes.io/name=kleym',
    'list Node limit=10000',
  ])
  expect(calls).toContain('get Namespace team-a')
  expect(side.namespacesRead).toEqual(new Set(['team-a']))
  expect(side.gaps.size + side.absentKinds.size + side.unverifiedRefs.length).toBe(0)
})

test('all namespaces are read in one list of each kind', async () => {
  const { calls, side } = await read({}, { namespaces: undefined })
  expect(new Set(calls).size).toBe(calls.length)
  expect(calls).toContain('list Namespace')
  expect(calls.filter((call) => call.includes('team-a') || call.includes('limit='))).toEqual([])
  expect(side.namespacesRead).toBeUndefined()
  expect(side.listedKinds).toContain('Namespace')
})

test('a namespace that was asked for by name does not stand for all of them', async () => {
  const { side } = await read({ objects: { 'Namespace team-a': { metadata: { name: 'team-a' } } } })
  expect(side.listedKinds).not.toContain('Namespace')
  expect(side.listedKinds).toContain('Pod')
})

test('what is forbidden is a gap, what is not served is absent, and what is there is kept', async () => {
  const { side } = await read(
    {
      lists: {
        'Pod a': [[[POD]]],
        'Pod b': [[api(403)]],
        'InferencePool.inference.networking.x-k8s.io': [[api(404)]],
        Node: [[api(403)]],
      },
    },
    { namespaces: ['a', 'b'] },
  )
  expect([...side.gaps]).toEqual([
    ['Node', { verb: 'list', what: 'Node', cause: 'forbidden' }],
    ['Pod', { verb: 'list', what: 'Pod', namespace: 'b', cause: 'forbidden' }],
  ])
  expect(side.absentKinds).toEqual(new Set(['InferencePool.inference.networking.x-k8s.io']))
  expect(side.listedKinds).not.toContain('Pod')
  expect(side.listedKinds).not.toContain('Node')
  expect(namesOf(side)).toEqual(['Pod/p'])
})

const podOf = ({ objects }: LiveSide): JsonRecord =>
  objects.find(({ value }) => value['kind'] === 'Pod')?.value ?? {}

const TELLING = new Set(['annotations', 'finalizers', 'hostPID', 'containerStatuses'])
function keptOf(side: LiveSide): readonly string[] {
  const pod = podOf(side)
  return ['metadata', 'spec', 'status']
    .flatMap((part) => Object.keys(recordAt(pod, part)))
    .filter((key) => TELLING.has(key))
    .toSorted()
}

describe('what is kept of pods follows from the templates', () => {
  test.each<[string, JsonRecord, readonly string[]]>([
    ['none', {}, []],
    ['an ID', { spiffeIDTemplate: 'spiffe://td/{{ .PodMeta.Annotations.team }}' }, ['annotations']],
    ['a DNS name', { dnsNameTemplates: ['{{ .PodMeta.Finalizers }}'] }, ['annotations', 'finalizers']],
    ['a selector', { workloadSelectorTemplates: ['{{ .PodSpec.HostPID }}'] }, ['hostPID']],
    ['a selector by image', { workloadSelectorTemplates: ['k8s:container-image:x'] }, ['containerStatuses']],
  ])('%s', async (_says, spec, kept) => {
    const lists = { Pod: [[[POD]]] }
    const live = await read({ lists: { ...lists, [CSIDS]: [[[csid(spec)]]] } })
    expect(keptOf(live.side)).toEqual(kept)
    // One in a file counts as one in the cluster.
    const value = { apiVersion: 'spire.spiffe.io/v1alpha1', kind: 'ClusterSPIFFEID', ...csid(spec) }
    const filed = await read({ lists }, { files: [{ value }] })
    expect(keptOf(filed.side)).toEqual(kept)
  })

  test('a static entry by image', async () => {
    const entry = { metadata: { name: 's' }, spec: { selectors: ['k8s:pod-image:x'] } }
    const { side } = await read({
      lists: { Pod: [[[POD]]], 'ClusterStaticEntry.spire.spiffe.io': [[[entry]]] },
    })
    expect(podOf(side)).toHaveProperty('status')
  })
})

test('Endpoints are read where an object asks for the names of Services, else never', async () => {
  const list = 'list Endpoints team-a limit=10000'
  expect((await read({})).calls).not.toContain(list)
  const asking = { lists: { [CSIDS]: [[[csid({ autoPopulateDNSNames: true })]]] } }
  expect((await read(asking)).calls).toContain(list)
})

test.each([
  ['selects the namespace', { matchLabels: { team: 'a' } }, true],
  ['selects others', { matchLabels: { team: 'b' } }, false],
  ['selects others by name', { matchLabels: { 'kubernetes.io/metadata.name': 'spire' } }, false],
])('an object that asks for the names of Services and %s', async (_says, namespaceSelector, reads) => {
  const { calls } = await read({
    lists: { [CSIDS]: [[[csid({ autoPopulateDNSNames: true, namespaceSelector })]]] },
    objects: {
      'Namespace team-a': { kind: 'Namespace', metadata: { name: 'team-a', labels: { team: 'a' } } },
    },
  })
  expect(calls.includes('list Endpoints team-a limit=10000')).toBe(reads)
})

test('a file may move the namespace into the reach of an object that asks for the names of Services', async () => {
  const labelled = { metadata: { name: 'team-a', labels: { team: 'b' } } }
  const { calls } = await read(
    {
      lists: {
        [CSIDS]: [
          [[csid({ autoPopulateDNSNames: true, namespaceSelector: { matchLabels: { team: 'b' } } })]],
        ],
      },
      objects: {
        'Namespace team-a': { kind: 'Namespace', metadata: { name: 'team-a', labels: { team: 'a' } } },
      },
    },
    { files: [{ value: { apiVersion: 'v1', kind: 'Namespace', ...labelled } }] },
  )
  expect(calls).toContain('list Endpoints team-a limit=10000')
})

describe('workloads', () => {
  const done = {
    metadata: { name: 'done', namespace: 'team-a' },
    status: { conditions: [{ type: 'Complete', status: 'True' }] },
  }
  const answers = { lists: { 'Job.batch': [[[done, { metadata: { name: 'runs' } }]]] } }

  test.each([
    [undefined, ['Job/runs'], false],
    ['Job', ['Job/done', 'Job/runs'], false],
    ['ReplicaSet', ['Job/runs'], true],
  ])('where the question names %s', async (kind, names, replicaSets) => {
    const { side, calls } = await read(answers, { kind })
    expect(namesOf(side)).toEqual(names)
    expect(calls.includes('list ReplicaSet.apps team-a limit=10000')).toBe(replicaSets)
  })
})

describe("SCM's ConfigMap", () => {
  const config = { metadata: { name: 'scm' }, data: { 'c.yaml': 'kind: ControllerManagerConfig' } }
  const others = { metadata: { name: 'other' }, data: { text: 'nothing', number: 5 } }
  const scmNamespaces = ['spire-server', 'spire']

  test('is looked for in the namespaces in turn, until one has it', async () => {
    const { side, calls } = await read(
      { lists: { 'ConfigMap spire-server': [[[others, config]]] } },
      { scmNamespaces },
    )
    expect(namesOf(side)).toEqual(['ConfigMap/scm'])
    expect(calls.filter((call) => call.includes('ConfigMap'))).toEqual(['list ConfigMap spire-server'])
  })

  const refused = { lists: { 'ConfigMap spire-server': [[api(403)]], 'ConfigMap spire': [[[config]]] } }

  test('that is refused in a namespace that is not there is no gap', async () => {
    const { side } = await read(refused, { scmNamespaces })
    expect(namesOf(side)).toEqual(['ConfigMap/scm'])
    expect(side.unverifiedRefs).toEqual([])
  })

  test('that may not be read is unverified, and the next namespace is asked', async () => {
    const { side } = await read({ ...refused, objects: { 'Namespace spire-server': {} } }, { scmNamespaces })
    expect(namesOf(side)).toEqual(['ConfigMap/scm'])
    expect(side.unverifiedRefs).toEqual([
      { verb: 'list', what: 'ConfigMap', namespace: 'spire-server', cause: 'forbidden' },
    ])
    expect(side.gaps.size).toBe(0)
  })

  test('is never looked for in every namespace', async () => {
    const { calls } = await read({}, { namespaces: undefined, scmNamespaces })
    expect(calls.filter((call) => call.includes('ConfigMap'))).toEqual([
      'list ConfigMap spire-server',
      'list ConfigMap spire',
    ])
  })
})

describe("the operator's Deployment", () => {
  const operator = {
    metadata: { name: 'op', namespace: 'kleym', labels: { 'app.kubernetes.io/name': 'kleym' } },
  }

  test('is found wherever it is, and is no workload of the question', async () => {
    const { side } = await read({
      lists: { 'Deployment.apps': [[[operator]]], 'Deployment.apps team-a': [[[]]] },
    })
    expect(side.operatorDeployments?.map(({ value }) => readMeta(value).name)).toEqual(['op'])
    expect(namesOf(side)).toEqual([])
  })

  test('that may not be looked for is not known, rather than not there', async () => {
    const { side } = await read({
      lists: { 'Deployment.apps': [[api(403)]], 'Deployment.apps team-a': [[[]]] },
    })
    expect(side.operatorDeployments).toBeUndefined()
    expect(side.unverifiedRefs).toEqual([{ verb: 'list', what: 'Deployment.apps', cause: 'forbidden' }])
    expect(side.gaps.size).toBe(0)
  })
})
