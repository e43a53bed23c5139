// An answer about one namespace that was read alone is the answer that the whole cluster gives, or `reachesBeyond` says
// that everything has to be read.
import { readdirSync, readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { leastSeen, runs } from '@kleym/testing/runs.ts'
import { parseAllDocuments } from 'yaml'
import type { Analysis } from '../../src/core/analysis/states/analysis.ts'
import { findingsOf } from '@kleym/testing/at-once.ts'
import { dependsOnOutsideScope } from '../../src/core/findings/rules/outside-scope.ts'
import { findingKey, type Finding } from '../../src/core/findings/finding/finding.ts'
import { concernsEveryBinding } from '../../src/core/findings/rules/install-rules.ts'
import { isRecord, type JsonRecord } from '../../src/core/base/json.ts'
import { readMeta } from '../../src/core/model/objects/meta.ts'
import { recordAt } from '../../src/core/model/objects/pod.ts'
import { containerVerdicts } from '../../src/core/predict/spire/registration.ts'
import { live, manifestOf, outputOf, pool, poolOnly } from '@kleym/testing/manifests.ts'
import { analysisOf, tenants, TENANTS } from '@kleym/testing/random-tenants.ts'

const RUNS = runs(400)

/** Whether an error is about a namespace: about its objects, shown by its pods, or about the registrations of every namespace. */
function concerns(one: Finding, namespace: string): boolean {
  return (
    concernsEveryBinding(one) ||
    one.namespaces?.has(namespace) === true ||
    [one.subject, ...one.related].some((subject) => subject.namespace === namespace)
  )
}

/** The errors that a namespace has to hear of. */
function errorsOf(analysis: Analysis, namespace: string): readonly string[] {
  return findingsOf(analysis)
    .filter((one) => one.severity === 'error' && concerns(one, namespace))
    .map(findingKey)
}

/** What becomes of the bindings of a namespace, now and in the end. */
function judgementsOf(analysis: Analysis, namespace: string): unknown {
  return analysis.compiled
    .filter(({ binding: { meta } }) => meta.namespace === namespace)
    .map(({ binding: { key } }) => [
      key,
      analysis.now.judgements.get(key)?.state,
      analysis.settled.judgements.get(key)?.state,
    ])
}

/** Who holds what in the pods of a namespace, as `who-selects` tells it; whose an output of ours is, is part of it. */
function identitiesOf(analysis: Analysis, namespace: string): unknown {
  const owners = analysis.settled.bindingsByOutput()
  return analysis.podsInQuestion
    .filter((pod) => pod.namespace === namespace)
    .map((pod) => [
      pod.ref.name,
      ...pod.containers.map((container) =>
        containerVerdicts(analysis.settled.prediction(), pod, container).map(
          ({ source, verdict, spiffeId }) => [
            source.name,
            owners.get(source.name)?.startsWith(`${namespace}/`) === true,
            verdict,
            spiffeId,
          ],
        ),
      ),
    ])
}

test('a namespace that is read alone gives the answer of the whole cluster, or asks for all of it', () => {
  const seen = { alone: 0, all: 0, errors: 0 }
  fc.assert(
    fc.property(tenants, fc.constantFrom(...TENANTS), (objects, namespace) => {
      const alone = analysisOf(objects, { namespacesRead: new Set([namespace]) })
      const whole = analysisOf(objects)
      if (dependsOnOutsideScope(alone)) {
        seen.all++
        return
      }
      seen.alone++
      const errors = errorsOf(whole, namespace)
      seen.errors += errors.length
      expect(errorsOf(alone, namespace)).toEqual(errors)
      expect(judgementsOf(alone, namespace)).toEqual(judgementsOf(whole, namespace))
      expect(identitiesOf(alone, namespace)).toEqual(identitiesOf(whole, namespace))
    }),
    { numRuns: RUNS },
  )
  // Neither answer is the only one, and there was something to get wrong.
  expect(seen.alone).toBeGreaterThan(leastSeen(40))
  expect(seen.all).toBeGreaterThan(leastSeen(40))
  expect(seen.errors).toBeGreaterThan(leastSeen(20))
})

test('a snapshot of everything reaches beyond nothing', () => {
  fc.assert(
    fc.property(tenants, (objects) => {
      expect(dependsOnOutsideScope(analysisOf(objects))).toBe(false)
    }),
    { numRuns: runs(100) },
  )
})

/** A ClusterSPIFFEID that is not kleym's. */
function other(spiffeIDTemplate: string, spec: JsonRecord = {}): JsonRecord {
  return {
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ClusterSPIFFEID',
    metadata: { name: 'other', uid: 'uid-of-other' },
    spec: { spiffeIDTemplate, ...spec },
  }
}

function staticEntry(spiffeID: string): JsonRecord {
  return {
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ClusterStaticEntry',
    metadata: { name: 'static', uid: 'uid-of-static' },
    spec: { spiffeID, parentID: 'spiffe://example.org/x', selectors: ['k8s:ns:team-b'] },
  }
}

const within = (namespace: string): JsonRecord => ({
  namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
})

describe('from the namespace of one binding, everything is read where', () => {
  const HERE = 'spiffe://example.org/ns/team-a/pool/llama'
  const ours = [poolOnly(), pool()]
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', uid: 'uid-of-n1' }, spec: {} }
  const output = outputOf(ours)
  const theirs = outputOf([poolOnly({ namespace: 'team-b' }), pool({ namespace: 'team-b' })], 'team-b/llama')
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'team-a', uid: 'uid-of-p', labels: { app: 'llama' } },
    spec: { nodeName: 'n1', serviceAccountName: 'runner', containers: [{ name: 'vllm' }] },
  }
  const cut = { workloadSelectorTemplates: ['x:{{ slice .PodMeta.Name 0 1 }}'] }

  test.each<{ where: string; objects: readonly JsonRecord[]; reaches: boolean }>([
    { where: 'nothing else is there', objects: [pod, live(output)], reaches: false },
    {
      where: "SPIRE's default gives every pod an ID",
      objects: [
        pod,
        other('spiffe://{{ .TrustDomain }}/ns/{{ .PodMeta.Namespace }}/sa/{{ .PodSpec.ServiceAccountName }}'),
      ],
      reaches: false,
    },
    { where: 'another registration has the ID', objects: [other(HERE)], reaches: true },
    {
      where: 'another registration may render the ID',
      objects: [other('spiffe://example.org/ns/team-a/pool/{{ .PodMeta.Name }}', within('team-b'))],
      reaches: true,
    },
    { where: 'a static entry has the ID', objects: [staticEntry(HERE)], reaches: true },
    { where: 'a static entry has another ID', objects: [staticEntry(`${HERE}-2`)], reaches: false },
    {
      where: "another registration has the ID of a binding's last output",
      objects: [live(output, { spec: { spiffeIDTemplate: `${HERE}-2` } }), other(`${HERE}-2`)],
      reaches: true,
    },
    {
      where: 'a selector may break UTF-8 anywhere',
      objects: [other('spiffe://example.org/x', cut)],
      reaches: true,
    },
    {
      where: 'a selector may break UTF-8 elsewhere',
      objects: [other('spiffe://example.org/x', { ...cut, ...within('team-b') })],
      reaches: true,
    },
    {
      where: 'a selector may break UTF-8 here alone',
      objects: [other('spiffe://example.org/x', { ...cut, ...within('team-a') })],
      reaches: false,
    },
    {
      where: 'a DNS name may break UTF-8',
      objects: [other('spiffe://example.org/x', { dnsNameTemplates: ['{{ "\\xff" }}'] })],
      reaches: true,
    },
    {
      where: 'a selector that Go cannot parse would break UTF-8',
      objects: [other('spiffe://example.org/x', { workloadSelectorTemplates: ['{{ slice'] })],
      reaches: false,
    },
    { where: 'an output is of a binding elsewhere', objects: [pod, live(theirs)], reaches: false },
    {
      where: 'an output of a binding elsewhere selects pods here',
      objects: [pod, live(theirs, { spec: { namespaceSelector: undefined } })],
      reaches: true,
    },
    {
      where: 'an output of a binding elsewhere has the name of one here',
      objects: [live(theirs, { name: output.metadata.name })],
      reaches: true,
    },
    {
      where: 'an output of a binding elsewhere claims a container here',
      objects: [
        live(theirs, { spec: { workloadSelectorTemplates: ['k8s:ns:team-a', 'k8s:container-name:vllm'] } }),
      ],
      reaches: true,
    },
    {
      where: 'an output of a binding elsewhere claims a container anywhere',
      objects: [live(theirs, { spec: { workloadSelectorTemplates: ['k8s:container-name:vllm'] } })],
      reaches: true,
    },
    {
      where: 'a pod here has the ID of a binding elsewhere',
      objects: [pod, other('spiffe://example.org/ns/team-b/objective/chat')],
      reaches: true,
    },
    {
      where: 'a pod here has an ID that no binding elsewhere can have',
      objects: [pod, other('spiffe://example.org/ns/team-b/sa/runner')],
      reaches: false,
    },
  ])('$where: $reaches', ({ objects, reaches }) => {
    const alone = analysisOf([...ours, node, ...objects], { namespacesRead: new Set(['team-a']) })
    expect(dependsOnOutsideScope(alone)).toBe(reaches)
  })

  test('a binding of which not everything is known has an output with the ID of another registration', () => {
    const objects = [poolOnly(), live(output), other(HERE)]
    const reading = { namespacesRead: new Set(['team-a']), forbidden: ['*'] }
    expect(dependsOnOutsideScope(analysisOf(objects, reading))).toBe(true)
    expect(dependsOnOutsideScope(analysisOf([poolOnly(), other(HERE)], reading))).toBe(false)
  })
})

describe('where our trust domain is not known', () => {
  const config = { trustDomain: { kind: 'not known' }, className: '' } as const
  const estateOf = (template: string): Analysis =>
    analysisOf([poolOnly(), pool(), other(template)], { namespacesRead: new Set(['team-a']), config })

  test.each<[template: string, reaches: boolean]>([
    ['spiffe://example.org/ns/team-a/pool/llama', true],
    ['spiffe://example.net/ns/team-a/pool/{{ .PodMeta.Name }}', true],
    ['spiffe://{{ .TrustDomain }}/ns/team-a/pool/llama', true],
    ['spiffe://{{ .TrustDomain }}/ns/{{ .PodMeta.Namespace }}/pool/{{ .PodMeta.Name }}', true],
    ['spiffe://{{ "example" }}.org/ns/team-a/pool/llama', true],
    ['{{ "spiffe:" }}//example.org/ns/team-a/pool/llama', true],
    ['spiffe://example.org/ns/team-a/pool/other', false],
    ['spiffe://example.org/ns/team-a/objective/{{ .PodMeta.Name }}', false],
    ['spiffe://{{ .TrustDomain }}/ns/{{ .PodMeta.Namespace }}/sa/{{ .PodSpec.ServiceAccountName }}', false],
    ['spiffe:///ns/team-a/pool/llama', false],
  ])('%s: %s', (template, reaches) => {
    expect(dependsOnOutsideScope(estateOf(template))).toBe(reaches)
  })
})

describe('the example estate, with the outputs of kleym in force', () => {
  const folder = new URL('../../../examples/estate/', import.meta.url)
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.yaml'),
  )
  const objects = files
    .flatMap((name) => parseAllDocuments(readFileSync(new URL(name, folder), 'utf8')))
    .map((document): unknown => document.toJS())
    .filter((value) => isRecord(value))
    // As an API server holds them.
    .map((value) => withUid(value))
  const whole = analysisOf(objects)
  const ids = new Set(['ClusterSPIFFEID'])
  const inForce = [
    ...objects.filter(({ kind }) => !ids.has(String(kind))),
    ...whole.settled.outputs.map(({ object }) => manifestOf(object)),
  ]
  const namespaces = [...new Set(whole.snapshot.bindings.read.map(({ meta }) => meta.namespace))]

  // In each of these, another registration gives the identity of a binding.
  const NEED_ALL = new Set(['lab', 'playground'])

  test.each(namespaces)('%s', (namespace) => {
    const alone = analysisOf(inForce, { namespacesRead: new Set([namespace]) })
    expect(dependsOnOutsideScope(alone)).toBe(NEED_ALL.has(namespace))
  })

  test.each(namespaces.filter((namespace) => !NEED_ALL.has(namespace)))('%s alone tells all', (namespace) => {
    const alone = analysisOf(inForce, { namespacesRead: new Set([namespace]) })
    expect(errorsOf(alone, namespace)).toEqual(errorsOf(analysisOf(inForce), namespace))
  })
})

function withUid(value: JsonRecord): JsonRecord {
  const { namespace, name } = readMeta(value)
  const metadata = {
    uid: `uid-of-${String(value['kind'])}-${namespace}-${name}`,
    ...recordAt(value, 'metadata'),
  }
  return { ...value, metadata }
}
