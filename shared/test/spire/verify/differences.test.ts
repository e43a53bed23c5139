// What a server holds against what a small estate asks for: each kind of difference, and the cause that the evidence allows.
import { isRecord } from '../../../src/core/base/json.ts'
import { describe, expect, test } from 'vitest'
import { EntryComparison, type EntryDifferences } from '../../../src/core/predict/verify/compare-entries.ts'
import { explainDifferences, type DifferenceEvidence } from '../../../src/core/predict/verify/causes.ts'
import { EntryHolderIndex } from '../../../src/core/predict/verify/entry-holders.ts'
import { expectedEntries } from '@kleym/testing/at-once.ts'
import { readServerEntry } from '../../../src/core/predict/verify/read-server-entry.ts'
import { predict } from '../../../src/core/predict/spire/predict.ts'
import { csid, inputOf, pod, staticEntry, type Fields, type PredictedEstate } from '../estate.ts'
import { serverEntry } from './server-entries.ts'

/** An hour after the objects of the estate were made. */
const AS_OF = Date.parse('2026-01-01T01:00:00Z') / 1000
const PREFIX = { entryIDPrefix: 'prod' }
/** What SCM counts of an object that gives one pod of one namespace its entry. */
const COUNTED = { namespacesSelected: 2, podsSelected: 1, entriesToSet: 1 }

function differencesOf(
  estate: PredictedEstate,
  entries: readonly Fields[],
  isHeld?: ConstructorParameters<typeof EntryComparison>[2],
): EntryDifferences {
  const input = inputOf(estate)
  const comparison = new EntryComparison(
    expectedEntries(predict(input), input.pods, undefined, input.settings),
    [],
    isHeld,
  )
  for (const value of entries) {
    const reading = readServerEntry(value)
    if (!reading.ok) throw new Error(`${reading.field}: ${reading.why}`)
    comparison.add(reading.entry)
  }
  return comparison.finish()
}

function causesOf(
  estate: PredictedEstate,
  entries: readonly Fields[],
  evidence: Partial<DifferenceEvidence> = {},
): readonly string[] {
  const input = inputOf(estate)
  return explainDifferences(differencesOf(estate, entries), {
    settings: input.settings,
    pods: input.pods,
    whyPodsUnknown: undefined,
    clusterSpiffeIds: input.clusterSpiffeIds,
    staticEntries: input.staticEntries,
    counts: () => predict(input).counts(),
    asOf: AS_OF,
    objectsAsOf: AS_OF,
    ...evidence,
  }).map(({ kind, cause }) => `${kind}: ${cause}`)
}

function counted(stats: Fields, spec: Fields = {}, meta: Fields = {}): Fields {
  return { ...csid('a', spec, { generation: 1, ...meta }), status: { stats } }
}

describe('what differs', () => {
  test('nothing, where the server holds what is asked for; the probe of SCM counts for nothing', () => {
    const probe = { trust_domain: 'td', path: '/spire-controller-manager/unsupported-fields-test' }
    const found = differencesOf({ ids: [csid('a')] }, [
      serverEntry(),
      serverEntry({ id: 'x', spiffe_id: probe }),
    ])
    expect(found).toMatchObject({ missing: [], extra: [], different: [], read: 1, agreed: 1, open: 0 })
  })

  test('an entry that is not there', () => {
    const { missing } = differencesOf({ ids: [csid('a')] }, [])
    expect(missing.map((one) => one.expected.spiffeId)).toEqual(['spiffe://td/ns/team-a/sa/runner'])
  })

  test.each<[string, Fields, Fields, string]>([
    ['a TTL', { ttl: '1h' }, {}, 'x509_svid_ttl 3600 0'],
    ['the JWT TTL', {}, { jwt_svid_ttl: 60 }, 'jwt_svid_ttl 0 60'],
    ['a hint', { hint: 'a' }, { hint: 'b' }, 'hint a b'],
    ['DNS names', { dnsNameTemplates: ['b', 'a'] }, { dns_names: ['a, b'] }, 'dns_names a, b "a, b"'],
    ['federation', {}, { federates_with: ['far'] }, 'federates_with  far'],
    ['a flag', {}, { admin: true }, 'admin false true'],
    ['a time at which it expires', {}, { expires_at: '1767400000' }, 'expires_at 0 1767400000'],
  ])('%s that differs', (_, spec, fields, text) => {
    const { different } = differencesOf({ ids: [csid('a', spec)] }, [serverEntry(fields)])
    expect(
      different.flatMap(({ fields: all }) =>
        all.map(({ field, predicted, onServer }) => `${field} ${predicted} ${onServer}`),
      ),
    ).toEqual([text])
  })

  test("an equal entry without SCM's prefix is none that SCM sees, and keeps SCM from making its own", () => {
    const estate = { ids: [csid('a')], config: PREFIX }
    expect(differencesOf(estate, [serverEntry()])).toMatchObject({ agreed: 1, different: [], missing: [] })
    const foreign = [serverEntry({ id: '0b6f' })]
    expect(differencesOf(estate, foreign)).toMatchObject({
      agreed: 0,
      missing: [],
      extra: [],
      different: [{ fields: [{ field: 'id', predicted: 'prod.<UUID>', onServer: '0b6f' }] }],
    })
    expect(causesOf(estate, foreign)).toEqual(['different: another registrar'])
    expect(differencesOf({ ids: [csid('a')] }, foreign)).toMatchObject({ agreed: 1, different: [] })
    const cleaned = { ...estate, config: { ...PREFIX, entryIDPrefixCleanup: '' } }
    expect(differencesOf(cleaned, foreign)).toMatchObject({ agreed: 1, different: [] })
  })

  test('the order of DNS names is no difference, and neither is that of selectors', () => {
    const ids = [csid('a', { dnsNameTemplates: ['b', 'a'], workloadSelectorTemplates: ['k8s:ns:team-a'] })]
    const selectors = [
      { type: 'k8s', value: 'ns:team-a' },
      { type: 'k8s', value: 'pod-uid:pod-uid-p' },
    ]
    expect(differencesOf({ ids }, [serverEntry({ dns_names: ['a', 'b'], selectors })]).agreed).toBe(1)
    expect(
      differencesOf({ ids }, [serverEntry({ dns_names: ['b', 'a'], selectors: selectors.toReversed() })])
        .agreed,
    ).toBe(1)
  })

  describe('an entry that two ask for, and which of them wins is not known', () => {
    const undated = { creationTimestamp: undefined }
    const OF_POD = { spiffeID: 'spiffe://td/ns/team-a/sa/runner', selectors: ['k8s:pod-uid:pod-uid-p'] }
    test.each<[string, PredictedEstate]>([
      ['two ClusterSPIFFEIDs', { ids: [csid('a', { hint: 'a' }, undated), csid('b', { hint: 'b' })] }],
      [
        'a ClusterSPIFFEID, and a static entry that names the pod',
        {
          ids: [csid('a', { hint: 'a' }, undated)],
          statics: [staticEntry('b', { ...OF_POD, hint: 'b' })],
        },
      ],
    ])('%s: it is one, and may say what either says', (_, estate) => {
      expect(differencesOf(estate, []).missing.map(({ expected }) => expected.spiffeId)).toEqual([
        'spiffe://td/ns/team-a/sa/runner',
      ])
      for (const hint of ['a', 'b'])
        expect(differencesOf(estate, [serverEntry({ hint })])).toMatchObject({ agreed: 1, missing: [] })
      expect(differencesOf(estate, [serverEntry({ hint: 'c' })])).toMatchObject({
        agreed: 0,
        different: [{ fields: [{ field: 'hint', onServer: 'c' }] }],
      })
    })

    test('two pods of one UID', () => {
      const pods = [pod('p'), pod('q', { meta: { uid: 'pod-uid-p' } })]
      const estate = { ids: [csid('a')], pods }
      expect(differencesOf(estate, []).missing).toHaveLength(1)
      expect(differencesOf(estate, [serverEntry()])).toMatchObject({ agreed: 1, missing: [] })
    })
  })

  test('selectors that read alike without separators are one entry to SCM, and differ', () => {
    const ids = [csid('a', { workloadSelectorTemplates: ['x:yz'] })]
    const selectors = [
      { type: 'k8s', value: 'pod-uid:pod-uid-p' },
      { type: 'xy', value: 'z' },
    ]
    const { different } = differencesOf({ ids }, [serverEntry({ selectors })])
    expect(different.map(({ fields }) => fields)).toEqual([
      [
        {
          field: 'selectors',
          predicted: 'k8s:pod-uid:pod-uid-p, x:yz',
          onServer: 'k8s:pod-uid:pod-uid-p, xy:z',
        },
      ],
    ])
  })

  test('an entry whose text is not followed explains one entry of its pod, and no more', () => {
    const ids = [csid('a', { spiffeIDTemplate: 'spiffe://td/{{ .PodMeta }}' })]
    const entries = [1, 2].map((at) =>
      serverEntry({ id: `e${at}`, spiffe_id: { trust_domain: 'td', path: `/x${at}` } }),
    )
    expect(differencesOf({ ids }, entries)).toMatchObject({ open: 1, extra: [{ entry: { id: 'e2' } }] })
  })

  test('that the server takes an entry is shown by its being there, and is not known while it is not', () => {
    const estate = { ids: [csid('a', { federatesWith: ['far'] })] }
    expect(differencesOf(estate, [])).toMatchObject({
      missing: [],
      perhapsMissing: 1,
      openOn: ['whether the server takes the entries of ClusterSPIFFEID/a'],
    })
    expect(differencesOf(estate, [serverEntry({ federates_with: ['far'] })])).toMatchObject({
      agreed: 1,
      open: 0,
      perhapsMissing: 0,
      openOn: [],
      extra: [],
    })
  })

  describe('an object of which it is not known whether it applies', () => {
    const namespaceSelector = { matchLabels: { env: 'prod' } }
    const estate = { ids: [csid('a', { namespaceSelector })], namespaces: [] }

    test('leaves it open whether its entry should be there, and whether it should be where it is not', () => {
      const openOn = ['whether ClusterSPIFFEID/a applies']
      expect(differencesOf(estate, [serverEntry()])).toMatchObject({
        open: 1,
        agreed: 0,
        perhapsMissing: 0,
        openOn,
      })
      expect(differencesOf(estate, [])).toMatchObject({ open: 0, missing: [], perhapsMissing: 1, openOn })
    })

    test('explains no entry that says something else', () => {
      const { open, different } = differencesOf(estate, [serverEntry({ admin: true })])
      expect(open).toBe(0)
      expect(different.map(({ fields, expected }) => [fields, expected.outline.isCertain])).toEqual([
        [[{ field: 'admin', predicted: 'false', onServer: 'true' }], false],
      ])
    })
  })
})

describe('why an entry is missing', () => {
  test.each<[string, PredictedEstate, Partial<DifferenceEvidence>, string]>([
    ['SCM has counted nothing', { ids: [csid('a')] }, {}, 'scm behind'],
    ['SCM has counted fewer', { ids: [counted({ namespacesSelected: 2 })] }, {}, 'scm behind'],
    ['SCM has counted it', { ids: [counted(COUNTED)] }, {}, 'deleted'],
    ['SCM has counted a failure', { ids: [counted({ ...COUNTED, entryFailures: 1 })] }, {}, 'refused'],
    [
      'SCM has counted another number of pods',
      { ids: [counted({ ...COUNTED, podsSelected: 2 })] },
      {},
      'undetermined',
    ],
    [
      'the pod is younger than the dump',
      { ids: [csid('a')], pods: [pod('p', { meta: { creationTimestamp: '2026-01-01T00:59:45Z' } })] },
      {},
      'race',
    ],
    [
      'the object may be younger than the dump, of which nothing tells when it was made',
      { ids: [csid('a')], statics: [staticEntry('s', {}, { creationTimestamp: '2025-01-01T00:00:00Z' })] },
      { asOf: undefined },
      'race',
    ],
    [
      'it is of a static entry',
      { statics: [staticEntry('s', {}, { creationTimestamp: undefined })] },
      {},
      'undetermined',
    ],
  ])('%s', (_, estate, evidence, cause) => {
    const STATIC = serverEntry({
      id: 's',
      spiffe_id: { trust_domain: 'td', path: '/static' },
      selectors: [{ type: 'k8s', value: 'ns:team-a' }],
    })
    const there = estate.ids === undefined || estate.statics === undefined ? [] : [STATIC]
    expect(causesOf(estate, there, evidence)).toEqual([`missing: ${cause}`])
  })
})

test('where SCM counts failures for all that is missing, of several objects, its requests may fail as a whole', () => {
  const second = (stats: Fields): Fields => {
    const { metadata, ...rest } = counted(stats, { spiffeIDTemplate: 'spiffe://td/second' })
    return { ...rest, metadata: { ...(isRecord(metadata) && metadata), name: 'b', uid: 'uid-b' } }
  }
  const failing = counted({ ...COUNTED, entryFailures: 1 })
  expect(causesOf({ ids: [failing, second({ ...COUNTED, entryFailures: 1 })] }, [])).toEqual([
    'missing: undetermined',
    'missing: undetermined',
  ])
  // What is missing of another object without a failure came through: then the server refuses this one.
  expect(causesOf({ ids: [failing, second(COUNTED)] }, [])).toEqual(['missing: refused', 'missing: deleted'])
})

describe('why an entry is there', () => {
  const other = { trust_domain: 'td', path: '/other' }
  const gone = [{ type: 'k8s', value: 'pod-uid:gone' }]
  test.each<[string, PredictedEstate, Fields, Partial<DifferenceEvidence>, string]>([
    ['it has not the prefix of SCM', { config: PREFIX }, { id: '0b6f' }, {}, 'another registrar'],
    ['it has the prefix of SCM, and its pod is there', { config: PREFIX }, {}, {}, 'scm behind'],
    ['its pod is gone', { config: PREFIX }, { selectors: gone }, {}, 'pod gone'],
    [
      'its pod may be younger than the files',
      { config: PREFIX },
      { selectors: gone },
      { objectsAsOf: undefined },
      'race',
    ],
    [
      'no pods were read',
      { config: PREFIX },
      { selectors: gone },
      { whyPodsUnknown: 'no pods' },
      'undetermined',
    ],
    ['SCM takes all for its own', {}, {}, {}, 'undetermined'],
    [
      'the server refuses what is asked for now',
      { ids: [csid('a', { dnsNameTemplates: ['-'] })], config: PREFIX },
      { spiffe_id: undefined },
      {},
      'kept',
    ],
  ])('%s', (_, estate, fields, evidence, cause) => {
    const { spiffe_id: spiffeId = other, ...rest } = fields
    const isKept = 'spiffe_id' in fields
    const entry = serverEntry({ ...rest, ...(isKept ? {} : { spiffe_id: spiffeId }) })
    expect(causesOf(estate, [entry], evidence)).toEqual([`extra: ${cause}`])
  })
})

describe('why an entry says something else', () => {
  test.each<[string, Fields, Fields, string]>([
    ['it is as SCM made it', {}, { revision_number: '0' }, 'scm behind'],
    ['it was written since, and its object never', {}, { revision_number: '2' }, 'edited on the server'],
    ['both were', { generation: 2 }, { revision_number: '2' }, 'undetermined'],
    ['nothing tells', {}, { revision_number: undefined }, 'undetermined'],
    ['it is older than its object', {}, { revision_number: '2', created_at: '1' }, 'undetermined'],
    ['it expires', {}, { expires_at: '1767400000' }, 'another registrar'],
    [
      'it expires since it was written',
      { generation: 2 },
      { expires_at: '1', revision_number: '2' },
      'edited on the server',
    ],
    ['another client made it', {}, { id: '0b6f', revision_number: '2' }, 'another registrar'],
  ])('%s', (_, meta, fields, cause) => {
    const created = String(Date.parse('2026-01-01T00:50:00Z') / 1000)
    const estate = { ids: [counted(COUNTED, {}, meta)], config: PREFIX }
    expect(causesOf(estate, [serverEntry({ hint: 'b', created_at: created, ...fields })])).toEqual([
      `different: ${cause}`,
    ])
  })
})

/** Entries of other clusters, so that no container here gets one. */
function crowd(count: number): readonly Fields[] {
  return Array.from({ length: count }, (_, at) =>
    serverEntry({
      id: `far.${at}`,
      spiffe_id: { trust_domain: 'td', path: `/far/${at}` },
      parent_id: { trust_domain: 'td', path: '/spire/agent/k8s_psat/far/node' },
    }),
  )
}

function countsOf(entries: readonly Fields[], looksMax?: number): EntryDifferences {
  const { pods } = inputOf({})
  const holders = new EntryHolderIndex({ pods, nodes: undefined, clusterName: 'c1' }, looksMax)
  return differencesOf({ ids: [] }, entries, (entry) => holders.isHeld(entry))
}

describe('more extra entries than are kept', () => {
  const given = serverEntry({
    id: 'made',
    spiffe_id: { trust_domain: 'td', path: '/made' },
    selectors: [{ type: 'k8s', value: 'ns:team-a' }],
  })

  test('the one that a container gets is kept, and the others are counted', () => {
    const { extra, extraBeyond, extraUnjudged } = countsOf([...crowd(50_003), given])
    expect(extra.at(-1)?.entry.id).toBe('made')
    expect([extra.length, extraBeyond, extraUnjudged]).toEqual([50_001, 3, 0])
  })

  test('where too many pods would have to be looked at, the one is counted as not judged', () => {
    const { extra, extraBeyond, extraUnjudged } = countsOf([...crowd(50_003), given], 0)
    expect([extra.length, extraBeyond, extraUnjudged]).toEqual([50_000, 3, 1])
  })
})
