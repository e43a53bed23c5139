// docs/spire-facts.md §1 (status.stats) and traps 3, 15: what SCM would count for each object.
import { describe, expect, test } from 'vitest'
import type { ObjectCounts } from '../../src/core/predict/spire/prediction.ts'
import { csid, pod, predicted, staticEntry, type PredictedEstate } from './estate.ts'

const ZERO: ObjectCounts = {
  namespacesSelected: 0,
  namespacesIgnored: 0,
  podsSelected: 0,
  podEntryRenderFailures: 0,
  entriesToSet: 0,
  entriesMasked: 0,
  futurePodsSelected: 0,
  uncertain: 0,
}
const X = { spiffeIDTemplate: 'spiffe://td/x' }
const PODS = [pod('p'), pod('q'), pod('r', { meta: { namespace: 'team-b' } })]

interface Row {
  readonly name: string
  readonly estate: PredictedEstate
  readonly object: string
  readonly counts: Partial<ObjectCounts>
}

const ROWS: readonly Row[] = [
  {
    name: 'every namespace and pod of an open selector',
    estate: { ids: [csid('a')], pods: PODS },
    object: 'ClusterSPIFFEID/a',
    counts: { namespacesSelected: 2, podsSelected: 3, entriesToSet: 3 },
  },
  {
    name: 'an ignored namespace counts as selected and as ignored, its pods do not',
    estate: { ids: [csid('a')], pods: PODS, config: { ignoreNamespaces: ['team-b'] } },
    object: 'ClusterSPIFFEID/a',
    counts: { namespacesSelected: 2, namespacesIgnored: 1, podsSelected: 2, entriesToSet: 2 },
  },
  {
    name: '§11.18: a namespace outside the cache counts as selected',
    estate: { ids: [csid('a')], pods: PODS, config: { cacheNamespaces: { 'team-a': null } } },
    object: 'ClusterSPIFFEID/a',
    counts: { namespacesSelected: 2, podsSelected: 2, entriesToSet: 2 },
  },
  {
    name: 'trap 3: a fallback counts the pods that it skips',
    estate: {
      ids: [csid('d', { fallback: true }), csid('x', { podSelector: { matchLabels: { app: 'other' } } })],
      pods: [pod('p'), pod('q', { meta: { labels: { app: 'other' } } })],
    },
    object: 'ClusterSPIFFEID/d',
    counts: { namespacesSelected: 2, podsSelected: 2, entriesToSet: 1 },
  },
  {
    name: '§11.10: a pod without a node is a render failure',
    estate: { ids: [csid('a')], pods: [pod('p', { spec: { nodeName: '' } }), pod('q')] },
    object: 'ClusterSPIFFEID/a',
    counts: { namespacesSelected: 2, podsSelected: 2, podEntryRenderFailures: 1, entriesToSet: 1 },
  },
  {
    name: 'each loser counts as masked',
    estate: { ids: [csid('a', X), csid('b', X)], pods: PODS },
    object: 'ClusterSPIFFEID/b',
    counts: { namespacesSelected: 2, podsSelected: 3, entriesMasked: 3 },
  },
  {
    name: 'trap 15: a refused entry still counts as to be set',
    estate: { ids: [csid('a', { hint: 'h'.repeat(2000) })] },
    object: 'ClusterSPIFFEID/a',
    counts: { namespacesSelected: 2, podsSelected: 1, entriesToSet: 1 },
  },
  {
    name: '§11.3: an object that does not parse counts nothing',
    estate: { ids: [csid('a', { spiffeIDTemplate: '' })] },
    object: 'ClusterSPIFFEID/a',
    counts: {},
  },
  {
    name: '§11.3: nor does one of another class',
    estate: { ids: [csid('a', { className: 'y' })] },
    object: 'ClusterSPIFFEID/a',
    counts: {},
  },
  {
    name: 'pods that do not exist yet are counted apart',
    estate: { ids: [csid('a')], pods: [{ kind: 'Pod', metadata: { name: 'p', namespace: 'team-a' } }] },
    object: 'ClusterSPIFFEID/a',
    counts: { namespacesSelected: 2, futurePodsSelected: 1 },
  },
  {
    name: 'what kleym cannot tell is counted apart',
    estate: { ids: [csid('a', { dnsNameTemplates: ['{{ .PodMeta }}'] })] },
    object: 'ClusterSPIFFEID/a',
    counts: { namespacesSelected: 2, podsSelected: 1, uncertain: 1 },
  },
  {
    name: 'masking that cannot be decided is counted apart',
    estate: {
      ids: [
        csid('a', X, { creationTimestamp: undefined, uid: undefined }),
        csid('b', X, { creationTimestamp: undefined, uid: undefined }),
      ],
    },
    object: 'ClusterSPIFFEID/a',
    counts: { namespacesSelected: 2, podsSelected: 1, uncertain: 1 },
  },
  {
    name: 'a static entry is set once',
    estate: { statics: [staticEntry('s')], pods: PODS },
    object: 'ClusterStaticEntry/s',
    counts: { entriesToSet: 1 },
  },
]

describe('status.stats', () => {
  test.each(ROWS)('$name', ({ estate, object, counts }) => {
    expect(predicted(estate).prediction.counts().get(object)).toEqual({ ...ZERO, ...counts })
  })
})
