// When the default identity of a cluster gives way to another registration, and when it stays.
import { staticEntry } from '../clusterspiffeid.ts'
import { fallback, id, P, SAME, staticFor, type Trap } from './trap.ts'

/** docs/spire-facts.md §4. */
export const FALLBACK_TRAPS: readonly Trap[] = [
  {
    name: 'a fallback gives way to a registration for one container only',
    waves: [[P, fallback(), id('app', { workloadSelectorTemplates: ['k8s:container-name:vllm'] })]],
    holds: { p: ['/app'] },
  },
  {
    name: 'a fallback gives way to a registration that can never match',
    waves: [[P, fallback(), id('dead', { workloadSelectorTemplates: ['k8s:ns:elsewhere'] })]],
    holds: { p: ['/dead'] },
  },
  {
    name: 'a fallback gives way to a registration that the server refuses, and the pod has nothing',
    waves: [[P, fallback(), id('refused', { dnsNameTemplates: ['-bad'] })]],
    holds: { p: [] },
  },
  {
    name: 'a fallback stays beside a registration that does not render',
    waves: [[P, fallback(), id('broken', { spiffeIDTemplate: 'spiffe://example.org/{{ .No.Such }}' })]],
    holds: { p: ['/default default'] },
  },
  {
    name: 'a fallback stays beside a registration of another class, and beside one without a class',
    waves: [[P, fallback(), id('other', { className: 'other' }), id('none', { className: '' })]],
    holds: { p: ['/default default'] },
  },
  {
    name: 'a fallback stays beside a static entry',
    waves: [[P, fallback()], [staticEntry('@-static', staticFor('/static'))]],
    holds: { p: ['/default default', '/static'] },
  },
  {
    name: 'two fallbacks both apply',
    waves: [[P, fallback('one'), fallback('two')]],
    holds: { p: ['/one one', '/two two'] },
  },
  {
    name: 'a younger fallback loses an equal entry to an older one',
    waves: [[P, fallback('old', { spiffeIDTemplate: SAME })], [fallback('new', { spiffeIDTemplate: SAME })]],
    holds: { p: ['/same old'] },
  },
  {
    name: 'a fallback that is older than a registration with the equal entry still gives way',
    waves: [
      [P, fallback('old', { spiffeIDTemplate: SAME })],
      [id('new', { spiffeIDTemplate: SAME, hint: 'new' })],
    ],
    holds: { p: ['/same new'] },
  },
]
