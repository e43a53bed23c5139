// docs/contract.md §6 (b): what a live output claims, by its own spec, if it lacks one of our selectors.
import { expect, test } from 'vitest'
import { ANY, liveClaims } from '../../src/core/decide/collide/claim.ts'
import { readClusterSpiffeId } from '../../src/core/model/objects/clusterspiffeid.ts'

const SELECTORS = ['k8s:ns:team-a', 'k8s:sa:runner', 'k8s:pod-label:app:llama', 'k8s:container-name:vllm']
const OBJECTIVE = 'spiffe://example.org/ns/team-a/objective/chat'

/** Namespace, service account, container and labels of each claim. */
function claimed(spiffeIDTemplate: string, without: string, isForeign = false): readonly unknown[] {
  const workloadSelectorTemplates = SELECTORS.filter((text) => !text.startsWith(without))
  const podSelector = { matchLabels: { app: 'llama' } }
  const spec = { spiffeIDTemplate, workloadSelectorTemplates, podSelector }
  const output = readClusterSpiffeId({ value: { metadata: { name: 'kleym-team-a-chat' }, spec } }, 'live')
  return liveClaims(output, '', isForeign).map(({ namespace, serviceAccountName, containerName, labels }) => [
    namespace,
    serviceAccountName,
    containerName,
    Object.fromEntries(labels),
  ])
}

const LLAMA = { app: 'llama' }

test.each<[what: string, without: string, claims: readonly unknown[]]>([
  ['none', 'nothing', [['team-a', 'runner', 'vllm', LLAMA]]],
  ['the namespace', 'k8s:ns:', [[ANY, 'runner', 'vllm', LLAMA]]],
  ['the service account', 'k8s:sa:', [['team-a', ANY, 'vllm', LLAMA]]],
  ['the container', 'k8s:container-name:', [['team-a', 'runner', ANY, LLAMA]]],
  [
    'the labels, which the pod selector still has',
    'k8s:pod-label:',
    [
      ['team-a', 'runner', 'vllm', LLAMA],
      ['team-a', 'runner', 'vllm', {}],
    ],
  ],
  [
    'all of them',
    'k8s:',
    [
      [ANY, ANY, ANY, LLAMA],
      [ANY, ANY, ANY, {}],
    ],
  ],
])('an output of an objective that lacks %s claims every value of it', (_what, without, claims) => {
  expect(claimed(OBJECTIVE, without)).toEqual(claims)
})

test('an output of a pool needs no container selector, nor does a foreign one whose ID is not of kleym', () => {
  const container = 'k8s:container-name:'
  expect(claimed('spiffe://example.org/ns/team-a/pool/llama', container)).toEqual([])
  expect(claimed('spiffe://example.org/web', container, true)).toEqual([])
  expect(claimed(OBJECTIVE, container, true)).toEqual([['team-a', 'runner', ANY, LLAMA]])
})
