// The order of findings.
import { expect, test } from 'vitest'
import { compareFindings, finding } from '../../src/core/findings/finding/finding.ts'

test('findings that differ in a related subject alone have one order', () => {
  const subject = { kind: 'InferencePool', namespace: 'team-a', name: 'llama' }
  const about = (...names: readonly string[]): ReturnType<typeof finding> =>
    finding('KLM306', { subject, summary: '', related: names.map((name) => ({ ...subject, name })) })
  const inOrder = [about('b'), about('b', 'c'), about('b', 'd'), about('c')]
  expect(inOrder.toReversed().toSorted(compareFindings)).toEqual(inOrder)
})
