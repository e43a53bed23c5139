// Who a claim meets: declared peers make a collision, live and tentative ones a wait (contract §6). Peers are never
// listed in pairs: they are read out of the cells on demand.
import { CONFLICTS_NAMED } from '../names.ts'
import { compareBytes } from '../text/bytes.ts'
import { ANY, type Claim } from './claim.ts'
import { relationOf, type ClaimGroup, type ClaimIndex, type PeerRow, type Relation } from './claim-index.ts'

/** A peer as a person sees it: whose it is, and how its pods stand to ours. */
export interface Peer {
  readonly claim: Claim
  /** How our pods stand to the peer's. */
  readonly relation: Relation
}

/** The declared peers of a claim. */
export interface Collision {
  /** How many there are. */
  readonly count: number
  /** The first ten that follow the claim's owner in byte order, wrapping round. */
  readonly named: readonly Peer[]
  /** All of them, by owner; for the plugin, which names everybody. */
  all(): readonly Peer[]
}

/** The declared claims that collide with a declared one; undefined when there is none. */
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

/** What a declared claim has to wait for: others' live, reserved and tentative claims, in a total order. */
export function waitsOf(index: ClaimIndex, claim: Claim): readonly Peer[] {
  const near = (index.cellOf(claim)?.overlapping ?? []).flatMap(({ relation, cell }) =>
    cell.claims.filter(({ basis }) => basis !== 'declared').map((peer) => ({ claim: peer, relation })),
  )
  return [...near, ...looseOnes(index, claim)]
    .filter((peer) => peer.claim.owner !== claim.owner)
    .toSorted(
      (a, b) =>
        compareBytes(a.claim.owner, b.claim.owner) ||
        compareBytes(a.claim.output ?? '', b.claim.output ?? '') ||
        compareBytes(a.relation, b.relation),
    )
}

function looseOnes({ wildcardClaims }: ClaimIndex, claim: Claim): readonly Peer[] {
  return wildcardClaims.flatMap((peer) => {
    const meets =
      peer.containerName === claim.containerName &&
      (peer.namespace === ANY || peer.namespace === claim.namespace) &&
      (peer.serviceAccountName === ANY || peer.serviceAccountName === claim.serviceAccountName)
    const relation = meets ? relationOf(claim.labels, peer.labels) : undefined
    return relation === undefined ? [] : [{ claim: peer, relation }]
  })
}

/** The bindings whose decision a claim may change: those that declare, for good or tentatively, some of its pods. */
export function* claimantsNear(index: ClaimIndex, claim: Claim): Iterable<string> {
  for (const { claims } of cellsNear(index, claim)) {
    for (const { basis, owner } of claims) if (basis === 'declared' || basis === 'tentative') yield owner
  }
}

function cellsNear(index: ClaimIndex, claim: Claim): readonly ClaimGroup[] {
  const cell = index.cellOf(claim)
  // A loose claim has no cell, and may meet any.
  return cell === undefined ? index.cells : cell.overlapping.map(({ cell: relative }) => relative)
}

/** `identity collision with bindings a, b: …`, naming the ten that follow, then `and more`. */
export function collisionMessage(collision: Collision): string {
  const names = collision.named.map(({ claim }) => nameOf(claim)).join(', ')
  const more = collision.count > collision.named.length ? ' and more' : ''
  return `identity collision with bindings ${names}${more}: PerObjective bindings must not share the same pod selector and container name`
}

/** The machine form of the same ten: `status.conflicts`. */
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
  return owner.slice(owner.indexOf('/') + 1)
}
