// A read that failed and is not counted as a gap changes no finding: else a verdict would be called complete and be wrong.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { leastSeen, runs } from '@kleym/testing/runs.ts'
import { findingsOf } from '../../src/core/rules/all.ts'
import { gapsThatMatter } from '../../src/core/rules/gaps.ts'
import type { JsonRecord } from '../../src/core/json.ts'
import { DEFAULT_PARENT_ID_TEMPLATE } from '../../src/core/objects/scm-settings.ts'
import { containerVerdicts } from '../../src/core/spire/registration.ts'
import type { Analysis } from '../../src/core/analysis/analysis.ts'
import { poolOnly } from '@kleym/testing/manifests.ts'
import { HANDLES_EVERYTHING } from '@kleym/testing/scm-settings.ts'
import { analysisOf, tenants, withoutLostPods, type TenantReading } from '@kleym/testing/random-tenants.ts'

const RUNS = runs(400)

/** What each container holds. */
function identitiesOf({ podsInQuestion, settled }: Analysis): unknown {
  return podsInQuestion.map((pod) =>
    pod.containers.map((container) =>
      containerVerdicts(settled.prediction(), pod, container).map(({ source, verdict, spiffeId }) => [
        source.name,
        verdict,
        spiffeId,
      ]),
    ),
  )
}

test('a gap that does not matter changes no finding and no identity', () => {
  const seen = { matters: 0, not: 0, findings: 0 }
  const unread = fc.constantFrom(['Node'], ['Namespace'], ['Node', 'Namespace'])
  fc.assert(
    fc.property(tenants.map(withoutLostPods), unread, (objects, forbidden) => {
      const partly = analysisOf(objects, { forbidden })
      if (gapsThatMatter(partly).length > 0) {
        seen.matters++
        return
      }
      seen.not++
      const whole = analysisOf(objects)
      const findings = findingsOf(whole)
      seen.findings += findings.length
      expect(findingsOf(partly)).toEqual(findings)
      expect(identitiesOf(partly)).toEqual(identitiesOf(whole))
    }),
    { numRuns: RUNS },
  )
  expect(seen.matters).toBeGreaterThan(leastSeen(20))
  expect(seen.not).toBeGreaterThan(leastSeen(40))
  expect(seen.findings).toBeGreaterThan(leastSeen(400))
})

const csid = (spec: JsonRecord): JsonRecord => ({
  apiVersion: 'spire.spiffe.io/v1alpha1',
  kind: 'ClusterSPIFFEID',
  metadata: { name: 'other', uid: 'uid-of-other' },
  spec: { spiffeIDTemplate: 'spiffe://example.org/x', ...spec },
})

const staticBelow = (parentID: string): JsonRecord => ({
  apiVersion: 'spire.spiffe.io/v1alpha1',
  kind: 'ClusterStaticEntry',
  metadata: { name: 'static', uid: 'uid-of-static' },
  spec: { spiffeID: 'spiffe://example.org/x', parentID, selectors: ['k8s:ns:team-a'] },
})

const settled = (parentIDTemplate: string | undefined): TenantReading => ({
  settings: { ...HANDLES_EVERYTHING, parentIDTemplate },
})

describe('who may not read nodes misses something', () => {
  test.each<{ says: string; objects: readonly JsonRecord[]; more?: TenantReading; matters: boolean }>([
    { says: 'nothing asks for them', objects: [csid({})], matters: false },
    {
      says: 'an ID shows the node',
      objects: [csid({ spiffeIDTemplate: 'spiffe://example.org/{{ .NodeMeta.Name }}' })],
      matters: true,
    },
    {
      says: 'a DNS name shows the node',
      objects: [csid({ dnsNameTemplates: ['{{ .NodeSpec.ProviderID }}'] })],
      matters: true,
    },
    {
      says: 'a selector may show anything',
      objects: [csid({ workloadSelectorTemplates: ['x:{{ with . }}{{ . }}{{ end }}'] })],
      matters: true,
    },
    {
      says: 'a static entry is for the workloads of a node',
      objects: [staticBelow('spiffe://example.org/spire/agent/k8s_psat/prod/uid-of-n1')],
      matters: true,
    },
    { says: 'a static entry has a parent that is none', objects: [staticBelow('x')], matters: true },
    {
      says: 'a static entry gives an agent another name',
      objects: [staticBelow('spiffe://example.org/spire/server')],
      matters: false,
    },
    {
      says: 'SCM has a parent ID of its own',
      objects: [],
      more: settled('spiffe://td/{{ .NodeMeta.Labels.zone }}'),
      matters: true,
    },
    {
      says: 'SCM writes down the parent ID that it has anyway',
      objects: [],
      more: settled(DEFAULT_PARENT_ID_TEMPLATE),
      matters: false,
    },
    { says: 'SCM leaves the parent ID to itself', objects: [], more: settled(undefined), matters: false },
    {
      says: 'every node is under one parent',
      objects: [],
      more: settled('spiffe://td/agents'),
      matters: false,
    },
  ])('where $says: $matters', ({ objects, more, matters }) => {
    const analysis = analysisOf(objects, { forbidden: ['Node'], ...more })
    expect(gapsThatMatter(analysis).map(({ what }) => what)).toEqual(matters ? ['Node'] : [])
  })
})

const selecting = (namespaceSelector: JsonRecord | undefined): readonly JsonRecord[] => [
  poolOnly(),
  {
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ClusterSPIFFEID',
    metadata: { name: 'other', uid: 'uid-of-other' },
    spec: { spiffeIDTemplate: 'spiffe://example.org/x', namespaceSelector },
  },
]

describe('who may not read namespaces misses something', () => {
  test.each<[says: string, namespaceSelector: JsonRecord | undefined, matters: boolean]>([
    ['nothing selects by namespace', undefined, false],
    [
      'the name is all that is selected by',
      { matchLabels: { 'kubernetes.io/metadata.name': 'team-a' } },
      false,
    ],
    [
      'another name is selected',
      { matchLabels: { 'kubernetes.io/metadata.name': 'x', tier: 'gold' } },
      false,
    ],
    ['a label of the namespace is selected by', { matchLabels: { tier: 'gold' } }, true],
    ['a label must not be there', { matchExpressions: [{ key: 'tier', operator: 'DoesNotExist' }] }, true],
  ])('where %s: %s %s', (_says, namespaceSelector, matters) => {
    const analysis = analysisOf(selecting(namespaceSelector), { forbidden: ['Namespace'] })
    expect(gapsThatMatter(analysis).map(({ what }) => what)).toEqual(matters ? ['Namespace'] : [])
  })
})

test.each(['*', 'Pod', 'InferencePool.inference.networking.k8s.io', 'Deployment.apps', 'Endpoints'])(
  'a gap of %s always matters',
  (kind) => {
    const analysis = analysisOf([], { forbidden: [kind] })
    expect(gapsThatMatter(analysis)).toEqual([{ verb: 'list', what: kind, cause: 'forbidden' }])
  },
)
