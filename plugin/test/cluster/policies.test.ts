// Access policies as a question reads them of a cluster: all of them, in one request, and what is served, forbidden, empty
// and too old each as that.
import { describe, expect, test } from 'vitest'
import { readMeta } from '@kleym/shared/core/model/objects/meta.ts'
import { NAMING_KIND_NAMES as NAMING } from '@kleym/shared/core/model/naming/named-in.ts'
import { EARLIER_ACCESS_POLICIES, OBJECTIVES, RESOURCES } from '@kleym/shared/kube/resources.ts'
import { readLiveSide, type LiveQuestion, type LiveSide } from '../../src/cluster/live-side.ts'
import { ClusterReader } from '../../src/cluster/reader.ts'
import { api, discoveryOf, FakeClient, type Answers } from '../support/fake-client.ts'

async function read(
  answers: Answers,
  question: Partial<LiveQuestion> = {},
): Promise<{ side: LiveSide; calls: readonly string[] }> {
  const fake = new FakeClient(answers)
  const side = await readLiveSide(new ClusterReader(fake.client, 'dev'), {
    namespaces: ['team-a'],
    scmNamespaces: [],
    kind: undefined,
    policies: true,
    names: false,
    federation: false,
    files: [],
    ...question,
  })
  return { side, calls: fake.calls }
}

const namesOf = ({ objects }: LiveSide): readonly string[] =>
  objects.map(({ value }) => `${String(value['kind'])}/${readMeta(value).name}`).toSorted()

/** The versions in which a server serves access policies, and nothing else. */
function only(...versions: readonly string[]): Required<Answers>['groups'] {
  return { 'agentic.networking.x-k8s.io': versions }
}

describe('access policies', () => {
  const POLICIES = 'XAccessPolicy.agentic.networking.x-k8s.io'
  const policy = { metadata: { name: 'tools', namespace: 'agents' } }

  test('are not read where the answer does not tell who names an identity', async () => {
    const { calls, side } = await read({ lists: { [POLICIES]: [[[policy]]] } }, { policies: false })
    expect(calls.filter((call) => call.includes('AccessPolicy'))).toEqual([])
    expect([...side.absentKinds, ...side.listedKinds]).not.toContain(POLICIES)
  })

  test('are read in all namespaces in one request, and the twenty suffice', async () => {
    // Every kind that there is a CRD of; of the last objective there is none, and this server tells so.
    const none = new Set([OBJECTIVES.at(-1), ...EARLIER_ACCESS_POLICIES])
    const discovery = discoveryOf(RESOURCES.filter((one) => !none.has(one)))
    const { calls, side } = await read(
      { discovery, lists: { [POLICIES]: [[[policy]]] } },
      // As where it is found there: else the workloads of the cluster would be listed too.
      { scmNamespaces: ['spire-server'], isScmNamespaceGiven: true },
    )
    expect(calls.filter((call) => call.includes('AccessPolicy'))).toEqual([`list ${POLICIES} limit=10000`])
    expect(calls.length).toBeLessThanOrEqual(20)
    expect(namesOf(side)).toEqual(['XAccessPolicy/tools'])
    expect(side.listedKinds).toContain(POLICIES)
  })

  interface Case {
    readonly says: string
    readonly answers: Answers
    readonly is: { readonly listed?: true; readonly absent?: true; readonly gap?: string }
    readonly versions?: readonly string[]
    readonly lists?: number
  }
  test.each<Case>([
    { says: 'none', answers: { lists: { [POLICIES]: [[[]]] } }, is: { listed: true } },
    { says: 'no such group', answers: { groups: {} }, is: { absent: true }, lists: 0 },
    {
      says: 'no such kind in the group',
      answers: { lists: { [POLICIES]: [[api(404)]] } },
      is: { absent: true },
    },
    {
      says: 'forbidden',
      answers: { lists: { [POLICIES]: [[api(403)]] } },
      is: { gap: 'forbidden' },
      lists: 2,
    },
    { says: 'failing', answers: { lists: { [POLICIES]: [[api(500)]] } }, is: { gap: 'failed' } },
    {
      says: 'served in an older version alone',
      answers: { groups: only('v0alpha0'), lists: { [POLICIES]: [[[policy]]] } },
      is: { listed: true },
      versions: ['agentic.networking.x-k8s.io/v0alpha0'],
    },
    {
      says: 'served in several versions',
      answers: { groups: only('v2', 'v0alpha0', 'v1alpha1'), lists: { [POLICIES]: [[[policy]]] } },
      is: { listed: true },
      versions: ['agentic.networking.x-k8s.io/v1alpha1'],
    },
    {
      says: 'served in a version of the future alone',
      answers: { groups: only('v1'), lists: { [POLICIES]: [[[policy]]] } },
      is: { listed: true },
      versions: ['agentic.networking.x-k8s.io/v1'],
    },
  ])('$says', async ({ answers, is, versions = [], lists = 1 }) => {
    const { calls, side } = await read(answers)
    expect(side.listedKinds.has(POLICIES)).toBe(is.listed === true)
    expect(side.absentKinds.has(POLICIES)).toBe(is.absent === true)
    expect(side.gaps.get(POLICIES)?.cause).toBe(is.gap)
    const found = side.objects.filter(({ value }) => value['kind'] === 'XAccessPolicy')
    expect(found.map(({ value }) => value['apiVersion'])).toEqual(versions)
    expect(calls.filter((call) => call.includes(POLICIES))).toHaveLength(lists)
  })

  test('of the group before are read where it is served', async () => {
    const prototype = 'XAccessPolicy.agentic.prototype.x-k8s.io'
    const groups = { 'agentic.prototype.x-k8s.io': ['v0alpha0'] }
    const { side } = await read({ groups, lists: { [prototype]: [[[policy]]] } })
    expect(side.objects.map(({ value }) => value['apiVersion'])).toContain(
      'agentic.prototype.x-k8s.io/v0alpha0',
    )
    expect(side.absentKinds).toContain(POLICIES)
  })

  test('that may be listed in one namespace only are there, and others may be', async () => {
    const { side } = await read({ lists: { [POLICIES]: [[api(403)]], [`${POLICIES} team-a`]: [[[policy]]] } })
    expect(namesOf(side)).toEqual(['XAccessPolicy/tools'])
    // The rule that would help is about all namespaces.
    expect(side.gaps.get(POLICIES)).toEqual({ verb: 'list', what: POLICIES, cause: 'forbidden' })
    expect(side.listedKinds).not.toContain(POLICIES)
  })

  test('come without what other programs note in them, and with their status', async () => {
    const noted = {
      metadata: {
        name: 'tools',
        namespace: 'agents',
        managedFields: [{}],
        annotations: {
          'kubectl.kubernetes.io/last-applied-configuration': '{}',
          'kleym.sonda.red/suppress': 'KLM603: ok',
        },
      },
      status: { ancestors: [] },
    }
    const { side } = await read({ lists: { [POLICIES]: [[[noted]]] } })
    const kept = side.objects.find(({ value }) => value['kind'] === 'XAccessPolicy')?.value
    expect(kept).toEqual({
      apiVersion: 'agentic.networking.x-k8s.io/v1alpha1',
      kind: 'XAccessPolicy',
      metadata: {
        name: 'tools',
        namespace: 'agents',
        annotations: { 'kleym.sonda.red/suppress': 'KLM603: ok' },
      },
      status: { ancestors: [] },
    })
  })
})

describe('objects of other programs that name identities', () => {
  const KIND = 'AuthorizationPolicy.security.istio.io'
  const groups = { 'security.istio.io': ['v1beta1', 'v1'], 'gateway.networking.k8s.io': ['v1'] }
  const named = { metadata: { name: 'callers', namespace: 'team-a' }, spec: {} }
  const mesh = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'istio', namespace: 'istio-system' },
    data: { mesh: 'trustDomain: a.org' },
  }
  const answers: Answers = {
    groups,
    lists: { [KIND]: [[[named]]], 'BackendTLSPolicy.gateway.networking.k8s.io': [[[]]] },
    objects: { 'ConfigMap istio-system/istio': mesh },
  }

  test('are read where the answer asks for them, with the trust domain of the mesh; what is not served is no gap', async () => {
    const { calls, side } = await read(answers, { names: true })
    expect(calls.filter((call) => call.includes('istio'))).toEqual([
      `list ${KIND} limit=10000`,
      'list PeerAuthentication.security.istio.io limit=10000',
      'get ConfigMap istio-system/istio',
    ])
    expect(namesOf(side)).toEqual(['AuthorizationPolicy/callers', 'ConfigMap/istio'])
    expect([...side.gaps.keys()].filter((kind) => NAMING.has(kind))).toEqual([])
    expect(side.absentKinds).toContain('MeshTLSAuthentication.policy.linkerd.io')
  })

  test('are not read where it does not', async () => {
    const { calls } = await read(answers)
    expect(calls.filter((call) => call.includes('istio') || call.includes('BackendTLS'))).toEqual([])
  })

  test('that may not be listed are a gap', async () => {
    const { calls, side } = await read({ ...answers, lists: { [KIND]: [[api(403)]] } }, { names: true })
    expect(side.gaps.get(KIND)?.cause).toBe('forbidden')
    expect(calls).not.toContain('get ConfigMap istio-system/istio')
  })

  test('the settings of a mesh that may not be read are reported, and are no gap', async () => {
    const { side } = await read(
      { ...answers, objects: { 'ConfigMap istio-system/istio': api(403) } },
      { names: true },
    )
    expect(side.unverifiedRefs).toContainEqual(expect.objectContaining({ verb: 'get', cause: 'forbidden' }))
    expect(side.gaps.has('ConfigMap')).toBe(false)
  })

  test('ConfigMaps are read with a flag alone, and nothing of them is kept but the IDs', async () => {
    const id = 'spiffe://example.org/ns/team-a/pool/llama'
    const clients = {
      metadata: { name: 'clients', namespace: 'team-b' },
      data: { a: `peer: ${id}`, b: 'secret' },
    }
    const other = {
      metadata: { name: 'other', namespace: 'team-b' },
      data: { b: 'kind: ControllerManagerConfig' },
    }
    const lists = { ...answers.lists, ConfigMap: [[[clients, other]]] }
    expect((await read({ ...answers, lists }, { names: true })).calls).not.toContain('list ConfigMap')
    const { calls, side } = await read({ ...answers, lists }, { names: true, configMaps: true })
    expect(calls.filter((call) => call.startsWith('list ConfigMap'))).toHaveLength(1)
    const kept = side.objects.filter(({ mentions }) => mentions !== undefined)
    expect(kept.map(({ value }) => readMeta(value).name)).toEqual(['clients'])
    expect(JSON.stringify(side.objects)).not.toMatch(/secret|ControllerManagerConfig/)
    expect(JSON.stringify(kept)).toContain(id)
  })

  test('ConfigMaps that may not be listed are a gap, since they were asked for', async () => {
    const lists = { ...answers.lists, ConfigMap: [[api(403)]] }
    const { side } = await read({ ...answers, lists }, { names: true, configMaps: true })
    expect(side.gaps.get('ConfigMap')?.cause).toBe('forbidden')
  })
})
