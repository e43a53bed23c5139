// Who names an identity, whether policies are known at all, and which of them a change affects.
import { describe, expect, test } from 'vitest'
import { TRUST_DOMAIN_PLACEHOLDER } from '../../src/core/decide/settings/config.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'
import { POLICY_KINDS } from '../../src/core/model/kinds.ts'
import type { UnknownReason } from '../../src/core/model/unknown-reason.ts'
import { affectedPolicies, type AffectedPolicy } from '../../src/core/answers/explain/affected-policies.ts'
import type { Analysis } from '../../src/core/analysis/states/analysis.ts'
import { policyFindings } from '../../src/core/findings/rules/policy-rules.ts'
import { findingSteps, RULES_BESIDE_POLICIES } from '../../src/core/findings/rules/all.ts'
import { effectOf } from '../../src/core/answers/explain/effect.ts'
import { driveAtOnce } from '../../src/core/base/steps.ts'
import { hasPolicies } from '../../src/core/analysis/policies/policies.ts'
import { binding, got, live, objective, outputOf, pool } from '@kleym/testing/manifests.ts'
import {
  account,
  analysisOf,
  CHAT_ID,
  DEFAULT_ID,
  foreign,
  TEAM_A,
  NODE,
  pod,
  policy,
  POLICY_KIND,
  policyOf,
  rule,
  spiffe,
  type AnalysisSetting,
} from '@kleym/testing/access-policies.ts'

const FORBIDDEN: UnknownReason = { verb: 'list', what: POLICY_KIND, cause: 'forbidden' }
const MALFORMED: UnknownReason = { verb: 'read', what: 'a.yaml', cause: 'malformed' }

describe('whether policies are known', () => {
  const CASES: readonly (readonly [string, readonly JsonRecord[], AnalysisSetting, string, boolean])[] = [
    ['files without any say nothing about policies', [], {}, 'not given', false],
    [
      'a file that cannot be read says nothing about policies either',
      [],
      { gaps: { '*': MALFORMED } },
      'not given',
      false,
    ],
    ['a kind that is not served is absent', [], { absentKinds: [POLICY_KIND] }, 'absent', false],
    ['a list that is empty is known', [], { listedKinds: [POLICY_KIND] }, 'known', true],
    ['a policy in the files is known', [policy()], {}, 'known', true],
    [
      'a policy in the files is known where the cluster has no such kind',
      [policy()],
      { absentKinds: [POLICY_KIND] },
      'known',
      true,
    ],
    ['a list that is forbidden is unknown', [], { gaps: { [POLICY_KIND]: FORBIDDEN } }, 'unknown', true],
    [
      'those of one namespace leave the others unknown',
      [policy()],
      { gaps: { [POLICY_KIND]: FORBIDDEN } },
      'unknown',
      true,
    ],
    ['a file that cannot be read may hold more', [policy()], { gaps: { '*': MALFORMED } }, 'unknown', true],
    [
      'a list of the prototype that is forbidden is unknown',
      [],
      { absentKinds: [POLICY_KIND], gaps: { 'XAccessPolicy.agentic.prototype.x-k8s.io': FORBIDDEN } },
      'unknown',
      true,
    ],
  ]

  test.each(CASES)('%s', (_, policies, setting, state, says) => {
    const found = analysisOf([...TEAM_A, ...policies], setting).settled.policies()
    expect(found.knowledge.state).toBe(state)
    expect(hasPolicies(found)).toBe(says)
  })

  test.each<
    [what: string, policies: readonly JsonRecord[], setting: AnalysisSetting, isInPart: true | undefined]
  >([
    ['of files are all that there are', [policy()], {}, undefined],
    ['of a cluster that was asked for access policies alone', [], { listedKinds: [POLICY_KIND] }, true],
    ['of a cluster that was asked for each kind', [], { listedKinds: POLICY_KINDS }, undefined],
    [
      'of a cluster that was asked for each kind, and serves one',
      [],
      { listedKinds: [POLICY_KIND], absentKinds: POLICY_KINDS.filter((kind) => kind !== POLICY_KIND) },
      undefined,
    ],
  ])('those %s: whether they are a part', (_, policies, setting, isInPart) => {
    const { knowledge } = analysisOf([...TEAM_A, ...policies], setting).settled.policies()
    expect(knowledge).toEqual({ state: 'known', ...(isInPart && { isInPart }) })
  })

  test('what was read is resolved where others are not known', () => {
    const { list } = analysisOf([...TEAM_A, policy()], {
      gaps: { [POLICY_KIND]: FORBIDDEN },
    }).settled.policies()
    expect(list.map(({ key }) => key)).toEqual(['agents/tools'])
  })
})

/** Who names the identity of the binding, a line each. */
function namingsOf(objects: readonly JsonRecord[]): readonly string[] {
  const analysis = analysisOf([...TEAM_A, ...objects])
  return analysis.settled
    .policies()
    .namedBy([CHAT_ID], analysis.podsInQuestion)
    .namings.map(({ way, policy: { name }, rule: one }) => `${way}: ${name} ${one.name}`)
}

/** A spec whose one rule asks by an authorization of this type. */
function asking(type: string): JsonRecord {
  return { rules: [rule(spiffe(CHAT_ID), { authorization: { type, cel: { expression: type } } })] }
}

function asksDiffer(...types: readonly string[]): boolean {
  const policies = types.map((type, at) => policy({ name: `p${at}`, spec: asking(type) }))
  return analysisOf([...TEAM_A, ...policies])
    .settled.policies()
    .namedBy([CHAT_ID], []).asksDiffer
}

describe('who names an identity', () => {
  test('exact ones first, then the service account, then unbounded ones', () => {
    const policies = [
      policyOf(undefined, { name: 'a' }),
      policyOf(account('runner', 'team-a'), { name: 'b' }),
      policyOf(spiffe(CHAT_ID), { name: 'c' }),
      policyOf(spiffe(`${CHAT_ID}/x`), { name: 'd' }),
      policyOf({ type: 'SPIFFE', serviceAccount: { name: 'x' } }, { name: 'e' }),
      policyOf(account('runner'), { name: 'f' }),
    ]
    expect(namingsOf(policies)).toEqual([
      'exactly: c callers',
      'service account: b callers',
      'unbounded: a callers',
      'unbounded: e callers',
    ])
  })

  test.each([
    ['a prefix does not name it', 'spiffe://example.org/ns/team-a'],
    ['another case does not name it', CHAT_ID.toUpperCase().replace('SPIFFE', 'spiffe')],
    [
      'the longer form with a service account does not name it',
      'spiffe://example.org/ns/team-a/sa/runner/inference/chat',
    ],
  ])('%s', (_, id) => {
    expect(namingsOf([policyOf(spiffe(id))])).toEqual([])
  })

  test('a service account is found by the ID that it stands for', () => {
    const { namings } = analysisOf([...TEAM_A, policyOf(account('planner'))])
      .settled.policies()
      .namedBy(['spiffe://example.org/ns/agents/sa/planner'], [])
    expect(namings.map(({ way }) => way)).toEqual(['service account'])
  })

  test('an ID in a trust domain that is not known may be any with its path', () => {
    const policies = [
      policyOf(spiffe(CHAT_ID), { name: 'ours' }),
      policyOf(spiffe(`${CHAT_ID}/x`), { name: 'below' }),
    ]
    const { namings } = analysisOf([...TEAM_A, ...policies], { trustDomain: undefined })
      .settled.policies()
      .namedBy([CHAT_ID.replace('example.org', TRUST_DOMAIN_PLACEHOLDER)], [])
    expect(namings.map(({ way, policy: { name } }) => [way, name])).toEqual([['same path', 'ours']])
  })

  test('two rules that ask different things of one ID are reported', () => {
    expect([asksDiffer('CEL', 'CEL'), asksDiffer('CEL', 'Inline')]).toEqual([false, true])
  })

  test('policies that cannot be interpreted may name it, and are listed', () => {
    const policies = [
      policy({ name: 'old', apiVersion: 'agentic.networking.x-k8s.io/v0alpha0' }),
      policyOf(spiffe(7), { name: 'broken' }),
      policy({ name: 'listless', spec: { rules: 'all' } }),
      policy({ name: 'good' }),
    ]
    const { uninterpreted } = analysisOf([...TEAM_A, ...policies])
      .settled.policies()
      .namedBy([], [])
    expect(uninterpreted.map(({ name }) => name)).toEqual(['broken', 'listless', 'old'])
  })
})

describe('the two states', () => {
  test('an output that kleym must still create is in the settled state, and not in the present one', () => {
    const analysis = analysisOf([...TEAM_A, policy()])
    const states = [analysis.now, analysis.settled].map(
      (one) => one.policies().list[0]?.rules[0]?.sources[0]?.resolution.state,
    )
    expect(states).toEqual(['dangling', 'resolved'])
  })

  test('an output that kleym must still delete is in the present state, and not in the settled one', () => {
    const output = live(outputOf([pool(), objective(), binding()]))
    const analysis = analysisOf([NODE, pool(), binding(), pod(), output, policy()])
    const states = [analysis.now, analysis.settled].map(
      (one) => one.policies().list[0]?.rules[0]?.sources[0]?.resolution.state,
    )
    expect(states).toEqual(['resolved', 'dangling'])
  })
})

/** A pod of the service account `planner`. */
function planner(name: string): JsonRecord {
  return pod({ namespace: 'agents', name, spec: { serviceAccountName: 'planner' } })
}

/** What changes for policies between the settled states of two snapshots. */
function affectedBetween(before: Analysis, after: Analysis): readonly AffectedPolicy[] {
  return affectedPolicies(before.settled, after.settled)
}

describe('policies affected by a change', () => {
  const RENAMED = [
    NODE,
    pool(),
    objective({ name: 'assistant' }),
    binding({ spec: { objectiveRef: { name: 'assistant' } } }),
    pod(),
  ]
  const ASSISTANT = CHAT_ID.replace('chat', 'assistant')
  const CASES: readonly {
    readonly says: string
    readonly before: readonly JsonRecord[]
    readonly after: readonly JsonRecord[]
    readonly changes: readonly string[]
  }[] = [
    {
      says: 'nothing changes, nothing is affected',
      before: [...TEAM_A, policy()],
      after: [...TEAM_A, policy()],
      changes: [],
    },
    {
      says: 'a renamed objective unhooks the old ID',
      before: [...TEAM_A, policy()],
      after: [...RENAMED, policy()],
      changes: [`lost callers ${CHAT_ID} resolved → dangling`],
    },
    {
      says: 'a renamed objective brings the ID that a policy was waiting for',
      before: [...TEAM_A, policyOf(spiffe(ASSISTANT))],
      after: [...RENAMED, policyOf(spiffe(ASSISTANT))],
      changes: [`gained callers ${ASSISTANT} dangling → resolved`],
    },
    {
      says: 'a pod that goes leaves the ID unheld',
      before: [...TEAM_A, policy()],
      after: [NODE, pool(), objective(), binding(), policy()],
      changes: [`lost callers ${CHAT_ID} resolved → unheld`],
    },
    {
      says: 'a pod that goes from under a template leaves nothing that renders the ID now',
      before: [
        NODE,
        DEFAULT_ID,
        planner('planner-0'),
        policyOf(spiffe('spiffe://example.org/ns/agents/sa/planner')),
      ],
      after: [NODE, DEFAULT_ID, policyOf(spiffe('spiffe://example.org/ns/agents/sa/planner'))],
      changes: ['lost callers spiffe://example.org/ns/agents/sa/planner resolved → unknown'],
    },
    {
      says: 'another binding that gives the ID is a move',
      before: [...TEAM_A, policy()],
      after: [NODE, pool(), objective(), binding({ name: 'other' }), pod(), policy()],
      changes: [`moved callers ${CHAT_ID} resolved → resolved`],
    },
    {
      says: 'other pods that hold the ID are a move',
      before: [
        NODE,
        DEFAULT_ID,
        planner('planner-0'),
        policyOf(spiffe('spiffe://example.org/ns/agents/sa/planner')),
      ],
      after: [
        NODE,
        DEFAULT_ID,
        planner('planner-1'),
        policyOf(spiffe('spiffe://example.org/ns/agents/sa/planner')),
      ],
      changes: ['moved callers spiffe://example.org/ns/agents/sa/planner resolved → resolved'],
    },
    {
      says: 'an unbounded source is affected by no identity',
      before: [...TEAM_A, policyOf(undefined)],
      after: [...RENAMED, policyOf(undefined)],
      changes: [],
    },
    {
      says: 'a policy that comes with the change is reported',
      before: TEAM_A,
      after: [...TEAM_A, policy()],
      changes: [`rule callers ${CHAT_ID} none → resolved`],
    },
    {
      says: 'a rule whose ID is corrected goes and comes',
      before: [...TEAM_A, policyOf(spiffe(ASSISTANT))],
      after: [...TEAM_A, policy()],
      changes: [`rule callers ${ASSISTANT} dangling → none`, `rule callers ${CHAT_ID} none → resolved`],
    },
    {
      says: 'a service account whose pods get an ID of a binding as well keeps its own',
      before: [NODE, pool(), pod(), policyOf(account('runner', 'team-a'))],
      after: [...TEAM_A, policyOf(account('runner', 'team-a'))],
      changes: [],
    },
    {
      says: 'a service account whose pods lose the identity that it stands for is affected',
      before: [NODE, DEFAULT_ID, pool(), pod(), policyOf(account('runner', 'team-a'))],
      after: [...TEAM_A, DEFAULT_ID, policyOf(account('runner', 'team-a'))],
      changes: ['lost callers spiffe://example.org/ns/team-a/sa/runner service account → service account'],
    },
    {
      says: 'an ID that stays dangling is affected by no near miss that goes',
      before: [...TEAM_A, policyOf(spiffe('spiffe://example.org/ns/team-a/objective/Chat'))],
      after: [...RENAMED, policyOf(spiffe('spiffe://example.org/ns/team-a/objective/Chat'))],
      changes: [],
    },
    {
      says: 'what is lost comes first',
      before: [...TEAM_A, policyOf(spiffe(ASSISTANT), { name: 'a' }), policy({ name: 'b' })],
      after: [...RENAMED, policyOf(spiffe(ASSISTANT), { name: 'a' }), policy({ name: 'b' })],
      changes: [
        `lost callers ${CHAT_ID} resolved → dangling`,
        `gained callers ${ASSISTANT} dangling → resolved`,
      ],
    },
  ]

  test('an ID that is lost names what its binding gives instead', () => {
    const [lost] = affectedBetween(analysisOf([...TEAM_A, policy()]), analysisOf([...RENAMED, policy()]))
    expect(lost?.instead).toEqual([{ binding: 'team-a/llama', spiffeId: ASSISTANT }])
  })

  test('an ID that its binding still gives, but to no pod, is given by nothing instead', () => {
    const after = analysisOf([NODE, pool(), objective(), binding(), policy()])
    expect(affectedBetween(analysisOf([...TEAM_A, policy()]), after).map(({ instead }) => instead)).toEqual([
      [],
    ])
  })

  test.each<[string, AnalysisSetting]>([
    ['the trust domain', { trustDomain: undefined }],
    ['who holds it', { gaps: { Pod: { ...FORBIDDEN, what: 'Pod' } } }],
  ])('a renamed objective perhaps affects its policy where %s is not known', (_, setting) => {
    const any = foreign('any', {
      spiffeIDTemplate: 'spiffe://example.org/ns/team-a/objective/{{ .PodMeta.Name }}',
    })
    const [before, after] = [TEAM_A, RENAMED].map((objects) =>
      analysisOf(
        [...objects, any, policy()].filter(({ kind }) => kind !== 'Pod'),
        setting,
      ),
    )
    expect(
      affectedBetween(got(before, 'before'), got(after, 'after')).map(
        ({ change, before: had, after: has }) => [
          change,
          had?.source.resolution.state,
          has?.source.resolution.state,
        ],
      ),
    ).toEqual([['perhaps', 'unknown', 'unknown']])
  })

  test('a service account whose identity may come from what was not read loses nothing for certain', () => {
    const runner = policyOf(account('runner', 'team-a'))
    const before = analysisOf([NODE, DEFAULT_ID, pod(), runner])
    const unread = 'ClusterSPIFFEID.spire.spiffe.io'
    const after = analysisOf([NODE, pod(), runner], { gaps: { [unread]: { ...FORBIDDEN, what: unread } } })
    expect(affectedBetween(before, after).map(({ change }) => change)).not.toContain('lost')
  })

  test('a service account loses nothing where pods are not known', () => {
    const runner = policyOf(account('runner', 'team-a'))
    const before = analysisOf([NODE, DEFAULT_ID, pod(), runner])
    const after = analysisOf([NODE, DEFAULT_ID, runner], { gaps: { Pod: { ...FORBIDDEN, what: 'Pod' } } })
    expect(affectedBetween(before, after).map(({ change }) => change)).not.toContain('lost')
  })

  test.each(CASES)('$says', ({ before, after, changes }) => {
    const found = affectedBetween(analysisOf(before), analysisOf(after)).map(
      ({ change, rule: name, spiffeId, before: had, after: has }) =>
        `${change} ${name} ${spiffeId} ${had?.source.resolution.state ?? 'none'} → ${has?.source.resolution.state ?? 'none'}`,
    )
    expect(found).toEqual(changes)
  })
})

/** An authorization by CEL. */
function cel(expression: string): JsonRecord {
  return { authorization: { type: 'CEL', cel: { expression } } }
}

/** A policy that names a service account, with an authorization. */
function withAuthorization(more: JsonRecord): JsonRecord {
  return policy({ spec: { rules: [rule(account('planner'), more)] } })
}

function mentionsOf(
  more: JsonRecord,
  ids: readonly string[] = [CHAT_ID],
  setting: AnalysisSetting = {},
): readonly string[] {
  return analysisOf([...TEAM_A, withAuthorization(more)], setting)
    .settled.policies()
    .namedBy(ids, [])
    .mentions.map(({ policy: { key }, rule: { name }, mentioned }) => `${key} ${name} ${mentioned.text}`)
}

function codesOf(more: JsonRecord): readonly string[] {
  return policyFindings(analysisOf([...TEAM_A, withAuthorization(more)])).map(({ code }) => code)
}

describe('an ID in a CEL text', () => {
  test.each<[string, JsonRecord, readonly string[]]>([
    ['is mentioned', cel(`source.id == "${CHAT_ID}"`), [`agents/tools callers ${CHAT_ID}`]],
    [
      'is mentioned where CEL asks for any other',
      cel(`source.id != '${CHAT_ID}'`),
      [`agents/tools callers ${CHAT_ID}`],
    ],
    [
      'is mentioned in a list of authorizations, which hold their text themselves',
      { authorization: [{ type: 'CEL', cel: `id == "${CHAT_ID}"` }] },
      [`agents/tools callers ${CHAT_ID}`],
    ],
    [
      'may be what a pattern completes',
      cel(`source.id.matches("${CHAT_ID.slice(0, -2)}(at|eck)")`),
      ['agents/tools callers spiffe://example.org/ns/team-a/objective/ch*'],
    ],
    ['that is longer is another one', cel(`source.id == "${CHAT_ID}/child"`), []],
    ['in another field is no CEL', { authorization: { type: 'CEL', note: CHAT_ID } }, []],
  ])('%s', (_, more, mentions) => {
    expect(mentionsOf(more)).toEqual(mentions)
  })

  test('whose trust domain is not known is found by its path', () => {
    const id = CHAT_ID.replace('example.org', TRUST_DOMAIN_PLACEHOLDER)
    expect(mentionsOf(cel(`id == "${CHAT_ID}"`), [id], { trustDomain: undefined })).toHaveLength(1)
  })

  test('is not said to be named by no policy', () => {
    expect(codesOf({})).toContain('KLM604')
    expect(codesOf(cel(`id == "${CHAT_ID}"`))).not.toContain('KLM604')
  })
})

test('two states may be compared without findings about names in policies', () => {
  const before = analysisOf([...TEAM_A, policyOf(spiffe('spiffe://example.org/gone'))])
  const after = analysisOf(TEAM_A)
  const codes = (rules?: typeof RULES_BESIDE_POLICIES): readonly string[] => {
    const { findings } = effectOf(before.settled, after.settled, rules && { rules })
    return findings.noLongerApply.map(({ code }) => code)
  }
  expect(codes(RULES_BESIDE_POLICIES)).toEqual([])
  expect(codes()).toContain('KLM601')
  expect(driveAtOnce(findingSteps(before)).map(({ code }) => code)).toContain('KLM601')
})

describe('kind AccessPolicy of v1alpha1, as the proposals write it', () => {
  const ids = [CHAT_ID, 'spiffe://example.org/ns/agents/sa/planner']
  const proposed = policy({ kind: 'AccessPolicy', spec: { rules: [rule(spiffe(ids))] } })

  test('has rules, with a list of IDs, and a problem that names its kind', () => {
    const analysis = analysisOf([...TEAM_A, proposed])
    const [read] = analysis.settled.policies().list
    expect(read?.isInterpreted).toBe(true)
    expect(read?.problems).toEqual([
      'its kind is AccessPolicy, and agentic.networking.x-k8s.io/v1alpha1 calls it XAccessPolicy: its CRD serves no AccessPolicy',
    ])
    expect(read?.rules[0]?.sources.map(({ text }) => text)).toEqual(ids)
    expect(analysis.settled.policies().namedBy([CHAT_ID], []).namings).toHaveLength(1)
    expect(policyFindings(analysis).map(({ code }) => code)).toContain('KLM609')
  })

  test('counts for no target, since no controller sees it', () => {
    const many = Array.from({ length: 5 }, (_, at) =>
      policy({ kind: 'AccessPolicy', name: `other-${at}`, spec: { rules: [rule(spiffe(CHAT_ID))] } }),
    )
    const { list } = analysisOf([...TEAM_A, policy(), ...many]).settled.policies()
    expect(list.flatMap(({ notes }) => notes.map(({ kind }) => kind))).toEqual([])
    expect(list.flatMap(({ rules }) => rules.flatMap((one) => one.notes))).toEqual([])
  })

  test('before v1alpha1 it stays too old', () => {
    const old = policy({ kind: 'AccessPolicy', apiVersion: 'agentic.networking.x-k8s.io/v0alpha0' })
    const [read] = analysisOf([...TEAM_A, old]).settled.policies().list
    expect(read).toMatchObject({
      isInterpreted: false,
      problems: ['agentic.networking.x-k8s.io/v0alpha0 is too old to interpret'],
    })
  })
})
