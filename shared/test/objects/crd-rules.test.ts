// docs/contract.md §2: what the CRD says at admission, and what its CEL rules come to.
import { describe, expect, test } from 'vitest'
import { dig, type JsonRecord } from '../../src/core/base/json.ts'
import { binding, perVariant, poolOnly, present } from '@kleym/testing/manifests.ts'
import { admissionProblems, celHolds, crdSchema, prepared, recordAt } from './structural-schema.ts'

const specSchema = crdSchema('spec')

describe('the CRD', () => {
  test('says why by field and mode', () => {
    const nothing = { mode: undefined, objectiveRef: undefined, containerName: undefined }
    expect(problemsOf(binding({ spec: nothing }))).toEqual([
      ': spec names no boundary: set spec.mode to PoolOnly, or spec.identityBoundary, or spec.objectiveRef and spec.containerName',
    ])
    expect(
      problemsOf(binding({ spec: { mode: undefined, identityBoundary: { variant: 'prefill' } } })),
    ).toEqual([
      ': spec.mode is required here: spec.identityBoundary means PerVariant, spec.objectiveRef and spec.containerName mean PerObjective',
    ])
    expect(problemsOf(binding({ spec: { objectiveRef: undefined, containerName: undefined } }))).toEqual([
      ': spec.objectiveRef is required when spec.mode is PerObjective',
      ': spec.containerName is required when spec.mode is PerObjective',
    ])
    expect(problemsOf(poolOnly({ spec: { containerName: 'vllm' } }))).toEqual([
      ': spec.containerName must be empty when spec.mode is PoolOnly',
    ])
    expect(problemsOf(perVariant({ spec: { containerName: 'vllm', identityBoundary: undefined } }))).toEqual([
      ': spec.containerName must be empty when spec.mode is PerVariant',
      ': spec.identityBoundary.variant is required when spec.mode is PerVariant',
    ])
    expect(problemsOf(poolOnly({ spec: { identityBoundary: { variant: 'prefill' } } }))).toEqual([
      ': spec.identityBoundary must be absent unless spec.mode is PerVariant',
    ])
  })

  // mode, objectiveRef, containerName; then what each of the first three rules says.
  test.each([
    ['PoolOnly', 'absent', undefined, true, true, true],
    ['PoolOnly', 'absent', '', true, true, true],
    ['PoolOnly', 'absent', 'vllm', true, true, false],
    ['PoolOnly', 'there', undefined, true, true, true],
    ['PoolOnly', 'there', '', true, true, true],
    ['PoolOnly', 'there', 'vllm', true, true, false],
    ['PerObjective', 'absent', undefined, false, false, true],
    ['PerObjective', 'absent', '', false, false, true],
    ['PerObjective', 'absent', 'vllm', false, true, true],
    ['PerObjective', 'there', undefined, true, false, true],
    ['PerObjective', 'there', '', true, false, true],
    ['PerObjective', 'there', 'vllm', true, true, true],
    [undefined, 'absent', undefined, true, true, true],
    [undefined, 'absent', 'vllm', false, true, true],
    [undefined, 'there', '', true, false, true],
    [undefined, 'there', 'vllm', true, true, true],
    ['PerVariant', 'absent', undefined, true, true, true],
    ['PerVariant', 'there', '', true, true, true],
  ])('CEL: mode %s, objectiveRef %s, containerName %j', (mode, ref, containerName, ...expected) => {
    const self = present({
      mode,
      containerName,
      objectiveRef: ref === 'there' ? { name: 'chat' } : undefined,
    })
    expect(answersTo(self).slice(0, 3)).toEqual(expected)
  })

  // mode, containerName, identityBoundary; then what each of the other five rules says.
  test.each([
    ['PerVariant', undefined, 'there', true, true, true, true, true],
    ['PerVariant', '', 'there', true, true, true, true, true],
    ['PerVariant', 'vllm', 'there', false, true, true, true, true],
    ['PerVariant', undefined, 'absent', true, false, true, true, true],
    ['PoolOnly', undefined, 'absent', true, true, true, true, true],
    ['PoolOnly', undefined, 'there', true, true, false, true, true],
    ['PerObjective', 'vllm', 'absent', true, true, true, true, true],
    ['PerObjective', 'vllm', 'there', true, true, false, true, true],
    [undefined, undefined, 'there', true, true, true, true, true],
    [undefined, '', 'there', true, true, true, true, true],
    [undefined, undefined, 'absent', true, true, true, false, true],
    [undefined, '', 'absent', true, true, true, false, true],
    [undefined, 'vllm', 'absent', true, true, true, true, true],
    [undefined, 'vllm', 'there', true, true, true, true, false],
  ])('CEL: mode %s, containerName %j, identityBoundary %s', (mode, containerName, where, ...expected) => {
    const identityBoundary = where === 'there' ? { variant: 'prefill' } : undefined
    expect(answersTo(present({ mode, containerName, identityBoundary })).slice(3)).toEqual(expected)
  })

  test('sets no mode and prunes what it does not know', () => {
    const stored = prepared(specSchema, {
      poolRef: { name: 'a', stray: 1 },
      spiffeIDTemplate: 'x',
      group: null,
    })
    expect(stored).toEqual({ poolRef: { name: 'a' } })
  })

  test('has no field beyond the contract', () => {
    const fields = Object.keys(recordAt(specSchema, 'properties'))
    expect(fields).toEqual([
      'poolRef',
      'objectiveRef',
      'serviceAccountName',
      'mode',
      'containerName',
      'identityBoundary',
    ])
  })
})

function answersTo(self: JsonRecord): readonly boolean[] {
  const rules = dig(specSchema, 'x-kubernetes-validations')
  return Array.isArray(rules) ? rules.map((rule) => celHolds(String(dig(rule, 'rule')), self)) : []
}

function problemsOf(manifest: JsonRecord): readonly string[] {
  return admissionProblems(specSchema, manifest['spec'])
}
