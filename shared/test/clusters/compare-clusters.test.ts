// Several clusters beside each other: the same ID in two of them, who names it, federation, and imported pools.
import { describe, expect, test } from 'vitest'
import {
  analysisOf,
  policy,
  policyOf,
  rule,
  spiffe,
  type AnalysisSetting,
} from '@kleym/testing/access-policies.ts'
import { foreign, pod } from '@kleym/testing/finding-cases.ts'
import { estate, FORBIDDEN, poolOnly } from '@kleym/testing/manifests.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'
import { driveAtOnce } from '../../src/core/base/steps.ts'
import {
  clusterFindings,
  compareClusters,
  type ClustersComparison,
} from '../../src/core/answers/clusters/compare-clusters.ts'

const NODE = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', uid: 'uid-of-n1' } }
const LLAMA = 'spiffe://example.org/ns/team-a/pool/llama'

type Cluster = readonly [objects: readonly JsonRecord[], setting?: AnalysisSetting]

const compared = (...clusters: readonly Cluster[]): ClustersComparison =>
  compareClusters(
    clusters.map(([objects, setting], at) => ({
      name: ['east', 'west', 'south'][at] ?? '',
      analysis: analysisOf(objects, setting),
    })),
    driveAtOnce,
  )

const TENANT = estate(NODE, poolOnly(), pod())

const exactly = (id: string): Cluster => [[NODE, pod(), foreign('one', { spiffeIDTemplate: id })]]

describe('one ID in two clusters', () => {
  test('two bindings of one name and one trust domain share it, with or without pods', () => {
    const { shared } = compared([TENANT], [estate(poolOnly())])
    expect(shared).toMatchObject([
      {
        spiffeId: LLAMA,
        isCertain: true,
        in: [
          { cluster: 'east', givers: [{ text: 'binding team-a/llama', containers: 2 }] },
          { cluster: 'west', givers: [{ text: 'binding team-a/llama', containers: 0, isDeclared: true }] },
        ],
      },
    ])
  })

  test('what SCM gives without its ID being known may be an ID of another cluster, whatever trust domain kleym is set to', () => {
    const printed = foreign('printed', {
      spiffeIDTemplate: 'spiffe://example.org/{{ printf "%p" .PodMeta }}',
    })
    const unfollowedIn = (setting: AnalysisSetting): readonly string[] | undefined =>
      compared([[NODE, pod(), printed], setting], [TENANT]).clusters[0]?.unfollowed
    expect(unfollowedIn({})).toEqual(['ClusterSPIFFEID/printed'])
    expect(unfollowedIn({ trustDomain: 'wrong.org', scmTrustDomain: 'example.org' })).toEqual([
      'ClusterSPIFFEID/printed',
    ])
    expect(unfollowedIn({ trustDomain: 'other.org', scmTrustDomain: 'other.org' })).toEqual([])
  })

  test('another trust domain, another name, or a refused binding shares nothing', () => {
    const other = estate(poolOnly({ namespace: 'team-b' }))
    expect(compared([TENANT], [TENANT, { trustDomain: 'other.org' }]).shared).toEqual([])
    expect(compared([TENANT], [other]).shared).toEqual([])
    expect(compared([TENANT], [estate(poolOnly({ spec: { poolRef: { name: 'gone' } } }))]).shared).toEqual([])
  })

  test('a registration of others gives it too, and a static entry', () => {
    const template = { spiffeIDTemplate: LLAMA }
    const entry = {
      apiVersion: 'spire.spiffe.io/v1alpha1',
      kind: 'ClusterStaticEntry',
      metadata: { name: 'one', uid: 'uid-of-one' },
      spec: { spiffeID: LLAMA, parentID: 'spiffe://example.org/parent', selectors: ['unix:uid:0'] },
    }
    expect(compared([TENANT], [estate(NODE, pod(), foreign('thief', template))]).shared).toMatchObject([
      { isCertain: true, in: [{}, { givers: [{ text: 'ClusterSPIFFEID/thief', containers: 2 }] }] },
    ])
    expect(compared([TENANT], [[entry]]).shared).toMatchObject([
      { isCertain: true, in: [{}, { givers: [{ text: 'ClusterStaticEntry/one', isDeclared: true }] }] },
    ])
  })

  test.each<[says: string, spec: JsonRecord, isShared: boolean]>([
    ['may be given to a pod to come', { spiffeIDTemplate: LLAMA }, true],
    [
      'as a template with the trust domain',
      { spiffeIDTemplate: LLAMA.replace('example.org', '{{ .TrustDomain }}') },
      true,
    ],
    ['of a class that SCM ignores', { spiffeIDTemplate: LLAMA, className: 'other' }, false],
  ])('the ID of a registration that selects no pod: %s', (_says, spec, isShared) => {
    const { shared } = compared(
      [TENANT],
      [[foreign('idle', { ...spec, podSelector: { matchLabels: { app: 'none' } } })]],
    )
    expect(shared).toMatchObject(
      isShared ? [{ isCertain: false, in: [{}, { givers: [{ text: 'ClusterSPIFFEID/idle' }] }] }] : [],
    )
    expect(shared).toHaveLength(isShared ? 1 : 0)
  })

  test('what only may be given is no certain finding', () => {
    const perhaps = foreign('perhaps', {
      spiffeIDTemplate: LLAMA,
      workloadSelectorTemplates: ['unix:uid:1000'],
    })
    const result = compared([TENANT], [estate(NODE, pod(), perhaps)])
    expect(result.shared).toMatchObject([{ isCertain: false }])
    expect(clusterFindings(result)).toMatchObject([{ code: 'KLM309', dependsOn: [expect.any(String)] }])
  })

  test('what a pod that waits for a node will be given is given perhaps', () => {
    const waiting = pod({ spec: { nodeName: undefined } })
    const thief = foreign('thief', { spiffeIDTemplate: `{{ if true }}${LLAMA}{{ end }}` })
    expect(compared([TENANT], [estate(NODE, waiting, thief)]).shared).toMatchObject([
      {
        isCertain: false,
        in: [{}, { givers: [{ text: 'ClusterSPIFFEID/thief', containers: 0, perhaps: 2 }] }],
      },
    ])
  })

  describe('an ID with a part that is known only when its pod runs', () => {
    const TEMPLATE = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'llama', namespace: 'team-a' },
      spec: {
        selector: { matchLabels: { app: 'llama' } },
        template: { metadata: { labels: { app: 'llama' } }, spec: { containers: [{ name: 'vllm' }] } },
      },
    }
    const given = (id: string): Cluster => [[NODE, TEMPLATE, foreign('named', { spiffeIDTemplate: id })]]
    const named = given('spiffe://example.org/pod/{{ .PodMeta.Name }}')

    test.each<[says: string, other: Cluster]>([
      ['another cluster gives', exactly('spiffe://example.org/pod/llama-0')],
      ['is as open in another cluster', named],
      ['begins as another does', given('spiffe://example.org/pod/llama-{{ .PodMeta.Name }}')],
    ])('may be what %s', (_says, other) => {
      for (const result of [compared(named, other), compared(other, named)]) {
        expect(result.shared).toMatchObject([{ isCertain: false, in: [{}, {}] }])
        expect(clusterFindings(result)).toMatchObject([{ dependsOn: [expect.any(String)] }])
      }
    })

    test.each<[says: string, one: Cluster, other: Cluster]>([
      ['is another', named, exactly('spiffe://example.org/other/llama-0')],
      ['begins otherwise', named, given('spiffe://example.org/other/{{ .PodMeta.Name }}')],
      ['ends otherwise', named, exactly('spiffe://example.org/pod')],
      [
        'would hold its UID',
        given('spiffe://example.org/uid/{{ .PodMeta.UID }}'),
        exactly('spiffe://example.org/uid/1'),
      ],
    ])('is none that %s', (_says, one, other) => {
      expect(compared(one, other).shared).toEqual([])
    })
  })

  test('a trust domain that is not known is reported, and nothing is compared', () => {
    const { clusters, shared } = compared([TENANT], [TENANT, { trustDomain: undefined }])
    expect(clusters.map(({ trustDomain }) => trustDomain)).toEqual(['example.org', undefined])
    expect(shared).toEqual([])
    const unknown: Cluster = [TENANT, { trustDomain: undefined }]
    expect(compared(unknown, unknown).shared).toEqual([])
  })

  test('policies of each cluster that name it are listed', () => {
    const naming = policyOf(spiffe(LLAMA))
    const { shared } = compared([TENANT], [[...TENANT, naming]])
    expect(shared[0]?.namedBy).toMatchObject([{ cluster: 'west', way: 'exactly' }])
    expect(clusterFindings(compared([TENANT], [[...TENANT, naming]]))[0]?.evidence).toContain(
      `west: ${shared[0]?.namedBy[0]?.policy ?? ''} names it`,
    )
  })

  test('policies that perhaps name it are listed, too', () => {
    const cel = { expression: `id.matches("${LLAMA.slice(0, -1)}(a|b)")` }
    const begun = rule(spiffe('spiffe://example.org/other'), { authorization: { type: 'CEL', cel } })
    const { shared } = compared([TENANT], [[...TENANT, policy({ spec: { rules: [begun] } })]])
    expect(shared[0]?.namedBy).toMatchObject([{ policy: 'XAccessPolicy agents/tools', way: 'perhaps' }])
  })

  test('the IDs that the same objects give are one finding', () => {
    const everywhere = foreign('default', {
      spiffeIDTemplate: 'spiffe://example.org/pod/{{ .PodMeta.Name }}',
    })
    const pods = ['a', 'b', 'c'].map((name) => pod({ metadata: { name, uid: `uid-of-${name}` } }))
    const cluster: Cluster = [[NODE, ...pods, everywhere]]
    const findings = clusterFindings(compared(cluster, cluster))
    expect(findings).toMatchObject([
      { summary: '3 SPIFFE IDs are given in clusters east and west', subject: { name: 'default' } },
    ])
  })
})

describe('between clusters', () => {
  test('federation names the clusters of the other trust domain, and whether it is declared', () => {
    const asking = foreign('asking', { federatesWith: ['other.org'] })
    const declared = {
      apiVersion: 'spire.spiffe.io/v1alpha1',
      kind: 'ClusterFederatedTrustDomain',
      metadata: { name: 'other', uid: 'uid-of-other' },
      spec: { trustDomain: 'other.org' },
    }
    const other: Cluster = [TENANT, { trustDomain: 'other.org' }]
    expect(compared([[asking, declared]], other).clusters[0]?.federations).toEqual([
      { trustDomain: 'other.org', by: ['ClusterSPIFFEID/asking'], isDeclared: true, clusters: ['west'] },
    ])
    expect(compared([[asking]], other).clusters[0]?.federations).toMatchObject([{ isDeclared: undefined }])
  })

  test('an InferencePoolImport is a pool of another cluster', () => {
    const imported = {
      apiVersion: 'inference.networking.x-k8s.io/v1alpha1',
      kind: 'InferencePoolImport',
      metadata: { name: 'llama', namespace: 'team-a', uid: 'uid-of-import' },
      status: { controllers: [{ name: 'example.net/c', exportingClusters: [{ name: 'eu-1' }] }] },
    }
    expect(compared([[imported]], [TENANT]).clusters[0]?.imports).toEqual([
      {
        pool: 'team-a/llama',
        exportedBy: ['eu-1'],
        foundIn: [{ cluster: 'west', spiffeIds: [LLAMA] }],
        perhapsIn: [],
      },
    ])
    const gaps = { 'InferencePoolImport.inference.networking.x-k8s.io': FORBIDDEN }
    const [unread] = compared([[], { gaps }], [TENANT]).clusters
    expect(unread).toMatchObject({ imports: undefined, importsUnread: FORBIDDEN })
    // No file need hold one.
    expect(compared([[]], [TENANT]).clusters[0]).toMatchObject({ importsUnread: undefined })
    const noPools = { gaps: { 'InferencePool.inference.networking.k8s.io': FORBIDDEN } }
    expect(compared([[imported]], [[], noPools]).clusters[0]?.imports).toMatchObject([
      { foundIn: [], perhapsIn: ['west'] },
    ])
  })
})
