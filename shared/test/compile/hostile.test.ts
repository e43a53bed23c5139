// Whatever a cluster or a file holds, nothing crashes, hangs or overflows, and nothing hostile is resolved.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '@kleym/testing/runs.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'
import { isDns1123Label } from '../../src/core/base/text/kubernetes.ts'
import { binding, estate, objective, pool, poolOnly, settledCluster } from '@kleym/testing/manifests.ts'

const RUNS = runs(150)

describe('hostile input', () => {
  const anything = fc.anything({ withBigInt: false, withNullPrototype: true, maxDepth: 4 })

  test('no spec, status or metadata crashes', () => {
    const objects = fc.record({
      spec: anything,
      status: anything,
      poolSpec: anything,
      poolRef: anything,
      outputSpec: anything,
      labels: anything,
    })
    fc.assert(
      fc.property(objects, ({ spec, status, poolSpec, poolRef, outputSpec, labels }) => {
        const one = settledCluster([
          pool({ spec: poolSpec }),
          objective({ poolRef }),
          { ...binding(), spec, status },
          {
            ...binding({ name: 'b' }),
            spec: { ...Object(spec), poolRef: { name: 'llama' } },
            metadata: labels,
          },
          {
            apiVersion: 'spire.spiffe.io/v1alpha1',
            kind: 'ClusterSPIFFEID',
            metadata: { name: 'x', labels, annotations: labels },
            spec: outputSpec,
          },
          { apiVersion: labels, kind: spec, metadata: status },
        ])
        expect(one.settled.atRest).toBe(true)
      }),
      { numRuns: RUNS },
    )
  })

  const MEGABYTE = 1_000_000
  test.each<[string, string]>([
    ['letters', 'a'.repeat(MEGABYTE)],
    ['dashes', `a${'-'.repeat(MEGABYTE)}`],
    ['dots and letters', 'a.'.repeat(MEGABYTE / 2)],
    ['letters and one bad character', `${'a'.repeat(MEGABYTE)}!`],
    ['dots, letters and one bad character', `${'a.'.repeat(MEGABYTE / 2)}!`],
    ['slashes', '/'.repeat(MEGABYTE)],
    ['blanks', ' '.repeat(MEGABYTE)],
    ['astral characters', '😀'.repeat(MEGABYTE / 4)],
  ])('a megabyte of %s in every field is refused', (_name, text) => {
    const fields: readonly JsonRecord[] = [
      { poolRef: { name: text } },
      { poolRef: { name: 'llama', group: text } },
      { objectiveRef: { name: text } },
      { serviceAccountName: text },
      { containerName: text },
      { mode: text },
    ]
    for (const spec of fields) {
      expect(settledCluster(estate(binding({ spec }))).settled.judgements.get('team-a/llama')?.state).toBe(
        'refused',
      )
    }
    const pools = [
      pool({ labels: { [text]: 'a' } }),
      pool({ labels: { app: text } }),
      pool({ spec: { selector: text } }),
    ]
    for (const one of pools) {
      expect(
        settledCluster([one, objective(), binding()]).settled.judgements.get('team-a/llama')?.state,
      ).toBe('refused')
    }
  })

  test('a megabyte of a name is refused, or cut to a legal output', () => {
    const name = 'a'.repeat(MEGABYTE)
    const one = settledCluster(estate(binding({ name }), poolOnly({ namespace: name })))
    for (const { object } of one.settled.outputs) expect(isDns1123Label(object.meta.name)).toBe(true)
  })

  test('deep nesting does not overflow', () => {
    let deep: unknown = 'x'
    for (let depth = 0; depth < 100_000; depth++) deep = depth % 2 === 0 ? [deep] : { deep }
    const one = settledCluster([
      pool({ spec: { selector: deep } }),
      objective({ poolRef: deep }),
      {
        ...binding(),
        spec: { poolRef: deep, objectiveRef: deep, mode: deep, containerName: deep },
        status: { conditions: deep, deep },
      },
    ])
    expect(one.settled.judgements.get('team-a/llama')?.state).toBe('refused')
  })
})
