// DNS names, TTLs, flags and federation of an entry: what arrives at the server, and what it refuses.
import type { JsonRecord } from '../../../shared/src/core/base/json.ts'
import { id, P, type Trap } from './trap.ts'

/** DNS names by whether spire-server takes them. */
const DNS_TAKEN = [
  'A.example',
  'a.example',
  '_a',
  'a_b',
  'ex ample',
  'a/b',
  'a:80',
  '::1',
  'a\n',
  '1',
  '*.com',
  'xn--9ca',
]
const DNS_REFUSED = [
  '',
  ' ',
  'a..b',
  '-a',
  'a-',
  'ab--c',
  'XN--9CA',
  'xn--a',
  'xn--',
  '*',
  '*.',
  '*a.x',
  '*.*',
  'a.*',
  'a.',
  'é',
  `${'a'.repeat(64)}.x`,
]
/** TTLs and the seconds that come of them; undefined: refused. */
const TTLS: readonly (readonly [string, number | undefined])[] = [
  ['1h', 3600],
  ['1.5h', 5400],
  ['1500ms', 1],
  ['-500ms', 0],
  ['-1s', undefined],
  ['596524h', undefined],
  ['1193046h28m16s', 0],
  ['1193047h', 1904],
]

/** docs/spire-facts.md §11.4-6. */
export const FIELD_TRAPS: readonly Trap[] = [
  {
    name: 'DNS names are checked as the server checks them, not as host names',
    waves: [
      [
        P,
        ...DNS_TAKEN.map((name, at) => id(`taken-${at}`, { dnsNameTemplates: [name] })),
        ...DNS_REFUSED.map((name, at) => id(`refused-${at}`, { dnsNameTemplates: [name] })),
        id('no-value', { dnsNameTemplates: ['{{ .PodMeta.Labels.no }}'] }),
        id('no-label', { dnsNameTemplates: ['{{ index .PodMeta.Labels "no" }}'] }),
      ],
    ],
    holds: { p: ['/no-value', ...DNS_TAKEN.map((_, at) => `/taken-${at}`)] },
  },
  {
    name: 'TTLs are cut to whole seconds of 32 bits',
    waves: [[P, ...TTLS.map(([ttl], at) => id(`ttl-${at}`, { ttl, jwtTtl: '5m' }))]],
    holds: { p: TTLS.flatMap(([, seconds], at) => (seconds === undefined ? [] : [`/ttl-${at}`])) },
  },
  {
    name: 'DNS names of Services come from Endpoints, ready or not, sorted behind those of templates',
    waves: [
      [P],
      [
        endpoints('web', 'addresses'),
        endpoints('api', 'notReadyAddresses'),
        id('dns', { autoPopulateDNSNames: true, dnsNameTemplates: ['web', 'z.example'] }),
      ],
    ],
    holds: { p: ['/dns'] },
  },
  {
    name: 'flags, federation with the own trust domain and JWT TTLs arrive as they are written',
    waves: [
      [
        P,
        id('flags', {
          admin: true,
          downstream: true,
          jwtTtl: '90s',
          federatesWith: ['example.org', 'spiffe://example.org/x'],
        }),
      ],
    ],
    holds: { p: ['/flags'] },
  },
]

function endpoints(name: string, list: 'addresses' | 'notReadyAddresses'): JsonRecord {
  const targetRef = { kind: 'Pod', namespace: '@', name: 'p', uid: '<uid:Pod/@/p>' }
  return {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name, namespace: '@' },
    subsets: [{ [list]: [{ ip: '10.1.2.3', targetRef }], ports: [{ port: 80 }] }],
  }
}
