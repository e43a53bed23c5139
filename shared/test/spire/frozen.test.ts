// docs/spire-facts.md §11.9: while an object that Go cannot decode is there, SCM goes on with the ClusterSPIFFEIDs that it has
// read before. What is new or edited is then not in force, and kleym must not say that it is.
import { describe, expect, test } from 'vitest'
import type { Lifecycle } from '../../src/core/model/objects/clusterspiffeid.ts'
import { predict } from '../../src/core/predict/spire/predict.ts'
import { csid, inputOf, verdictsOf, type Fields } from './estate.ts'

/** The verdicts on pod `team-a/p`, with some objects not (or not like this) in the cluster yet. */
function verdicts(
  ids: readonly Fields[],
  lifecycles: Readonly<Record<string, Lifecycle>>,
): readonly string[] {
  const input = inputOf({ ids })
  const clusterSpiffeIds = input.clusterSpiffeIds.map((object) => ({
    ...object,
    lifecycle: lifecycles[object.meta.name] ?? 'live',
  }))
  return verdictsOf({ prediction: predict({ ...input, clusterSpiffeIds }), pods: input.pods })
}

const BROKEN = csid('broken', { ttl: '1d', podSelector: { matchLabels: { app: 'other' } } })
const OWN = csid('own', { spiffeIDTemplate: 'spiffe://td/own' })
const FALLBACK = csid('zfallback', { fallback: true })

describe('an object that Go cannot decode', () => {
  test.each<[string, Lifecycle, string]>([
    ['leaves what is live in force', 'live', 'own: declared'],
    ['keeps SCM from seeing a new object', 'to be created', 'own: depends'],
    ['keeps SCM from seeing an edit', 'to be changed', 'own: depends'],
  ])('%s', (_, lifecycle, expected) => {
    expect(verdicts([BROKEN, OWN], { own: lifecycle })).toContain(expected)
  })

  test('a fallback that only a new object would displace is not surely displaced', () => {
    expect(verdicts([BROKEN, OWN, FALLBACK], { own: 'to be created' })).toContain('zfallback: depends')
    expect(verdicts([BROKEN, OWN, FALLBACK], {})).toContain('zfallback: displaced')
  })

  test('without it a new object counts as if it were there', () => {
    expect(verdicts([OWN, FALLBACK], { own: 'to be created' })).toEqual([
      'own: declared',
      'zfallback: displaced',
    ])
  })
})
