// Which findings a change brings, makes go away and leaves as they are. A finding of a code, a subject and related ones is new too where
// it tells of pods in further namespaces or of further things (a field of a manifest, a source of a rule); that it counts more pods
// of the same namespaces is none. A collision that is told in another form (docs/reliability.md) is new where the claims that
// it is about did not meet before.
import { getOrCreate } from '../get-or-create.ts'
import { lazy } from '../lazy.ts'
import { findingKey, notCertain, subjectText, type Finding, type Subject } from '../findings/finding.ts'
import { namespacedName } from '../namespaced-name.ts'
import type { Claim } from '../collide/claim.ts'
import { relationOf, type ClaimGroup, type ClaimIndex } from '../collide/claim-index.ts'
import { mayOverlap } from '../collide/overlapping-sets.ts'
import { COLLISION, isToldOfOne, OVERLAP } from '../rules/collision-rules.ts'
import type { Steps } from '../steps.ts'
import { compareBytes } from '../text/bytes.ts'
import { fixedAmong, type HeldState } from './better-off.ts'

/** What becomes of findings. */
export interface FindingChanges {
  /** Of one that grows, what it tells of is that which is new. */
  readonly added: readonly Finding[]
  /** Those after which a container or a binding is better off. */
  readonly fixed: readonly Finding[]
  /** The others that are gone: what they told of is not there any more, and no container is better off. */
  readonly noLongerApply: readonly Finding[]
  readonly unchanged: readonly Finding[]
}

/** A state with its findings. */
export interface ToldState extends HeldState {
  readonly findings: readonly Finding[]
}

/** Compares the findings of two states. `isOpen`: pods of a namespace may still hold what they seem to have lost. */
export function* findingChanges(
  before: ToldState,
  after: ToldState,
  isOpen: (namespace: string) => boolean,
): Steps<FindingChanges> {
  const { continued, left } = matched(before.findings, after.findings)
  const [claimsBefore, claimsAfter] = [before, after].map(({ state }) => new ClaimsByOwner(state.claims))
  if (claimsBefore === undefined || claimsAfter === undefined) throw new TypeError('there are two states')
  const toldBefore = collisionsToldIn(before.findings, { there: claimsBefore, here: claimsAfter })
  const toldAfter = collisionsToldIn(after.findings, { there: claimsAfter, here: claimsBefore })
  const newOf = (one: Finding): Finding | undefined => {
    const others = continued.get(one)
    if (others === undefined) return toldBefore(one) ? undefined : one
    return hasMoved(one, claimsBefore, claimsAfter) ? one : addedTo(others, one)
  }
  const news = new Map(
    after.findings.flatMap((one) => {
      const added = newOf(one)
      return added === undefined ? [] : [[one, added]]
    }),
  )
  const gone = left.filter((one) => !toldAfter(one))
  // The same of the same subject, for another reason, is no better.
  const added = new Set([...news.keys()].map(subjectKey))
  const mayBeFixed = gone.filter((one) => !added.has(subjectKey(one)) && ![...namespacesOf(one)].some(isOpen))
  const fixed = new Set(yield* fixedAmong(mayBeFixed, before, after))
  return {
    added: [...news.values()],
    fixed: gone.filter((one) => fixed.has(one)),
    noLongerApply: gone.filter((one) => !fixed.has(one)),
    unchanged: after.findings.filter((one) => !news.has(one)),
  }
}

/** Of each finding those of before that it continues, and those of before that none continues. */
interface Matched {
  readonly continued: ReadonlyMap<Finding, readonly [Finding, ...Finding[]]>
  readonly left: readonly Finding[]
}

/**
 * Of one code, subject and related ones there may be several: what pods show is one that is certain of some namespaces and one that
 * is perhaps so of others, and either continues both. Of others one continues one: that with the same text, else the next.
 */
function matched(before: readonly Finding[], after: readonly Finding[]): Matched {
  const byKey = Map.groupBy(before, findingKey)
  const byText = Map.groupBy(before, textOf)
  const continued = new Map<Finding, readonly [Finding, ...Finding[]]>()
  const taken = new Set<Finding>()
  const takeNext = (one: Finding, others: readonly Finding[] | undefined): void => {
    const other = others?.find((candidate) => !taken.has(candidate))
    if (other === undefined) return
    taken.add(other)
    continued.set(one, [other])
  }
  for (const one of after) if (one.namespaces === undefined) takeNext(one, byText.get(textOf(one)))
  for (const one of after) {
    if (continued.has(one)) continue
    const others = byKey.get(findingKey(one))
    if (one.namespaces === undefined) takeNext(one, others)
    else if (others !== undefined && isNotEmpty(others)) continued.set(one, others)
  }
  for (const others of continued.values()) for (const other of others) taken.add(other)
  return { continued, left: before.filter((one) => !taken.has(one)) }
}

function isNotEmpty(all: Finding[]): all is [Finding, ...Finding[]] {
  return all.length > 0
}

function textOf(one: Finding): string {
  return [findingKey(one), one.summary, ...one.evidence].join('\n')
}

/**
 * A finding as a new one; undefined where it tells of nothing that `others` did not. Where these were not certain, and it is, nothing
 * tells whether it is new.
 */
function addedTo(others: readonly [Finding, ...Finding[]], one: Finding): Finding | undefined {
  const namespaces = (one.namespaces ?? NONE).difference(namespacesShownIn(others))
  const parts = [...new Set(one.parts).difference(new Set(others.flatMap((other) => other.parts ?? [])))]
  if (namespaces.size + parts.length > 0) return withNews(one, { namespaces, parts })
  if (one.dependsOn !== undefined) return undefined
  const certain = others.filter(({ dependsOn }) => dependsOn === undefined)
  const open = (one.namespaces ?? NONE).difference(namespacesShownIn(certain))
  if (certain.length > 0 && open.size === 0) return undefined
  const dependsOn = new Set(others.flatMap((other) => other.dependsOn ?? []))
  const told = open.size > 0 && certain.length > 0 ? withNews(one, { namespaces: open, parts }) : one
  return notCertain(told, [...dependsOn], 'depends: it may have been so before this change')
}

function namespacesShownIn(findings: readonly Finding[]): ReadonlySet<string> {
  return new Set(findings.flatMap(({ namespaces }) => [...(namespaces ?? NONE)]))
}

const NONE: ReadonlySet<string> = new Set()
/** How much of what is new is named. */
const NEWS_NAMED = 10

/** A finding that was there, of what it was not about; the pods of other namespaces are then none of its business. */
function withNews(
  one: Finding,
  { namespaces, parts: [first, ...others] }: { namespaces: ReadonlySet<string>; parts: readonly string[] },
): Finding {
  const ofNamespaces = [...namespaces].toSorted(compareBytes).map((name) => `namespace ${name}`)
  // Where the sentence is about the first of several things, it is now about the first that is new.
  if (first !== undefined && one.parts?.includes(one.summary) === true)
    return { ...one, summary: first, evidence: others }
  const news = [...ofNamespaces, ...(first === undefined ? [] : [first]), ...others]
  const more = news.length - NEWS_NAMED
  return {
    ...one,
    ...(namespaces.size > 0 && { namespaces }),
    evidence: [
      ...one.evidence,
      ...news.slice(0, NEWS_NAMED).map((what) => `new with this change: ${what}`),
      ...(more > 0 ? [`new with this change: ${more} more`] : []),
    ],
  }
}

/** The declared claims of a state, by owner. */
class ClaimsByOwner {
  readonly #index: ClaimIndex
  readonly #byOwner: () => ReadonlyMap<string, Claim>

  constructor(index: ClaimIndex) {
    this.#index = index
    this.#byOwner = lazy(
      () => new Map(index.groups.flatMap(({ declared }) => declared.map((claim) => [claim.owner, claim]))),
    )
  }

  of({ namespace, name }: Subject): Claim | undefined {
    return this.#byOwner().get(namespacedName(namespace, name))
  }

  /** The groups of bindings with equal claims, each with those of the bindings that it has; undefined where one has no claim. */
  groupsOf(subjects: readonly Subject[]): ReadonlyMap<ClaimGroup, readonly Subject[]> | undefined {
    const groups = new Map<ClaimGroup, Subject[]>()
    for (const subject of subjects) {
      const claim = this.of(subject)
      const group = claim === undefined ? undefined : this.#index.groupOf(claim)
      if (group === undefined) return undefined
      getOrCreate(groups, group, () => []).push(subject)
    }
    return groups
  }
}

/** Two states: the one whose findings may tell of a collision in another form, and the one of the finding in question. */
interface BothClaims {
  readonly there: ClaimsByOwner
  readonly here: ClaimsByOwner
}

/**
 * Whether findings tell of a collision, or of one that may be, in the other form: pair by pair, or for each binding where there are
 * many. It is the same only where the claims that it is about met there as well.
 */
function collisionsToldIn(findings: readonly Finding[], claims: BothClaims): (one: Finding) => boolean {
  const told = lazy(() => formsOf(findings, claims.there))
  return (one) => {
    if (one.code !== COLLISION && one.code !== OVERLAP) return false
    const keys = namedIn(one).map((subject) => `${one.code} ${subjectText(subject)}`)
    const { inPairs, alone } = told()
    return isToldOfOne(one)
      ? keys.every((key) => inPairs.has(key)) && !hasMoved(one, claims.there, claims.here)
      : keys.some((key) => alone.has(key)) && metThere(one, claims)
  }
}

/** The bindings of which findings tell pair by pair, and one by one; those of one label set, which are told in either case, are in neither. */
function formsOf(
  findings: readonly Finding[],
  claims: ClaimsByOwner,
): { readonly inPairs: ReadonlySet<string>; readonly alone: ReadonlySet<string> } {
  const inPairs = new Set<string>()
  const alone = new Set<string>()
  for (const one of findings) {
    if (one.code !== COLLISION && one.code !== OVERLAP) continue
    if (isToldOfOne(one)) alone.add(subjectKey(one))
    else if ((claims.groupsOf(namedIn(one))?.size ?? 0) > 1)
      for (const subject of namedIn(one)) inPairs.add(`${one.code} ${subjectText(subject)}`)
  }
  return { inPairs, alone }
}

function namedIn({ subject, related }: Finding): readonly Subject[] {
  return [subject, ...related]
}

/** Whether what is told of one binding is about another container than before: what it collides with there is another matter. */
function hasMoved(one: Finding, there: ClaimsByOwner, here: ClaimsByOwner): boolean {
  if (!isToldOfOne(one)) return false
  const [was, is] = [there.of(one.subject), here.of(one.subject)]
  return was === undefined || is === undefined || !isOfSameContainer(was, is)
}

function isOfSameContainer(one: Claim, other: Claim): boolean {
  return (
    one.namespace === other.namespace &&
    one.serviceAccountName === other.serviceAccountName &&
    one.containerName === other.containerName
  )
}

/** Of so many bindings of each of two label sets it is looked up how their claims stood. */
const LOOKED_UP = 100

/** Whether the bindings of two label sets, each with each of the other, met there in the same way. */
function metThere(one: Finding, { there, here }: BothClaims): boolean {
  const sides = [...(here.groupsOf(namedIn(one))?.values() ?? [])]
  const [left, right] = sides.map((side) => [...(there.groupsOf(side.slice(0, LOOKED_UP))?.keys() ?? [])])
  // Bindings of one label set have a finding of their own, in whatever form the others are.
  if (sides.length !== 2 || left === undefined || right === undefined) return false
  const pairs = left.flatMap((group) => right.map((other) => [group, other] as const))
  return pairs.length > 0 && pairs.every(([group, other]) => isSoOf(one, group, other))
}

function isSoOf({ code }: Finding, one: ClaimGroup, other: ClaimGroup): boolean {
  const [claim, peer] = [one.declared[0], other.declared[0]]
  if (claim === undefined || peer === undefined || !isOfSameContainer(claim, peer)) return false
  return code === COLLISION
    ? relationOf(one.labels, other.labels) !== undefined
    : mayOverlap(one.labels, other.labels)
}

/** The namespaces of what a finding is about, and of the pods that show it. */
function namespacesOf({ subject, related, namespaces }: Finding): ReadonlySet<string> {
  return new Set([subject, ...related].map(({ namespace }) => namespace)).union(namespaces ?? NONE)
}

function subjectKey({ code, subject }: Finding): string {
  return `${code} ${subjectText(subject)}`
}
