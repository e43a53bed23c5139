// docs/contract.md §5: the SPIFFE ID, the selectors with their origin, and the proof that catches a forged set.
import { describe, expect, test } from 'vitest'
import { safetyProblems, selectorsOf, type IdentityParts } from '../../src/core/decide/compile/identity.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'
import {
  K8S_GROUP,
  X_GROUP,
  binding,
  estate,
  got,
  judgementOf,
  objective,
  outputOf,
  pool,
  poolOnly,
  settledCluster,
} from '@kleym/testing/manifests.ts'

const LABELS = { app: 'llama', 'llm-d.ai/role': 'decode' }

function partsOf(manifest: JsonRecord): IdentityParts {
  const { compiled } = judgementOf(settledCluster([pool({ labels: LABELS }), objective(), manifest]))
  return got(compiled.input.parts, 'the parts of an identity')
}

const PARTS = partsOf(binding())
const POOL_ONLY = partsOf(poolOnly())

describe('the SPIFFE ID', () => {
  test('names namespace and objective when PerObjective', () => {
    const output = outputOf(estate(binding()))
    expect(output.spec.spiffeIDTemplate).toBe('spiffe://example.org/ns/team-a/objective/chat')
  })

  test('names namespace and pool when PoolOnly, whatever the objective', () => {
    const output = outputOf(estate(poolOnly({ spec: { objectiveRef: { name: 'chat' } } })))
    expect(output.spec.spiffeIDTemplate).toBe('spiffe://example.org/ns/team-a/pool/llama')
  })

  // `spiffe://example.org/ns/team-a/objective/` has 41 bytes, `spiffe://example.org/ns/team-a/pool/` 36.
  test.each([
    ['objective', 214, 255, 'ready'],
    ['objective', 215, 256, 'refused'],
    ['pool', 219, 255, 'ready'],
    ['pool', 220, 256, 'refused'],
  ] as const)('%s name of %i characters: %i bytes are %s', (word, length, bytes, state) => {
    const name = 'a'.repeat(length)
    const manifest =
      word === 'pool'
        ? poolOnly({ spec: { poolRef: { name } } })
        : binding({ spec: { objectiveRef: { name } } })
    const one = settledCluster([...estate(manifest), pool({ name }), objective({ name })])
    const judgement = judgementOf(one)
    expect(judgement.state).toBe(state)
    const prefix = `spiffe://example.org/ns/team-a/${word}/`
    expect(Buffer.byteLength(prefix + name)).toBe(bytes)
    expect(judgement.state === 'refused' ? judgement.reason : 'InvalidSPIFFEID').toBe('InvalidSPIFFEID')
  })
})

describe('selectors', () => {
  test('are byte-sorted, and each says which field it comes from', () => {
    expect(selectorsOf(PARTS)).toEqual([
      {
        selector: 'k8s:container-name:vllm',
        object: 'InferenceIdentityBinding/llama',
        field: '.spec.containerName',
      },
      { selector: 'k8s:ns:team-a', object: 'InferenceIdentityBinding/llama', field: '.metadata.namespace' },
      {
        selector: 'k8s:pod-label:app:llama',
        object: 'InferencePool/llama',
        field: '.spec.selector.matchLabels["app"]',
      },
      {
        selector: 'k8s:pod-label:llm-d.ai/role:decode',
        object: 'InferencePool/llama',
        field: '.spec.selector.matchLabels["llm-d.ai/role"]',
      },
      {
        selector: 'k8s:sa:runner',
        object: 'InferenceIdentityBinding/llama',
        field: '.spec.serviceAccountName',
      },
    ])
  })

  test('of PoolOnly name no container', () => {
    expect(selectorsOf(POOL_ONLY).map(({ selector }) => selector)).toEqual([
      'k8s:ns:team-a',
      'k8s:pod-label:app:llama',
      'k8s:pod-label:llm-d.ai/role:decode',
      'k8s:sa:runner',
    ])
  })

  test('say where a flat pool has its label', () => {
    const one = settledCluster([pool({ group: X_GROUP }), objective(), binding()])
    const parts = got(judgementOf(one).compiled.input.parts)
    expect(selectorsOf(parts).map(({ field }) => field)).toContain('.spec.selector["app"]')
  })
})

describe('the safety proof', () => {
  const good = selectorsOf(PARTS).map(({ selector }) => selector)
  const without = (text: string): readonly string[] => good.filter((selector) => selector !== text)
  const swapped = (from: string, to: string): readonly string[] => [...without(from), to]

  test('holds for what is rendered', () => {
    expect(safetyProblems(PARTS, good)).toEqual([])
    expect(
      safetyProblems(
        POOL_ONLY,
        selectorsOf(POOL_ONLY).map(({ selector }) => selector),
      ),
    ).toEqual([])
  })

  test.each<[string, readonly string[], string]>([
    ['nothing at all', [], 'there are 0 namespace selectors, not one'],
    ['no namespace', without('k8s:ns:team-a'), 'there are 0 namespace selectors, not one'],
    [
      'another namespace',
      swapped('k8s:ns:team-a', 'k8s:ns:team-b'),
      'the namespace selector is k8s:ns:team-b, not k8s:ns:team-a',
    ],
    ['a namespace that only begins alike', swapped('k8s:ns:team-a', 'k8s:ns:team-a2'), 'not k8s:ns:team-a'],
    ['an empty namespace', swapped('k8s:ns:team-a', 'k8s:ns:'), 'not k8s:ns:team-a'],
    ['a second namespace', [...good, 'k8s:ns:team-b'], 'there are 2 namespace selectors, not one'],
    ['the namespace twice', [...good, 'k8s:ns:team-a'], 'there are 2 namespace selectors, not one'],
    ['no service account', without('k8s:sa:runner'), 'there are 0 service account selectors, not one'],
    [
      'another service account',
      swapped('k8s:sa:runner', 'k8s:sa:default'),
      'the service account selector is k8s:sa:default',
    ],
    [
      'a second service account',
      [...good, 'k8s:sa:default'],
      'there are 2 service account selectors, not one',
    ],
    ['a pool label left out', without('k8s:pod-label:app:llama'), 'the pool label "app" is not selected'],
    [
      'a pool label with another value',
      swapped('k8s:pod-label:app:llama', 'k8s:pod-label:app:lama'),
      'the pool label "app" is not selected',
    ],
    [
      'a pool label with a longer value',
      swapped('k8s:pod-label:app:llama', 'k8s:pod-label:app:llama2'),
      'the pool label "app" is not selected',
    ],
    ['no container', without('k8s:container-name:vllm'), 'there are 0 container selectors, not one'],
    [
      'another container',
      swapped('k8s:container-name:vllm', 'k8s:container-name:istio-proxy'),
      'the container selector is k8s:container-name:istio-proxy',
    ],
    [
      'a second container',
      [...good, 'k8s:container-name:istio-proxy'],
      'there are 2 container selectors, not one',
    ],
    ['a selector of 256 bytes', [...good, `k8s:${'x'.repeat(256)}`], 'has 256 bytes after k8s:'],
    [
      'a selector of 256 bytes in fewer characters',
      [...good, `k8s:${'é'.repeat(128)}`],
      'has 256 bytes after k8s:',
    ],
  ])('fails for %s', (_name, forged, problem) => {
    expect(safetyProblems(PARTS, forged).join('\n')).toContain(problem)
  })

  test('a selector of 255 bytes passes', () => {
    expect(safetyProblems(PARTS, [...good, `k8s:${'x'.repeat(255)}`])).toEqual([])
  })

  test.each<[string, Partial<IdentityParts>]>([
    ['an empty namespace', { namespace: '' }],
    ['a namespace with a dot', { namespace: 'team.a' }],
    ['a namespace with a template', { namespace: '{{.PodMeta.Namespace}}' }],
    ['an empty service account', { serviceAccountName: '' }],
    ['a service account with a template', { serviceAccountName: '{{.PodSpec.ServiceAccountName}}' }],
    ['no pool labels', { poolLabels: new Map() }],
    ['an empty container', { containerName: '' }],
    ['no container', { containerName: undefined }],
    ['a container with a dot', { containerName: 'a.b' }],
  ])('fails for parts with %s, though the selectors say the same', (_name, change) => {
    const parts = { ...PARTS, ...change }
    const selectors = selectorsOf(parts).map(({ selector }) => selector)
    expect(safetyProblems(parts, selectors)).not.toEqual([])
  })

  // `k8s:pod-label:<key>:<value>`: `pod-label:` has 10 bytes, the second colon one.
  test.each([
    [255, 'ready'],
    [256, 'refused'],
  ] as const)('a pool label that makes a selector of %i bytes is %s', (bytes, state) => {
    const value = 'v'.repeat(60)
    const key = `${'p'.repeat(bytes - 10 - 1 - value.length - '/name'.length)}/name`
    const judgement = judgementOf(
      settledCluster([pool({ labels: { [key]: value } }), objective(), binding()]),
    )
    expect(judgement.state).toBe(state)
    expect(judgement.state === 'refused' ? judgement.reason : 'UnsafeSelector').toBe('UnsafeSelector')
  })

  test.each(['', 'Team-A', 'team.a', 'a'.repeat(64), '../team-b'])(
    'the namespace %j gets nothing',
    (namespace) => {
      const one = settledCluster([pool({ namespace }), objective({ namespace }), binding({ namespace })])
      const judgement = judgementOf(one, `${namespace}/llama`)
      expect(judgement).toMatchObject({ state: 'refused', check: 'safety proof', reason: 'UnsafeSelector' })
      expect(one.settled.outputs).toEqual([])
    },
  )
})

test('the pool group does not change the identity', () => {
  const labels = { app: 'llama' }
  const inGroup = (group: string) => outputOf([pool({ group, labels }), objective(), binding()])
  expect(inGroup(X_GROUP)).toEqual(inGroup(K8S_GROUP))
})
