// Whose identity a foreign registration gives to pods: each binding of that identity is told so.
import { expect, test } from 'vitest'
import { analyse, type Analysis } from '../../src/core/analysis/states/analysis.ts'
import { effectOf } from '../../src/core/answers/explain/effect.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'
import type { FindingCode } from '../../src/core/findings/registry/findings.ts'
import { findingsOf } from '@kleym/testing/at-once.ts'
import { readSnapshot } from '../../src/core/snapshot/snapshot.ts'
import { foreign, pod, world } from '@kleym/testing/finding-cases.ts'
import { binding, CONFIG, objective, pool } from '@kleym/testing/manifests.ts'
import { analysisOf } from '@kleym/testing/random-tenants.ts'
import { HANDLES_EVERYTHING } from '@kleym/testing/scm-settings.ts'

const CHAT_ID = 'spiffe://example.org/ns/team-a/objective/chat'
const LABELS = { app: 'x' }
/** A pod that no pool selects. */
const OTHER_POD = pod({ labels: LABELS, metadata: { namespace: 'team-b', uid: 'uid-of-another' } })

/** A Deployment of such pods: on which node they come to be is not known. */
function unscheduled(namespace: string): JsonRecord {
  const template = {
    metadata: { labels: LABELS },
    spec: { serviceAccountName: 'runner', containers: [{ name: 'vllm' }] },
  }
  const spec = { selector: { matchLabels: LABELS }, template }
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'x', namespace }, spec }
}

/** A registration of such pods. */
function thief(spiffeIDTemplate: string): JsonRecord {
  return foreign('thief', { podSelector: { matchLabels: LABELS }, spiffeIDTemplate })
}

/** A binding `llama` in a namespace, with its pool and objective. */
function bindingIn(namespace: string): readonly JsonRecord[] {
  return [binding({ namespace }), pool({ namespace }), objective({ namespace })]
}

/** What is made of objects that are not applied yet. */
function analysisOfFiles(objects: readonly JsonRecord[]): Analysis {
  const files = objects.map((value) => ({ value, isManifest: true as const }))
  return analyse(readSnapshot({ objects: files, gaps: new Map() }), CONFIG, HANDLES_EVERYTHING)
}

/** Each finding of a code: whom it is about, and whether it is certain. */
function told(analysis: Analysis, code: FindingCode): readonly (readonly [string, 'certain' | 'perhaps'])[] {
  return findingsOf(analysis)
    .filter((one) => one.code === code)
    .map(({ subject, dependsOn }) => [
      `${subject.namespace}/${subject.name}`,
      dependsOn === undefined ? 'certain' : 'perhaps',
    ])
}

test('the identity of two bindings that is given away is reported for each of them', () => {
  const second = binding({ name: 'second', spec: { containerName: 'proxy' } })
  const analysis = analysisOf(world(binding(), second, pod(), OTHER_POD, thief(CHAT_ID)))
  expect(told(analysis, 'KLM308')).toEqual([
    ['team-a/llama', 'certain'],
    ['team-a/second', 'certain'],
  ])
})

function podNamed(name: string): JsonRecord {
  return pod({ labels: LABELS, metadata: { name, namespace: 'team-b', uid: name } })
}

test('another identity of a binding that is given away is new, also behind one of very many', () => {
  const chats = Array.from({ length: 18 }, (_, at) =>
    binding({ name: `b${at}`, spec: { containerName: `c${at}` } }),
  )
  const vip = binding({ name: 'b5', spec: { containerName: 'c5', objectiveRef: { name: 'vip' } } })
  const other = thief('spiffe://example.org/ns/team-a/objective/{{ .PodMeta.Name }}')
  const given = [objective({ name: 'vip' }), other, podNamed('chat'), podNamed('vip')]
  const [before, after] = [chats, chats.with(5, vip)].map(
    (bindings) => analysisOf(world(...bindings, ...given)).settled,
  )
  if (before === undefined || after === undefined) throw new Error('there are two')
  const { added, fixed } = effectOf(before, after).findings
  const thefts = added.filter(({ code }) => code === 'KLM308')
  expect(thefts.map(({ subject, evidence }) => [subject.name, evidence.at(-1)])).toEqual([
    ['b5', 'new with this change: spiffe://example.org/ns/team-a/objective/vip'],
  ])
  expect(fixed.filter(({ code }) => code === 'KLM308')).toEqual([])
})

const IN_PART = thief('spiffe://example.org/ns/{{ .NodeMeta.Name }}/objective/chat')

test('an ID that is known in part is reported for each binding that it may be of', () => {
  const analysis = analysisOfFiles(
    world(binding(), ...bindingIn('team-b'), ...bindingIn('team-c'), unscheduled('team-b'), IN_PART),
  )
  expect(told(analysis, 'KLM304')).toEqual([['team-b/llama', 'perhaps']])
  expect(told(analysis, 'KLM308')).toEqual([
    ['team-a/llama', 'perhaps'],
    ['team-c/llama', 'perhaps'],
  ])
})

test('an ID that may be of very many bindings is one finding that names them all', () => {
  const namespaces = Array.from({ length: 20 }, (_, at) => `team-${at + 10}`)
  const analysis = analysisOfFiles(
    world(...namespaces.flatMap(bindingIn), unscheduled('team-10'), unscheduled('team-11'), IN_PART),
  )
  expect(told(analysis, 'KLM304')).toEqual([
    ['team-10/llama', 'perhaps'],
    ['team-11/llama', 'perhaps'],
  ])
  const found = findingsOf(analysis).filter(({ code }) => code === 'KLM308')
  expect(found).toHaveLength(1)
  const fewer = namespaces.slice(0, 15).flatMap(bindingIn)
  const few = analysisOfFiles(world(...fewer, unscheduled('team-10'), unscheduled('team-11'), IN_PART))
  expect(effectOf(analysis.settled, few.settled).findings.added).toEqual([])
  const bindings = found
    .flatMap(({ subject, related }) => [subject, ...related])
    .filter(({ kind }) => kind === 'InferenceIdentityBinding')
  expect(bindings.map(({ namespace }) => namespace)).toEqual(namespaces)
})
