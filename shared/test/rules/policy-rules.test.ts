// What findings about access policies say, and when KLM604 may be said at all.
import { findingsOf } from '@kleym/testing/at-once.ts'
import { describe, expect, test } from 'vitest'
import { driveAtOnce } from '../../src/core/base/steps.ts'
import { findingStepsAbout } from '../../src/core/findings/rules/all.ts'
import { isAbout, type Finding } from '../../src/core/findings/finding/finding.ts'
import { subjectText } from '../../src/core/model/objects/subject.ts'
import { concernsEveryBinding } from '../../src/core/findings/rules/install-rules.ts'
import { refusalOf } from '../../src/core/findings/finding/suppress.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'
import { BINDING_KIND } from '../../src/core/model/names.ts'
import { binding, got, live, objective, outputOf, pool, poolOnly } from '@kleym/testing/manifests.ts'
import {
  account,
  analysisOf,
  CHAT_ID,
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

function policyFindingsOf(objects: readonly JsonRecord[], setting: AnalysisSetting = {}): readonly Finding[] {
  return findingsOf(analysisOf(objects, setting)).filter(({ code }) => code.startsWith('KLM6'))
}

/** The finding of a code, as a line each. */
function told(findings: readonly Finding[], code: string): readonly string[] {
  const one = got(
    findings.find((each) => each.code === code),
    code,
  )
  return [
    `${one.severity} ${subjectText(one.subject)}`,
    ...one.related.map(subjectText),
    one.summary,
    ...one.evidence,
  ]
}

describe('a finding about a policy', () => {
  test('names the rule, the ID and which IDs are similar', () => {
    const findings = policyFindingsOf([
      ...TEAM_A,
      policyOf(spiffe('spiffe://example.org/ns/team-a/objective/Chat')),
    ])
    expect(told(findings, 'KLM601')).toEqual([
      'warning XAccessPolicy/agents/tools',
      'Rule/agents/tools/callers',
      'rule callers names spiffe://example.org/ns/team-a/objective/Chat',
      `nothing gives it; ${CHAT_ID} differs only in the case of letters`,
    ])
  })

  test('names the binding that asks for a dangling ID', () => {
    const findings = policyFindingsOf([NODE, pool(), binding(), pod(), policy()])
    expect(told(findings, 'KLM601')).toContain('InferenceIdentityBinding/team-a/llama')
  })

  test('names the binding whose ID no pod holds', () => {
    const findings = policyFindingsOf([NODE, pool(), objective(), binding(), policy()])
    expect(told(findings, 'KLM605')).toContain('InferenceIdentityBinding/team-a/llama')
  })

  test('is one for all IDs of a rule, and one for each rule', () => {
    const rules = [
      rule(spiffe(['spiffe://example.org/a', 'spiffe://example.org/b'])),
      { ...rule(spiffe('spiffe://example.org/c')), name: 'others' },
    ]
    const dangling = policyFindingsOf([...TEAM_A, policy({ spec: { rules } })]).filter(
      ({ code }) => code === 'KLM601',
    )
    expect(dangling.map(({ summary, evidence }) => `${summary}: ${evidence.length}`)).toEqual([
      'rule callers names spiffe://example.org/a and 1 other: 2',
      'rule others names spiffe://example.org/c: 1',
    ])
  })

  test('says whose behaviour it is that a rule does not take effect as written', () => {
    const rules = [rule(spiffe(CHAT_ID), { authorization: { type: 'Inline' } })]
    const [, , summary, evidence] = told(policyFindingsOf([...TEAM_A, policy({ spec: { rules } })]), 'KLM607')
    expect(summary).toBe('rule callers: its authorization is Inline and names no MCP method')
    expect(evidence).toContain('KAN (reference implementation)')
  })

  test('has the fix of what is shown, and each once', () => {
    const target = { group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'tools', sectionName: 'a' }
    const twice = [target, { ...target, sectionName: 'b' }]
    const fixes = [{ targetRefs: twice }, { targetRefs: twice, rules: [] }, { action: undefined }].map(
      (spec) => policyFindingsOf([...TEAM_A, policy({ spec })]).find(({ code }) => code === 'KLM607')?.fix,
    )
    const section = 'Leave sectionName out, or give the section a Gateway of its own.'
    expect(fixes).toEqual([
      section,
      `Write the rules that are meant, or delete the policy. ${section}`,
      'Write .spec.action.',
    ])
  })

  test('names both policies of a rule name', () => {
    const old = policy({ createdAt: '2026-01-01T00:00:00Z', status: { ancestors: [] } })
    expect(
      policyFindingsOf([...TEAM_A, old, policy({ name: 'later' })]).map(({ code }) => code),
    ).not.toContain('KLM608')
    const twins = policyFindingsOf([...TEAM_A, policy(), policy({ name: 'later' })])
    expect(
      twins.filter(({ code }) => code === 'KLM608').map(({ related }) => related.map(subjectText)),
    ).toEqual([
      ['Rule/agents/later/callers', 'XAccessPolicy/agents/tools'],
      ['Rule/agents/tools/callers', 'XAccessPolicy/agents/later'],
    ])
  })

  test('names each field that cannot be understood, once for a policy', () => {
    const spec = { action: 7, rules: [rule(spiffe(7))] }
    expect(told(policyFindingsOf([...TEAM_A, policy({ spec })]), 'KLM609')).toEqual([
      'warning XAccessPolicy/agents/tools',
      '.spec.action is a number, not a string, and 1 other thing',
      'rule callers: .spec.rules[0].source.spiffe is a number, not a string',
    ])
  })

  test('can be suppressed by an annotation of its own policy', () => {
    const [dangling] = policyFindingsOf([...TEAM_A, policyOf(spiffe('spiffe://example.org/a'))])
    expect(refusalOf(got(dangling))).toBeUndefined()
  })
})

describe('an identity that no policy names', () => {
  const NOBODY = policyOf(account('planner'))
  const CASES: readonly (readonly [string, readonly JsonRecord[], AnalysisSetting, boolean])[] = [
    ['is reported where all policies are known', [NOBODY], {}, true],
    ['is reported of a list that is read beside files', [NOBODY], { listedKinds: [POLICY_KIND] }, true],
    ['is not reported without a policy', [], { listedKinds: [POLICY_KIND] }, false],
    ['is not reported where the kind is absent', [], { absentKinds: [POLICY_KIND] }, false],
    [
      'is not reported where policies are not known',
      [NOBODY],
      { gaps: { [POLICY_KIND]: { verb: 'list', what: POLICY_KIND, cause: 'forbidden' } } },
      false,
    ],
    ['is not reported where a policy names it', [policy()], {}, false],
    ['is not reported where a policy names any principal', [policyOf(undefined)], {}, false],
    [
      'is not reported where a policy names its service account',
      [policyOf(account('runner', 'team-a'))],
      {},
      false,
    ],
    [
      'is not reported where a policy cannot be interpreted',
      [NOBODY, policy({ name: 'old', apiVersion: 'agentic.networking.x-k8s.io/v0alpha0' })],
      {},
      false,
    ],
    [
      'is not reported where a source cannot be read',
      [NOBODY, policyOf(spiffe(7), { name: 'odd' })],
      {},
      false,
    ],
    ['is not reported where the trust domain is not known', [NOBODY], { trustDomain: undefined }, false],
  ]

  test.each(CASES)('%s', (_, policies, setting, isTold) => {
    const codes = policyFindingsOf([...TEAM_A, ...policies], setting).map(({ code }) => code)
    expect(codes.includes('KLM604')).toBe(isTold)
  })

  test.each([
    ['that is refused', [NODE, pool(), binding(), NOBODY]],
    [
      'that collides',
      [
        NODE,
        pool(),
        objective(),
        objective({ name: 'sql' }),
        binding(),
        binding({ name: 'other', spec: { objectiveRef: { name: 'sql' } } }),
        NOBODY,
      ],
    ],
  ])('is not reported of a binding %s', (_, objects) => {
    expect(policyFindingsOf(objects).map(({ code }) => code)).not.toContain('KLM604')
  })
})

describe('of some bindings alone', () => {
  const ELSEWHERE = 'spiffe://example.org/ns/team-b/pool/other'
  const keys = new Set(['team-a/llama'])
  const ours = [poolOnly(), pool()]
  /** A user has given the output another ID, and deleted it: a finalizer keeps kleym from repairing it. */
  const changed = live(outputOf(ours), {
    deletedAt: '2026-01-02T00:00:00Z',
    spec: { spiffeIDTemplate: ELSEWHERE },
  })

  test.each([
    ELSEWHERE,
    'spiffe://example.org/ns/team-a/pool/llama',
    'spiffe://example.org/ns/team-a/pool/x',
  ])('a rule that names %s is reported as it is among all bindings', (spiffeId) => {
    const analysis = analysisOf([...ours, changed, policyOf(spiffe(spiffeId))])
    const all = findingsOf(analysis).filter((one) => isAbout(one, BINDING_KIND, keys))
    expect(driveAtOnce(findingStepsAbout(analysis, keys))).toEqual(all)
  })

  const OURS = 'spiffe://example.org/ns/team-a/pool/llama'
  const held = [NODE, ...ours, pod()]
  test.each<[string, readonly JsonRecord[]]>([
    [
      'a pod holds, beside an ID that no pod holds',
      [...held, policy({ spec: { rules: [rule(spiffe(OURS)), rule(spiffe(`${OURS}s`))] } })],
    ],
    ['no pod holds', [...ours, policyOf(spiffe(OURS))]],
    ['a refused binding asks for', [...ours.slice(0, 1), policyOf(spiffe(OURS))]],
    ['has its path in another trust domain', [...ours, policyOf(spiffe(OURS.replace('.org', '.com')))]],
    ['an account of its namespace has', [...held, policyOf(account('runner', 'team-a'))]],
  ])('a rule whose ID %s is reported as it is among all bindings', (_, objects) => {
    for (const setting of [{}, { trustDomain: undefined }]) {
      const analysis = analysisOf(objects, setting)
      const all = findingsOf(analysis).filter((one) => isAbout(one, BINDING_KIND, keys))
      expect(
        driveAtOnce(findingStepsAbout(analysis, keys)).filter((one) => !concernsEveryBinding(one)),
      ).toEqual(all)
    }
  })

  test('an output that could not be put right yet relates the rule to its binding', () => {
    const analysis = analysisOf([...ours, changed, policyOf(spiffe(ELSEWHERE))])
    expect(driveAtOnce(findingStepsAbout(analysis, keys)).map(({ code }) => code)).toContain('KLM605')
  })
})
