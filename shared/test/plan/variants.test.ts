// Bindings of one role of a pool (docs/contract.md §5 and §6): what they render, which of them collide, for whom they wait, and
// what a change of the label key of the install comes to.
import { describe, expect, test } from 'vitest'
import type { Config } from '../../src/core/decide/settings/config.ts'
import { parseIdentity } from '../../src/core/decide/compile/identity-path.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'
import { DEFAULT_VARIANT_LABEL_KEY } from '../../src/core/model/names.ts'
import {
  CONFIG,
  binding,
  estate,
  got,
  judgementOf,
  live,
  manifestOf,
  orphanOf,
  outputOf,
  perVariant,
  pool,
  poolOnly,
  reasonOf,
  settledCluster,
  verdictIn,
} from '@kleym/testing/manifests.ts'

const ROLE = 'llm-d.ai/role'
/** The install of a cluster whose pods llm-d labels. */
const LLM_D_CONFIG: Config = { ...CONFIG, variantLabelKey: ROLE }
const role = (variant: string, spec: JsonRecord = {}, name = variant): JsonRecord =>
  perVariant({ name, spec: { identityBoundary: { variant }, ...spec } })
const poolOf = (name: string, labels: Readonly<Record<string, string>>): JsonRecord => pool({ name, labels })

/** A label key of so many bytes. */
function keyOf(length: number): string {
  return `${'k'.repeat(length - 64)}/${'n'.repeat(63)}`
}

function verdictUnder(variantLabelKey: string): string | undefined {
  const config = { ...CONFIG, variantLabelKey }
  return reasonOf(settledCluster(estate(role('v')), { config }), 'team-a/v')
}

function verdicts(...objects: readonly JsonRecord[]): Record<string, string | undefined> {
  const one = settledCluster(estate(...objects), { config: LLM_D_CONFIG })
  return Object.fromEntries([...one.settled.judgements.keys()].map((key) => [key, reasonOf(one, key)]))
}

describe('what a variant renders', () => {
  const output = outputOf(estate(role('prefill')), 'team-a/prefill', { config: LLM_D_CONFIG })

  test('names the pool and the variant in its SPIFFE ID and in its name', () => {
    expect(output.spec.spiffeIDTemplate).toBe('spiffe://example.org/ns/team-a/pool/llama/variant/prefill')
    expect(output.metadata.name).toMatch(/^kleym-team-a-prefill-variant-[0-9a-f]{20}$/)
    expect(parseIdentity(output.spec.spiffeIDTemplate)).toEqual({
      mode: 'PerVariant',
      namespace: 'team-a',
      pool: 'llama',
      variant: 'prefill',
    })
  })

  test('selects by the labels of the pool and of the variant, in both places', () => {
    expect(output.spec.podSelector.matchLabels).toEqual({ app: 'llama', [ROLE]: 'prefill' })
    expect(output.spec.workloadSelectorTemplates).toEqual([
      'k8s:ns:team-a',
      'k8s:pod-label:app:llama',
      `k8s:pod-label:${ROLE}:prefill`,
      'k8s:sa:runner',
    ])
  })

  test('has one selector where the pool selects the same value itself', () => {
    const [narrow] = [poolOf('llama', { app: 'llama', [ROLE]: 'prefill' })]
    const same = outputOf([narrow, role('prefill')], 'team-a/prefill', { config: LLM_D_CONFIG })
    expect(same.spec).toEqual(output.spec)
  })

  test('is refused where the pool selects another value', () => {
    const narrow = poolOf('llama', { app: 'llama', [ROLE]: 'prefill' })
    const one = settledCluster([narrow, role('decode')], { config: LLM_D_CONFIG })
    expect(judgementOf(one, 'team-a/decode')).toMatchObject({
      check: 'safety proof',
      reason: 'UnsafeSelector',
      message:
        'InferencePool llama itself selects llm-d.ai/role=prefill, so no pod of it carries llm-d.ai/role=decode; name that variant, or another pool',
    })
  })

  test('is undetermined where the label key is not known', () => {
    const { variantLabelKey: _, ...unknown } = CONFIG
    const one = settledCluster(estate(role('prefill'), binding()), { config: unknown })
    expect(verdictIn(one, 'team-a/prefill')).toEqual({
      reason: 'Undetermined',
      text: 'missing --variant-label-key',
    })
    expect(reasonOf(one)).toBe('Reconciled')
  })

  test('of the longest key that has room for a value is proven, one byte more is refused', () => {
    expect(verdictUnder(keyOf(243))).toBe('Reconciled')
    expect(verdictUnder(keyOf(244))).toBe('UnsafeSelector')
  })
})

describe('variants among others', () => {
  test('two variants of one pool are disjoint, and stand beside PoolOnly and PerObjective', () => {
    expect(verdicts(role('prefill'), role('decode'), poolOnly({ name: 'whole' }), binding())).toEqual({
      'team-a/decode': 'Reconciled',
      'team-a/llama': 'Reconciled',
      'team-a/prefill': 'Reconciled',
      'team-a/whole': 'Reconciled',
    })
  })

  test('two bindings of one variant collide, and the message says what they must not share', () => {
    const one = settledCluster(estate(role('prefill'), role('prefill', {}, 'again')))
    expect(verdictIn(one, 'team-a/again')).toEqual({
      reason: 'IdentityCollision',
      text: 'identity collision with bindings prefill: PerVariant bindings must not share the same pods',
    })
  })

  test('one variant of a pool and of a narrower one collide, another variant or account of it does not', () => {
    const narrow = poolOf('eu', { app: 'llama', region: 'eu' })
    const ofEu = { poolRef: { name: 'eu' } }
    expect(verdicts(narrow, role('prefill'), role('prefill', ofEu, 'eu'))).toEqual({
      'team-a/eu': 'IdentityCollision',
      'team-a/prefill': 'IdentityCollision',
    })
    expect(verdicts(narrow, role('prefill'), role('decode', ofEu, 'eu'))).toEqual({
      'team-a/eu': 'Reconciled',
      'team-a/prefill': 'Reconciled',
    })
    expect(
      verdicts(narrow, role('prefill'), role('prefill', { ...ofEu, serviceAccountName: 'other' }, 'eu')),
    ).toEqual({ 'team-a/eu': 'Reconciled', 'team-a/prefill': 'Reconciled' })
  })

  test('a live output claims by the shape of its SPIFFE ID, though somebody pinned it to a container', () => {
    const output = outputOf(estate(role('prefill')), 'team-a/prefill')
    const pinned = orphanOf(output, 'team-a/gone', {
      spec: {
        workloadSelectorTemplates: [...output.spec.workloadSelectorTemplates, 'k8s:container-name:vllm'],
      },
    })
    const one = settledCluster(estate(role('prefill'), binding(), pinned))
    expect(verdictIn(one, 'team-a/prefill').text).toContain('which claims the same pods')
    expect(reasonOf(one)).toBe('Reconciled')
  })
})

describe('a change of the label key', () => {
  const before = ['prefill', 'decode'].map((variant) =>
    live(outputOf(estate(role(variant)), `team-a/${variant}`)),
  )
  const bindings = [role('prefill'), role('decode')]

  test('rewrites each output in place, under its own name', () => {
    const one = settledCluster(estate(...bindings, ...before), { config: LLM_D_CONFIG })
    expect(one.settled.changes.map(({ kind }) => kind)).toEqual(['update', 'update'])
    expect(one.settled.outputs.map(({ object }) => object.spec.podSelector?.matchLabels.get(ROLE))).toEqual([
      'decode',
      'prefill',
    ])
    expect(one.settled.first.actions.filter(({ kind }) => kind === 'delete')).toEqual([])
  })

  test('keeps the output of a binding that waits, which still has the old key', () => {
    const narrow = poolOf('eu', { app: 'llama', [ROLE]: 'prefill' })
    const peer = role('prefill', { poolRef: { name: 'eu' } }, 'peer')
    const orphan = orphanOf(outputOf([narrow, peer], 'team-a/peer'), 'team-a/gone')
    const one = settledCluster(estate(...bindings, ...before, narrow, orphan), { config: LLM_D_CONFIG })
    expect(judgementOf(one, 'team-a/prefill')).toMatchObject({ state: 'waiting' })
    const deleted = one.settled.first.actions.flatMap((action) =>
      action.kind === 'delete' ? action.live.object.meta.name : [],
    )
    expect(deleted).toEqual([String(Object(orphan['metadata']).name)])
  })

  test.each([
    ['without the label of the variant', { app: 'llama' }],
    ['with a label of another variant', { app: 'llama', [DEFAULT_VARIANT_LABEL_KEY]: 'decode' }],
    ['with one label more', { app: 'llama', [DEFAULT_VARIANT_LABEL_KEY]: 'prefill', hand: 'made' }],
    ['without the labels of the pool', { [DEFAULT_VARIANT_LABEL_KEY]: 'prefill' }],
  ])('withdraws the output of a waiting binding %s', (_name, labels) => {
    const [own] = before
    const edited = edit(got(own), labels)
    const orphan = orphanOf(outputOf(estate(role('prefill')), 'team-a/prefill'), 'team-a/gone')
    const one = settledCluster(estate(role('prefill'), edited, orphan))
    expect(judgementOf(one, 'team-a/prefill')).toMatchObject({ state: 'waiting' })
    expect(one.settled.first.actions.map(({ kind }) => kind)).toEqual(['delete', 'delete'])
  })

  test('comes to rest, whatever the outputs were', () => {
    const there = settledCluster(estate(...bindings, ...before), { config: LLM_D_CONFIG }).settled.outputs
    const again = settledCluster(estate(...bindings, ...there.map(({ object }) => manifestOf(object))), {
      config: LLM_D_CONFIG,
    })
    expect(again.settled.changes).toEqual([])
  })
})

/** The output with other labels, in both places. */
function edit(output: JsonRecord, labels: Readonly<Record<string, string | undefined>>): JsonRecord {
  const selectors = Object.entries(labels).map(([key, value]) => `k8s:pod-label:${key}:${value ?? ''}`)
  return {
    ...output,
    spec: {
      ...Object(output['spec']),
      podSelector: { matchLabels: labels },
      workloadSelectorTemplates: ['k8s:ns:team-a', 'k8s:sa:runner', ...selectors].toSorted(),
    },
  }
}
