// What of a policy does not take effect as it is written (docs/gaie-facts.md §B2), each with the sentence that says whose
// behaviour it is.
import { describe, expect, test } from 'vitest'
import type { JsonRecord } from '../../src/core/base/json.ts'
import { NOTE_KINDS, type NoteKind } from '../../src/core/analysis/policies/resolution.ts'
import {
  account,
  analysisOf,
  CHAT_ID,
  firstRule,
  TEAM_A,
  policy,
  policyOf,
  resolvedPolicy,
  rule,
  spiffe,
  type AccessPolicyParts,
} from '@kleym/testing/access-policies.ts'

const OLD = '2026-01-01T00:00:00Z'
const NEW = '2026-02-01T00:00:00Z'

interface AncestorParts {
  readonly name?: string
  readonly kind?: string
  readonly status?: string
  readonly reason?: string
  readonly seen?: number
}

function ancestor({
  name = 'tools',
  kind = 'Gateway',
  status = 'True',
  reason = 'Accepted',
  seen = 1,
}: AncestorParts = {}): JsonRecord {
  return {
    ancestorRef: { group: 'gateway.networking.k8s.io', kind, name },
    controllerName: 'sigs.k8s.io/kube-agentic-networking-controller',
    conditions: [{ type: 'Accepted', status, reason, observedGeneration: seen }],
  }
}

/** A policy in a cluster, accepted unless the parts say otherwise. */
function stored(parts: AccessPolicyParts = {}, ...ancestors: readonly JsonRecord[]): JsonRecord {
  return policy({
    createdAt: OLD,
    status: { ancestors: ancestors.length === 0 ? [ancestor()] : ancestors },
    ...parts,
  })
}

const inline = (more: JsonRecord): JsonRecord => ({
  rules: [rule(spiffe(CHAT_ID), { authorization: { type: 'Inline', ...more } })],
})
const target = (name: string, more: JsonRecord = {}): JsonRecord => ({
  group: 'gateway.networking.k8s.io',
  kind: 'Gateway',
  name,
  ...more,
})

interface Case {
  readonly says: string
  readonly policy: JsonRecord
  readonly others?: readonly JsonRecord[]
  /** None: nothing is noted. */
  readonly kinds: readonly NoteKind[]
  readonly text?: string
}

const CASES: readonly Case[] = [
  { says: 'an accepted policy', policy: stored(), kinds: [] },
  {
    says: 'a manifest, which no controller can have accepted yet',
    policy: policy({ status: { ancestors: [] } }),
    kinds: [],
  },
  {
    says: 'a status without ancestors is no acceptance',
    policy: stored({ status: { ancestors: [] } }),
    kinds: ['not accepted'],
    text: 'its status names no ancestor',
  },
  { says: 'no status is no acceptance', policy: stored({ status: undefined }), kinds: ['not accepted'] },
  {
    says: 'one ancestor of two that says False is no acceptance',
    policy: stored(
      { spec: { targetRefs: [target('tools'), target('more')] } },
      ancestor(),
      ancestor({ name: 'more', status: 'False', reason: 'InvalidCEL' }),
    ),
    kinds: ['not accepted'],
    text: 'Gateway/more says Accepted=False (InvalidCEL)',
  },
  {
    says: 'an ancestor without the condition has not accepted it',
    policy: stored({}, { ...ancestor(), conditions: [{ type: 'Programmed', status: 'True' }] }),
    kinds: ['not accepted'],
    text: 'Gateway/tools has no condition Accepted',
  },
  {
    says: 'a condition about an earlier generation is stale',
    policy: stored({ generation: 2 }),
    kinds: ['stale'],
    text: 'Gateway/tools has seen generation 1, and the policy is at 2',
  },
  {
    says: 'the ancestor of a target that is none any more stays',
    policy: stored({}, ancestor(), ancestor({ name: 'former' })),
    kinds: ['former target'],
    text: 'Gateway/former is in its status, and is no target of it',
  },
  {
    says: 'an ancestor of another kind may be what stands above the target',
    policy: stored(
      { spec: { targetRefs: [{ group: 'agentic.networking.x-k8s.io', kind: 'XBackend', name: 'mcp' }] } },
      ancestor(),
    ),
    kinds: [],
  },
  {
    says: 'a policy that was written as v0alpha0 has no action',
    policy: stored({ spec: { action: undefined } }),
    kinds: ['no action'],
  },
  { says: 'an Allow policy without rules', policy: stored({ spec: { rules: [] } }), kinds: ['no rules'] },
  {
    says: 'an Allow policy whose rules are absent',
    policy: stored({ spec: { rules: undefined } }),
    kinds: ['no rules'],
  },
  {
    says: 'an ExternalAuth policy without rules is another matter',
    policy: stored({ spec: { action: 'ExternalAuth', rules: [] } }),
    kinds: [],
  },
  {
    says: 'a target with a section applies to the whole',
    policy: stored({ spec: { targetRefs: [target('tools', { sectionName: 'https' })] } }),
    kinds: ['section ignored'],
    text: 'its target Gateway/tools:https names a section',
  },
  {
    says: 'Inline with an empty mcp asks nothing',
    policy: stored({ spec: inline({ mcp: {} }) }),
    kinds: ['nothing asked'],
  },
  { says: 'Inline without mcp asks nothing', policy: stored({ spec: inline({}) }), kinds: ['nothing asked'] },
  {
    says: 'Inline with the base protocol option alone asks nothing',
    policy: stored({ spec: inline({ mcp: { mcpBaseProtocolMethodsOption: 'skip', methods: [] } }) }),
    kinds: ['nothing asked'],
  },
  {
    says: 'Inline that lets the methods of the base protocol through asks for those',
    policy: stored({
      spec: inline({ mcp: { mcpBaseProtocolMethodsOption: 'MATCH_BASE_PROTOCOL_METHODS', methods: [] } }),
    }),
    kinds: [],
  },
  {
    says: 'Inline with the option that skips them asks nothing',
    policy: stored({ spec: inline({ mcp: { mcpBaseProtocolMethodsOption: 'SKIP_BASE_PROTOCOL_METHODS' } }) }),
    kinds: ['nothing asked'],
  },
  {
    says: 'Inline with L7 fields alone asks nothing yet',
    policy: stored({ spec: inline({ paths: [{ value: '/x' }], hosts: ['x'] }) }),
    kinds: ['nothing asked'],
    text: 'names no MCP method, only hosts, paths',
  },
  {
    says: 'Inline with a method asks something',
    policy: stored({ spec: inline({ mcp: { methods: [{ name: 'tools/call' }] } }) }),
    kinds: [],
  },
  {
    says: 'a CEL authorization asks something',
    policy: stored({
      spec: {
        rules: [rule(spiffe(CHAT_ID), { authorization: { type: 'CEL', cel: { expression: 'true' } } })],
      },
    }),
    kinds: [],
  },
  {
    says: 'a second member beside the one of the type does not count',
    policy: stored({ spec: { rules: [rule({ ...spiffe(CHAT_ID), serviceAccount: { name: 'planner' } })] } }),
    kinds: ['member ignored'],
    text: 'its source fills serviceAccount beside the member that its type names',
  },
  {
    says: 'an ID of ours in the trust domain of KAN as shipped is not the one that SPIRE signs',
    policy: stored({ spec: { rules: [rule(spiffe('spiffe://cluster.local/ns/team-a/objective/chat'))] } }),
    kinds: ['other trust domain'],
    text: `has the path of ${CHAT_ID}, and its trust domain is cluster.local`,
  },
  {
    says: 'another ID of another trust domain is nothing strange',
    policy: stored({ spec: { rules: [rule(spiffe('spiffe://cluster.local/ns/agents/sa/planner'))] } }),
    kinds: [],
  },
  {
    says: 'of two policies with one rule name, the older is replaced',
    policy: stored(),
    others: [stored({ name: 'later', createdAt: NEW, spec: { rules: [rule(account('planner'))] } })],
    kinds: ['rule replaced'],
    text: 'Gateway/tools has a rule "callers" of agents/later too, which is later and replaces it',
  },
  {
    says: 'of two policies with one rule name, the later stays',
    policy: stored({ createdAt: NEW }),
    others: [stored({ name: 'earlier', createdAt: OLD })],
    kinds: [],
  },
  {
    says: 'of two policies of one age it is not known which is the later',
    policy: stored(),
    others: [stored({ name: 'twin' })],
    kinds: ['rule replaced'],
    text: 'which of the two is the later one is not known',
  },
  {
    says: 'a policy of a file may be an edit of an old one, and it is not known which is the later',
    policy: stored({ createdAt: NEW }),
    others: [policy({ name: 'edited' })],
    kinds: ['rule replaced'],
    text: 'of agents/edited too, and which of the two is the later one is not known',
  },
  {
    says: 'the same from the other side',
    policy: policy(),
    others: [stored({ name: 'stored', createdAt: NEW })],
    kinds: ['rule replaced'],
    text: 'of agents/stored too, and which of the two is the later one is not known',
  },
  {
    says: 'of three policies with one rule name, the latest replaces the oldest',
    policy: stored(),
    others: [stored({ name: 'b', createdAt: NEW }), stored({ name: 'c', createdAt: '2026-03-01T00:00:00Z' })],
    kinds: ['rule replaced'],
    text: 'of agents/c too, which is later and replaces it',
  },
  {
    says: 'a later policy replaces a rule, whatever the age of one in a file',
    policy: stored(),
    others: [stored({ name: 'later', createdAt: NEW }), policy({ name: 'edited' })],
    kinds: ['rule replaced'],
    text: 'of agents/later too, which is later and replaces it',
  },
  {
    says: 'the sixth policy of a target in a file has no age',
    policy: policy({ spec: { rules: [{ ...rule(spiffe(CHAT_ID)), name: 'sixth' }] } }),
    others: [1, 2, 3, 4, 5].map((at) =>
      stored({ name: `p${at}`, spec: { rules: [{ ...rule(spiffe(CHAT_ID)), name: `r${at}` }] } }),
    ),
    kinds: ['over the limit'],
    text: 'Gateway/tools has 6 policies, only the 5 oldest count, and the age of this one is unknown',
  },
  {
    says: 'a later policy on another target replaces nothing',
    policy: stored(),
    others: [
      stored(
        { name: 'later', createdAt: NEW, spec: { targetRefs: [target('other')] } },
        ancestor({ name: 'other' }),
      ),
    ],
    kinds: [],
  },
  {
    says: 'a later policy of another namespace has another target of the same name',
    policy: stored(),
    others: [stored({ name: 'later', namespace: 'others', createdAt: NEW })],
    kinds: [],
  },
  {
    says: 'a later policy that no controller has accepted replaces nothing',
    policy: stored(),
    others: [stored({ name: 'later', createdAt: NEW }, ancestor({ status: 'False' }))],
    kinds: [],
  },
  {
    says: 'a later policy with another action is another filter',
    policy: stored(),
    others: [stored({ name: 'later', createdAt: NEW, spec: { action: 'ExternalAuth' } })],
    kinds: [],
  },
  {
    says: 'the sixth policy of a target is over the limit',
    policy: stored({ createdAt: NEW, spec: { rules: [{ ...rule(spiffe(CHAT_ID)), name: 'sixth' }] } }),
    others: [1, 2, 3, 4, 5].map((at) =>
      stored({ name: `p${at}`, spec: { rules: [{ ...rule(spiffe(CHAT_ID)), name: `r${at}` }] } }),
    ),
    kinds: ['over the limit'],
    text: 'Gateway/tools has 6 policies, and this one is not among the 5 oldest',
  },
  {
    says: 'the fifth policy of a target counts',
    policy: stored({ createdAt: NEW, spec: { rules: [{ ...rule(spiffe(CHAT_ID)), name: 'fifth' }] } }),
    others: [1, 2, 3, 4].map((at) =>
      stored({ name: `p${at}`, spec: { rules: [{ ...rule(spiffe(CHAT_ID)), name: `r${at}` }] } }),
    ),
    kinds: [],
  },
  {
    says: 'a PeerAuthentication turns off what names of Istio are taken from',
    policy: ofIstio('AuthorizationPolicy', {
      rules: [{ from: [{ source: { principals: ['example.org/ns/team-a/pool/llama'] } }] }],
    }),
    others: [ofIstio('PeerAuthentication', { mtls: { mode: 'DISABLE' } })],
    kinds: ['no mTLS'],
    text: 'PeerAuthentication agents/tools turns mTLS off',
  },
]

function ofIstio(kind: string, spec: JsonRecord): JsonRecord {
  return {
    apiVersion: 'security.istio.io/v1',
    kind,
    metadata: { name: 'tools', namespace: 'agents' },
    spec,
  }
}

describe('what does not take effect as it is written', () => {
  test.each(CASES)('$says', ({ policy: one, others = [], kinds, text = '' }) => {
    const found = resolvedPolicy(analysisOf([...TEAM_A, one, ...others]))
    const notes = [...found.notes, ...found.rules.flatMap((each) => each.notes)]
    expect(notes.map(({ kind }) => kind)).toEqual(kinds)
    expect(notes[0]?.text ?? '').toContain(text)
    for (const { source } of notes) expect(source).toMatch(/reference implementation|^Istio /)
  })

  test('every kind stands in the table', () => {
    expect(new Set(CASES.flatMap(({ kinds }) => kinds))).toEqual(new Set(NOTE_KINDS))
  })
})

describe('a policy that cannot be interpreted, or not wholly', () => {
  const OTHER: readonly (readonly [string, AccessPolicyParts, string])[] = [
    [
      'v0alpha0',
      { apiVersion: 'agentic.networking.x-k8s.io/v0alpha0' },
      'agentic.networking.x-k8s.io/v0alpha0 is too old to interpret',
    ],
    [
      'the prototype group',
      { apiVersion: 'agentic.prototype.x-k8s.io/v0alpha0' },
      'agentic.prototype.x-k8s.io/v0alpha0 is too old to interpret',
    ],
    [
      'the kind of the prototype',
      { apiVersion: 'agentic.prototype.x-k8s.io/v0alpha0', kind: 'AccessPolicy' },
      'is too old to interpret',
    ],
    [
      'a version to come',
      { apiVersion: 'agentic.networking.x-k8s.io/v1' },
      'agentic.networking.x-k8s.io/v1 is a version that kleym does not know',
    ],
  ]

  test.each(OTHER)('%s is named and never resolved', (_, parts, text) => {
    const found = resolvedPolicy(analysisOf([...TEAM_A, policy(parts)]))
    expect(found).toMatchObject({ isInterpreted: false, rules: [], notes: [] })
    expect(found.problems[0]).toContain(text)
  })

  const BROKEN: readonly (readonly [string, JsonRecord, string])[] = [
    ['rules that are no list', { rules: 'all' }, '.spec.rules is a string, not a list'],
    [
      'a target that is no mapping',
      { targetRefs: ['tools'] },
      '.spec.targetRefs[0] is a string, not a mapping',
    ],
    [
      'a target without a name',
      { targetRefs: [{ kind: 'Gateway' }] },
      '.spec.targetRefs[0] does not say which object it means',
    ],
    ['an action of a wrong type', { action: 7 }, '.spec.action is a number, not a string'],
    ['an unknown action', { action: 'Audit' }, '.spec.action is "Audit", which kleym does not know'],
    [
      'an authorization that is a text',
      { rules: [rule(spiffe(CHAT_ID), { authorization: 'CEL' })] },
      '.spec.rules[0].authorization is a string, not a mapping',
    ],
    [
      'an authorization without a type',
      { rules: [rule(spiffe(CHAT_ID), { authorization: {} })] },
      '.spec.rules[0].authorization has no type',
    ],
  ]

  test.each(BROKEN)('%s', (_, spec, problem) => {
    expect(resolvedPolicy(analysisOf([...TEAM_A, policy({ spec })])).problems).toEqual([problem])
  })

  test('a policy without a spec has a problem, and neither rules nor notes about them', () => {
    const { spec: _, ...bare } = policy()
    const found = resolvedPolicy(analysisOf([...TEAM_A, bare]))
    expect(found.problems).toEqual(['.spec is missing'])
    expect([found.rules, found.notes]).toEqual([[], []])
  })

  test('a rule without a name is counted', () => {
    const { name: _, ...nameless } = rule(spiffe(CHAT_ID))
    expect(firstRule(analysisOf([...TEAM_A, policy({ spec: { rules: [nameless] } })])).name).toBe('#1')
  })
})

test('both shapes of a source come to the same: required as in v0.1.0, optional as on the main branch', () => {
  const states = [policyOf(spiffe(CHAT_ID)), policyOf(undefined)].map(
    (one) => firstRule(analysisOf([...TEAM_A, one])).sources[0]?.resolution.state,
  )
  expect(states).toEqual(['resolved', 'unbounded'])
})

test.each<[string, unknown, string]>([
  ['no authorization', undefined, 'any request'],
  ['a known type', { type: 'CEL' }, 'CEL'],
  ['several', [{ type: 'Inline' }, { type: 'ExternalAuth' }], 'Inline, ExternalAuth'],
  ['no type', {}, '(no type)'],
  ['an empty list', [], '(empty list)'],
  ["a word of the policy's author, in quotes", { type: 'CEL, and all is well' }, '"CEL, and all is well"'],
])('what a rule asks: %s', (_, authorization, asks) => {
  const rules = [rule(spiffe(CHAT_ID), { authorization })]
  expect(firstRule(analysisOf([...TEAM_A, policy({ spec: { rules } })])).asks).toBe(asks)
})
