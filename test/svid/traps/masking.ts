// Objects that want the same entry: which of them gets it.
import { HELD, staticEntry } from '../clusterspiffeid.ts'
import { fallback, id, P, SAME, staticFor, type Trap } from './trap.ts'

/** docs/spire-facts.md §3 and §11.1. */
export const MASKING_TRAPS: readonly Trap[] = [
  {
    name: 'of two equal entries the older object has its way, with all its fields',
    waves: [
      [P, id('old', { spiffeIDTemplate: SAME, hint: 'old' })],
      [id('new', { spiffeIDTemplate: SAME, hint: 'new' })],
    ],
    holds: { p: ['/same old'] },
  },
  {
    name: 'an object that is being deleted loses to one of the same age, and wins over a younger one',
    waves: [
      [
        P,
        { object: id('a', { spiffeIDTemplate: SAME, hint: 'a' }, HELD), terminating: true },
        id('b', { spiffeIDTemplate: 'spiffe://example.org/b' }),
      ],
      [id('c', { spiffeIDTemplate: SAME, hint: 'c' })],
    ],
    holds: { p: ['/b', '/same a'] },
  },
  {
    name: 'two IDs on one pod are two entries, and so is one ID with different selectors',
    waves: [
      [
        P,
        id('one'),
        id('two'),
        id('three', { spiffeIDTemplate: SAME, hint: 'three' }),
        id('four', { spiffeIDTemplate: SAME, hint: 'four', workloadSelectorTemplates: ['k8s:sa:runner'] }),
      ],
    ],
    holds: { p: ['/one', '/same four', '/same three', '/two'] },
  },
  {
    name: 'selectors that only read alike when written together mask each other all the same',
    waves: [
      [P, id('old', { spiffeIDTemplate: SAME, hint: 'old', workloadSelectorTemplates: ['x:yz'] })],
      [id('new', { spiffeIDTemplate: SAME, hint: 'new', workloadSelectorTemplates: ['xy:z'] })],
    ],
    holds: { p: ['/same old'] },
  },
  {
    name: 'a static entry masks a younger ClusterSPIFFEID, and loses to an older one',
    waves: [
      [P, id('old', { spiffeIDTemplate: 'spiffe://example.org/first', hint: 'old' })],
      [
        staticEntry('@-late', { ...staticFor('/first'), hint: 'late' }),
        staticEntry('@-early', { ...staticFor('/second'), hint: 'early' }),
      ],
      [id('new', { spiffeIDTemplate: 'spiffe://example.org/second', hint: 'new' })],
    ],
    holds: { p: ['/first old', '/second early'] },
  },
  {
    name: 'a winner that the server refuses keeps its losers out',
    waves: [
      [P, id('old', { spiffeIDTemplate: SAME, dnsNameTemplates: ['a..b'] })],
      [id('new', { spiffeIDTemplate: SAME })],
    ],
    holds: { p: [] },
  },
  {
    name: 'a registration that loses its entry still takes the fallback away',
    waves: [
      [P, id('old', { spiffeIDTemplate: SAME, hint: 'old' })],
      [id('new', { spiffeIDTemplate: SAME, hint: 'new' }), fallback()],
    ],
    holds: { p: ['/same old'] },
  },
]
