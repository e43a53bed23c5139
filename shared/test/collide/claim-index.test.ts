// An index to which claims are added and from which they are removed must equal, at every step, a new index of its claims.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { namespacedName } from '../../src/core/model/namespaced-name.ts'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '@kleym/testing/runs.ts'
import {
  ClaimIndex,
  compareClaims,
  indexClaims,
  type ClaimGroup,
} from '../../src/core/decide/collide/claim-index.ts'
import { ANY, type Claim } from '../../src/core/decide/collide/claim.ts'
import { collisionOf, waitsOf } from '../../src/core/decide/collide/conflict.ts'

const labels = fc
  .subarray([
    ['app', 'llama'],
    ['app', 'qwen'],
    ['region', 'eu'],
    ['tier', 'gold'],
  ] as const)
  .map((pairs) => new Map(pairs))

const claims: fc.Arbitrary<Claim> = fc.record({
  basis: fc.constantFrom('declared', 'declared', 'tentative', 'live', 'reserved'),
  owner: fc.constantFrom(...['a', 'b', 'c', 'd'].map((name) => namespacedName('team-a', name)), '' as const),
  output: fc.constantFrom(undefined, 'kleym-1', 'kleym-2'),
  namespace: fc.constantFrom('team-a', 'team-a', 'team-b', ANY),
  serviceAccountName: fc.constantFrom('runner', 'runner', 'batch', ANY),
  containerName: fc.constantFrom('vllm', 'vllm', 'proxy', ANY),
  labels,
  spiffeId: fc.constantFrom('spiffe://example.org/one', 'spiffe://example.org/two'),
})

/** A claim to take in, or the place among those that are in of one to take out. */
const steps = fc.array(fc.oneof({ weight: 3, arbitrary: claims }, { weight: 2, arbitrary: fc.nat() }), {
  maxLength: 40,
})

/** All that can be asked of an index, in words that do not hang on which claim came first. */
function answersOf(index: ClaimIndex, asked: readonly Claim[]): unknown {
  return {
    cells: index.groups.map((cell) => ({
      labels: [...cell.labels],
      claims: cell.claims.map(wordsOf).toSorted(),
      declared: cell.declared.map(wordsOf).toSorted(),
      relatives: index
        .overlapsOf(firstOf(cell))
        .map(({ relation, group: other }) => `${relation} ${[...other.labels].join()}`)
        .toSorted(),
    })),
    loose: index.wildcardClaims.map(wordsOf).toSorted(),
    collisions: asked.map((claim) => {
      const collision = claim.basis === 'declared' ? collisionOf(index, claim) : undefined
      return collision === undefined
        ? 'none'
        : [
            collision.count,
            collision
              .all()
              .map(({ claim: peer, relation }) => `${relation} ${peer.owner}`)
              .toSorted(),
          ]
    }),
    waits: asked.map((claim) =>
      waitsOf(index, claim)
        .map(({ claim: peer, relation }) => `${relation} ${wordsOf(peer)}`)
        .toSorted(),
    ),
  }
}

function firstOf({ claims: [first] }: ClaimGroup): Claim {
  if (first === undefined) throw new Error('a group without claims is in the index')
  return first
}

function wordsOf(claim: Claim): string {
  return JSON.stringify({ ...claim, labels: Object.fromEntries(claim.labels) })
}

test('an index from which claims were removed equals a new index of the remaining ones', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const index = new ClaimIndex()
      const there: Claim[] = []
      for (const step of all) {
        if (typeof step === 'number') {
          const [gone] = there.length === 0 ? [] : there.splice(step % there.length, 1)
          if (gone !== undefined) index.remove(gone)
        } else {
          // Two equal claims are two objects: each is removed by itself.
          const claim = { ...step }
          there.push(claim)
          index.add(claim)
        }
        expect(answersOf(index, there)).toEqual(answersOf(indexClaims(there), there))
      }
    }),
    { numRuns: runs(150) },
  )
})

test('removing a claim that was never added changes nothing', () => {
  fc.assert(
    fc.property(fc.array(claims, { maxLength: 12 }), claims, (some, stranger) => {
      const index = indexClaims(some)
      index.remove({ ...stranger })
      expect(answersOf(index, some)).toEqual(answersOf(indexClaims(some), some))
    }),
    { numRuns: runs(50) },
  )
})

test('the claims of a group are in their total order, whichever was added first', () => {
  fc.assert(
    fc.property(fc.array(claims, { maxLength: 20 }), (some) => {
      const index = new ClaimIndex()
      for (const claim of some) index.add({ ...claim })
      for (const { claims: held } of index.groups) expect(held).toEqual(held.toSorted(compareClaims))
    }),
    { numRuns: runs(50) },
  )
})

test('wide label sets over as many narrow ones take memory that is linear in the claims', () => {
  const some = wideByNarrow(700)
  const before = heapBytes()
  const index = indexClaims(some)
  const collisions = some.map((claim) => collisionOf(index, claim))
  const each = (heapBytes() - before) / some.length
  expect(collisions.map((collision) => collision?.count)).toEqual(some.map(() => 700))
  expect(collisions.at(-1)?.named).toHaveLength(10)
  // A link takes some 50 bytes: 700 of them for each claim, from either side, took 50,000 and more.
  expect(each).toBeLessThan(12_000)
})

/** `half` label sets of seven of fourteen labels, and as many that each of those contains. */
function wideByNarrow(half: number): readonly Claim[] {
  const common = Array.from({ length: 14 }, (_, at) => [`label-${at}`, 'on'] as const)
  const wide = Array.from({ length: 2 ** 14 }, (_, bits) =>
    common.filter((_label, at) => (bits >> at) % 2 === 1),
  )
    .filter(({ length }) => length === 7)
    .slice(0, half)
  const narrow = wide.map((_labels, at) => [...common, ['own', `value-${at}`] as const])
  return [...wide, ...narrow].map((pairs, at) => ({
    basis: 'declared',
    owner: namespacedName('team-a', `b${at}`),
    output: undefined,
    namespace: 'team-a',
    serviceAccountName: 'runner',
    containerName: 'vllm',
    labels: new Map(pairs),
    spiffeId: `spiffe://example.org/${at}`,
  }))
}

/** What the heap holds after a full collection. */
function heapBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect !== 'function') throw new Error('this Node offers no garbage collection on demand')
  collect()
  return process.memoryUsage().heapUsed
}
