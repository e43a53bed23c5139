// A field that an older CRD drops: what was applied and is not there, and what the schema of the CRD says of it.
import { describe, expect, test } from 'vitest'
import type { JsonRecord } from '../../src/core/base/json.ts'
import { binding, estate, live, outputOf, poolOnly } from '@kleym/testing/manifests.ts'
import { hopOf } from './hops-of.ts'

const TEXT = { type: 'string' }
const ANY = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

/** A CRD with these fields beside those that every release has. */
function crd(fields: JsonRecord): JsonRecord {
  const spec = {
    type: 'object',
    properties: {
      spiffeIDTemplate: TEXT,
      podSelector: ANY,
      namespaceSelector: ANY,
      workloadSelectorTemplates: { type: 'array', items: TEXT },
      ...fields,
    },
  }
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'clusterspiffeids.spire.spiffe.io' },
    spec: { versions: [{ name: 'v1alpha1', schema }] },
  }
}

/** A registration of the pod, as it is there and as it was applied. */
function registration(there: JsonRecord, applied?: JsonRecord): JsonRecord {
  const base = { spiffeIDTemplate: 'spiffe://example.org/a', podSelector: { matchLabels: { app: 'llama' } } }
  const annotation = JSON.stringify({ spec: { ...base, ...applied } })
  return {
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ClusterSPIFFEID',
    metadata: {
      name: 'a',
      uid: 'uid-of-a',
      ...(applied && {
        annotations: { 'kubectl.kubernetes.io/last-applied-configuration': annotation },
      }),
    },
    spec: { ...base, ...there },
  }
}

const hop = (objects: readonly JsonRecord[], parts: readonly JsonRecord[] = [], manifests = false) =>
  hopOf('rendered', { objects, parts, manifests })

describe('an object of a cluster', () => {
  const lost = registration({}, { hint: 'mine', fallback: false })

  test('the CRD has no such field: the hop is broken', () => {
    const { truth, text, fix } = hop([lost], [crd({})])
    expect(truth.value).toBe('no')
    expect(text).toBe('the API server has dropped .spec.hint of ClusterSPIFFEID/a: its CRD has no such field')
    expect(fix).toContain('update the CRDs of SCM')
  })

  test('the CRD has it: it was taken away since, and that is what was meant', () => {
    expect(hop([lost], [crd({ hint: TEXT })])).toMatchObject({
      text: 'its entry is spiffe://example.org/a',
      notes: [],
    })
  })

  test('the CRD is not known: a note, and no verdict', () => {
    const { truth, notes } = hop([lost])
    expect(truth.value).toBe('yes')
    expect(notes).toEqual([
      expect.stringContaining('.spec.hint of ClusterSPIFFEID/a was applied and is not there'),
    ])
  })

  test.each([
    ['what is there', registration({ hint: 'mine' }, { hint: 'mine' })],
    ['no annotation', registration({ hint: 'mine' })],
    [
      'an annotation that is no JSON',
      {
        ...lost,
        metadata: {
          name: 'a',
          uid: 'u',
          annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{' },
        },
      },
    ],
  ])('%s is not lost', (_, object) => {
    expect(hop([object], [crd({})])).toMatchObject({ truth: { value: 'yes' }, notes: [] })
  })
})

test('a manifest that the CRD among the files does not fit', () => {
  const manifest = { ...registration({ hint: 'mine' }), metadata: { name: 'a' } }
  expect(hop([manifest], [crd({})], true).text).toContain('has dropped .spec.hint')
  expect(hop([manifest], [crd({ hint: TEXT })], true).truth.value).toBe('yes')
})

test("an output of kleym's whose field was dropped", () => {
  const objects = estate(poolOnly())
  const output = live(outputOf(objects), { spec: { workloadSelectorTemplates: undefined } })
  const schema = crd({ className: TEXT, hint: TEXT })
  expect(
    hop([...objects, output], [crd({ className: TEXT, hint: TEXT, workloadSelectorTemplates: undefined })])
      .text,
  ).toContain('.spec.workloadSelectorTemplates')
  expect(hop([...estate(binding()), live(outputOf(estate(binding())))], [schema]).truth.value).toBe('yes')
})
