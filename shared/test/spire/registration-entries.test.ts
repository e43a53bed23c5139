// `who-selects --entries`: the registration entries that SCM would hold, in the words of spire-server.
import { registrationEntries } from '@kleym/testing/at-once.ts'
import { describe, expect, test } from 'vitest'
import type { RegistrationEntry } from '../../src/core/predict/spire/registration-entries.ts'
import { csid, pod, predicted, staticEntry, type PredictedEstate } from './estate.ts'

function entriesFor(estate: PredictedEstate): readonly RegistrationEntry[] {
  const { prediction, pods } = predicted(estate)
  return registrationEntries(prediction, pods)
}

describe('registration entries', () => {
  test('a whole entry', () => {
    const spec = {
      ttl: '1h',
      hint: 'h',
      federatesWith: ['td', 'far', 'far'],
      workloadSelectorTemplates: ['unix:uid:1', 'k8s:ns:team-a'],
      dnsNameTemplates: ['b', 'a'],
      admin: true,
    }
    expect(entriesFor({ ids: [csid('a', spec)] })).toEqual([
      {
        spiffe_id: 'spiffe://td/ns/team-a/sa/runner',
        parent_id: 'spiffe://td/spire/agent/k8s_psat/c1/node-uid-1',
        selectors: [
          { type: 'k8s', value: 'ns:team-a' },
          { type: 'k8s', value: 'pod-uid:pod-uid-p' },
          { type: 'unix', value: 'uid:1' },
        ],
        dns_names: ['b', 'a'],
        x509_svid_ttl: 3600,
        jwt_svid_ttl: 0,
        hint: 'h',
        federates_with: ['far', 'td'],
        admin: true,
        downstream: false,
        store_svid: false,
        source: 'ClusterSPIFFEID/a',
        pod: 'pod team-a/p',
        unknown: [],
        depends:
          'the SPIRE server takes it only if it holds a bundle of far (.spec.federatesWith of ClusterSPIFFEID/a)',
      },
    ])
  })

  const X = { spiffeIDTemplate: 'spiffe://td/x' }
  const rows: readonly { name: string; estate: PredictedEstate; sources: readonly string[] }[] = [
    {
      name: 'only winners that the server takes',
      estate: {
        ids: [
          csid('a', X),
          csid('b', X),
          csid('c', { fallback: true }),
          csid('d', { className: 'y' }),
          csid('e', { spiffeIDTemplate: 'spiffe://td/spire/x' }),
          csid('f', { spiffeIDTemplate: 'x' }),
        ],
      },
      sources: ['a p'],
    },
    {
      name: 'one per pod',
      estate: { ids: [csid('a', X)], pods: [pod('q'), pod('p')] },
      sources: ['a p', 'a q'],
    },
    {
      name: 'a static entry once, whatever the pods are',
      estate: { statics: [staticEntry('s')], pods: [pod('q'), pod('p')] },
      sources: ['s '],
    },
    {
      name: 'two pods whose entries name one another share one',
      estate: {
        ids: [
          csid('a', { ...X, workloadSelectorTemplates: ['k8s:pod-uid:{{ .PodMeta.Annotations.peer }}'] }),
        ],
        pods: [
          pod('p', { meta: { annotations: { peer: 'pod-uid-q' } } }),
          pod('q', { meta: { annotations: { peer: 'pod-uid-p' } } }),
        ],
      },
      sources: ['a p'],
    },
  ]
  test.each(rows)('$name', ({ estate, sources }) => {
    expect(
      entriesFor(estate).map(({ source, pod: of }) => `${source.split('/')[1]} ${of?.split('/')[1] ?? ''}`),
    ).toEqual(sources)
  })
})
