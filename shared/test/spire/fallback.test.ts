// docs/spire-facts.md §4 and traps 1 to 3, 15, 21: who displaces a fallback, and who does not.
import { describe, expect, test } from 'vitest'
import { containersOf, csid, pod, predicted, verdictsOf, whyOf, type PredictedEstate } from './estate.ts'

const DEFAULT = csid('default', { fallback: true, className: '' })

interface Row {
  readonly name: string
  readonly estate: PredictedEstate
  readonly verdicts: readonly string[]
}

const ROWS: readonly Row[] = [
  {
    name: 'a fallback alone applies',
    estate: { ids: [DEFAULT] },
    verdicts: ['default: declared'],
  },
  {
    name: '§4: another ClusterSPIFFEID on the pod displaces it',
    estate: { ids: [DEFAULT, csid('other')] },
    verdicts: ['default: displaced', 'other: declared'],
  },
  {
    name: 'trap 1: one for another container displaces it too',
    estate: {
      ids: [DEFAULT, csid('other', { workloadSelectorTemplates: ['k8s:container-name:elsewhere'] })],
    },
    verdicts: ['default: displaced', 'other: declared'],
  },
  {
    name: '§4.2: one that can match nothing displaces it too',
    estate: { ids: [DEFAULT, csid('other', { workloadSelectorTemplates: ['k8s:ns:team-z'] })] },
    verdicts: ['default: displaced', 'other: declared'],
  },
  {
    name: 'trap 15: one that the server refuses displaces it too',
    estate: { ids: [DEFAULT, csid('other', { hint: 'h'.repeat(1025) })] },
    verdicts: ['default: displaced', 'other: refused'],
  },
  {
    name: '§4.3: one that waits for a federated bundle displaces it too',
    estate: { ids: [DEFAULT, csid('other', { federatesWith: ['elsewhere'] })] },
    verdicts: ['default: displaced', 'other: depends'],
  },
  {
    name: 'trap 2: two fallbacks both apply',
    estate: { ids: [DEFAULT, csid('second', { fallback: true, spiffeIDTemplate: 'spiffe://td/second' })] },
    verdicts: ['default: declared', 'second: declared'],
  },
  {
    name: 'trap 2: one displaces both fallbacks',
    estate: { ids: [DEFAULT, csid('second', { fallback: true }), csid('other')] },
    verdicts: ['default: displaced', 'other: declared', 'second: displaced'],
  },
  {
    name: '§4: one that fails to render does not displace it',
    estate: { ids: [DEFAULT, csid('other', { spiffeIDTemplate: 'spiffe://td/{{ .PodMeta.Labels.none }}' })] },
    verdicts: ['default: declared', 'other: failed'],
  },
  {
    name: 'trap 21: one that does not parse does not displace it',
    estate: { ids: [DEFAULT, csid('other', { spiffeIDTemplate: '{{ .PodMeta' })] },
    verdicts: ['default: declared', 'other: failed'],
  },
  {
    name: '§4: one of another class does not displace it',
    estate: { ids: [DEFAULT, csid('other', { className: 'else' })] },
    verdicts: ['default: declared', 'other: ignored'],
  },
  {
    name: '§11.13: one outside the label filter does not displace it',
    estate: {
      ids: [csid('default', { fallback: true }, { labels: { seen: 'yes' } }), csid('other')],
      config: { clusterSPIFFEIDLabelSelector: { seen: 'yes' } },
    },
    verdicts: ['default: declared', 'other: ignored'],
  },
  {
    name: '§4: a static entry does not displace it',
    estate: {
      ids: [DEFAULT],
      statics: [
        {
          metadata: { name: 'static', uid: 'u' },
          spec: {
            spiffeID: 'spiffe://td/static',
            parentID: 'spiffe://td/spire/agent/k8s_psat/c1/node-uid-1',
            selectors: ['k8s:ns:team-a'],
          },
        },
      ],
    },
    verdicts: ['default: declared', 'static: declared'],
  },
  {
    name: 'one of a class that may be handled leaves it open',
    estate: {
      ids: [csid('default', { fallback: true, className: 'ours' }), csid('other', { className: 'ours' })],
      config: { className: '$CLASS', watchClassless: true },
    },
    verdicts: ['default: depends', 'other: depends'],
  },
  {
    name: 'one whose template kleym does not follow leaves it open',
    estate: { ids: [DEFAULT, csid('other', { spiffeIDTemplate: 'spiffe://td/{{ .PodMeta }}' })] },
    verdicts: ['default: depends', 'other: unknown'],
  },
  {
    name: '§11.9: one that cannot be decoded leaves it open',
    estate: { ids: [DEFAULT, csid('other', { ttl: '1d' })] },
    verdicts: ['default: depends', 'other: depends'],
  },
  {
    name: 'a certain one settles it, whatever else is open',
    estate: {
      ids: [DEFAULT, csid('aaa'), csid('other', { spiffeIDTemplate: 'spiffe://td/{{ .PodMeta }}' })],
    },
    verdicts: ['aaa: declared', 'default: displaced', 'other: unknown'],
  },
  {
    name: 'a fallback that fails to render is displaced all the same',
    estate: {
      ids: [csid('default', { fallback: true, spiffeIDTemplate: 'x{{ .PodMeta.UID }}' }), csid('other')],
    },
    verdicts: ['default: displaced', 'other: declared'],
  },
  {
    name: 'trap 21: a fallback that does not parse stays invalid',
    estate: { ids: [csid('default', { fallback: true, spiffeIDTemplate: '' }), csid('other')] },
    verdicts: ['default: failed', 'other: declared'],
  },
]

describe('the fallback', () => {
  test.each(ROWS)('$name', ({ estate, verdicts }) => {
    expect(verdictsOf(predicted(estate))).toEqual(verdicts)
  })

  test('the reason names both objects', () => {
    const estate = predicted({ ids: [DEFAULT, csid('x')] })
    expect(whyOf(estate, 'default')).toBe(
      'ClusterSPIFFEID/default is a fallback and ClusterSPIFFEID/x selects this pod',
    )
  })

  test('§4.1: the other containers of the pod end without identity', () => {
    const estate = predicted({
      ids: [DEFAULT, csid('x', { workloadSelectorTemplates: ['k8s:container-name:vllm'] })],
      pods: [pod('p', { spec: { containers: [{ name: 'vllm' }, { name: 'lora-syncer' }] } })],
    })
    expect(containersOf(estate)).toEqual([
      'vllm x: issued',
      'vllm default: displaced',
      'lora-syncer default: displaced',
      'lora-syncer x: dead',
    ])
  })

  test('it is decided pod by pod: the next pod keeps its default identity', () => {
    const estate = predicted({
      ids: [DEFAULT, csid('x', { podSelector: { matchLabels: { app: 'other' } } })],
      pods: [pod('p'), pod('q', { meta: { labels: { app: 'other' } } })],
    })
    expect([verdictsOf(estate, 0), verdictsOf(estate, 1)]).toEqual([
      ['default: declared'],
      ['default: displaced', 'x: declared'],
    ])
  })

  test('§5: a literal k8s:ns without namespaceSelector takes the default identity of look-alike pods elsewhere', () => {
    const [loose, pinned] = [undefined, { matchLabels: { 'kubernetes.io/metadata.name': 'team-a' } }]
      .map((namespaceSelector) =>
        predicted({
          ids: [
            DEFAULT,
            csid('x', {
              spiffeIDTemplate: 'spiffe://td/x',
              podSelector: { matchLabels: { app: 'llama' } },
              workloadSelectorTemplates: ['k8s:ns:team-a'],
              namespaceSelector,
            }),
          ],
          pods: [pod('p', { meta: { namespace: 'team-b' } })],
        }),
      )
      .map((estate) => containersOf(estate))
    expect(loose).toEqual(['vllm default: displaced', 'vllm x: dead'])
    expect(pinned).toEqual(['vllm default: issued'])
  })
})
