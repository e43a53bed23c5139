// Which findings a change brings where the state before has one of the same code, subject and related ones.
import { describe, expect, test } from 'vitest'
import { effectOf } from '../../src/core/answers/explain/effect.ts'
import type { FindingChanges } from '../../src/core/answers/explain/finding-changes.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'
import { analysisOf, foreign, NODE, pod, policyOf, spiffe, TEAM_A } from '@kleym/testing/access-policies.ts'
import { binding, objective, pool, poolOnly } from '@kleym/testing/manifests.ts'

function changesBetween(
  code: string,
  before: readonly JsonRecord[],
  after: readonly JsonRecord[],
): FindingChanges {
  const [left, right] = [before, after].map((objects) => analysisOf(objects).settled)
  if (left === undefined || right === undefined) throw new Error('there are two')
  const { added, fixed, noLongerApply, perhapsGone, unchanged } = effectOf(left, right).findings
  const ofCode = (all: typeof added): typeof added => all.filter((one) => one.code === code)
  return {
    added: ofCode(added),
    fixed: ofCode(fixed),
    noLongerApply: ofCode(noLongerApply),
    perhapsGone: ofCode(perhapsGone),
    unchanged: ofCode(unchanged),
  }
}

/** A registration whose entry the server refuses, since a DNS name has an empty label. */
const REFUSED = foreign('all', {
  spiffeIDTemplate: 'spiffe://example.org/{{ .PodMeta.Namespace }}',
  dnsNameTemplates: ['a..b'],
})

function podIn(namespace: string, name: string): JsonRecord {
  return pod({ namespace, name, labels: {} })
}

/** The API server has added what it adds to a pod. */
const TOKEN = {
  name: 'kube-api-access-x7k2p',
  projected: { sources: [{ serviceAccountToken: { path: 'token' } }] },
}

const NAMESPACES = ['team-a', 'team-b'].map((name) => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name },
}))
const HAD = [NODE, ...NAMESPACES, REFUSED, podIn('team-a', 'a')]

test('a finding that pods of one more namespace show is new, for that namespace', () => {
  const { added, unchanged } = changesBetween('KLM405', HAD, [...HAD, podIn('team-b', 'b')])
  expect(added.map(({ namespaces }) => [...(namespaces ?? [])])).toEqual([['team-b']])
  expect(added[0]?.evidence.at(-1)).toBe('new with this change: namespace team-b')
  expect(unchanged).toEqual([])
})

test('of a finding that many namespaces show, the pods and the reasons of the new one are reported', () => {
  const many = Array.from({ length: 30 }, (_, at) => podIn(`team-${at + 10}`, 'p'))
  const refused = foreign('all', {
    spiffeIDTemplate: 'spiffe://example.org/{{ .PodMeta.Namespace }}',
    dnsNameTemplates: ['{{ .PodMeta.Namespace }}..x'],
  })
  const { added } = changesBetween('KLM405', [NODE, refused, ...many.slice(1)], [NODE, refused, ...many])
  expect(added.map(({ summary, evidence }) => [summary, ...evidence])).toEqual([
    [
      'spire-server refuses the entry of ClusterSPIFFEID/all for 1 pod',
      expect.stringContaining('gives "team-10..x"'),
      'seen in pod team-10/p',
      'new with this change: namespace team-10',
    ],
  ])
})

test('a finding that more pods of the same namespaces show is not new', () => {
  const { added, unchanged } = changesBetween('KLM405', HAD, [...HAD, podIn('team-a', 'b')])
  expect([added.length, unchanged.length]).toEqual([0, 1])
})

test('a finding that pods of one namespace less show is unchanged', () => {
  const { added, fixed, noLongerApply } = changesBetween('KLM405', [...HAD, podIn('team-b', 'b')], HAD)
  expect([added, fixed, noLongerApply]).toEqual([[], [], []])
})

function naming(...ids: readonly string[]): readonly JsonRecord[] {
  return [...TEAM_A, policyOf(spiffe(ids))]
}

test('one more source of a rule that nothing gives is new', () => {
  const [one, other] = ['spiffe://example.org/gone', 'spiffe://example.org/lost']
  const { added } = changesBetween('KLM601', naming(one), naming(one, other))
  expect(added.map(({ evidence }) => evidence.at(-1))).toEqual([`new with this change: ${other}`])
  expect(changesBetween('KLM601', naming(one, other), naming(one)).added).toEqual([])
})

function having(action: unknown): readonly JsonRecord[] {
  return [...TEAM_A, policyOf(spiffe(7), { spec: { action } })]
}

test('one more field of a policy that cannot be understood is new', () => {
  const { added } = changesBetween('KLM609', having('Allow'), having(7))
  expect(added.map(({ evidence }) => evidence.at(-1))).toEqual([
    'new with this change: .spec.action is a number, not a string',
  ])
})

describe('a container without a way to the Workload API, of a binding that is about one container or about all', () => {
  const [NARROW, WIDE] = [binding(), poolOnly()].map((bound) => [
    NODE,
    ...NAMESPACES,
    pool(),
    objective(),
    bound,
    pod({ spec: { containers: [{ name: 'vllm' }, { name: 'metrics' }], volumes: [TOKEN] } }),
  ])

  test('is not fixed when another container joins it: that one alone is new', () => {
    const { added, fixed, noLongerApply } = changesBetween('KLM430', NARROW ?? [], WIDE ?? [])
    expect(added.map(({ evidence }) => evidence.at(-1))).toEqual(['new with this change: container metrics'])
    expect([...fixed, ...noLongerApply]).toEqual([])
  })

  test('is unchanged when the other one goes', () => {
    const { added, unchanged } = changesBetween('KLM430', WIDE ?? [], NARROW ?? [])
    expect([added.length, unchanged.length]).toEqual([0, 1])
  })
})

describe('label sets that may overlap, of two bindings', () => {
  const second = { poolRef: { name: 'gold' }, objectiveRef: { name: 'gold' } }
  const alone = [
    pool(),
    objective(),
    pool({ name: 'gold', labels: { tier: 'gold' } }),
    objective({ name: 'gold', poolRef: second.poolRef }),
    binding(),
  ]
  const both = [...alone, binding({ name: 'gold', spec: second })]

  test('are fixed when one of them goes', () => {
    const { fixed, noLongerApply } = changesBetween('KLM302', both, alone)
    expect([fixed.length, noLongerApply.length]).toEqual([1, 0])
  })

  test('are not when both go', () => {
    const { fixed, noLongerApply } = changesBetween('KLM302', both, alone.slice(0, -1))
    expect([fixed.length, noLongerApply.length]).toEqual([0, 1])
  })
})
