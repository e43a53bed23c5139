// docs/contract.md §5 and §8: which labels and annotations of an output are kleym's to set and to remove.
import { expect, test } from 'vitest'
import { readClusterSpiffeId } from '../../src/core/model/objects/clusterspiffeid.ts'
import { driftOf } from '../../src/core/decide/plan/drift.ts'
import { metadataAfterWrite } from '../../src/core/decide/plan/written-metadata.ts'
import type { Output } from '../../src/core/decide/compile/output.ts'
import { CONFIG, binding, objective, outputOf, pool } from '@kleym/testing/manifests.ts'

const OBJECTS = [pool(), objective(), binding()]
const PLAIN = outputOf(OBJECTS, 'team-a/llama')
const LABELLED = outputOf(OBJECTS, 'team-a/llama', {
  config: { ...CONFIG, className: 'tenant', outputLabels: new Map([['tier', 'gold']]) },
})

/** The drift of `found` from `wanted`, where `found` carries some metadata of others too. */
function drift(
  found: Output,
  wanted: Output,
  others: Readonly<Record<string, string>> = {},
): readonly string[] {
  const { labels, annotations } = found.metadata
  const metadata = {
    ...found.metadata,
    labels: { ...others, ...labels },
    annotations: { ...others, ...annotations },
  }
  return driftOf(readClusterSpiffeId({ value: { ...found, metadata } }, 'live'), wanted)
}

test('an upgrade adds the class label and the output labels', () => {
  expect(drift({ ...PLAIN, spec: LABELLED.spec }, LABELLED)).toEqual([
    '.metadata.annotations["kleym.sonda.red/output-labels"]',
    '.metadata.labels["spire.spiffe.io/class-name"]',
    '.metadata.labels["tier"]',
  ])
})

test('labels that kleym no longer wants are drift, and a write removes them', () => {
  expect(drift({ ...LABELLED, spec: PLAIN.spec }, PLAIN)).toEqual([
    '.metadata.annotations["kleym.sonda.red/output-labels"]',
    '.metadata.labels["spire.spiffe.io/class-name"]',
    '.metadata.labels["tier"]',
  ])
  const { labels, annotations } = LABELLED.metadata
  const after = metadataAfterWrite(
    { labels: new Map(Object.entries(labels)), annotations: new Map(Object.entries(annotations)) },
    PLAIN,
  )
  expect(Object.fromEntries(after.labels)).toEqual(PLAIN.metadata.labels)
  expect(Object.fromEntries(after.annotations)).toEqual(PLAIN.metadata.annotations)
})

test("other people's labels and annotations are no drift, and stay", () => {
  expect(drift(LABELLED, LABELLED, { 'example.org/owner': 'me', tiers: 'x' })).toEqual([])
  const after = metadataAfterWrite(
    { labels: new Map([['example.org/owner', 'me']]), annotations: new Map([['note', 'mine']]) },
    LABELLED,
  )
  expect(after.labels.get('example.org/owner')).toBe('me')
  expect(after.annotations.get('note')).toBe('mine')
})

test("an annotation that lists kleym's own keys does not remove them", () => {
  const listed = { ...PLAIN, metadata: { ...PLAIN.metadata } }
  const annotations = new Map([
    ['kleym.sonda.red/output-labels', 'kleym.sonda.red/managed-by,__proto__,,tier'],
  ])
  const after = metadataAfterWrite(
    { labels: new Map(Object.entries(listed.metadata.labels)), annotations },
    PLAIN,
  )
  expect(Object.fromEntries(after.labels)).toEqual(PLAIN.metadata.labels)
})
