// The index of pods answers as a look at every pod would, in the order of the pods.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { leastSeen, runs } from '@kleym/testing/runs.ts'
import { podReader, type Pod } from '../../src/core/model/objects/pod.ts'
import { indexPods } from '../../src/core/model/objects/pod-index.ts'

const someLabels = fc.dictionary(fc.constantFrom('app', 'size'), fc.constantFrom('a', 'b'), { maxKeys: 2 })

/** Pods of two namespaces; some of them share their labels as one and the same value, as pods of a cluster do. */
const somePods = fc
  .tuple(
    fc.array(someLabels, { minLength: 1, maxLength: 4 }),
    fc.array(fc.record({ namespace: fc.constantFrom('left', 'right'), which: fc.nat(3) }), {
      minLength: 6,
      maxLength: 16,
    }),
  )
  .map(([labelSets, drafts]) => {
    const read = podReader()
    return drafts.map(({ namespace, which }, at) => {
      const labels = labelSets[which % labelSets.length]
      return read({ value: { kind: 'Pod', metadata: { namespace, name: `pod-${at}`, labels } } })
    })
  })

function carries({ labels }: Pod, wanted: ReadonlyMap<string, string>): boolean {
  return [...wanted].every(([key, value]) => labels.get(key) === value)
}

test('the pods with some labels are those that carry all of them, in order', () => {
  const seen = { found: 0, sharing: 0 }
  fc.assert(
    fc.property(somePods, someLabels, (pods, query) => {
      const wanted = new Map(Object.entries(query))
      const expected = pods.filter((pod) => pod.namespace === 'left' && carries(pod, wanted))
      const found = indexPods(pods).withLabels('left', wanted)
      // A question without labels is answered with no pod: each caller asks for those of a label set.
      expect(found).toEqual(wanted.size === 0 ? [] : expected)
      if (found.length > 1) seen.found++
      if (new Set(pods.map(({ labels }) => labels)).size < pods.length) seen.sharing++
    }),
    { numRuns: runs(500) },
  )
  expect(Math.min(seen.found, seen.sharing)).toBeGreaterThan(leastSeen(20))
})

test('the answer is the same however many keys were asked for before', () => {
  const keys = Array.from({ length: 12 }, (_, at) => `key-${at}`)
  const labelled = fc.array(
    fc.dictionary(fc.constantFrom(...keys), fc.constantFrom('a', 'b'), { minKeys: 4, maxKeys: 12 }),
    { minLength: 3, maxLength: 10 },
  )
  const seen = { found: 0 }
  fc.assert(
    fc.property(labelled, fc.array(fc.constantFrom(...keys), { minLength: 20 }), (sets, asked) => {
      const read = podReader()
      const pods = sets.map((labels, at) =>
        read({ value: { kind: 'Pod', metadata: { namespace: 'left', name: `pod-${at}`, labels } } }),
      )
      const index = indexPods(pods)
      for (const key of [...asked, 'key-absent']) {
        const wanted = new Map([[key, 'a']])
        const expected = pods.filter((pod) => carries(pod, wanted))
        expect(index.withLabels('left', wanted)).toEqual(expected)
        seen.found += expected.length
      }
    }),
    { numRuns: runs(100) },
  )
  expect(seen.found).toBeGreaterThan(leastSeen(1000))
})
