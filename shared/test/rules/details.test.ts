// Nodes and Namespaces that could not be read are no gap of an answer (`DETAILS`): whatever rests on one of them says so itself.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { leastSeen, runs } from '@kleym/testing/runs.ts'
import { analysisOf, tenants, withoutLostPods } from '@kleym/testing/random-tenants.ts'
import { findingsOf } from '@kleym/testing/at-once.ts'
import { isAtLeast, namedIn, type Finding } from '../../src/core/findings/finding/finding.ts'
import { subjectText } from '../../src/core/model/objects/subject.ts'
import { findingEntry, type Severity } from '../../src/core/findings/registry/findings.ts'
import { containerVerdicts } from '../../src/core/predict/spire/registration.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'
import type { Analysis } from '../../src/core/analysis/states/analysis.ts'

/**
 * What a finding names; that of several identities names more once more is known. Of a lost default the fallback alone: that it gives way
 * is certain, and to what is reported for one that is no binding first.
 */
function namesOf(one: Finding): ReadonlySet<string> {
  const named = ['KLM402', 'KLM418'].includes(one.code) ? one.related : namedIn(one)
  return new Set(named.map(({ kind, namespace, name }) => subjectText({ kind, namespace, name })))
}

function isCertain({ dependsOn }: Finding): boolean {
  return dependsOn === undefined
}

/** How bad a finding is if it is so. */
function severityOf({ code }: Finding): Severity {
  return findingEntry(code).severity
}

/** The findings that nothing of `others` says: of the same code, about what they name and perhaps more. */
function unsaid(findings: readonly Finding[], others: readonly Finding[]): readonly Finding[] {
  return findings.filter((one) => {
    const alike = others.filter(({ code }) => code === one.code).map(namesOf)
    const [first] = namesOf(one)
    const about = alike.filter((names) => first !== undefined && names.has(first))
    return !namesOf(one).isSubsetOf(about.reduce((all, names) => all.union(names), new Set<string>()))
  })
}

/** What each registration comes to on each container. */
function verdictsOf({ podsInQuestion, settled }: Analysis): ReadonlyMap<string, string> {
  return new Map(
    podsInQuestion.flatMap((pod) =>
      pod.containers.flatMap((container) =>
        containerVerdicts(settled.prediction(), pod, container).map(
          ({ source, verdict }) => [`${pod.ref.name} ${container.name} ${source.name}`, verdict] as const,
        ),
      ),
    ),
  )
}

/** What a reading without some kinds has said for certain and is not so, and what it has hidden. */
function wrongWithout(forbidden: readonly string[], objects: readonly JsonRecord[]): Wrong {
  const partly = analysisOf(objects, { forbidden })
  const whole = analysisOf(objects)
  const [some, all] = [findingsOf(partly), findingsOf(whole)]
  // What hides a finding is open itself, and as bad: the exit code says so at every threshold at which the finding counts.
  const open = some.filter((one) => !isCertain(one))
  const isOpenAt = (one: Finding): boolean =>
    open.some((other) => isAtLeast(severityOf(other), severityOf(one)))
  const now = verdictsOf(whole)
  // What is issued stays so, and what cannot match is never issued.
  const verdicts = [...verdictsOf(partly)].filter(
    ([key, was]) =>
      (was === 'issued' && now.get(key) !== 'issued') || (was === 'dead' && now.get(key) === 'issued'),
  )
  return {
    wrong: [
      ...unsaid(some.filter(isCertain), all),
      ...unsaid(all, some).filter((one) => !isOpenAt(one)),
      ...verdicts,
    ],
    findings: all.length,
    open: open.length,
  }
}

interface Wrong {
  readonly wrong: readonly unknown[]
  readonly findings: number
  readonly open: number
}

test('without Nodes or Namespaces nothing is said that is not so, and no finding is hidden', () => {
  const seen = { whole: 0, open: 0 }
  const unread = fc.constantFrom(['Node'], ['Namespace'], ['Node', 'Namespace'])
  fc.assert(
    fc.property(tenants.map(withoutLostPods), unread, (objects, forbidden) => {
      const { wrong, findings, open } = wrongWithout(forbidden, objects)
      seen.whole += findings
      seen.open += open
      expect(wrong).toEqual([])
    }),
    { numRuns: runs(400) },
  )
  expect(seen.whole).toBeGreaterThan(leastSeen(400))
  expect(seen.open).toBeGreaterThan(leastSeen(40))
})

const ID = 'spiffe://example.org/shared'
const GOLD = { namespaceSelector: { matchLabels: { tier: 'gold' } } }
/** Its ID has an empty segment on the pod. */
const FAILING = { fallback: true, spiffeIDTemplate: 'spiffe://example.org/{{ index .PodMeta.Labels "x" }}/a' }
const GROUND: readonly JsonRecord[] = [
  {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'team-a', uid: 'team-a', labels: { tier: 'gold' } },
  },
  { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', uid: 'uid-of-n1' }, spec: {} },
  {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'pod-0', namespace: 'team-a', uid: 'uid-of-pod-0', labels: { app: 'llama' } },
    spec: { serviceAccountName: 'runner', nodeName: 'n1', containers: [{ name: 'vllm' }] },
  },
]

const registration = (name: string, spec: JsonRecord): JsonRecord => ({
  apiVersion: 'spire.spiffe.io/v1alpha1',
  kind: 'ClusterSPIFFEID',
  metadata: { name, uid: `uid-of-${name}`, creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { spiffeIDTemplate: ID, ...spec },
})

const staticEntry: JsonRecord = {
  apiVersion: 'spire.spiffe.io/v1alpha1',
  kind: 'ClusterStaticEntry',
  metadata: { name: 'static', uid: 'uid-of-static', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: {
    spiffeID: ID,
    parentID: 'spiffe://example.org/spire/agent/k8s_psat/prod/uid-of-n1',
    selectors: ['k8s:pod-uid:uid-of-pod-0'],
  },
}

test.each<[says: string, forbidden: string, objects: readonly JsonRecord[]]>([
  [
    'an entry may be that of a static entry, by the UID of its node',
    'Node',
    [registration('one', {}), staticEntry],
  ],
  [
    'two registrations that apply perhaps may want one entry',
    'Namespace',
    [registration('one', GOLD), registration('two', GOLD)],
  ],
  [
    'a fallback that fails may be displaced before',
    'Namespace',
    [registration('one', GOLD), registration('two', FAILING)],
  ],
])('%s', (_says, forbidden, objects) => {
  const { wrong, open } = wrongWithout([forbidden], [...GROUND, ...objects])
  expect(wrong).toEqual([])
  expect(open).toBeGreaterThan(0)
})

function codesBeside(fallback: JsonRecord): readonly string[] {
  const objects = [...GROUND, registration('one', GOLD), registration('two', fallback)]
  return findingsOf(analysisOf(objects)).map(({ code }) => code)
}

test('a fallback that would give nothing is no default that is lost', () => {
  expect(codesBeside(FAILING)).not.toContain('KLM418')
  expect(codesBeside({ ...FAILING, spiffeIDTemplate: 'spiffe://example.org/default' })).toContain('KLM418')
})
