// The answer to a write of ours: what of it is read, and what is taken over from the binding that was written to.
import { expect, test } from 'vitest'
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import { answeredBinding, cachedBinding } from '../../src/caches/cached-binding.ts'
import { binding } from '@kleym/testing/manifests.ts'

/** A binding as the API server has it, with the spec that this service account tells. */
function stored(serviceAccountName: string, metadata: JsonRecord = {}): JsonRecord {
  const object = binding({ spec: { serviceAccountName }, status: { trustDomain: serviceAccountName } })
  return { ...object, metadata: { ...Object(object['metadata']), resourceVersion: '7', ...metadata } }
}

const cases: readonly { name: string; before?: JsonRecord; answer: JsonRecord; spec: string }[] = [
  { name: 'the same generation keeps the spec', answer: {}, spec: 'before' },
  { name: 'another generation has its own spec', answer: { generation: 2 }, spec: 'after' },
  { name: 'another UID has its own spec', answer: { uid: 'another' }, spec: 'after' },
  {
    name: 'without generations, each answer has its own spec',
    before: { generation: undefined },
    answer: { generation: undefined },
    spec: 'after',
  },
]

test.each(cases)('$name', ({ before = {}, answer, spec }) => {
  const read = answeredBinding(
    stored('after', { ...answer, resourceVersion: '8' }),
    cachedBinding(stored('before', before)),
  )
  expect(read.serviceAccountName).toEqual({ ok: true, value: spec })
  expect([read.meta.resourceVersion, read.readStatus()?.trustDomain]).toEqual(['8', 'after'])
})

test('an answer of the same generation is read as any other object is', () => {
  const answer = stored('runner', { finalizers: ['kleym.sonda.red/output'], resourceVersion: '8' })
  const before = cachedBinding(stored('runner'))
  const [answered, read] = [answeredBinding(answer, before), cachedBinding(answer)]
  expect(answered).toEqual(read)
  expect(answered.readStatus()).toEqual(read.readStatus())
})
