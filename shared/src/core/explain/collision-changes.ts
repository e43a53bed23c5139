// Whether what findings say of bindings that claim the same pods, or may, is new with a change, or gone. That is a question of the
// bindings that meet, and not of the words: where they are many each has one finding, and where they are few each two of them.
import type { State } from '../analysis/state.ts'
import type { Claim } from '../collide/claim.ts'
import { relationOf, type ClaimGroup, type ClaimIndex } from '../collide/claim-index.ts'
import { mayOverlap } from '../collide/overlapping-sets.ts'
import { namedIn, type Finding } from '../findings/finding.ts'
import { subjectText, type Subject } from '../objects/subject.ts'
import { lazy } from '../lazy.ts'
import { namespacedName } from '../namespaced-name.ts'
import { COLLISION, isToldOfOne, OVERLAP } from '../rules/collision-rules.ts'

/** A state, and all that it has of such findings. */
export interface CollidingState {
  readonly state: State
  readonly findings: readonly Finding[]
}

/** Whether a finding is about bindings that claim the same pods, or may: what is new of these, the claims tell. */
export function isAboutClaims({ code }: Finding): boolean {
  return code === COLLISION || code === OVERLAP
}

/** Whether findings about claims are new, or gone. */
export interface Collisions {
  readonly isNew: (one: Finding) => boolean
  readonly isGone: (one: Finding) => boolean
}

/** Compares the claims of two states. */
export function collisionsBetween(before: CollidingState, after: CollidingState): Collisions {
  const [then, now] = [new ClaimsByOwner(before.state.claims), new ClaimsByOwner(after.state.claims)]
  const [toldThen, toldNow] = [before, after].map(({ findings }) => lazy(() => boundIn(findings)))
  return {
    isNew: (one) =>
      isToldOfOne(one)
        ? toldThen?.().has(codeAndSubject(one.code, one.subject)) !== true || hasNewPeer(one, then, now)
        : !pairsOf(one, now, then).every((pair) => isMet(one, pair)),
    isGone: (one) =>
      isToldOfOne(one)
        ? toldNow?.().has(codeAndSubject(one.code, one.subject)) !== true || hasMoved(one, then, now)
        : !pairsOf(one, then, now).some((pair) => isMet(one, pair)),
  }
}

/** The bindings that findings about claims name, each with the code. */
function boundIn(findings: readonly Finding[]): ReadonlySet<string> {
  const told = findings.filter((one) => isAboutClaims(one))
  return new Set(told.flatMap((one) => namedIn(one).map((subject) => codeAndSubject(one.code, subject))))
}

/** The declared claims of a state, by owner. */
class ClaimsByOwner {
  readonly index: ClaimIndex
  readonly #byOwner: () => ReadonlyMap<string, Claim>

  constructor(index: ClaimIndex) {
    this.index = index
    this.#byOwner = lazy(
      () => new Map(index.groups.flatMap(({ declared }) => declared.map((claim) => [claim.owner, claim]))),
    )
  }

  claimOf({ namespace, name }: Subject): Claim | undefined {
    return this.#byOwner().get(namespacedName(namespace, name))
  }

  groupOf(owner: string): ClaimGroup | undefined {
    const claim = this.#byOwner().get(owner)
    return claim === undefined ? undefined : this.index.groupOf(claim)
  }
}

/** Two bindings that a finding says to meet: where they do, and their claims in the other state. */
interface MeetingPair {
  readonly where: Claim
  readonly there: readonly [ClaimGroup | undefined, ClaimGroup | undefined]
}

/** Of so many label sets that the bindings of one have in the other state, each is compared with each; more did not all meet. */
const LOOKED_UP = 100
const NOT_MET = [undefined, undefined] as const

/** The pairs that a finding of the state `here` is about, as they are `there`: each label set of there once. */
function pairsOf(one: Finding, here: ClaimsByOwner, there: ClaimsByOwner): readonly MeetingPair[] {
  const [where] = namedIn(one).flatMap((subject) => here.claimOf(subject) ?? [])
  if (where === undefined) return []
  const groupThere = ({ namespace, name }: Subject): GroupThere =>
    there.groupOf(namespacedName(namespace, name))
  const sides = [
    ...Map.groupBy(namedIn(one), ({ namespace, name }) =>
      here.groupOf(namespacedName(namespace, name)),
    ).values(),
  ].map((subjects) => [...Map.groupBy(subjects, groupThere)])
  if (sides.some(({ length }) => length > LOOKED_UP)) return [{ where, there: NOT_MET }]
  const [left = [], right] = sides
  const pairs =
    right === undefined
      ? pairsWithin(left)
      : left.flatMap(([group]) => right.map(([other]) => [group, other] as const))
  return pairs.map((groups) => ({ where, there: groups }))
}

type GroupThere = ClaimGroup | undefined

/** Bindings of one label set meet each other: those of two label sets of the other state, and those of one. */
function pairsWithin(
  groups: readonly (readonly [GroupThere, readonly Subject[]])[],
): readonly MeetingPair['there'][] {
  return groups.flatMap(([group, { length }], at) => [
    ...(length > 1 ? [[group, group] as const] : []),
    ...groups.slice(at + 1).map(([other]) => [group, other] as const),
  ])
}

/** Whether two bindings meet on the same container as in the other state, in whatever way. */
function isMet({ code }: Finding, { where, there: [one, other] }: MeetingPair): boolean {
  const [claim, peer] = [one?.declared[0], other?.declared[0]]
  if (one === undefined || other === undefined || claim === undefined || peer === undefined) return false
  if (!isOfSameContainer(claim, where) || !isOfSameContainer(peer, where)) return false
  return code === COLLISION
    ? relationOf(one.labels, other.labels) !== undefined
    : mayOverlap(one.labels, other.labels)
}

/** Whether what is told of one binding is about another container than before: what it collides with there is another matter. */
function hasMoved({ subject }: Finding, then: ClaimsByOwner, now: ClaimsByOwner): boolean {
  const [was, is] = [then.claimOf(subject), now.claimOf(subject)]
  return was === undefined || is === undefined || !isOfSameContainer(was, is)
}

/**
 * Whether a binding among many meets one that it did not meet before. Where its own claim is as it was, that other one has changed,
 * and it is told of that one.
 */
function hasNewPeer(one: Finding, then: ClaimsByOwner, now: ClaimsByOwner): boolean {
  const [was, is] = [then.claimOf(one.subject), now.claimOf(one.subject)]
  if (was === undefined || is === undefined || !isOfSameContainer(was, is)) return true
  if (relationOf(was.labels, is.labels) === 'SamePods') return false
  if (one.code === OVERLAP) return true
  const met = new Set(then.index.overlapsOf(was).map(({ group }) => group))
  return now.index
    .overlapsOf(is)
    .some(
      ({ relation, group }) =>
        relation !== 'SamePods' && group.declared.some(({ owner }) => !isAmong(met, then.groupOf(owner))),
    )
}

function isAmong(groups: ReadonlySet<ClaimGroup>, group: ClaimGroup | undefined): boolean {
  return group !== undefined && groups.has(group)
}

function isOfSameContainer(one: Claim, other: Claim): boolean {
  return (
    one.namespace === other.namespace &&
    one.serviceAccountName === other.serviceAccountName &&
    one.containerName === other.containerName
  )
}

function codeAndSubject(code: string, subject: Subject): string {
  return `${code} ${subjectText(subject)}`
}
