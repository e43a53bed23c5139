// What holds of access policies whatever they say: no text tells what becomes of a request, no verdict on a binding hangs on
// a policy, what is unknown stays unknown, and the order of the input does not matter.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { leastSeen, mustSee, runs } from '@kleym/testing/runs.ts'
import type { Analysis } from '../../src/core/analysis/states/analysis.ts'
import { findingsOf } from '@kleym/testing/at-once.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'
import { NOTE_KINDS, type Resolution } from '../../src/core/analysis/policies/resolution.ts'
import { affectedPolicies } from '../../src/core/answers/explain/affected-policies.ts'
import { verdictOf } from '../../src/core/decide/plan/status.ts'
import { FINDING_CODES, findingEntry } from '../../src/core/findings/registry/findings.ts'
import { binding, objective, pool } from '@kleym/testing/manifests.ts'
import {
  account,
  analysisOf,
  CHAT_ID,
  DEFAULT_ID,
  foreign,
  TEAM_A,
  NODE,
  pod,
  POLICY_KIND,
  spiffe,
  type AnalysisSetting,
} from '@kleym/testing/access-policies.ts'

const RUNS = runs(150)

/** Words about a request, which kleym never says; a value of a policy's own field (`Allow`) is no such word. */
const VERDICT_WORDS =
  /\b(?:allowed|allows|allowing|denied|denies|deny|denying|permits?|permitted|block(?:s|ed|ing)?|grants?|granted|rejects?|rejected|authori[sz]ed)\b/i

const junk = fc.constantFrom<unknown>(undefined, null, '', 7, true, [], {}, 'x', ['x'], { name: 7 })
// What comes up more often stands there more often: every answer has to come up.
const ids = fc.constantFrom(
  CHAT_ID,
  CHAT_ID,
  CHAT_ID,
  CHAT_ID,
  CHAT_ID.toUpperCase(),
  `${CHAT_ID}/x`,
  'spiffe://example.org',
  'spiffe://example.org/ns/team-a',
  'spiffe://example.org/ns/agents/sa/planner',
  'spiffe://example.org/ns/team-b/objective/chat',
  'spiffe://cluster.local/ns/team-a/objective/chat',
  'spiffe://example.org/../x',
  'spiffe://example.org/spire/agent/x',
  'spiffe://',
  '*',
)
const sources: fc.Arbitrary<unknown> = fc.oneof(
  ids.map(spiffe),
  fc.array(ids, { maxLength: 3 }).map(spiffe),
  fc.constantFrom<unknown>(
    { type: 'SPIFFE', serviceAccount: { name: 'runner' } },
    { type: 'ServiceAccount', spiffe: CHAT_ID },
  ),
  fc.constantFrom('runner', 'planner', '').map((name) => account(name, 'team-a')),
  fc.record(
    {
      type: fc.oneof(fc.constantFrom('SPIFFE', 'ServiceAccount', 'OIDC', 'jwt', 'Other'), junk),
      spiffe: fc.oneof(ids, junk),
      serviceAccount: fc.oneof(fc.constant({ name: 'runner' }), junk),
      oidc: junk,
      other: junk,
    },
    { requiredKeys: [] },
  ),
  junk,
)
const authorizations = fc.oneof(
  fc.constantFrom<unknown>(
    { type: 'Inline' },
    { type: 'Inline', mcp: { methods: [{ name: 'tools/call' }] } },
    { type: 'Inline', paths: ['/x'] },
    { type: 'CEL', cel: { expression: 'true' } },
    [{ type: 'CEL' }],
  ),
  junk,
)
const rules = fc.record(
  {
    name: fc.oneof(fc.constantFrom('callers', 'others'), junk),
    source: sources,
    authorization: authorizations,
  },
  { requiredKeys: [] },
)
const statuses = fc.oneof(
  fc
    .array(
      fc.record({
        ancestorRef: fc.constantFrom(
          { name: 'tools' },
          { name: 'other' },
          { kind: 'Mesh', name: 'm', namespace: 'x' },
        ),
        conditions: fc.array(
          fc.record({
            type: fc.constantFrom('Accepted', 'Other'),
            status: fc.constantFrom('True', 'False', 'Unknown'),
            reason: fc.constantFrom('Accepted', 'LimitPerTargetExceeded'),
            observedGeneration: fc.constantFrom<unknown>(1, 2, undefined),
          }),
          { maxLength: 2 },
        ),
      }),
      { maxLength: 2 },
    )
    .map((ancestors) => ({ ancestors })),
  junk,
)
const policies: fc.Arbitrary<JsonRecord> = fc
  .record({
    apiVersion: fc.constantFrom(
      'agentic.networking.x-k8s.io/v1alpha1',
      'agentic.networking.x-k8s.io/v1alpha1',
      'agentic.networking.x-k8s.io/v1alpha1',
      'agentic.networking.x-k8s.io/v0alpha0',
      'agentic.prototype.x-k8s.io/v0alpha0',
      'agentic.networking.x-k8s.io/v2',
    ),
    namespace: fc.constantFrom('agents', 'team-a'),
    stored: fc.boolean(),
    createdAt: fc.constantFrom('2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'),
    spec: fc.oneof(
      {
        weight: 9,
        arbitrary: fc.record(
          {
            targetRefs: fc.oneof(
              fc.constantFrom<unknown>(
                [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'tools' }],
                [
                  {
                    group: 'gateway.networking.k8s.io',
                    kind: 'Gateway',
                    name: 'tools',
                    sectionName: 'https',
                  },
                ],
              ),
              junk,
            ),
            action: fc.oneof(fc.constantFrom('Allow', 'Allow', 'ExternalAuth', 'Audit'), junk),
            rules: fc.oneof(fc.array(rules, { maxLength: 4 }), junk),
          },
          { requiredKeys: [] },
        ),
      },
      { weight: 1, arbitrary: junk },
    ),
    status: statuses,
  })
  .map(({ apiVersion, namespace, stored, createdAt, spec, status }) => ({
    apiVersion,
    kind: 'XAccessPolicy',
    metadata: {
      namespace,
      ...(stored ? { uid: 'some-uid', creationTimestamp: createdAt, generation: 2 } : {}),
    },
    spec,
    status,
  }))
const somePolicies = fc.array(policies, { minLength: 1, maxLength: 8 }).map((list) =>
  // Names are unique, as an API server has them.
  list.map((one, at) => ({ ...one, metadata: { ...Object(one['metadata']), name: `p${at}` } })),
)
const clusters: fc.Arbitrary<readonly JsonRecord[]> = fc.constantFrom(
  TEAM_A,
  [...TEAM_A, DEFAULT_ID],
  [NODE, pool(), objective(), binding()],
  [NODE, pool(), binding(), pod()],
  [...TEAM_A, foreign('odd', { spiffeIDTemplate: 'spiffe://example.org/ns/{{ printf "%v" .PodSpec }}' })],
)
const gaps = (...kinds: readonly string[]): AnalysisSetting => ({
  gaps: Object.fromEntries(
    kinds.map((kind) => [kind, { verb: 'list', what: kind, cause: 'forbidden' } as const]),
  ),
})
const settings = fc.constantFrom<AnalysisSetting>(
  {},
  { trustDomain: undefined },
  { namespacesRead: ['team-a'] },
  gaps('Pod'),
  gaps('ClusterSPIFFEID.spire.spiffe.io'),
  gaps(POLICY_KIND),
  gaps('*'),
)

/** Everything that is said of policies, as texts of ours. */
function textsOf(analysis: Analysis): readonly string[] {
  const { list } = analysis.settled.policies()
  return [
    ...list.flatMap(({ notes, problems, rules: each }) => [
      ...notes.flatMap(({ text, source }) => [text, source]),
      ...problems,
      ...each.flatMap((rule) => [
        rule.asks,
        ...rule.notes.flatMap(({ text, source }) => [text, source]),
        ...rule.sources.flatMap(({ text, resolution }) => [text, resolution.text]),
      ]),
    ]),
    ...findingsOf(analysis)
      .filter(({ code }) => code.startsWith('KLM6'))
      .flatMap(({ summary, evidence, fix }) => [summary, ...evidence, fix]),
  ]
}

test('no input makes kleym say what becomes of a request', () => {
  fc.assert(
    fc.property(clusters, somePolicies, settings, (objects, list, setting) => {
      for (const text of textsOf(analysisOf([...objects, ...list], setting)))
        expect(text).not.toMatch(VERDICT_WORDS)
    }),
    { numRuns: RUNS },
  )
})

test('no page of a finding says what becomes of a request', () => {
  const codes = FINDING_CODES.filter((code) => code.startsWith('KLM6'))
  expect(codes.length).toBeGreaterThan(0)
  for (const code of codes) {
    const { title, meaning, consequence, fix } = findingEntry(code)
    for (const text of [title, meaning, consequence, fix]) expect(text).not.toMatch(VERDICT_WORDS)
  }
})

/** What is said of bindings, and found of anything but policies. */
function saidOfBindings(analysis: Analysis): unknown {
  return [
    analysis.compiled.map(({ binding: { key } }) => {
      const judgement = analysis.now.judgements.get(key)
      return [key, judgement?.state, judgement === undefined ? undefined : verdictOf(judgement)]
    }),
    analysis.changes.all,
    findingsOf(analysis).filter(({ code }) => !code.startsWith('KLM6')),
  ]
}

test('a policy never changes a verdict on a binding, nor any finding that is not about policies', () => {
  fc.assert(
    fc.property(clusters, somePolicies, settings, (objects, list, setting) => {
      expect(saidOfBindings(analysisOf([...objects, ...list], setting))).toEqual(
        saidOfBindings(analysisOf(objects, setting)),
      )
    }),
    { numRuns: RUNS },
  )
})

test('without policies nothing is said of them', () => {
  fc.assert(
    fc.property(clusters, settings, (objects, setting) => {
      expect(textsOf(analysisOf(objects, setting))).toEqual([])
    }),
    { numRuns: runs(100) },
  )
})

const CERTAIN: ReadonlySet<Resolution['state']> = new Set(['dangling', 'unheld'])

test('what hangs on a kind that could not be read is never called dangling or unheld', () => {
  const unread = gaps('Pod', 'ClusterSPIFFEID.spire.spiffe.io', 'ClusterStaticEntry.spire.spiffe.io')
  const seen = { unknown: 0 }
  fc.assert(
    fc.property(somePolicies, (list) => {
      const { list: resolved } = analysisOf(
        [NODE, pool(), objective(), binding(), ...list],
        unread,
      ).settled.policies()
      for (const { rules: each } of resolved)
        for (const { resolution } of each.flatMap((rule) => rule.sources)) {
          expect(CERTAIN).not.toContain(resolution.state)
          if (resolution.state === 'unknown') seen.unknown++
        }
    }),
    { numRuns: RUNS },
  )
  expect(seen.unknown).toBeGreaterThan(leastSeen(0))
})

test('an answer with less knowledge is the same answer, or a less certain one', () => {
  const seen = { kept: 0, lost: 0 }
  const less = fc.constantFrom<AnalysisSetting>(
    gaps('*'),
    gaps('Pod', 'ClusterSPIFFEID.spire.spiffe.io'),
    { trustDomain: undefined },
    { namespacesRead: ['agents'] },
  )
  fc.assert(
    fc.property(clusters, somePolicies, less, (objects, list, setting) => {
      const [knows, guesses] = [{}, setting].map((one) =>
        analysisOf([...objects, ...list], one)
          .settled.policies()
          .list.flatMap(({ rules: each }) => each.flatMap((rule) => rule.sources)),
      )
      for (const [at, { resolution }] of (guesses ?? []).entries()) {
        const { state } = knows?.[at]?.resolution ?? {}
        expect([state, 'unknown']).toContain(resolution.state)
        if (resolution.state === state) seen.kept++
        else seen.lost++
      }
    }),
    { numRuns: RUNS },
  )
  expect(Math.min(seen.kept, seen.lost)).toBeGreaterThan(leastSeen(0))
})

test('every source gets one answer, whatever it is, and nothing is dropped', () => {
  const seen = new Set<string>()
  fc.assert(
    fc.property(clusters, somePolicies, (objects, list) => {
      const { list: resolved } = analysisOf([...objects, ...list]).settled.policies()
      expect(resolved).toHaveLength(list.length)
      for (const one of resolved) {
        expect(one.isInterpreted || one.problems.length > 0).toBe(true)
        for (const { sources: each, notes } of one.rules) {
          expect(each.length).toBeGreaterThan(0)
          for (const { resolution } of each) seen.add(resolution.state)
          for (const { kind } of [...one.notes, ...notes]) expect(NOTE_KINDS).toContain(kind)
        }
      }
    }),
    { numRuns: 2 * RUNS },
  )
  const states = [
    'dangling',
    'foreign',
    'not SPIFFE',
    'resolved',
    'service account',
    'type mismatch',
    'unbounded',
    'unheld',
    'unknown',
    'unreadable',
  ]
  expect(states).toEqual(expect.arrayContaining([...seen]))
  expect([...seen]).toEqual(expect.arrayContaining(mustSee(states)))
})

test('the order of the input does not matter', () => {
  fc.assert(
    fc.property(clusters, somePolicies, settings, (objects, list, setting) => {
      const [one, other] = [[...objects, ...list], [...list, ...objects].toReversed()].map((each) =>
        analysisOf(each, setting),
      )
      expect(one === undefined ? [] : textsOf(one)).toEqual(other === undefined ? [] : textsOf(other))
    }),
    { numRuns: RUNS },
  )
})

test('a cluster compared with itself affects no policy', () => {
  fc.assert(
    fc.property(clusters, somePolicies, settings, (objects, list, setting) => {
      const again = (): Analysis => analysisOf([...objects, ...list], setting)
      expect(affectedPolicies(again().settled, again().settled)).toEqual([])
    }),
    { numRuns: RUNS },
  )
})
