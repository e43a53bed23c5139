// The peers of a claim: declared ones make a collision, live, reserved and tentative ones a wait (docs/contract.md §6). No
// list of pairs is kept: peers are read out of the claim groups on demand.
import { splitNamespacedName } from '../../model/namespaced-name.ts'
import { CONFLICTS_NAMED } from '../../model/names.ts'
import { compareBytes } from '../../base/text/bytes.ts'
import { ANY, type Claim } from './claim.ts'
import {
  isWildcard,
  relationOf,
  type ClaimGroup,
  type ClaimIndex,
  type PeerRow,
  type Relation,
} from './claim-index.ts'

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
  /** All peers, by owner, as long as the index stays as it is; the plugin names each of them. */
  all(): readonly Peer[]
}

/** The declared claims that collide with a declared one; undefined where none does. */
export function collisionOf(index: ClaimIndex, claim: Claim): Collision | undefined {
  const peers = index.rowsOf(claim)
  if (peers === undefined || peers.count < 2) return undefined
  const count = peers.count - 1
  // Found again at each question: what all collisions of a cluster hold together would be the square of its claims.
  const all = (): readonly Peer[] =>
    (index.rowsOf(claim)?.rows ?? [])
      .flatMap(({ relation, claims }) => claims.map((peer) => ({ claim: peer, relation })))
      .filter((peer) => peer.claim.owner !== claim.owner)
      .toSorted((a, b) => compareBytes(a.claim.owner, b.claim.owner))
  return { count, named: nextInOrder(peers.rows, claim.owner), all }
}

/** The live, reserved and tentative claims of other owners that a declared claim has to wait for, in a total order. */
export function waitsOf(index: ClaimIndex, claim: Claim): readonly Peer[] {
  const near = index
    .overlapsOf(claim)
    .flatMap(({ relation, group }) =>
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
    const relation = wildcardMeets(peer, claim) ? relationOf(claim.labels, peer.labels) : undefined
    return relation === undefined ? [] : [{ claim: peer, relation }]
  })
}

/** Whether a claim on any value and another are on one container. The claims of variants are on none. */
function wildcardMeets(wildcard: Claim, claim: Claim): boolean {
  return (
    (wildcard.namespace === ANY || wildcard.namespace === claim.namespace) &&
    (wildcard.serviceAccountName === ANY || wildcard.serviceAccountName === claim.serviceAccountName) &&
    (wildcard.containerName === claim.containerName ||
      (wildcard.containerName === ANY && claim.containerName !== undefined))
  )
}

/** The claims that meet one of this value, by label set, whether or not it is in the index; in no order. */
export function groupsNear(index: ClaimIndex, claim: Claim): readonly ClaimGroup[] {
  if (!isWildcard(claim)) return index.meeting(claim)
  return [...index.unsorted()].filter(
    ({ labels, claims: [one] }) =>
      one !== undefined && wildcardMeets(claim, one) && relationOf(labels, claim.labels) !== undefined,
  )
}

/** The bindings whose decision a change beside a group may change: those with a declared or tentative claim in it. */
export function* claimantsOf({ claims }: ClaimGroup): Iterable<string> {
  for (const { basis, owner } of claims) if (basis === 'declared' || basis === 'tentative') yield owner
}

/** The message of a collision: `identity collision with bindings a, b: …`, with the ten named peers, then `and more`. */
export function collisionMessage(collision: Collision): string {
  const names = collision.named.map(({ claim }) => nameOf(claim)).join(', ')
  const more = collision.count > collision.named.length ? ' and more' : ''
  // A claim meets only claims of its own kind.
  const isVariant = collision.named[0]?.claim.containerName === undefined
  const rule = isVariant
    ? 'PerVariant bindings must not share the same pods'
    : 'PerObjective bindings must not share the same pod selector and container name'
  return `identity collision with bindings ${names}${more}: ${rule}`
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
  // Ten places, and not a sorted list of all: a claim may have thousands of rows, and as many claims may ask.
  const first: { readonly peer: Peer; readonly wraps: boolean }[] = []
  for (const { relation, claims } of rows) {
    const start = firstAfter(claims, owner)
    const length = Math.min(claims.length, CONFLICTS_NAMED + 1)
    for (let step = 0; step < length; step++) {
      const claim = claims[(start + step) % claims.length]
      if (claim === undefined || claim.owner === owner) continue
      const wraps = start + step >= claims.length
      const isBefore = (other: (typeof first)[number] | undefined): boolean =>
        other === undefined ||
        (wraps === other.wraps ? compareBytes(claim.owner, other.peer.claim.owner) < 0 : other.wraps)
      // The rest of the row comes after it.
      if (first.length === CONFLICTS_NAMED && !isBefore(first.at(-1))) break
      const at = first.findIndex(isBefore)
      first.splice(at === -1 ? first.length : at, 0, { peer: { claim, relation }, wraps })
      if (first.length > CONFLICTS_NAMED) first.pop()
    }
  }
  return first.map(({ peer }) => peer)
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
