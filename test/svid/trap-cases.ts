// What people, and other tools, get wrong about the SPIRE Controller Manager, as small estates with what the server must
// hold in the end. Each has a namespace of its own, so all of them stand on one control plane at the same time.
import { isRecord, type JsonRecord } from '../../shared/src/core/json.ts'
import { csid, HELD, staticEntry } from './clusterspiffeid.ts'
import { namespace, pod, type Piece } from './world.ts'

/** One estate. `@` in it is its namespace. */
export interface Trap {
  readonly name: string
  /** From old to young. */
  readonly waves: readonly (readonly (JsonRecord | Piece)[])[]
  /** What the server holds for each pod: the SPIFFE ID's path, with the hint behind it where there is one. */
  readonly holds: Readonly<Record<string, readonly string[]>>
}

const HERE = { matchLabels: { 'kubernetes.io/metadata.name': '@' } }
const P = pod('@', 'p', { labels: { app: 'llama' } })

/** A ClusterSPIFFEID for this namespace, with an ID that is a path of its own. */
function id(name: string, spec: JsonRecord = {}, meta: JsonRecord = {}): JsonRecord {
  return csid(
    `@-${name}`,
    { spiffeIDTemplate: `spiffe://example.org/${name}`, namespaceSelector: HERE, ...spec },
    meta,
  )
}

/** What a chart installs as a default identity. */
function fallback(name = 'default', spec: JsonRecord = {}): JsonRecord {
  return id(name, { fallback: true, hint: name, ...spec })
}

const FALLBACK: readonly Trap[] = [
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
    waves: [
      [P, fallback('old', { spiffeIDTemplate: SAME() })],
      [fallback('new', { spiffeIDTemplate: SAME() })],
    ],
    holds: { p: ['/same old'] },
  },
  {
    name: 'a fallback that is older than a registration with the equal entry still gives way',
    waves: [
      [P, fallback('old', { spiffeIDTemplate: SAME() })],
      [id('new', { spiffeIDTemplate: SAME(), hint: 'new' })],
    ],
    holds: { p: ['/same new'] },
  },
]

/** An ID that several objects share. */
function SAME(): string {
  return 'spiffe://example.org/same'
}

/** A static entry for the pod `p` under the agent of its node, as SCM would render it. */
function staticFor(path: string, selectors: readonly string[] = []): JsonRecord {
  return {
    spiffeID: `spiffe://example.org${path}`,
    parentID: 'spiffe://example.org/spire/agent/k8s_psat/prod/<uid:Node/n1>',
    selectors: ['k8s:pod-uid:<uid:Pod/@/p>', ...selectors],
  }
}

const SELECTION: readonly Trap[] = [
  {
    name: 'an absent and an empty podSelector select every pod',
    waves: [[P, pod('@', 'q'), id('absent'), id('empty', { podSelector: {} })]],
    holds: { p: ['/absent', '/empty'], q: ['/absent', '/empty'] },
  },
  {
    name: 'NotIn and DoesNotExist also select pods without the label',
    waves: [
      [
        P,
        pod('@', 'q'),
        id('not-in', {
          podSelector: { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['llama'] }] },
        }),
        id('absent', { podSelector: { matchExpressions: [{ key: 'app', operator: 'DoesNotExist' }] } }),
        id('in', {
          podSelector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['llama', 'x'] }] },
        }),
        id('exists', { podSelector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] } }),
      ],
    ],
    holds: { p: ['/exists', '/in'], q: ['/absent', '/not-in'] },
  },
  {
    name: 'finished and terminating pods keep their entries',
    waves: [
      [
        { object: pod('@', 'done'), phase: 'Succeeded' },
        { object: pod('@', 'failed'), phase: 'Failed' },
        { object: pod('@', 'leaving'), terminating: true },
        id('x'),
      ],
    ],
    holds: { done: ['/x'], failed: ['/x'], leaving: ['/x'] },
  },
  {
    name: 'pods without a node, and with a node that is not there, have no entry',
    waves: [
      [pod('@', 'pending', {}, { nodeName: null }), pod('@', 'lost', {}, { nodeName: 'gone' }), id('x')],
    ],
    holds: { pending: [], lost: [] },
  },
  {
    name: 'two pods of one kind have an entry each',
    waves: [[pod('@', 'a'), pod('@', 'b'), id('x')]],
    holds: { a: ['/x'], b: ['/x'] },
  },
]

const RENDERING: readonly Trap[] = [
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

const MASKING: readonly Trap[] = [
  {
    name: 'of two equal entries the older object has its way, with all its fields',
    waves: [
      [P, id('old', { spiffeIDTemplate: SAME(), hint: 'old' })],
      [id('new', { spiffeIDTemplate: SAME(), hint: 'new' })],
    ],
    holds: { p: ['/same old'] },
  },
  {
    name: 'an object that is being deleted loses to one of the same age, and wins over a younger one',
    waves: [
      [
        P,
        { object: id('a', { spiffeIDTemplate: SAME(), hint: 'a' }, HELD), terminating: true },
        id('b', { spiffeIDTemplate: 'spiffe://example.org/b' }),
      ],
      [id('c', { spiffeIDTemplate: SAME(), hint: 'c' })],
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
        id('three', { spiffeIDTemplate: SAME(), hint: 'three' }),
        id('four', { spiffeIDTemplate: SAME(), hint: 'four', workloadSelectorTemplates: ['k8s:sa:runner'] }),
      ],
    ],
    holds: { p: ['/one', '/same four', '/same three', '/two'] },
  },
  {
    name: 'selectors that only read alike when written together mask each other all the same',
    waves: [
      [P, id('old', { spiffeIDTemplate: SAME(), hint: 'old', workloadSelectorTemplates: ['x:yz'] })],
      [id('new', { spiffeIDTemplate: SAME(), hint: 'new', workloadSelectorTemplates: ['xy:z'] })],
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
      [P, id('old', { spiffeIDTemplate: SAME(), dnsNameTemplates: ['a..b'] })],
      [id('new', { spiffeIDTemplate: SAME() })],
    ],
    holds: { p: [] },
  },
  {
    name: 'a registration that loses its entry still takes the fallback away',
    waves: [
      [P, id('old', { spiffeIDTemplate: SAME(), hint: 'old' })],
      [id('new', { spiffeIDTemplate: SAME(), hint: 'new' }), fallback()],
    ],
    holds: { p: ['/same old'] },
  },
]

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

const SERVER: readonly Trap[] = [
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

export const TRAPS: readonly Trap[] = [...FALLBACK, ...SELECTION, ...RENDERING, ...MASKING, ...SERVER]

/** The namespace of a trap. */
export function spaceOf(trap: Trap): string {
  return `trap-${TRAPS.indexOf(trap)}`
}

/** All traps in one: the waves of each beside those of the others. */
export function allWaves(): readonly (readonly Piece[])[] {
  const waves: Piece[][] = [[]]
  for (const trap of TRAPS) {
    waves[0]?.push({ object: namespace(spaceOf(trap)) })
    for (const [at, wave] of trap.waves.entries()) {
      const into = (waves[at + 1] ??= [])
      for (const one of wave) into.push(placed(isPiece(one) ? one : { object: one }, spaceOf(trap)))
    }
  }
  return waves
}

function isPiece(one: JsonRecord | Piece): one is Piece {
  return isRecord(one['object'])
}

function placed(piece: Piece, space: string): Piece {
  const object: unknown = JSON.parse(JSON.stringify(piece.object).replaceAll('@', space))
  if (!isRecord(object)) throw new TypeError('an object is a mapping')
  return { ...piece, object }
}

/** What a trap expects of one of its pods, with its namespace filled in, sorted. */
export function expected(trap: Trap, name: string): readonly string[] {
  return (trap.holds[name] ?? []).map((text) => text.replaceAll('@', spaceOf(trap))).toSorted()
}
