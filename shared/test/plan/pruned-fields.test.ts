// What a CRD leaves of an object (docs/contract.md §8). The API server's own answer is asked in
// `test/control-plane/operator-right-outputs.test.ts`.
import { expect, test } from 'vitest'
import { prunedFields, pruningSchema } from '../../src/core/decide/plan/pruned-fields.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'

const SPEC = {
  className: 'spire',
  podSelector: { matchLabels: { app: 'llama' } },
  workloadSelectorTemplates: ['k8s:ns:team-a'],
}
const TEXT = { type: 'string' }
const TEXTS = { type: 'array', items: TEXT }
const LABELS = { type: 'object', additionalProperties: TEXT }
const SELECTOR = { type: 'object', properties: { matchLabels: LABELS } }

function root(properties: JsonRecord, more: JsonRecord = {}): JsonRecord {
  return { type: 'object', properties: { spec: { type: 'object', properties, ...more } } }
}

test.each<[string, JsonRecord, readonly string[]]>([
  [
    'a schema with all fields drops none',
    root({ className: TEXT, podSelector: SELECTOR, workloadSelectorTemplates: TEXTS }),
    [],
  ],
  [
    'a field that the schema lacks is dropped',
    root({ podSelector: SELECTOR, workloadSelectorTemplates: TEXTS }),
    ['.spec.className'],
  ],
  [
    'a field of a field is dropped',
    root({ className: TEXT, podSelector: { type: 'object' }, workloadSelectorTemplates: TEXTS }),
    ['.spec.podSelector'],
  ],
  ['further properties may be any', root({}, { additionalProperties: true }), []],
  [
    'or none',
    root({ podSelector: SELECTOR, workloadSelectorTemplates: TEXTS }, { additionalProperties: false }),
    ['.spec.className'],
  ],
  ['unknown fields may be preserved', root({}, { 'x-kubernetes-preserve-unknown-fields': true }), []],
  [
    'unknown fields that are preserved hide nothing below a known one',
    root({ podSelector: { type: 'object' } }, { 'x-kubernetes-preserve-unknown-fields': true }),
    ['.spec.podSelector'],
  ],
  [
    'a schema without a spec drops all of it',
    { type: 'object' },
    Object.keys(SPEC).map((key) => `.spec.${key}`),
  ],
])('%s', (_name, schema, fields) => {
  expect(prunedFields(schema, SPEC)).toEqual(fields)
})

test('the schema of a CRD is that of the version; a CRD that preserves unknown fields drops nothing', () => {
  const schema = root({ className: TEXT })
  const versions = [
    { name: 'v1', schema: { openAPIV3Schema: root({}) } },
    { name: 'v1alpha1', schema: { openAPIV3Schema: schema } },
  ]
  expect(pruningSchema({ spec: { versions } }, 'v1alpha1')).toEqual(schema)
  expect(pruningSchema({ spec: { versions, preserveUnknownFields: true } }, 'v1alpha1')).toBeUndefined()
})
