// docs/spire-facts.md §1, §3, §11.2-7, §11.12, §11.17 and traps 9, 10, 14: the entry that is rendered, and what the server
// says to it.
import { describe, expect, test } from 'vitest'
import type { EntryOutcome } from '../../src/core/predict/spire/prediction.ts'
import {
  containersOf,
  csid,
  pod,
  predicted,
  staticEntry,
  verdictsOf,
  whyOf,
  type PredictedEstate,
  type Fields,
} from './estate.ts'

const X = 'spiffe://td/x'

function outcome(estate: PredictedEstate, name = 'a'): EntryOutcome {
  const { prediction, pods } = predicted(estate)
  const found = pods
    .flatMap((subject) => prediction.entriesOf(subject))
    .find(({ source }) => source.name === name)
  if (found === undefined) throw new Error(`${name} selects no pod`)
  return found
}

const selectorsOf = (estate: PredictedEstate): readonly string[] | undefined =>
  outcome(estate).entry?.selectors.map(({ type, value }) => `${type}:${value}`)

test.each([
  ['cannot match', ['k8s:container-name:proxy', '{{ .PodMeta }}'], 'dead'],
  ['matches', ['k8s:container-name:vllm', '{{ .PodMeta }}'], 'unknown'],
  ['is known on the node alone', ['unix:uid:0'], 'unknown'],
])('of an entry whose ID is not predictable a selector %s', (_, workloadSelectorTemplates, verdict) => {
  const spec = { spiffeIDTemplate: `${X}/{{ .PodMeta }}`, workloadSelectorTemplates }
  expect(containersOf(predicted({ ids: [csid('a', spec)] }))).toEqual([`vllm a: ${verdict}`])
})

describe('what is rendered', () => {
  test('§3: the pod UID first, then the templates in order', () => {
    const ids = [
      csid('a', { workloadSelectorTemplates: ['k8s:sa:{{ .PodSpec.ServiceAccountName }}', 'k8s:ns:team-a'] }),
    ]
    expect(selectorsOf({ ids })).toEqual(['k8s:pod-uid:pod-uid-p', 'k8s:sa:runner', 'k8s:ns:team-a'])
  })

  test('trap 10: a selector splits at its first colon and keeps its newline', () => {
    const ids = [csid('a', { workloadSelectorTemplates: ['k8s:pod-label:x:y:z\n'] })]
    expect(outcome({ ids }).entry?.selectors[1]).toMatchObject({ type: 'k8s', value: 'pod-label:x:y:z\n' })
  })

  test('§3: TTLs are whole seconds; hint, federation and flags are copied', () => {
    const spec = {
      ttl: '1h30m',
      jwtTtl: '5m0.9s',
      hint: 'h',
      admin: true,
      downstream: true,
      federatesWith: ['td', 'spiffe://td/any/path'],
    }
    expect(outcome({ ids: [csid('a', spec)] }).entry).toMatchObject({
      x509SvidTtl: 5400,
      jwtSvidTtl: 300,
      hint: 'h',
      admin: true,
      downstream: true,
      federatesWith: ['td', 'td'],
      storeSvid: false,
    })
  })

  test('§3: DNS names keep their order, the first occurrence wins', () => {
    const ids = [csid('a', { dnsNameTemplates: ['{{ .PodMeta.Name }}', 'b', 'p'] })]
    expect(outcome({ ids }).entry?.dnsNames).toEqual(['p', 'b'])
  })

  test('§3: autoPopulateDNSNames adds the names of the Services, sorted', () => {
    const endpoints = [
      {
        metadata: { name: 'svc', namespace: 'team-a' },
        subsets: [{ addresses: [{ targetRef: { kind: 'Pod', uid: 'pod-uid-p' } }] }],
      },
      {
        metadata: { name: 'api', namespace: 'team-a' },
        subsets: [{ notReadyAddresses: [{ targetRef: { kind: 'Pod', uid: 'pod-uid-p' } }] }],
      },
      {
        metadata: { name: 'far', namespace: 'team-b' },
        subsets: [{ addresses: [{ targetRef: { kind: 'Pod', uid: 'pod-uid-p' } }] }],
      },
    ]
    const ids = [csid('a', { autoPopulateDNSNames: true, dnsNameTemplates: ['svc', 'zz'] })]
    expect(outcome({ ids, endpoints }).entry?.dnsNames).toEqual([
      'svc',
      'zz',
      'api',
      'api.team-a',
      'api.team-a.svc',
      'api.team-a.svc.cluster.local',
      'svc.team-a',
      'svc.team-a.svc',
      'svc.team-a.svc.cluster.local',
    ])
  })

  test('autoPopulateDNSNames shows that the cluster domain is not known', () => {
    const subsets = [{ addresses: [{ targetRef: { kind: 'Pod', uid: 'pod-uid-p' } }] }]
    const endpoints = [{ metadata: { name: 'svc', namespace: 'team-a' }, subsets }]
    const ids = [csid('a', { autoPopulateDNSNames: true })]
    expect(outcome({ ids, endpoints, config: { clusterDomain: '$DOMAIN' } }).entry).toMatchObject({
      dnsNames: ['svc', 'svc.team-a', 'svc.team-a.svc', 'svc.team-a.svc.<cluster-domain>'],
      placeholders: ['<cluster-domain>'],
    })
  })

  test.each([
    ['two dashes at the third place', 'ml--svc', 'gives "ml--svc", which'],
    ['a label that is too long', 'a'.repeat(64), 'which'],
  ])('§11.4: the name of a Service with %s refuses the entry', (_what, name, why) => {
    const subsets = [{ addresses: [{ targetRef: { kind: 'Pod', uid: 'pod-uid-p' } }] }]
    const endpoints = [{ metadata: { name, namespace: 'team-a' }, subsets }]
    const { verdict } = outcome({ ids: [csid('a', { autoPopulateDNSNames: true })], endpoints })
    expect(verdict).toMatchObject({ state: 'refused' })
    expect(JSON.stringify(verdict)).toContain('.spec.autoPopulateDNSNames of ClusterSPIFFEID/a')
    expect('why' in verdict ? verdict.why : '').toContain(why)
  })

  test('autoPopulateDNSNames is an open fact where Endpoints are not known', () => {
    const ids = [csid('a', { autoPopulateDNSNames: true })]
    expect(outcome({ ids }).entry?.placeholders).toEqual(['<DNS names of its Services>'])
  })

  test('§11.18: autoPopulateDNSNames is an open fact where cacheNamespaces narrow by label', () => {
    const ids = [csid('a', { autoPopulateDNSNames: true })]
    const config = { cacheNamespaces: { 'team-a': { labelSelectors: { app: 'llama' } } } }
    expect(outcome({ ids, endpoints: [], config }).entry?.placeholders).toEqual([
      '<DNS names of its Services>',
    ])
  })
})

interface Row {
  readonly name: string
  readonly spec: Fields
  readonly state: string
  readonly why?: string
}

const FIELD = (name: string): string => `.spec.${name} of ClusterSPIFFEID/a`

const ROWS: readonly Row[] = [
  {
    name: '§1: an empty template is refused by the parser',
    spec: { spiffeIDTemplate: '' },
    state: 'failed',
    why: `${FIELD('spiffeIDTemplate')} is not valid: it is empty; SCM drops the object`,
  },
  {
    name: '§1: an unknown function is a syntax error',
    spec: { spiffeIDTemplate: '{{ upper "a" }}' },
    state: 'failed',
  },
  { name: '§1: a federatesWith that is no trust domain', spec: { federatesWith: ['A'] }, state: 'failed' },
  { name: '§11.6: a..b is a trust domain', spec: { federatesWith: ['a..b'] }, state: 'depends' },
  {
    name: '§1: an unknown field fails on the pod',
    spec: { spiffeIDTemplate: `${X}/{{ .PodMeta.Nope }}` },
    state: 'failed',
  },
  {
    name: '§1: pod status is not in the data',
    spec: { spiffeIDTemplate: `${X}/{{ .PodStatus.Phase }}` },
    state: 'failed',
  },
  {
    name: '§1: a foreign trust domain',
    spec: { spiffeIDTemplate: 'spiffe://other/x' },
    state: 'failed',
    why: `${FIELD('spiffeIDTemplate')} fails on this pod: it gives spiffe://other/x, which is not in SCM's trust domain td`,
  },
  { name: '§1: a trailing newline in the SPIFFE ID', spec: { spiffeIDTemplate: `${X}\n` }, state: 'failed' },
  {
    name: 'trap 9: <no value> in the SPIFFE ID',
    spec: { spiffeIDTemplate: `${X}/{{ .PodMeta.Labels.none }}` },
    state: 'failed',
  },
  {
    name: 'trap 9: an empty segment in the SPIFFE ID',
    spec: { spiffeIDTemplate: `${X}/{{ index .PodMeta.Labels "none" }}` },
    state: 'failed',
  },
  {
    name: 'trap 9: <no value> in a selector is a live entry',
    spec: { workloadSelectorTemplates: ['k8s:pod-label:x:{{ .PodMeta.Labels.none }}'] },
    state: 'declared',
  },
  {
    name: 'trap 9: an empty value after a key is a live entry',
    spec: { workloadSelectorTemplates: ['k8s:pod-label:x:{{ index .PodMeta.Labels "none" }}'] },
    state: 'declared',
  },
  {
    name: '§1: a selector without a colon',
    spec: { workloadSelectorTemplates: ['k8s'] },
    state: 'failed',
    why: `${FIELD('workloadSelectorTemplates[0]')} fails on this pod: "k8s" has no colon between type and value`,
  },
  { name: '§1: a selector without a type', spec: { workloadSelectorTemplates: [':x'] }, state: 'failed' },
  { name: '§1: a selector without a value', spec: { workloadSelectorTemplates: ['k8s:'] }, state: 'failed' },
  {
    name: '§1: a failing DNS name template fails the entry',
    spec: { dnsNameTemplates: ['{{ .PodMeta.Nope }}'] },
    state: 'failed',
  },
  {
    name: '§11.17: a printed struct is not predictable',
    spec: { dnsNameTemplates: ['{{ .PodMeta }}'] },
    state: 'unknown',
  },
  {
    name: 'a failure wins over what is not known, as SCM stops at it',
    spec: { spiffeIDTemplate: `${X}/{{ .PodMeta }}`, workloadSelectorTemplates: ['k8s'] },
    state: 'failed',
  },
  {
    name: '§3: a SPIFFE ID without a path',
    spec: { spiffeIDTemplate: 'spiffe://td' },
    state: 'refused',
    why: `${FIELD('spiffeIDTemplate')} gives spiffe://td, which has no path, which an entry needs`,
  },
  {
    name: '§3: a SPIFFE ID under /spire',
    spec: { spiffeIDTemplate: 'spiffe://td/spire/x' },
    state: 'refused',
  },
  {
    name: '§3: a SPIFFE ID beside /spire',
    spec: { spiffeIDTemplate: 'spiffe://td/spireling' },
    state: 'declared',
  },
  {
    name: '§11: there is no check of the length',
    spec: { spiffeIDTemplate: `${X}/${'y'.repeat(4000)}` },
    state: 'declared',
  },
  {
    name: '§3: a duplicate selector',
    spec: { workloadSelectorTemplates: ['k8s:ns:a', 'k8s:ns:a'] },
    state: 'refused',
    why: `${FIELD('workloadSelectorTemplates')} gives the selector k8s:ns:a twice`,
  },
  {
    name: 'trap 10: repeating the pod UID',
    spec: { workloadSelectorTemplates: ['k8s:pod-uid:{{ .PodMeta.UID }}'] },
    state: 'refused',
  },
  { name: '§3: a hint of 1024 bytes', spec: { hint: 'é'.repeat(512) }, state: 'declared' },
  {
    name: '§11: the hint limit counts bytes',
    spec: { hint: `${'é'.repeat(512)}x` },
    state: 'refused',
    why: `${FIELD('hint')} has 1025 bytes, and the server takes 1024`,
  },
  {
    name: '§11.5: a negative TTL',
    spec: { ttl: '-1s' },
    state: 'refused',
    why: `${FIELD('ttl')} reaches the server as -1 s`,
  },
  { name: '§11.5: -500ms is 0 and accepted', spec: { ttl: '-500ms' }, state: 'declared' },
  { name: '§11.5: 596524h wraps negative', spec: { jwtTtl: '596524h' }, state: 'refused' },
  { name: '§11.5: 1193047h becomes 1904 s', spec: { ttl: '1193047h' }, state: 'declared' },
  {
    name: '§11.4: a bad DNS name refuses the whole entry',
    spec: { dnsNameTemplates: ['ok', 'a.*'] },
    state: 'refused',
  },
  {
    name: '§11.4: index of a missing label is an empty DNS name',
    spec: { dnsNameTemplates: ['{{ index .PodMeta.Labels "none" }}'] },
    state: 'refused',
  },
  {
    name: '§11.4: <no value> is a DNS name to the server',
    spec: { dnsNameTemplates: ['{{ .PodMeta.Labels.none }}'] },
    state: 'declared',
  },
  {
    name: '§3: federatesWith a foreign trust domain needs its bundle',
    spec: { federatesWith: ['td', 'far', 'far'] },
    state: 'depends',
    why: 'the SPIRE server takes it only if it holds a bundle of far (.spec.federatesWith of ClusterSPIFFEID/a)',
  },
  { name: '§11.6: its own trust domain is accepted', spec: { federatesWith: ['td'] }, state: 'declared' },
]

describe('what becomes of it', () => {
  test.each(ROWS)('$name', ({ spec, state }) => {
    const estate = predicted({ ids: [csid('a', { spiffeIDTemplate: X, ...spec })] })
    expect(verdictsOf(estate)).toEqual([`a: ${state}`])
  })

  test.each(ROWS.filter(({ why }) => why !== undefined))('$name: the reason', ({ spec, why }) => {
    const estate = predicted({ ids: [csid('a', { spiffeIDTemplate: X, ...spec })] })
    expect(whyOf(estate, 'a')).toBe(why)
  })

  test('§11.5: the TTL that wraps is 1904 s', () => {
    expect(outcome({ ids: [csid('a', { ttl: '1193047h' })] }).entry?.x509SvidTtl).toBe(1904)
  })

  test('an unknown trust domain is not taken for the beginning of another', () => {
    const ids = [csid('a', { spiffeIDTemplate: 'spiffe://{{ .TrustDomain }}y/x' })]
    expect(verdictsOf(predicted({ ids, config: { trustDomain: '$TD' } }))).toEqual(['a: depends'])
  })

  test("SCM's trust domain not being known leaves a literal one open", () => {
    const ids = [
      csid('a', { spiffeIDTemplate: X }),
      csid('b', { spiffeIDTemplate: 'spiffe://{{ .TrustDomain }}/x' }),
    ]
    const estate = predicted({ ids, config: { trustDomain: '$TD' } })
    expect(verdictsOf(estate)).toEqual(['a: depends', 'b: declared'])
    expect(outcome({ ids, config: { trustDomain: '$TD' } }, 'b').entry?.spiffeId).toBe(
      'spiffe://<trust-domain>/x',
    )
  })
})

describe('§11.7: text that is not UTF-8', () => {
  const cut = csid('cut', {
    spiffeIDTemplate: X,
    workloadSelectorTemplates: ['k8s:x:{{ slice .PodMeta.Annotations.a 0 1 }}'],
  })
  const pods = [
    pod('p', { meta: { annotations: { a: 'é' } } }),
    pod('q', { meta: { annotations: { a: 'e' } } }),
  ]

  test('the entry is refused, and no new entry is certain', () => {
    const estate = predicted({ ids: [cut, csid('other')], pods })
    expect([verdictsOf(estate, 0), verdictsOf(estate, 1)]).toEqual([
      ['cut: refused', 'other: depends'],
      ['cut: depends', 'other: depends'],
    ])
    expect(estate.prediction.scmFaults()).toEqual([
      {
        source: { kind: 'ClusterSPIFFEID', name: 'cut' },
        kind: 'not UTF-8',
        why: '.spec.workloadSelectorTemplates of ClusterSPIFFEID/cut gives text that is not UTF-8 on pod team-a/p, so SCM creates no entries at all',
      },
    ])
  })

  test('fallback marks stay', () => {
    const estate = predicted({ ids: [cut, csid('default', { fallback: true })], pods })
    expect(verdictsOf(estate)).toEqual(['cut: refused', 'default: displaced'])
  })

  test('it does no harm where it is masked, displaced or not handled', () => {
    const cutting = {
      spiffeIDTemplate: 'spiffe://td/y',
      workloadSelectorTemplates: ['k8s:x:{{ slice .PodMeta.Annotations.a 0 1 }}'],
    }
    const estate = predicted({
      ids: [
        csid('cut', { ...cutting, className: 'y' }),
        csid('other'),
        csid('zut', { ...cutting, fallback: true }),
      ],
      pods,
    })
    expect(verdictsOf(estate)).toEqual(['cut: ignored', 'other: declared', 'zut: displaced'])
    expect(estate.prediction.scmFaults()).toEqual([])
  })
})

describe('static entries (§3, §11.7, §11.15)', () => {
  const rows: readonly { name: string; spec: Fields; state: string }[] = [
    { name: 'a sound one', spec: {}, state: 'declared' },
    { name: 'a SPIFFE ID that is none', spec: { spiffeID: 'x' }, state: 'failed' },
    { name: 'a parent ID that is none', spec: { parentID: '' }, state: 'failed' },
    { name: 'a selector without a colon', spec: { selectors: ['k8s'] }, state: 'failed' },
    { name: 'a trust domain that is none', spec: { federatesWith: ['A'] }, state: 'failed' },
    { name: '§11.7: no selectors', spec: { selectors: [] }, state: 'refused' },
    { name: '§11.7: repeated DNS names', spec: { dnsNames: ['a', 'a'] }, state: 'refused' },
    {
      name: '§11.7: storeSVID with two selector types',
      spec: { storeSVID: true, selectors: ['a:b', 'b:c'] },
      state: 'refused',
    },
    {
      name: 'storeSVID with one selector type',
      spec: { storeSVID: true, selectors: ['a:b', 'a:c'] },
      state: 'declared',
    },
    { name: 'a duplicate selector', spec: { selectors: ['a:b', 'a:b'] }, state: 'refused' },
    {
      name: "a trust domain that is not SCM's, which need not be the server's",
      spec: { spiffeID: 'spiffe://far/x' },
      state: 'depends',
    },
    {
      name: "a parent in a trust domain that is not SCM's",
      spec: { parentID: 'spiffe://far/spire/agent/x' },
      state: 'depends',
    },
    { name: 'a parent without a path', spec: { parentID: 'spiffe://td' }, state: 'refused' },
    { name: 'another class', spec: { className: 'y' }, state: 'ignored' },
    { name: 'a bad DNS name', spec: { dnsNames: ['a.'] }, state: 'refused' },
    { name: 'a foreign bundle', spec: { federatesWith: ['far'] }, state: 'depends' },
    { name: 'an undecodable TTL', spec: { jwtSVIDTTL: 'soon' }, state: 'depends' },
  ]
  test.each(rows)('$name', ({ spec, state }) => {
    const { prediction } = predicted({ statics: [staticEntry('s', spec)] })
    expect(prediction.staticEntries().map(({ verdict }) => verdict.state)).toEqual([state])
  })

  test('without a known trust domain they are open', () => {
    const { prediction } = predicted({ statics: [staticEntry('s')], config: { trustDomain: '$TD' } })
    expect(prediction.staticEntries().map(({ verdict }) => verdict.state)).toEqual(['depends'])
  })

  test('§11.13: they are not filtered by labels, but can be switched off', () => {
    const states = [
      { clusterSPIFFEIDLabelSelector: { a: 'b' } },
      { reconcile: { clusterSPIFFEIDs: true } },
    ].map(
      (config) =>
        predicted({ statics: [staticEntry('s')], config }).prediction.staticEntries()[0]?.verdict.state,
    )
    expect(states).toEqual(['declared', 'ignored'])
  })
})
