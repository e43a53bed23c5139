// Whose identity pods of other namespaces can take by a registration that is not kleym's, before one of them is there (KLM311).
import { findingsIn } from './findings-in.ts'
import { expect, test } from 'vitest'
import { foreign, pod, world } from '@kleym/testing/finding-cases.ts'
import { binding } from '@kleym/testing/manifests.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'

const CHAT = 'spiffe://example.org/ns/team-a/objective/chat'
const GHOST = { matchLabels: { app: 'ghost' } }
const ns = (name: string, labels: Readonly<Record<string, string>> = {}): JsonRecord => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels },
})
const taker = (spec: JsonRecord): JsonRecord =>
  foreign('taker', { spiffeIDTemplate: CHAT, podSelector: GHOST, ...spec })

/** What is said of who can take the identity. */
function takersIn(objects: readonly JsonRecord[], scm: JsonRecord = {}): readonly string[] {
  const all = world(pod(), binding(), ns('team-a'), ns('team-b', { tier: 'x' }), ...objects)
  return findingsIn(
    all.map((value) => ({ value })),
    scm,
  )
    .filter(({ code }) => code === 'KLM311' || code === 'KLM308')
    .map(({ code, summary, dependsOn }) => `${code} ${summary}${dependsOn === undefined ? '' : '?'}`)
}

const entry = (selector: string): JsonRecord => ({
  apiVersion: 'spire.spiffe.io/v1alpha1',
  kind: 'ClusterStaticEntry',
  metadata: { name: 'taker', uid: 'uid-of-the-entry' },
  spec: { spiffeID: CHAT, parentID: 'spiffe://example.org/spire/agent/x', selectors: [selector] },
})
const named = (values: readonly string[]): JsonRecord => ({
  matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values }],
})
const ANY = 'KLM311 ClusterSPIFFEID/taker gives the identity to pods of any namespace'
const OF_B = 'KLM311 ClusterSPIFFEID/taker gives the identity to pods of namespace team-b'

test('a registration without a namespaceSelector gives the ID to pods of any namespace', () => {
  expect(takersIn([taker({})])).toEqual([ANY])
  expect(takersIn([taker({ namespaceSelector: {} })])).toEqual([ANY])
  expect(
    takersIn([taker({ workloadSelectorTemplates: ['k8s:sa:{{ .PodSpec.ServiceAccountName }}'] })]),
  ).toEqual([ANY])
})

test('one that selects another namespace gives it to pods there', () => {
  expect(takersIn([taker({ workloadSelectorTemplates: ['k8s:ns:team-b'] })])).toEqual([OF_B])
  expect(takersIn([taker({})], { cacheNamespaces: { 'team-b': {} } })).toEqual([OF_B])
})

test('one that stays in the namespace of the binding, asks for labels of Namespaces, or is not handled, gives it to nobody else', () => {
  expect(takersIn([taker({ namespaceSelector: named(['team-a']) })])).toEqual([])
  expect(takersIn([taker({ namespaceSelector: named(['team-a', 'team-b']) })])).toEqual([OF_B])
  expect(takersIn([taker({ workloadSelectorTemplates: ['k8s:ns:team-a'] })])).toEqual([])
  expect(takersIn([taker({ namespaceSelector: { matchLabels: { tier: 'x' } } })])).toEqual([])
  expect(takersIn([taker({ className: 'other' })])).toEqual([])
  expect(takersIn([taker({})], { cacheNamespaces: { 'team-a': {} } })).toEqual([])
  expect(takersIn([taker({ spiffeIDTemplate: `${CHAT}-2` })])).toEqual([])
})

test('a namespace that SCM perhaps ignores is one where such pods may be', () => {
  const scm = { ignoreNamespaces: ['\\p{Greek}'] }
  expect(takersIn([taker({ workloadSelectorTemplates: ['k8s:ns:team-b'] })], scm)).toEqual([OF_B])
  expect(
    takersIn([taker({ workloadSelectorTemplates: ['k8s:ns:team-b'] })], { ignoreNamespaces: ['team-b'] }),
  ).toEqual([])
})

test('pods that have it already are told of beside it', () => {
  const ghost = pod({ metadata: { namespace: 'team-b', uid: 'uid-of-the-ghost', labels: { app: 'ghost' } } })
  expect(takersIn([taker({}), ghost])).toEqual([expect.stringMatching(/^KLM308 /), ANY])
})

const label = '{{ index .PodMeta.Labels "as" }}'
const annotation = '{{ index .PodMeta.Annotations "id" }}'

test.each<[what: string, spiffeIDTemplate: string, found: readonly string[]]>([
  ['a label in the place of the namespace', `spiffe://example.org/ns/${label}/objective/chat`, [ANY]],
  ['with the trust domain of SCM', `spiffe://{{ .TrustDomain }}/ns/${label}/objective/chat`, [ANY]],
  ['a part of a segment', `spiffe://example.org/ns/team-${label}/objective/ch{{ .PodMeta.Name }}`, [ANY]],
  ['an annotation, which may hold slashes', `spiffe://example.org/${annotation}`, [ANY]],
  [
    'a name that is formatted',
    'spiffe://example.org/ns/team-a/objective/{{ printf "%s" .PodMeta.Name }}',
    [ANY],
  ],
  ['a label, which holds no slash', `spiffe://example.org/${label}`, []],
  ['a label for another segment', `spiffe://example.org/ns/team-b/objective/${label}`, []],
  ['the namespace beside a label', `spiffe://example.org/ns/{{ .PodMeta.Namespace }}/objective/${label}`, []],
  ['a label of the node', 'spiffe://example.org/ns/{{ index .NodeMeta.Labels "as" }}/objective/chat', []],
  ['another trust domain', `spiffe://other.org/ns/${label}/objective/chat`, []],
  ['a branch', `spiffe://example.org/ns/{{ if .PodMeta.Labels }}${label}{{ end }}/objective/chat`, []],
])('an ID that the pod chooses: %s', (_, spiffeIDTemplate, found) => {
  expect(takersIn([taker({ spiffeIDTemplate })])).toEqual(found)
})

test('whoever selects namespaces by their labels gives no tenant a choice, and the evidence says what one has', () => {
  const spiffeIDTemplate = `spiffe://example.org/ns/${label}/objective/chat`
  expect(takersIn([taker({ spiffeIDTemplate, namespaceSelector: { matchLabels: { tier: 'x' } } })])).toEqual(
    [],
  )
  const found = findingsIn(
    world(pod(), binding(), ns('team-a'), taker({ spiffeIDTemplate })).map((value) => ({ value })),
  ).find(({ code }) => code === 'KLM311')
  expect(found?.evidence[0]).toBe(`the pod chooses its ID: ${spiffeIDTemplate}`)
  expect(found?.fix).toContain('{{ .PodMeta.Namespace }}')
})

test('a ClusterStaticEntry counts by the selectors that a pod of any tenant may have', () => {
  expect(takersIn([entry('k8s:pod-label:app:ghost')])).toEqual([
    'KLM311 ClusterStaticEntry/taker gives the identity to pods of any namespace',
  ])
  // A tenant chooses the name of a StatefulSet.
  expect(takersIn([entry('k8s:pod-owner:StatefulSet:ghost')])).toHaveLength(1)
  expect(takersIn([entry('k8s:pod-owner-uid:StatefulSet:x')])).toEqual([])
  expect(takersIn([entry('unix:uid:0')])).toEqual([])
  expect(takersIn([entry('k8s:ns:team-a')])).toEqual([])
})
