// What pods of several namespaces show alike: a finding is about each namespace whose pods show it, whatever else does.
import { expect, test } from 'vitest'
import { analyse, type Analysis } from '../../src/core/analysis/states/analysis.ts'
import { NO_OPEN_SETTINGS } from '../../src/core/analysis/settings/assumptions.ts'
import { effectOf } from '../../src/core/answers/explain/effect.ts'
import type { Finding } from '../../src/core/findings/finding/finding.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'
import type { FindingCode } from '../../src/core/findings/registry/findings.ts'
import { findingsOf } from '@kleym/testing/at-once.ts'
import { foreign, pod, world } from '@kleym/testing/finding-cases.ts'
import { binding } from '@kleym/testing/manifests.ts'
import { analysisOf } from '@kleym/testing/random-tenants.ts'

const CHAT_ID = 'spiffe://example.org/ns/team-a/objective/chat'

/** A pod that no pool selects. */
function podIn(namespace: string, name = 'p'): JsonRecord {
  return pod({
    labels: { app: 'x' },
    metadata: { namespace, name, uid: `uid-of-${namespace}-${name}` },
    spec: { containers: [{ name: 'vllm' }] },
  })
}

/** A registration of all pods that no pool selects. */
function thiefWith(spec: JsonRecord): JsonRecord {
  return foreign('thief', { podSelector: { matchLabels: { app: 'x' } }, ...spec })
}

/** A registration that gives away the identity of a binding: for certain in all namespaces but `open`, and there by a user's ID. */
function thief(open: string): JsonRecord {
  return thiefWith({
    spiffeIDTemplate: CHAT_ID,
    workloadSelectorTemplates: [
      `{{ if eq .PodMeta.Namespace "${open}" }}unix:uid:1000{{ else }}k8s:ns:{{ .PodMeta.Namespace }}{{ end }}`,
    ],
  })
}

/** Each finding of a code: who it is about, in which namespaces, and whether it is certain. */
function told(
  analysis: Analysis,
  code: FindingCode,
): readonly (readonly [string, string, 'certain' | 'perhaps'])[] {
  return findingsOf(analysis)
    .filter((one) => one.code === code)
    .map(({ subject, namespaces, dependsOn }) => [
      `${subject.namespace}/${subject.name}`,
      [...(namespaces ?? [])].join(' '),
      dependsOn === undefined ? 'certain' : 'perhaps',
    ])
}

function onlyOne(analysis: Analysis, code: FindingCode): Finding {
  const found = findingsOf(analysis).filter((one) => one.code === code)
  const [first] = found
  if (first === undefined || found.length > 1) throw new Error(`${found.length} findings`)
  return first
}

const TWO_PODS = [podIn('team-a'), podIn('team-b')]

test.each([
  [
    'KLM405',
    'entries that the server refuses, each for a DNS name of its own',
    [foreign('one', { dnsNameTemplates: ['{{ .PodMeta.Name }}..{{ .PodMeta.Namespace }}'] })],
    ['gives "p..team-a", which', 'gives "p..team-b", which'],
  ],
  [
    'KLM303',
    'several identities, each with the namespace in it',
    ['one', 'two'].map((name) =>
      foreign(name, { spiffeIDTemplate: `spiffe://example.org/${name}/{{ .PodMeta.Namespace }}` }),
    ),
    ['spiffe://example.org/one/team-a from', 'spiffe://example.org/one/team-b from'],
  ],
  [
    'KLM408',
    'templates that fail, each for another reason',
    [
      foreign('one', {
        spiffeIDTemplate:
          'spiffe://example.org/{{ if eq .PodMeta.Namespace "team-a" }}{{ .PodMeta.Nam }}{{ else }}{{ .PodMeta.Nom }}{{ end }}',
      }),
    ],
    ['Nam', 'Nom'],
  ],
] as const)('%s is about the pods of both namespaces: %s', (code, _, registrations, reasons) => {
  const one = onlyOne(analysisOf(world(...TWO_PODS, ...registrations)), code)
  expect([...(one.namespaces ?? [])]).toEqual(['team-a', 'team-b'])
  expect(one.summary).toContain('2 pods')
  for (const reason of reasons) expect(one.evidence.join('\n')).toContain(reason)
  expect(one.evidence).toEqual(expect.arrayContaining(['seen in pod team-a/p', 'seen in pod team-b/p']))
})

/** A template that fails for the pods of one namespace. */
function failing(namespace: string): string {
  return `{{ if eq .PodMeta.Namespace "${namespace}" }}{{ .PodMeta.Nam }}{{ else }}some.name{{ end }}`
}

test('of pods that fail in different fields, each field is reported with how many they are', () => {
  const one = onlyOne(
    analysisOf(
      world(
        ...TWO_PODS,
        podIn('team-b', 'q'),
        foreign('one', { dnsNameTemplates: [failing('team-a'), failing('team-b')] }),
      ),
    ),
    'KLM408',
  )
  expect(one.summary).toMatch(/\[0\] fails to render for 1 pod$/)
  expect(one.evidence).toContainEqual(expect.stringMatching(/\[1\] fails to render for 2 pods$/))
})

test('of many reasons five are reported, and the pods of the others', () => {
  const pods = Array.from({ length: 9 }, (_, at) => podIn('team-a', `p${at}`))
  const one = onlyOne(
    analysisOf(world(...pods, foreign('one', { dnsNameTemplates: ['{{ .PodMeta.Name }}..x'] }))),
    'KLM405',
  )
  expect(one.summary).toContain('9 pods')
  expect(one.evidence).toHaveLength(11)
  expect(one.evidence.at(-1)).toBe('the like in pod team-a/p5, pod team-a/p6, pod team-a/p7, pod team-a/p8')
})

test('what is certain of one namespace is reported for another as perhaps', () => {
  const analysis = analysisOf(world(binding(), pod(), podIn('team-b'), podIn('team-c'), thief('team-c')))
  expect(told(analysis, 'KLM308')).toEqual([
    ['team-a/llama', 'team-b', 'certain'],
    ['team-a/llama', 'team-c', 'perhaps'],
  ])
})

test('what is certain of some pods of a namespace is not told of others there as perhaps', () => {
  const byName = thiefWith({
    spiffeIDTemplate: CHAT_ID,
    workloadSelectorTemplates: ['{{ if eq .PodMeta.Name "q" }}unix:uid:1000{{ else }}k8s:ns:team-b{{ end }}'],
  })
  const analysis = analysisOf(world(binding(), pod(), podIn('team-b'), podIn('team-b', 'q'), byName))
  expect(told(analysis, 'KLM308')).toEqual([['team-a/llama', 'team-b', 'certain']])
})

test('what was certain before is no news, though it is reported for another namespace as perhaps', () => {
  const objects = world(binding(), pod(), podIn('team-b'), podIn('team-c'), thief('team-c'))
  const [before, after] = [analysisOf(objects).settled, analysisOf(objects).settled]
  const { added, unchanged } = effectOf(before, after).findings
  expect(unchanged.filter(({ code }) => code === 'KLM308')).toHaveLength(2)
  expect(added).toEqual([])
})

test('what is certain of one namespace more than before depends on what it was before where that was perhaps', () => {
  const pods = [binding(), pod(), podIn('team-b'), podIn('team-c')]
  const [inPart, inAll] = ['team-c', 'team-x'].map((open) => analysisOf(world(...pods, thief(open))).settled)
  if (inPart === undefined || inAll === undefined) throw new Error('there are two')
  const { added } = effectOf(inPart, inAll).findings
  expect(
    added.map(({ code, namespaces, severity }) => [code, [...(namespaces ?? [])].join(' '), severity]),
  ).toEqual([['KLM308', 'team-c', 'warning']])
  expect(added[0]?.evidence.at(-1)).toBe('depends: it may have been so before this change')
  expect(effectOf(inAll, inPart).findings.added).toEqual([])
})

test('what another SCM gives to pods of one more namespace is told too', () => {
  const { snapshot, config, settings } = analysisOf(
    world(binding(), pod(), podIn('team-b'), podIn('team-c'), thief('team-x')),
  )
  const ours = { ...settings, ignoreNamespaces: ['^team-c$'] }
  const analysis = analyse(snapshot, config, ours, { ...NO_OPEN_SETTINGS, beside: [settings] })
  expect(told(analysis, 'KLM308').map(([, namespaces]) => namespaces)).toEqual(['team-b', 'team-c'])
})
