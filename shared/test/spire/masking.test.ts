// docs/spire-facts.md §3, §11.1 and traps 10, 11, 15: which objects want the same entry, and who gets it.
import { describe, expect, test } from 'vitest'
import {
  csid,
  pod,
  predicted,
  staticEntry,
  verdictsOf,
  whyOf,
  type PredictedEstate,
  type Fields,
} from './estate.ts'

const SAME = { spiffeIDTemplate: 'spiffe://td/x' }
const selecting = (...templates: string[]): Fields => ({ ...SAME, workloadSelectorTemplates: templates })
const at = (second: number): string => `2026-01-01T00:00:0${second}Z`

interface Row {
  readonly name: string
  readonly estate: PredictedEstate
  readonly verdicts: readonly string[]
}

const ROWS: readonly Row[] = [
  {
    name: '§3: the oldest wins',
    estate: {
      ids: [csid('a', SAME, { creationTimestamp: at(2) }), csid('b', SAME, { creationTimestamp: at(1) })],
    },
    verdicts: ['a: masked', 'b: declared'],
  },
  {
    name: '§3: of equal age, the one not being deleted wins',
    estate: {
      ids: [
        csid('a', SAME, { creationTimestamp: at(1), deletionTimestamp: at(5) }),
        csid('b', SAME, { creationTimestamp: at(1) }),
      ],
    },
    verdicts: ['a: masked', 'b: declared'],
  },
  {
    name: '§3: of two being deleted, the one deleted later wins',
    estate: {
      ids: [
        csid('a', SAME, { creationTimestamp: at(1), deletionTimestamp: at(5) }),
        csid('b', SAME, { creationTimestamp: at(1), deletionTimestamp: at(6) }),
      ],
    },
    verdicts: ['a: masked', 'b: declared'],
  },
  {
    name: '§3: age goes before deletion',
    estate: {
      ids: [
        csid('a', SAME, { creationTimestamp: at(1), deletionTimestamp: at(5) }),
        csid('b', SAME, { creationTimestamp: at(2) }),
      ],
    },
    verdicts: ['a: declared', 'b: masked'],
  },
  {
    name: '§3: the smaller UID decides at last',
    estate: {
      ids: [
        csid('a', SAME, { creationTimestamp: at(1), uid: 'z' }),
        csid('b', SAME, { creationTimestamp: at(1), uid: 'y' }),
      ],
    },
    verdicts: ['a: masked', 'b: declared'],
  },
  {
    name: '§3: each loser is masked',
    estate: { ids: [csid('a', SAME), csid('b', SAME), csid('c', SAME)] },
    verdicts: ['a: declared', 'b: masked', 'c: masked'],
  },
  {
    name: 'an object that is not created yet is the newest',
    estate: {
      ids: [csid('a', SAME, { creationTimestamp: undefined, uid: undefined }), csid('b', SAME)],
    },
    verdicts: ['a: masked', 'b: declared'],
  },
  {
    name: 'an object that is not created yet is the newest, whatever its name',
    estate: {
      ids: [csid('a', SAME), csid('b', SAME, { creationTimestamp: undefined, uid: undefined })],
    },
    verdicts: ['a: declared', 'b: masked'],
  },
  {
    name: 'a live object whose age was left out cannot be ordered',
    estate: { ids: [csid('a', SAME, { creationTimestamp: undefined }), csid('b', SAME)] },
    verdicts: ['a: depends', 'b: depends'],
  },
  {
    name: 'a masked entry that the server would refuse is masked, as SCM does not send it',
    estate: { ids: [csid('a', SAME), csid('b', { ...SAME, hint: 'h'.repeat(2000) })] },
    verdicts: ['a: declared', 'b: masked'],
  },
  {
    name: 'two objects that are not created yet cannot be ordered',
    estate: {
      ids: [
        csid('a', SAME, { creationTimestamp: undefined, uid: undefined }),
        csid('b', SAME, { creationTimestamp: undefined, uid: undefined }),
      ],
    },
    verdicts: ['a: depends', 'b: depends'],
  },
  {
    name: 'trap 11: different SPIFFE IDs do not mask',
    estate: { ids: [csid('a', SAME), csid('b', { spiffeIDTemplate: 'spiffe://td/y' })] },
    verdicts: ['a: declared', 'b: declared'],
  },
  {
    name: 'trap 11: different selectors do not mask',
    estate: { ids: [csid('a', SAME), csid('b', selecting('k8s:ns:team-a'))] },
    verdicts: ['a: declared', 'b: declared'],
  },
  {
    name: '§3: the order of selectors is no difference',
    estate: { ids: [csid('a', selecting('k8s:a:1', 'k8s:b:1')), csid('b', selecting('k8s:b:1', 'k8s:a:1'))] },
    verdicts: ['a: declared', 'b: masked'],
  },
  {
    name: '§11.1: x:yz masks xy:z, as the key has no separators',
    estate: { ids: [csid('a', selecting('x:yz')), csid('b', selecting('xy:z'))] },
    verdicts: ['a: declared', 'b: masked'],
  },
  {
    name: '§11.1: x:1 and x:2 mask x:1x2',
    estate: { ids: [csid('a', selecting('x:1', 'x:2')), csid('b', selecting('x:1x2'))] },
    verdicts: ['a: declared', 'b: masked'],
  },
  {
    name: '§11.1: a static entry can mask a ClusterSPIFFEID, and the other way round',
    estate: {
      ids: [
        csid('a', selecting('x:yz')),
        csid('b', { ...selecting('k8s:ns:team-a'), spiffeIDTemplate: 'spiffe://td/y' }),
      ],
      statics: [
        staticEntry(
          'old',
          { spiffeID: 'spiffe://td/x', selectors: ['k8s:pod-uid:pod-uid-p', 'xy:z'] },
          { creationTimestamp: '2025-01-01T00:00:00Z' },
        ),
        staticEntry('young', {
          spiffeID: 'spiffe://td/y',
          selectors: ['k8s:ns:team-a', 'k8s:pod-uid:pod-uid-p'],
        }),
      ],
    },
    verdicts: ['a: masked', 'b: declared', 'old: declared', 'young: masked'],
  },
  {
    name: 'a static entry of another class masks nothing',
    estate: {
      ids: [csid('a', SAME)],
      statics: [
        staticEntry(
          'old',
          { spiffeID: 'spiffe://td/x', className: 'y', selectors: ['k8s:pod-uid:pod-uid-p'] },
          { creationTimestamp: '2025-01-01T00:00:00Z' },
        ),
      ],
    },
    verdicts: ['a: declared', 'old: ignored'],
  },
  {
    name: 'trap 15: a refused winner keeps the loser out',
    estate: { ids: [csid('a', { ...SAME, hint: 'h'.repeat(2000) }), csid('b', SAME)] },
    verdicts: ['a: refused', 'b: masked'],
  },
  {
    name: 'trap 2: being a fallback is no tie-break',
    estate: { ids: [csid('a', { ...SAME, fallback: true }), csid('b', { ...SAME, fallback: true })] },
    verdicts: ['a: declared', 'b: masked'],
  },
  {
    name: 'a displaced fallback masks no entry',
    estate: { ids: [csid('a', { ...SAME, fallback: true }), csid('b', SAME)] },
    verdicts: ['a: displaced', 'b: declared'],
  },
  {
    name: 'an ignored object masks no entry',
    estate: { ids: [csid('a', { ...SAME, className: 'y' }), csid('b', SAME)] },
    verdicts: ['a: ignored', 'b: declared'],
  },
  {
    name: 'an older object that may not be handled leaves the younger open',
    estate: {
      ids: [csid('a', { ...SAME, className: 'y' }), csid('b', SAME)],
      config: { className: '$CLASS', watchClassless: true },
    },
    verdicts: ['a: depends', 'b: depends'],
  },
  {
    name: 'a younger object that may not be handled is masked if it is',
    estate: {
      ids: [csid('a', SAME), csid('b', { ...SAME, className: 'y' })],
      config: { className: '$CLASS', watchClassless: true },
    },
    verdicts: ['a: declared', 'b: masked'],
  },
]

describe('masking', () => {
  test.each(ROWS)('$name', ({ estate, verdicts }) => {
    expect(verdictsOf(predicted(estate))).toEqual(verdicts)
  })

  test('the reason names the winner', () => {
    const estate = predicted({ ids: [csid('a', SAME), csid('b', SAME)] })
    expect(whyOf(estate, 'b')).toBe('ClusterSPIFFEID/a wants the same entry and comes first')
  })

  test('trap 16: two pods never share an entry', () => {
    const estate = predicted({ ids: [csid('a', SAME)], pods: [pod('p'), pod('q')] })
    expect([verdictsOf(estate, 0), verdictsOf(estate, 1)]).toEqual([['a: declared'], ['a: declared']])
  })

  test('static entries mask one another', () => {
    const { prediction } = predicted({
      statics: [
        staticEntry('a', {}, { creationTimestamp: at(2) }),
        staticEntry('b', { className: '' }, { creationTimestamp: at(1) }),
      ],
    })
    expect(prediction.staticEntries().map(({ verdict }) => verdict.state)).toEqual(['masked', 'declared'])
  })

  test.each(['pod-uid-p', '00000000-0000-4000-8000-000000000001'])(
    'a static entry that loses to pod %s says so where no pod is asked for',
    (uid) => {
      const { prediction } = predicted({
        ids: [csid('a', SAME)],
        statics: [staticEntry('young', { spiffeID: 'spiffe://td/x', selectors: [`k8s:pod-uid:${uid}`] })],
        pods: [pod('p', { meta: { uid } })],
      })
      expect(prediction.staticEntries().map(({ verdict }) => verdict)).toMatchObject([
        { state: 'masked', by: { kind: 'ClusterSPIFFEID', name: 'a' } },
      ])
    },
  )
})
