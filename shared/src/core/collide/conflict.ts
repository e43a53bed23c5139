// The peers of a claim: declared ones make a collision, live, reserved and tentative ones a wait (docs/contract.md §6). No
// list of pairs is kept: peers are read out of the claim groups on demand.
import { splitNamespacedName } from '../namespaced-name.ts'
import { CONFLICTS_NAMED } from '../names.ts'
import { compareBytes } from '../text/bytes.ts'
import { ANY, type Claim } from './claim.ts'
import { relationOf, type ClaimGroup, type ClaimIndex, type PeerRow, type Relation } from './claim-index.ts'

/** Another claim on provably common pods, and how its pods stand to those of the claim in question. */
export interface Peer {
  readonly claim: Claim
  /** How the pods of the claim in question stand to the peer's. */
  readonly relation: Relation
}

/** The declared peers of a claim. */
export interface Collision {
  /** How many peers there are, named or not. */
  readonly count: number
  /** The first ten that follow the claim's owner in byte order, wrapping round. */
  readonly named: readonly Peer[]
  /** All peers, by owner; the plugin names each of them. */
  all(): readonly Peer[]
}

/** The declared claims that collide with a declared one; undefined where none does. */
export function collisionOf(index: ClaimIndex, claim: Claim): Collision | undefined {
  const peers = index.rowsOf(claim)
  if (peers === undefined || peers.count < 2) return undefined
  const { rows } = peers
  const count = peers.count - 1
  const all = (): readonly Peer[] =>
    rows
      .flatMap(({ relation, claims }) => claims.map((peer) => ({ claim: peer, relation })))
      .filter((peer) => peer.claim.owner !== claim.owner)
      .toSorted((a, b) => compareBytes(a.claim.owner, b.claim.owner))
  return { count, named: nextInOrder(rows, claim.owner), all }
}

/** The live, reserved and tentative claims of other owners that a declared claim has to wait for, in a total order. */
export function waitsOf(index: ClaimIndex, claim: Claim): readonly Peer[] {
  const near = (index.groupOf(claim)?.overlapping ?? []).flatMap(({ relation, group }) =>
    group.claims.filter(({ basis }) => basis !== 'declared').map((peer) => ({ claim: peer, relation })),
  )
  return [...near, ...wildcardPeers(index, claim)]
    .filter((peer) => peer.claim.owner !== claim.owner)
    .toSorted(
      (a, b) =>
        compareBytes(a.claim.owner, b.claim.owner) ||
        compareBytes(a.claim.output ?? '', b.claim.output ?? '') ||
        compareBytes(a.relation, b.relation),
    )
}

function wildcardPeers({ wildcardClaims }: ClaimIndex, claim: Claim): readonly Peer[] {
  return wildcardClaims.flatMap((peer) => {
    const meets =
      peer.containerName === claim.containerName &&
      (peer.namespace === ANY || peer.namespace === claim.namespace) &&
      (peer.serviceAccountName === ANY || peer.serviceAccountName === claim.serviceAccountName)
    const relation = meets ? relationOf(claim.labels, peer.labels) : undefined
    return relation === undefined ? [] : [{ claim: peer, relation }]
  })
}

/** The bindings whose decision a claim may change: those with a declared or tentative claim on some of its pods. */
export function* claimantsNear(index: ClaimIndex, claim: Claim): Iterable<string> {
  for (const { claims } of overlappingGroups(index, claim)) {
    for (const { basis, owner } of claims) if (basis === 'declared' || basis === 'tentative') yield owner
  }
}

function overlappingGroups(index: ClaimIndex, claim: Claim): readonly ClaimGroup[] {
  const own = index.groupOf(claim)
  // A wildcard claim belongs to no group, and may meet the claims of any.
  return own === undefined ? index.groups : own.overlapping.map(({ group }) => group)
}

/** The message of a collision: `identity collision with bindings a, b: …`, with the ten named peers, then `and more`. */
export function collisionMessage(collision: Collision): string {
  const names = collision.named.map(({ claim }) => nameOf(claim)).join(', ')
  const more = collision.count > collision.named.length ? ' and more' : ''
  return `identity collision with bindings ${names}${more}: PerObjective bindings must not share the same pod selector and container name`
}

/** The ten named peers as `status.conflicts` lists them. */
export function collisionPeers(
  collision: Collision,
): { bindingName: string; relation: Relation; spiffeID: string }[] {
  return collision.named.map(({ claim, relation }) => ({
    bindingName: nameOf(claim),
    relation,
    spiffeID: claim.spiffeId,
  }))
}

/** The first ten peers after `owner` in byte order, wrapping round, merged from sorted rows. */
function nextInOrder(rows: readonly PeerRow[], owner: string): readonly Peer[] {
  const take = (row: PeerRow): readonly Peer[] => {
    const start = firstAfter(row.claims, owner)
    const length = Math.min(row.claims.length, CONFLICTS_NAMED + 1)
    return Array.from({ length }, (_, at) => row.claims[(start + at) % row.claims.length])
      .filter((claim) => claim !== undefined)
      .filter((claim) => claim.owner !== owner)
      .map((claim) => ({ claim, relation: row.relation }))
  }
  const wrapped = (peer: Peer): number => (compareBytes(peer.claim.owner, owner) > 0 ? 0 : 1)
  return rows
    .flatMap(take)
    .toSorted((a, b) => wrapped(a) - wrapped(b) || compareBytes(a.claim.owner, b.claim.owner))
    .slice(0, CONFLICTS_NAMED)
}

function firstAfter(claims: readonly Claim[], owner: string): number {
  let low = 0
  let high = claims.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (compareBytes(claims[middle]?.owner ?? '', owner) > 0) high = middle
    else low = middle + 1
  }
  return low
}

function nameOf({ owner }: Claim): string {
  return owner === '' ? '' : splitNamespacedName(owner).name
}
