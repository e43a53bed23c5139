// The claim index, held against a comparison of every claim with every other.
import { namespacedName } from '../../src/core/model/namespaced-name.ts'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '@kleym/testing/runs.ts'
import { ANY, type Claim } from '../../src/core/decide/collide/claim.ts'
import { indexClaims, relationOf } from '../../src/core/decide/collide/claim-index.ts'
import {
  claimantsOf,
  collisionMessage,
  collisionOf,
  groupsNear,
  waitsOf,
} from '../../src/core/decide/collide/conflict.ts'
import { meet } from './meet.ts'

const claim: fc.Arbitrary<Claim> = fc.record({
  basis: fc.constantFrom('declared', 'declared', 'declared', 'tentative', 'live', 'reserved'),
  owner: fc.constantFrom(
    '' as const,
    ...Array.from('abcdefghijklmnopqr', (name) => namespacedName('n', name)),
  ),
  output: fc.constantFrom(undefined, 'o1', 'o2'),
  namespace: fc.constantFrom('n', 'm'),
  serviceAccountName: fc.constantFrom('s', 's', 't'),
  containerName: fc.constantFrom('c', 'c', 'd', undefined),
  labels: fc
    .dictionary(fc.constantFrom('k', 'l', 'm', 'n"\n'), fc.constantFrom('1', '2'), { maxKeys: 4 })
    .map((labels) => new Map(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)))),
  spiffeId: fc.constant('spiffe://example.org/x'),
})

/** Claims as they are in a cluster: a live output may lack selectors. */
const clusterClaim = fc
  .tuple(claim, fc.subarray(['namespace', 'serviceAccountName', 'containerName'] as const))
  .map(([one, lost]): Claim => {
    // A variant's output claims all containers, whatever its selectors are.
    const missing = one.basis === 'live' ? lost.filter((field) => one[field] !== undefined) : []
    return { ...one, ...Object.fromEntries(missing.map((field) => [field, ANY])) }
  })

function line(claimed: Claim, relation: unknown): string {
  return `${claimed.owner} ${claimed.basis} ${claimed.output ?? namespacedName('n', '')} ${String(relation)}`
}

function member(owner: Claim['owner']): Claim {
  return {
    basis: 'declared',
    owner,
    output: undefined,
    namespace: 'n',
    serviceAccountName: 's',
    containerName: 'c',
    labels: new Map([['k', '1']]),
    spiffeId: 'spiffe://example.org/x',
  }
}

test('many claims on one container name the ten that follow, in whatever order its claims came', () => {
  const owners = Array.from({ length: 30 }, (_, at) => namespacedName('n', String(at).padStart(2, '0')))
  fc.assert(
    fc.property(fc.shuffledSubarray(owners, { minLength: 15 }), fc.nat(), (crowd, pick) => {
      const own = crowd[pick % crowd.length] ?? namespacedName('n', '')
      const collision = collisionOf(indexClaims(crowd.map(member)), member(own))
      const inOrder = crowd.toSorted()
      const following = [
        ...inOrder.slice(inOrder.indexOf(own) + 1),
        ...inOrder.slice(0, inOrder.indexOf(own)),
      ]
      expect(collision?.named.map((peer) => peer.claim.owner)).toEqual(following.slice(0, 10))
    }),
    { numRuns: runs(150) },
  )
})

test('the claim index agrees with a comparison of all with all', () => {
  // One declared claim per owner, as bindings make them.
  const claims = fc
    .array(clusterClaim, { maxLength: 40 })
    .map((all) =>
      all.filter(
        (one, at) =>
          one.basis !== 'declared' ||
          (one.owner !== '' &&
            all.findIndex((other) => other.basis === 'declared' && other.owner === one.owner) === at),
      ),
    )
  fc.assert(
    fc.property(claims, (all) => {
      const index = indexClaims(all)
      for (const own of all.filter(({ basis }) => basis === 'declared')) {
        const peers = all.filter((other) => other.owner !== own.owner && meet(own, other))
        const declared = peers.filter(({ basis }) => basis === 'declared')
        const collision = collisionOf(index, own)
        expect(collision?.count ?? 0).toBe(declared.length)
        expect(
          (collision?.all() ?? []).map(({ claim: other, relation }) => line(other, relation)).toSorted(),
        ).toEqual(declared.map((other) => line(other, relationOf(own.labels, other.labels))).toSorted())
        const after = (owner: string): number => (owner > own.owner ? 0 : 1)
        const inTurn = declared
          .map(({ owner }) => owner)
          .toSorted((left, right) => after(left) - after(right) || (left < right ? -1 : 1))
        expect((collision?.named ?? []).map((peer) => peer.claim.owner)).toEqual(inTurn.slice(0, 10))
        const waits = waitsOf(index, own).map(({ claim: other, relation }) => line(other, relation))
        const others = peers.filter(({ basis }) => basis !== 'declared')
        expect(waits.toSorted()).toEqual(
          others.map((other) => line(other, relationOf(own.labels, other.labels))).toSorted(),
        )
        expect(collision === undefined ? '' : collisionMessage(collision)).not.toContain('undefined')
      }
      // Whoever waits for a claim hears of its end.
      for (const own of all) {
        const claimants = all.filter(
          (other) => (other.basis === 'declared' || other.basis === 'tentative') && meet(own, other),
        )
        const woken = groupsNear(index, own).flatMap((group) => [...claimantsOf(group)])
        expect(woken.toSorted()).toEqual(claimants.map(({ owner }) => owner).toSorted())
      }
    }),
    { numRuns: runs(300) },
  )
})
