// docs/spire-facts.md §2, §11.9-13, §11.18 and traps 4 to 8: which objects SCM handles, and which pods they reach.
import { describe, expect, test } from 'vitest'
import { readScmSettings } from '../../src/core/model/objects/scm-config.ts'
import {
  csid,
  NO_EVIDENCE,
  NODES,
  pod,
  predicted,
  verdictsOf,
  whyOf,
  type PredictedEstate,
  type Fields,
} from './estate.ts'

const NAMED = (name: string): Fields => ({ matchLabels: { 'kubernetes.io/metadata.name': name } })

describe('§2 classes (trap 4)', () => {
  const rows: readonly [className: string | undefined, watchClassless: boolean, cr: string, state: string][] =
    [
      [undefined, false, '', 'declared'],
      [undefined, true, '', 'declared'],
      [undefined, false, 'y', 'ignored'],
      [undefined, true, 'y', 'ignored'],
      ['x', false, '', 'ignored'],
      ['x', false, 'x', 'declared'],
      ['x', false, 'y', 'ignored'],
      ['x', true, '', 'declared'],
      ['x', true, 'x', 'declared'],
      ['x', true, 'y', 'ignored'],
    ]
  test.each(rows)(
    'SCM of class %s with watchClassless %s, object of class "%s": %s',
    (own, watch, cr, state) => {
      const config = { ...(own === undefined ? {} : { className: own }), watchClassless: watch }
      expect(verdictsOf(predicted({ ids: [csid('a', { className: cr })], config }))).toEqual([`a: ${state}`])
    },
  )

  test('a class that is not known leaves a classed object open, and the chart ignores a classless one', () => {
    const { settings } = readScmSettings(undefined, '', { ...NO_EVIDENCE, trustDomain: 'td' })
    const estate = predicted({ ids: [csid('a', { className: 'y' }), csid('b')], settings })
    expect(verdictsOf(estate)).toEqual(['a: depends', 'b: ignored'])
    expect(whyOf(estate, 'a')).toBe(".spec.className of ClusterSPIFFEID/a is y, and SCM's class is not known")
  })
})

interface Row {
  readonly name: string
  readonly estate: PredictedEstate
  readonly verdicts: readonly string[]
  readonly why?: string
}

const FILTERED = { className: 'x', filterByClassName: true }

const ROWS: readonly Row[] = [
  {
    name: '§11.13: clusterSPIFFEIDLabelSelector hides what lacks a label',
    estate: {
      ids: [csid('a', {}, { labels: { k: 'v' } }), csid('b', {}, { labels: { k: 'w' } })],
      config: { clusterSPIFFEIDLabelSelector: { k: 'v' } },
    },
    verdicts: ['a: declared', 'b: ignored'],
  },
  {
    name: '§11.13: filterByClassName needs the label as well as the class',
    estate: {
      ids: [
        csid('a', { className: 'x' }, { labels: { 'spire.spiffe.io/class-name': 'x' } }),
        csid('b', { className: 'x' }),
        csid('c', { className: 'x' }, { labels: { 'spire.spiffe.io/class-name': 'y' } }),
      ],
      config: FILTERED,
    },
    verdicts: ['a: declared', 'b: ignored', 'c: ignored'],
  },
  {
    name: '§11.13: the class label replaces one given in the selector',
    estate: {
      ids: [csid('a', { className: 'x' }, { labels: { 'spire.spiffe.io/class-name': 'x' } })],
      config: { ...FILTERED, clusterSPIFFEIDLabelSelector: { 'spire.spiffe.io/class-name': 'other' } },
    },
    verdicts: ['a: declared'],
  },
  {
    name: '§7: reconcile without clusterSPIFFEIDs switches them off',
    estate: { ids: [csid('a')], config: { reconcile: { clusterStaticEntries: true } } },
    verdicts: ['a: ignored'],
    why: 'SCM is told not to reconcile ClusterSPIFFEIDs',
  },
  {
    name: 'trap 5: absent and empty selectors select everything',
    estate: { ids: [csid('a'), csid('b', { namespaceSelector: {}, podSelector: {} })] },
    verdicts: ['a: declared', 'b: masked'],
  },
  {
    name: '§2: NotIn and DoesNotExist match what lacks the key',
    estate: {
      ids: [
        csid('a', { podSelector: { matchExpressions: [{ key: 'none', operator: 'NotIn', values: ['x'] }] } }),
        csid('b', {
          spiffeIDTemplate: 'spiffe://td/b',
          namespaceSelector: { matchExpressions: [{ key: 'none', operator: 'DoesNotExist' }] },
        }),
        csid('c', {
          podSelector: { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['llama'] }] },
        }),
      ],
    },
    verdicts: ['a: declared', 'b: declared'],
  },
  {
    name: '§2: matchLabels and all matchExpressions must hold',
    estate: {
      ids: [
        csid('a', {
          podSelector: {
            matchLabels: { app: 'llama' },
            matchExpressions: [{ key: 'role', operator: 'Exists' }],
          },
        }),
      ],
    },
    verdicts: [],
  },
  {
    name: '§2: an object for another namespace is not listed',
    estate: {
      ids: [
        csid('a', { namespaceSelector: NAMED('team-b') }),
        csid('b', { namespaceSelector: NAMED('team-a') }),
      ],
    },
    verdicts: ['b: declared'],
  },
  {
    name: '§1: an invalid selector drops the object, and which pods it means is not known',
    estate: { ids: [csid('a', { podSelector: { matchExpressions: [{ key: 'app', operator: 'In' }] } })] },
    verdicts: [],
  },
  {
    name: 'trap 6: ignoreNamespaces is unanchored and beats the selector',
    estate: {
      ids: [csid('a', { namespaceSelector: NAMED('team-a') })],
      config: { ignoreNamespaces: ['am-'] },
    },
    verdicts: ['a: ignored'],
    why: 'SCM ignores namespace team-a (ignoreNamespaces: am-)',
  },
  {
    name: 'trap 6: an anchored pattern ignores only what it names',
    estate: { ids: [csid('a')], config: { ignoreNamespaces: ['^am-', 'team-a-$'] } },
    verdicts: ['a: declared'],
  },
  {
    name: 'a pattern that kleym does not follow leaves the namespace open',
    estate: { ids: [csid('a')], config: { ignoreNamespaces: ['\\p{Greek}'] } },
    verdicts: ['a: depends'],
  },
  {
    name: 'trap 7: finished and terminating pods keep their entries',
    estate: {
      ids: [csid('a')],
      pods: [pod('p', { meta: { deletionTimestamp: '2026-01-01T00:00:00Z' }, status: { phase: 'Failed' } })],
    },
    verdicts: ['a: declared'],
  },
  {
    name: 'trap 8, §11.10: a pod without a node gets no entry',
    estate: { ids: [csid('a')], pods: [pod('p', { spec: { nodeName: '' } })] },
    verdicts: ['a: ignored'],
    why: 'the pod is not scheduled to a node yet',
  },
  {
    name: '§2: a pod whose Node is gone gets no entry',
    estate: { ids: [csid('a')], nodes: [] },
    verdicts: ['a: ignored'],
    why: 'there is no Node/n1',
  },
  {
    name: '§2: where nodes are not known, a scheduled pod has one',
    estate: { ids: [csid('a')], nodes: null },
    verdicts: ['a: declared'],
  },
  {
    name: '§11.18: pods outside cacheNamespaces are not seen',
    estate: { ids: [csid('a')], config: { cacheNamespaces: { 'team-b': null } } },
    verdicts: ['a: ignored'],
    why: "namespace team-a is not among SCM's cacheNamespaces",
  },
  {
    name: '§2: cacheNamespaces may choose pods by label',
    estate: {
      ids: [csid('a')],
      config: { cacheNamespaces: { 'team-a': { labelSelectors: { app: 'other' } } } },
    },
    verdicts: ['a: ignored'],
  },
  {
    name: 'cacheNamespaces by field is not followed',
    estate: {
      ids: [csid('a')],
      config: { cacheNamespaces: { 'team-a': { fieldSelectors: { 'status.phase': 'Running' } } } },
    },
    verdicts: ['a: depends'],
  },
  {
    name: 'an empty name in cacheNamespaces stands for every namespace',
    estate: { ids: [csid('a')], config: { cacheNamespaces: { '': {} } } },
    verdicts: ['a: declared'],
  },
  {
    name: 'cacheNamespaces by a label that is not known yet leaves it open',
    estate: {
      ids: [csid('a')],
      pods: [{ kind: 'Pod', metadata: { name: 'p', namespace: 'team-a' } }],
      config: { cacheNamespaces: { 'team-a': { labelSelectors: { 'topology.kubernetes.io/zone': 'z' } } } },
    },
    verdicts: ['a: depends'],
  },
  {
    name: '§11.9: an undecodable object of another class makes no entries, whatever SCM read before',
    estate: { ids: [csid('a', { ttl: '1d', className: 'y' })] },
    verdicts: ['a: ignored'],
  },
  {
    name: 'the deprecated cacheNamespace counts too',
    estate: { ids: [csid('a')], config: { cacheNamespace: 'team-a' } },
    verdicts: ['a: declared'],
  },
  {
    name: 'a namespace of which only the name is known leaves other labels open',
    estate: { ids: [csid('a', { namespaceSelector: { matchLabels: { team: 'x' } } })], namespaces: [] },
    verdicts: ['a: depends'],
    why: ".spec.namespaceSelector of ClusterSPIFFEID/a asks for more than is known of the namespace's labels",
  },
  {
    name: 'a namespace of which only the name is known is still found by name',
    estate: {
      ids: [
        csid('a', { namespaceSelector: NAMED('team-a') }),
        csid('b', { namespaceSelector: NAMED('team-b') }),
      ],
      namespaces: [],
    },
    verdicts: ['a: declared'],
  },
]

describe('which pods an object reaches', () => {
  test.each(ROWS)('$name', ({ estate, verdicts }) => {
    expect(verdictsOf(predicted(estate))).toEqual(verdicts)
  })

  test.each(ROWS.filter(({ why }) => why !== undefined))('$name: the reason', ({ estate, why }) => {
    expect(whyOf(predicted(estate), 'a')).toBe(why)
  })
})

function parentOf(config: Fields, nodes: PredictedEstate['nodes'] = NODES): string {
  const { prediction, pods } = predicted({ ids: [csid('a')], config, nodes })
  const [subject] = pods
  const outcome = subject === undefined ? undefined : prediction.entriesOf(subject)[0]
  if (outcome === undefined) return 'none'
  const why = 'why' in outcome.verdict ? outcome.verdict.why : ''
  return outcome.entry?.parentId ?? `${outcome.verdict.state}: ${why}`
}

describe('the parent ID (§2, trap 19)', () => {
  test('it holds the cluster name and the UID of the node', () => {
    expect(parentOf({})).toBe('spiffe://td/spire/agent/k8s_psat/c1/node-uid-1')
  })

  test('an unknown node leaves its UID open', () => {
    expect(parentOf({}, null)).toBe('spiffe://td/spire/agent/k8s_psat/c1/<node UID>')
  })

  test('it sees the node and no pod', () => {
    expect(parentOf({ parentIDTemplate: 'spiffe://td/z/{{ .NodeMeta.Labels.zone }}' })).toBe(
      'spiffe://td/z/z1',
    )
    expect(parentOf({ parentIDTemplate: 'spiffe://td/{{ .PodMeta.Name }}' })).toMatch(
      /^failed: the parentIDTemplate of SCM's configuration fails on this pod: /,
    )
  })

  test('it must lie in the trust domain', () => {
    expect(parentOf({ parentIDTemplate: 'spiffe://other/x' })).toBe(
      "failed: the parentIDTemplate of SCM's configuration fails on this pod: it gives spiffe://other/x, which is not in SCM's trust domain td",
    )
  })
})

describe('what stops SCM for every object', () => {
  const rows: readonly { name: string; estate: PredictedEstate; stoppers: readonly string[] }[] = [
    {
      name: '§11.9: a duration that Go cannot decode, of whatever class',
      estate: { ids: [csid('a', { ttl: '1d', className: 'else' }), csid('b', { jwtTtl: '' })] },
      stoppers: ['ClusterSPIFFEID/a', 'ClusterSPIFFEID/b'],
    },
    {
      name: '§11.9: a field of a wrong type',
      estate: { ids: [csid('a', { hint: 7 })] },
      stoppers: ['ClusterSPIFFEID/a'],
    },
    {
      name: '§11.13: not one that the label filter hides',
      estate: { ids: [csid('a', { ttl: '1d' })], config: { clusterSPIFFEIDLabelSelector: { k: 'v' } } },
      stoppers: [],
    },
    {
      name: '§11.9: an undecodable static entry',
      estate: { statics: [{ metadata: { name: 's' }, spec: { x509SVIDTTL: '1d' } }] },
      stoppers: ['ClusterStaticEntry/s'],
    },
    {
      name: '§2: an ignored namespace that is no regular expression',
      estate: { config: { ignoreNamespaces: ['(', 'fine'] } },
      stoppers: ['SCM'],
    },
    {
      name: '§2: a parent ID template with a syntax error',
      estate: { config: { parentIDTemplate: '{{' } },
      stoppers: ['SCM'],
    },
    {
      name: '§7: filterByClassName without a class',
      estate: { config: { filterByClassName: true } },
      stoppers: ['SCM'],
    },
    { name: '§7: a trust domain that is none', estate: { config: { trustDomain: 'TD' } }, stoppers: ['SCM'] },
    { name: 'nothing, in a sound estate', estate: { ids: [csid('a')] }, stoppers: [] },
  ]
  test.each(rows)('$name', ({ estate, stoppers }) => {
    const found = predicted(estate).prediction.scmFaults()
    expect(
      found.map(({ source }) => (source === undefined ? 'SCM' : `${source.kind}/${source.name}`)),
    ).toEqual(stoppers)
  })
})

describe('the index', () => {
  const namespaces = Array.from({ length: 40 }, (_, at) => ({
    metadata: { name: `ns-${at}`, labels: { env: at % 2 === 0 ? 'prod' : 'dev', team: `t${at}` } },
  }))
  const pods = Array.from({ length: 40 }, (_, at) =>
    pod(`p${at}`, { meta: { namespace: `ns-${at}`, labels: { app: `app-${at % 4}` } } }),
  )
  const rows: readonly { name: string; spec: Fields; chosen: (at: number) => boolean }[] = [
    {
      name: 'a namespace label that many have, and a pod label',
      spec: {
        namespaceSelector: { matchLabels: { env: 'prod' } },
        podSelector: { matchLabels: { app: 'app-2' } },
      },
      chosen: (at) => at % 4 === 2,
    },
    {
      name: 'a namespace label that one has',
      spec: { namespaceSelector: { matchLabels: { env: 'prod', team: 't6' } } },
      chosen: (at) => at === 6,
    },
    {
      name: 'an expression on namespaces that many match',
      spec: {
        namespaceSelector: { matchExpressions: [{ key: 'team', operator: 'NotIn', values: ['t1', 't2'] }] },
      },
      chosen: (at) => at !== 1 && at !== 2,
    },
    {
      name: 'labels that contradict one another',
      spec: { namespaceSelector: { matchLabels: { env: 'dev', team: 't6' } } },
      chosen: () => false,
    },
  ]
  test.each(rows)('$name', ({ spec, chosen }) => {
    const { prediction, pods: subjects } = predicted({ ids: [csid('a', spec)], namespaces, pods })
    const found = subjects.flatMap((subject, at) => (prediction.entriesOf(subject).length > 0 ? [at] : []))
    expect(found).toEqual(subjects.flatMap((_, at) => (chosen(at) ? [at] : [])))
    expect(prediction.counts().get('ClusterSPIFFEID/a')?.podsSelected).toBe(found.length)
  })

  test('a pod of a namespace that no object named before is judged by the name alone', () => {
    const { prediction } = predicted({
      ids: ['ns-x', 'ns-y'].map((name) => csid(name, { namespaceSelector: NAMED(name) })),
      namespaces,
      pods: [],
    })
    const stranger = predicted({ pods: [pod('p', { meta: { namespace: 'ns-x' } })] })
    expect(verdictsOf({ prediction, pods: stranger.pods })).toEqual(['ns-x: declared'])
  })
})
