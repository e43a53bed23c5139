// What each form of assertion comes to: true, false, and not known. The worst bug is one that passes although the world is not
// known, so each form has its case.
import type { AssertionOutcome } from '@kleym/shared/core/answers/identity-tests/run.ts'
import { describe, expect, test } from 'vitest'
import { binding, CONFIG, live, objective, outputOf, perVariant, pool } from '@kleym/testing/manifests.ts'
import { HANDLES_EVERYTHING } from '@kleym/testing/scm-settings.ts'
import { analysisOf } from '@kleym/testing/random-tenants.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'
import { analyse, type Analysis } from '../../src/core/analysis/states/analysis.ts'
import { readSnapshot } from '../../src/core/snapshot/snapshot.ts'
import { outcomesOf } from './run-test.ts'

const CHAT = 'spiffe://example.org/ns/team-a/objective/chat'
const SA = 'spiffe://example.org/ns/team-b/sa/runner'

function pod(namespace: string, name: string, labels: JsonRecord, more: JsonRecord = {}): JsonRecord {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, uid: `uid-of-${namespace}-${name}`, labels, ...more },
    spec: {
      serviceAccountName: 'runner',
      nodeName: 'n1',
      containers: [{ name: 'vllm' }, { name: 'proxy' }],
    },
  }
}

function csid(name: string, spec: JsonRecord): JsonRecord {
  return {
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ClusterSPIFFEID',
    metadata: { name, uid: name, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec,
  }
}

function space(name: string, labels: JsonRecord = {}): JsonRecord {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, uid: name, labels } }
}

const OWNED = {
  ownerReferences: [
    { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'llama-5c9f', uid: 'r', controller: true },
  ],
}
const BOUND = [pool(), objective(), binding()]
const WORLD: readonly JsonRecord[] = [
  space('team-a', { env: 'prod' }),
  space('team-b', { env: 'dev' }),
  { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', uid: 'n1' }, spec: {} },
  ...BOUND,
  live(outputOf(BOUND)),
  csid('default', {
    fallback: true,
    hint: 'default',
    spiffeIDTemplate:
      'spiffe://{{ .TrustDomain }}/ns/{{ .PodMeta.Namespace }}/sa/{{ .PodSpec.ServiceAccountName }}',
  }),
  pod('team-a', 'llama-5c9f-a', { app: 'llama', 'pod-template-hash': '5c9f' }, OWNED),
  pod('team-b', 'web', { app: 'web' }),
]

function one(spec: unknown, analysis: Analysis, incomplete?: string): AssertionOutcome {
  const [outcome, ...others] = outcomesOf(spec, analysis, () => incomplete)
  if (outcome === undefined || others.length > 0) throw new Error('one assertion was asked for')
  return outcome
}

const VLLM = { namespace: 'team-a', workload: 'deployment/llama', container: 'vllm' }
const PROXY = { ...VLLM, container: 'proxy' }
const WEB = { namespace: 'team-b', pod: 'web' }

function container(subject: JsonRecord, holds: JsonRecord, more: JsonRecord = {}): JsonRecord {
  return { containers: [{ subject, holds, ...more }] }
}
function identity(spiffeID: string, heldBy: JsonRecord, more: JsonRecord = {}): JsonRecord {
  return { identities: [{ spiffeID, heldBy, ...more }] }
}
function rule(more: JsonRecord): JsonRecord {
  return { rules: [more] }
}

type Case = readonly [says: string, spec: JsonRecord, state: AssertionOutcome['state'], why?: RegExp]

describe('in a world that is known', () => {
  const analysis = analysisOf(WORLD)
  const cases: readonly Case[] = [
    ['a container holds exactly what it holds', container(VLLM, { exactly: [CHAT] }), 'passed'],
    [
      'it holds another',
      container(VLLM, { exactly: [SA] }),
      'failed',
      /vllm holds .*chat by ClusterSPIFFEID\/kleym-.* \(binding team-a\/llama\)/,
    ],
    [
      'it holds one more',
      container(WEB, { none: true }),
      'failed',
      /web:vllm holds .*sa\/runner by ClusterSPIFFEID\/default/,
    ],
    ['it holds none', container(PROXY, { none: true }), 'passed'],
    [
      'the selector that decides is named',
      container(PROXY, { atLeast: [CHAT] }),
      'failed',
      /is not matched: .*this container is proxy/,
    ],
    [
      'an identity is missing',
      container(WEB, { atLeast: [SA, CHAT] }),
      'failed',
      /web:vllm does not hold .*chat/,
    ],
    ['its hint', container(WEB, { exactly: [{ spiffeID: SA, hint: 'default' }] }), 'passed'],
    ['another hint', container(WEB, { exactly: [{ spiffeID: SA, hint: 'x' }] }), 'failed'],
    [
      'its source',
      container(VLLM, { exactly: [{ spiffeID: CHAT, source: 'binding/team-a/llama' }] }),
      'passed',
    ],
    [
      'another source',
      container(VLLM, { atLeast: [{ spiffeID: CHAT, source: 'binding/team-a/other' }] }),
      'failed',
    ],
    [
      'the pods of a service account',
      container({ namespace: 'team-b', serviceAccount: 'runner' }, { exactly: [SA] }),
      'passed',
    ],
    [
      'the pods with a label',
      container({ podSelector: { matchLabels: { app: 'web' } } }, { exactly: [SA] }),
      'passed',
    ],
    [
      'a subject that is not there',
      container({ ...VLLM, workload: 'deployment/lama' }, { none: true }),
      'failed',
      /no deployment\/lama/,
    ],
    [
      'a namespace that is not there',
      container({ ...VLLM, namespace: 'team-aa' }, { none: true }),
      'failed',
      /no namespace team-aa/,
    ],
    [
      'a container that is not there',
      container({ ...VLLM, container: 'vlm' }, { none: true }),
      'failed',
      /has a container vlm/,
    ],
    [
      'a subject that need not be there',
      container({ ...VLLM, workload: 'deployment/lama' }, { none: true }, { absent: true }),
      'passed',
    ],
    [
      'it need not be there, and is wrong where it is',
      container(VLLM, { none: true }, { absent: true }),
      'failed',
    ],
    ['an identity is held by these alone', identity(CHAT, { exactly: [VLLM] }), 'passed'],
    [
      'another container holds it too',
      identity(SA, { exactly: [{ ...WEB, container: 'vllm' }] }),
      'failed',
      /web:proxy holds/,
    ],
    [
      'one of them does not hold it',
      identity(CHAT, { exactly: [VLLM, PROXY] }),
      'failed',
      /proxy does not hold it/,
    ],
    ['each of these, and others', identity(SA, { atLeast: [{ ...WEB, container: 'vllm' }] }), 'passed'],
    ['no container holds it', identity('spiffe://example.org/ci/x', { none: true }), 'passed'],
    ['none should', identity(CHAT, { none: true }), 'failed'],
    [
      'one of its holders is misspelled',
      identity(CHAT, { exactly: [VLLM, { ...VLLM, workload: 'deployment/lama' }] }),
      'failed',
      /no deployment\/lama/,
    ],
    ['a pattern', identity('spiffe://example.org/ns/team-a/**', { exactly: [VLLM] }), 'passed'],
    ['a binding is ready', { bindings: [{ name: 'team-a/llama', ready: true, spiffeID: CHAT }] }, 'passed'],
    ['a binding is not', { bindings: [{ name: 'team-a/llama', ready: false }] }, 'failed', /it is ready/],
    [
      'a binding with another ID',
      { bindings: [{ name: 'team-a/llama', spiffeID: SA }] },
      'failed',
      /it gives/,
    ],
    [
      'a binding that is not there',
      { bindings: [{ name: 'team-a/lama', ready: true }] },
      'failed',
      /no binding team-a\/lama/,
    ],
    ['there is no such binding', { bindings: [{ name: 'team-a/lama', absent: true }] }, 'passed'],
    [
      'identities stay in their namespace',
      rule({ identitiesBelow: 'spiffe://example.org/ns/{namespace}/', onlyIn: { namespace: '{namespace}' } }),
      'passed',
    ],
    [
      'held only elsewhere',
      rule({ spiffeID: SA, onlyIn: { namespace: 'team-a' } }),
      'failed',
      /web:vllm holds/,
    ],
    [
      'never in production',
      rule({ spiffeID: SA, neverIn: { namespaceSelector: { matchLabels: { env: 'prod' } } } }),
      'passed',
    ],
    [
      'it is in production',
      rule({ spiffeID: CHAT, neverIn: { namespaceSelector: { matchLabels: { env: 'prod' } } } }),
      'failed',
    ],
    [
      'a label that no namespace has',
      rule({ spiffeID: CHAT, neverIn: { namespaceSelector: { matchLabels: { env: 'prdo' } } } }),
      'failed',
      /nothing matches: every pod/,
    ],
    [
      'held in all namespaces but one',
      rule({ spiffeID: SA, onlyIn: { notInNamespaces: ['team-a'] } }),
      'passed',
    ],
    [
      'all namespaces but one that is not there',
      rule({ spiffeID: SA, onlyIn: { notInNamespaces: ['team-a', 'tema-b'] } }),
      'failed',
      /there is no namespace tema-b/,
    ],
    [
      'all namespaces but one that need not be there',
      rule({ spiffeID: SA, onlyIn: { notInNamespaces: ['prod'] }, absent: true }),
      'passed',
    ],
    [
      'an identity that no container holds',
      rule({ spiffeID: 'spiffe://example.org/ci/**', neverIn: { namespace: 'team-a' } }),
      'failed',
      /no container holds/,
    ],
    [
      'no container need hold it',
      rule({ spiffeID: 'spiffe://example.org/ci/**', neverIn: { namespace: 'team-a' }, absent: true }),
      'passed',
    ],
    ['at most one each', rule({ everyContainer: {}, holds: { atMost: 1 } }), 'passed'],
    [
      'at least one each',
      rule({ everyContainer: {}, holds: { atLeast: 1 } }),
      'failed',
      /proxy holds no identity/,
    ],
    ['no others', rule({ everyContainer: {}, holds: { only: [CHAT, SA] } }), 'passed'],
    ['there are others', rule({ everyContainer: {}, holds: { only: [CHAT] } }), 'failed'],
    [
      'every container of none',
      rule({ everyContainer: { namespace: 'team-c' }, holds: { atMost: 1 } }),
      'failed',
      /no namespace team-c/,
    ],
    [
      'elsewhere',
      rule({ everyContainer: { notInNamespaces: ['team-b'] }, holds: { only: [CHAT] } }),
      'passed',
    ],
  ]
  test.each(cases.map(([says, spec, state, why = /^/]) => ({ says, spec, state, why })))(
    '$says',
    ({ spec, state, why }) => {
      const outcome = one(spec, analysis)
      expect(outcome.state).toBe(state)
      expect([outcome.why, ...outcome.evidence].join('\n')).toMatch(why)
    },
  )

  test('an outcome says what to correct', () => {
    const outcome = one(container({ ...VLLM, namespace: 'team-aa' }, { none: true }), analysis)
    expect(outcome.fix).toMatch(/team-a/)
  })
})

test('a sentence names the part that a selector names alone', () => {
  const [outcome] = outcomesOf(
    { rules: [{ spiffeID: CHAT, neverIn: { part: 'laeder' } }] },
    analysisOf(WORLD),
  )
  expect(outcome?.claim).toBe(`${CHAT} is never held by pods of part laeder`)
  expect(outcome?.why).toBe('nothing matches: pods of part laeder')
})

describe('a part of a LeaderWorkerSet', () => {
  const pods = { metadata: { labels: { app: 'lws' } }, spec: { containers: [{ name: 'main' }] } }
  const workerSet = {
    apiVersion: 'leaderworkerset.x-k8s.io/v1',
    kind: 'LeaderWorkerSet',
    metadata: { name: 'lws', namespace: 'team-b' },
    spec: { replicas: 2, leaderWorkerTemplate: { size: 2, workerTemplate: pods } },
  }
  const ID = 'spiffe://example.org/leads'
  const leads = csid('leads', {
    spiffeIDTemplate: ID,
    podSelector: {
      matchLabels: { app: 'lws', 'leaderworkerset.sigs.k8s.io/worker-index': '0' },
    },
  })
  /** Asks for the number of a group, so that each has pods of its own. */
  const numbered = csid('numbered', {
    spiffeIDTemplate: 'spiffe://example.org/first',
    podSelector: { matchLabels: { 'leaderworkerset.sigs.k8s.io/group-index': '9' } },
  })
  const worlds = { together: [leads], 'apart by number': [leads, numbered] }

  test.each<[says: string, world: keyof typeof worlds, spec: JsonRecord, state: AssertionOutcome['state']]>(
    (['together', 'apart by number'] as const).flatMap((world) => [
      ['the leader holds it', world, rule({ spiffeID: ID, onlyIn: { part: 'leader' } }), 'passed'],
      [
        'it never does',
        world,
        rule({ spiffeID: ID, neverIn: { namespace: 'team-b', part: 'leader' }, absent: true }),
        'failed',
      ],
      ['no worker does', world, rule({ spiffeID: ID, neverIn: { part: 'worker' } }), 'passed'],
      [
        'one leader does not',
        world,
        rule({ spiffeID: ID, neverIn: { part: 'leader 1' }, absent: true }),
        world === 'together' ? 'unknown' : 'failed',
      ],
    ]),
  )('%s, its pods %s', (_says, world, spec, state) => {
    expect(one(spec, analysisOf([...WORLD, workerSet, ...worlds[world]])).state).toBe(state)
  })
})

describe('where not everything is known, nothing passes', () => {
  const analysis = analysisOf(WORLD)
  test.each<readonly [says: string, spec: JsonRecord]>([
    ['exactly', container(VLLM, { exactly: [CHAT] })],
    ['at least: another pod of the subject may be there', container(VLLM, { atLeast: [CHAT] })],
    ['none', container(PROXY, { none: true })],
    [
      'a subject that need not be there',
      container({ ...VLLM, workload: 'deployment/x' }, { none: true }, { absent: true }),
    ],
    ['a subject that is not there', container({ ...VLLM, workload: 'deployment/x' }, { none: true })],
    ['held by', identity(CHAT, { exactly: [VLLM] })],
    ['held by at least', identity(CHAT, { atLeast: [VLLM] })],
    ['held by none', identity('spiffe://example.org/x', { none: true })],
    ['a binding', { bindings: [{ name: 'team-a/llama', ready: true }] }],
    ['no such binding', { bindings: [{ name: 'team-a/x', absent: true }] }],
    ['never in', rule({ spiffeID: SA, neverIn: { namespace: 'team-a' } })],
    ['only in', rule({ spiffeID: SA, onlyIn: { namespace: 'team-b' } })],
    ['every container', rule({ everyContainer: {}, holds: { atMost: 1 } })],
  ])('%s', (_says, spec) => {
    expect(one(spec, analysis, 'broken.yaml cannot be read')).toMatchObject({ state: 'unknown' })
  })

  test('what is wrong for certain still fails', () => {
    expect(one(container(WEB, { none: true }), analysis, 'broken.yaml cannot be read').state).toBe('failed')
  })
})

/** The world with one more object, and an assertion that passes without it. */
type DoubtfulCase = readonly [says: string, more: readonly JsonRecord[], spec: JsonRecord]

const ROLLOUT = {
  apiVersion: 'argoproj.io/v1alpha1',
  kind: 'Rollout',
  metadata: { name: 'canary', namespace: 'team-b' },
  spec: {
    template: {
      metadata: { labels: { app: 'llama' } },
      spec: { serviceAccountName: 'runner', containers: [{ name: 'vllm' }] },
    },
  },
}

/** As the plugin reads files: a kind that it does not know may make pods. */
function unreadAnalysis(objects: readonly JsonRecord[]): Analysis {
  const raw = objects.map((value) => ({
    value,
    ...(value['kind'] === 'Rollout' && { isUnread: true as const }),
  }))
  return analyse(readSnapshot({ objects: raw }), CONFIG, HANDLES_EVERYTHING)
}

describe('what a binding without a verdict may give is not known', () => {
  // The label key of variants is not known: whether the pod is one of the variant's, nothing says.
  const { variantLabelKey: _, ...without } = CONFIG
  const objects = [...WORLD, perVariant({ name: 'prefill' })].map((value) => ({ value }))
  const analysis = analyse(readSnapshot({ objects }), without, HANDLES_EVERYTHING)
  const PREFILL = 'spiffe://example.org/ns/team-a/pool/llama/variant/prefill'

  const cases: readonly Case[] = [
    [
      'nothing but what is issued',
      container(VLLM, { exactly: [CHAT] }),
      'unknown',
      /prefill is undetermined/,
    ],
    ['no identity at all', container(PROXY, { none: true }), 'unknown', /prefill is undetermined/],
    ['nobody with the identity', identity(PREFILL, { none: true }), 'unknown', /prefill is undetermined/],
    ['at least what is issued', container(VLLM, { atLeast: [CHAT] }), 'passed'],
    ['a pod of no such pool', container(WEB, { exactly: [SA] }), 'passed'],
  ]
  test.each(cases.map(([says, spec, state, why = /^/]) => ({ says, spec, state, why })))(
    '$says',
    ({ spec, state, why }) => {
      const found = one(spec, analysis)
      expect(found.state).toBe(state)
      expect([found.why, ...found.evidence].join('\n')).toMatch(why)
    },
  )
})

describe('what depends is not known', () => {
  const open = csid('open', {
    spiffeIDTemplate: 'spiffe://example.org/open',
    workloadSelectorTemplates: ['unix:uid:1000'],
  })
  const named = csid('named', {
    spiffeIDTemplate: 'spiffe://example.org/pod/{{ .PodMeta.Name }}',
    podSelector: { matchLabels: { app: 'new' } },
  })
  const template = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'new', namespace: 'team-b' },
    spec: {
      selector: { matchLabels: { app: 'new' } },
      template: {
        metadata: { labels: { app: 'new' } },
        spec: { serviceAccountName: 'runner', containers: [{ name: 'main' }] },
      },
    },
  }
  test.each<DoubtfulCase>([
    ['a selector that only the node knows', [open], container(PROXY, { none: true })],
    ['the same for who holds it', [open], identity('spiffe://example.org/open', { none: true })],
    [
      'the same for every container',
      [open],
      rule({ everyContainer: { namespace: 'team-a' }, holds: { atMost: 1 } }),
    ],
    [
      'the same for a place',
      [open],
      rule({ spiffeID: 'spiffe://example.org/o*', neverIn: { namespace: 'team-b' }, absent: true }),
    ],
    [
      'whether anything holds what a place is asked of: nothing does for certain, where it is fine',
      [open],
      rule({ spiffeID: 'spiffe://example.org/o*', onlyIn: { namespace: 'team-a' } }),
    ],
    [
      'an ID that names the pod',
      [named, template],
      identity('spiffe://example.org/pod/new-abc', { none: true }),
    ],
    [
      'the same as a rule',
      [named, template],
      rule({ spiffeID: 'spiffe://example.org/pod/new-abc', neverIn: { namespace: 'team-b' }, absent: true }),
    ],
    [
      'the same for the container',
      [named, template],
      container(
        { namespace: 'team-b', workload: 'deployment/new' },
        { exactly: ['spiffe://example.org/pod/new-abc'] },
      ),
    ],
    [
      'the name of a pod that a controller may give',
      [template],
      rule({ spiffeID: SA, neverIn: { pod: 'new-abc' }, absent: true }),
    ],
    [
      'the same in a namespace',
      [template],
      container({ namespace: 'team-b', pod: 'new-abc' }, { none: true }, { absent: true }),
    ],
    [
      'the name of a ReplicaSet that a controller may give',
      [template],
      container({ namespace: 'team-b', workload: 'replicaset/new-5c9f' }, { none: true }, { absent: true }),
    ],
    [
      'pods of a controller that is not read',
      [ROLLOUT],
      rule({ spiffeID: SA, onlyIn: { namespace: 'team-b', pod: 'web' } }),
    ],
    [
      'the same as the only subject',
      [ROLLOUT],
      container({ namespace: 'team-b', podSelector: { matchLabels: { app: 'llama' } } }, { atLeast: [SA] }),
    ],
    [
      'a workload that such a controller may make',
      [ROLLOUT],
      container({ namespace: 'team-b', workload: 'deployment/canary' }, { none: true }),
    ],
  ])('%s', (_says, more, spec) => {
    expect(one(spec, unreadAnalysis([...WORLD, ...more])).state).toBe('unknown')
  })

  test('an ID that names the pod fits its pattern', () => {
    const spec = identity('spiffe://example.org/pod/*', {
      exactly: [{ namespace: 'team-b', workload: 'deployment/new' }],
    })
    expect(one(spec, analysisOf([...WORLD, named, template])).state).toBe('passed')
  })

  test.each<[says: string, subject: JsonRecord, state: AssertionOutcome['state']]>([
    ['no controller here gives', { pod: 'newer-abc' }, 'passed'],
    ['another pod has', { pod: 'new-taken' }, 'failed'],
    ['no controller here gives a ReplicaSet', { workload: 'replicaset/newer-5c9f' }, 'passed'],
  ])('a name that %s is no doubt', (_says, subject, state) => {
    const taken = pod('team-b', 'new-taken', { app: 'other' })
    const spec = container({ namespace: 'team-b', ...subject }, { none: true }, { absent: true })
    expect(one(spec, analysisOf([...WORLD, template, taken])).state).toBe(state)
  })

  test.each([
    ['Namespace', rule({ spiffeID: SA, neverIn: { namespaceSelector: { matchLabels: { env: 'prod' } } } })],
    ['ClusterSPIFFEID', container(PROXY, { none: true })],
    ['Pod', container(VLLM, { exactly: [CHAT] })],
  ])('%s could not be listed', (kind, spec) => {
    expect(one(spec, analysisOf(WORLD, { forbidden: [kind] }), `list ${kind}`).state).toBe('unknown')
  })
})

describe('a container that a webhook may add', () => {
  const mesh = [
    space('mesh', { 'istio-injection': 'enabled' }),
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'front', namespace: 'mesh' },
      spec: {
        selector: { matchLabels: { app: 'front' } },
        template: {
          metadata: { labels: { app: 'front' } },
          spec: { serviceAccountName: 'runner', containers: [{ name: 'main' }] },
        },
      },
    },
  ]
  const analysis = analysisOf([...WORLD, ...mesh])
  const FRONT = { namespace: 'mesh', workload: 'deployment/front' }
  const ID = 'spiffe://example.org/ns/mesh/sa/runner'

  test.each<Case>([
    [
      'holds what the others hold: that is what was stated of all',
      container(FRONT, { exactly: [ID] }),
      'passed',
    ],
    [
      'may hold it beside the one that is named',
      identity(ID, { exactly: [{ ...FRONT, container: 'main' }] }),
      'unknown',
    ],
    [
      'alone is no subject that is certain, and none that is missing for certain',
      container({ ...FRONT, container: 'istio-proxy' }, { exactly: [ID] }),
      'unknown',
    ],
    [
      'may break what is stated',
      rule({ everyContainer: { ...FRONT, container: 'istio-proxy' }, holds: { none: true } }),
      'unknown',
    ],
  ])('%s', (_says, spec, state) => {
    const outcome = one(spec, analysis)
    expect(outcome).toMatchObject({ state })
  })
})
