// docs/contract.md §2: what the CRD says at admission, and what its CEL rules come to.
import { describe, expect, test } from 'vitest'
import { dig, type JsonRecord } from '../../src/core/json.ts'
import { binding, poolOnly } from '@kleym/testing/manifests.ts'
import { admissionProblems, celHolds, crdSchema, prepared, recordAt } from './structural-schema.ts'

const specSchema = crdSchema('spec')

describe('the CRD', () => {
  test('says why by field and mode', () => {
    expect(problemsOf(binding({ spec: { objectiveRef: undefined, containerName: undefined } }))).toEqual([
      ': spec.objectiveRef is required when spec.mode is PerObjective',
      ': spec.containerName is required when spec.mode is PerObjective',
    ])
    expect(problemsOf(poolOnly({ spec: { containerName: 'vllm' } }))).toEqual([
      ': spec.containerName must be empty when spec.mode is PoolOnly',
    ])
  })

  // mode, objectiveRef, containerName; then what each of the three rules says.
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
    [undefined, 'absent', undefined, false, false, true],
    [undefined, 'there', '', true, false, true],
    [undefined, 'there', 'vllm', true, true, true],
  ])('CEL: mode %s, objectiveRef %s, containerName %j', (mode, ref, containerName, ...expected) => {
    const self = present({
      mode,
      containerName,
      objectiveRef: ref === 'there' ? { name: 'chat' } : undefined,
    })
    const rules = dig(specSchema, 'x-kubernetes-validations')
    const answers = Array.isArray(rules) ? rules.map((rule) => celHolds(String(dig(rule, 'rule')), self)) : []
    expect(answers).toEqual(expected)
  })

  test('defaults the mode and prunes what it does not know', () => {
    const stored = prepared(specSchema, {
      poolRef: { name: 'a', stray: 1 },
      spiffeIDTemplate: 'x',
      group: null,
    })
    expect(stored).toEqual({ poolRef: { name: 'a' }, mode: 'PerObjective' })
  })

  test('has no field beyond the contract', () => {
    const fields = Object.keys(recordAt(specSchema, 'properties'))
    expect(fields).toEqual(['poolRef', 'objectiveRef', 'serviceAccountName', 'mode', 'containerName'])
  })
})

function problemsOf(manifest: JsonRecord): readonly string[] {
  return admissionProblems(specSchema, manifest['spec'])
}

function present(record: JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined))
}
