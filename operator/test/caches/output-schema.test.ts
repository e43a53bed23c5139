// When a field of outputs counts as dropped by their CRD, and when no longer.
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import { ApiError } from '@kleym/shared/kube/errors.ts'
import { FakeClock } from '@kleym/testing/fake-clock.ts'
import { binding, CONFIG, estate, outputOf } from '@kleym/testing/manifests.ts'
import { OutputSchema } from '../../src/caches/output-schema.ts'
import { keptLog } from '../build/log-lines.ts'

const { spec } = outputOf(estate(binding()), 'team-a/llama', { config: { ...CONFIG, className: 'spire' } })

/** The CRD of ClusterSPIFFEIDs without some fields of ours. */
function without(...lacking: readonly string[]): JsonRecord {
  const any = { 'x-kubernetes-preserve-unknown-fields': true }
  const fields = Object.keys(spec).filter((field) => !lacking.includes(field))
  const properties = { spec: { properties: Object.fromEntries(fields.map((field) => [field, any])) } }
  const versions = [{ name: 'v1alpha1', schema: { openAPIV3Schema: { properties } } }]
  return { metadata: { name: 'clusterspiffeids.spire.spiffe.io' }, spec: { versions } }
}

function followed() {
  const clock = new FakeClock()
  const at = { answer: (): readonly JsonRecord[] => [without()], lists: 0, changes: 0 }
  const schema = new OutputSchema({
    api: {
      list: async () => {
        at.lists += 1
        await setImmediate()
        return { items: at.answer(), resourceVersion: '1' }
      },
    },
    clock,
    log: keptLog().log,
    onChange: () => {
      at.changes += 1
    },
  })
  return { clock, at, schema }
}

test('nothing is dropped as far as is known before the CRD was read', () => {
  const { schema } = followed()
  expect(schema.isKnown).toBe(false)
  expect(schema.pruned(spec)).toEqual([])
})

test('a CRD that is there from the beginning is left to the first write; one that comes back is read', async () => {
  const { at, schema } = followed()
  await schema.changed(true)
  expect(at.lists).toBe(0)
  await schema.refresh()
  await schema.changed(true)
  expect(at.lists).toBe(2)
})

test('a field that goes is dropped at once, and one that comes back only when every API server has it', async () => {
  const { at, clock, schema } = followed()
  await schema.changed()
  expect(schema.pruned(spec)).toEqual([])
  at.answer = () => [without('podSelector')]
  await schema.changed()
  expect(schema.pruned(spec)).toEqual(['.spec.podSelector'])
  clock.advance(60_000)
  expect(schema.pruned(spec)).toEqual(['.spec.podSelector'])
  at.answer = () => [without()]
  await schema.changed()
  expect(schema.pruned(spec)).toEqual(['.spec.podSelector'])
  const { changes } = at
  clock.advance(5_000)
  expect(schema.pruned(spec)).toEqual([])
  expect(at.changes).toBe(changes + 1)
})

test('the same CRD again is no change, and one read serves all that ask for it', async () => {
  const { at, schema } = followed()
  await Promise.all([schema.refresh(), schema.refresh()])
  await schema.changed()
  expect(at).toMatchObject({ lists: 2, changes: 0 })
})

test.each([
  { crd: without(), changes: 0 },
  { crd: without('hint'), changes: 1 },
  { crd: without('podSelector'), changes: 1 },
])(
  'the first CRD that is read is a change only if it drops a field of outputs: $changes',
  async ({ crd, changes }) => {
    const { at, schema } = followed()
    at.answer = () => [crd]
    await schema.refresh()
    expect(at.changes).toBe(changes)
  },
)

test('a CRD that could not be read is read again', async () => {
  const { at, clock, schema } = followed()
  at.answer = () => {
    throw new ApiError({ status: 503, reason: 'ServiceUnavailable', message: 'later' })
  }
  await schema.changed()
  expect(schema.isKnown).toBe(false)
  at.answer = () => [without('className')]
  clock.advance(500)
  await setImmediate()
  await setImmediate()
  expect(schema.pruned(spec)).toContain('.spec.className')
})
