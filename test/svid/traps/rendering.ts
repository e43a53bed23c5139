// What templates come to, and which IDs, selectors and hints the server takes.
import { csid } from '../clusterspiffeid.ts'
import { pod } from '../build-cluster.ts'
import { HERE, id, P, type Trap } from './trap.ts'

/** docs/spire-facts.md §3. */
export const RENDERING_TRAPS: readonly Trap[] = [
  {
    name: 'a missing label is <no value> by dot and nothing by index: both live in a selector',
    waves: [
      [
        P,
        id('dot', { workloadSelectorTemplates: ['k8s:pod-label:no:{{ .PodMeta.Labels.no }}'] }),
        id('index', { workloadSelectorTemplates: ['k8s:pod-label:no:{{ index .PodMeta.Labels "no" }}'] }),
        id('bare', { workloadSelectorTemplates: ['k8s:{{ index .PodMeta.Labels "no" }}'] }),
      ],
    ],
    holds: { p: ['/dot', '/index'] },
  },
  {
    name: 'a missing label fails in an ID, by dot and by index',
    waves: [
      [
        P,
        id('dot', { spiffeIDTemplate: 'spiffe://example.org/a/{{ .PodMeta.Labels.no }}' }),
        id('index', { spiffeIDTemplate: 'spiffe://example.org/a/{{ index .PodMeta.Labels "no" }}' }),
        id('printed', { spiffeIDTemplate: 'spiffe://example.org/a/{{ print .PodMeta.Labels.no }}' }),
      ],
    ],
    holds: { p: [] },
  },
  {
    name: 'a missing label as an argument is nil: eq "" is false, not is true, len fails',
    waves: [
      [
        P,
        id('eq', { spiffeIDTemplate: 'spiffe://example.org/eq-{{ eq .PodMeta.Labels.no "" }}' }),
        id('ne', { spiffeIDTemplate: 'spiffe://example.org/ne-{{ ne .PodMeta.Labels.no "x" }}' }),
        id('not', { spiffeIDTemplate: 'spiffe://example.org/not-{{ not .PodMeta.Labels.no }}' }),
        id('len', { spiffeIDTemplate: 'spiffe://example.org/len-{{ len .PodMeta.Labels.no }}' }),
      ],
    ],
    holds: { p: ['/eq-false', '/ne-true', '/not-true'] },
  },
  {
    name: 'a newline at the end fails in an ID and lives in a selector',
    waves: [
      [
        P,
        id('in-id', { spiffeIDTemplate: 'spiffe://example.org/a\n' }),
        id('in-selector', { workloadSelectorTemplates: ['k8s:sa:runner\n'] }),
      ],
    ],
    holds: { p: ['/in-selector'] },
  },
  {
    name: 'a selector twice is refused, also when one of the two is the pod UID that SCM adds',
    waves: [
      [
        P,
        id('twice', {
          workloadSelectorTemplates: ['k8s:sa:runner', 'k8s:sa:{{ .PodSpec.ServiceAccountName }}'],
        }),
        id('uid', { workloadSelectorTemplates: ['k8s:pod-uid:{{ .PodMeta.UID }}'] }),
      ],
    ],
    holds: { p: [] },
  },
  {
    name: 'reserved paths, empty paths and other trust domains are no identities',
    waves: [
      [
        P,
        id('reserved', { spiffeIDTemplate: 'spiffe://example.org/spire/agent' }),
        id('bare', { spiffeIDTemplate: 'spiffe://example.org' }),
        id('foreign', { spiffeIDTemplate: 'spiffe://other.org/a' }),
        id('slash', { spiffeIDTemplate: 'spiffe://example.org/a/' }),
        id('like-reserved', { spiffeIDTemplate: 'spiffe://example.org/spirex' }),
      ],
    ],
    holds: { p: ['/spirex'] },
  },
  {
    name: 'a hint is counted in bytes, up to 1024',
    waves: [[P, id('fits', { hint: 'é'.repeat(512) }), id('long', { hint: `${'é'.repeat(512)}x` })]],
    holds: { p: [`/fits ${'é'.repeat(512)}`] },
  },
  {
    name: 'an empty service account makes the usual template fail',
    waves: [
      [pod('@', 'p', {}, { serviceAccountName: '' }), csid('@-usual', { namespaceSelector: HERE }), id('x')],
    ],
    holds: { p: ['/x'] },
  },
]
