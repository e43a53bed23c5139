// What containers lose because fallbacks give way on their pod, and what they hold instead.
import type { Subject } from '../../model/objects/subject.ts'
import { BINDING_KIND } from '../../model/names.ts'
import type { Container } from '../../model/objects/pod.ts'
import {
  whyInjected,
  isAskedFor,
  sourceText,
  whyOpen,
  type EntryOutcome,
  isHeld,
  isPossible,
  type Registration,
  isOfPods,
  type ContainerIdentities,
  type PodIdentities,
} from '../../predict/index.ts'
import { distinct } from '../../base/text/bytes.ts'
import { all, not, openOn, YES, type Truth } from '../../model/truth/truth.ts'
import { ownerOf, type PodLookups } from './pod-note.ts'
import { appliesUnless } from './applies.ts'

/** A default identity that a container would hold if the fallbacks did not give way on its pod. */
export interface Displaced {
  readonly container: Container
  readonly spiffeId: string
  /** The fallbacks that would give it, by name: several may give one ID. */
  readonly fallbacks: readonly [Registration, ...Registration[]]
  /** The SPIFFE IDs that it holds in its place, in byte order. */
  readonly instead: readonly string[]
  /** Those that it holds in either case, in byte order. If there are none of either, it is left without an identity. */
  readonly kept: readonly string[]
  /** Whether it is so: yes, or open. */
  readonly holds: Truth
}

/** The default identities that containers of a pod do not hold because fallbacks give way. */
export function displacedOf({
  containers,
  unreadOf,
}: Pick<PodIdentities, 'containers' | 'unreadOf'>): readonly Displaced[] {
  return containers.flatMap((one) => displacedFrom(one, unreadOf))
}

/** The same of one container. An ID that it holds all the same, from another registration, is not lost; one that was not read may give it. */
export function displacedFrom(
  { container, registrations }: ContainerIdentities,
  unreadOf: PodIdentities['unreadOf'],
): readonly Displaced[] {
  const fallbacks = registrations.filter(givesWay)
  if (fallbacks.length === 0) return []
  const there = whyInjected(container)
  const given = givenTo({ container, registrations })
  // What does not displace fallbacks, or gives what one of them would, it has in either case.
  const [instead, kept]: [string[], string[]] = [[], []]
  for (const id of idsGiven(given)) (isInEitherCase(id, given, fallbacks) ? kept : instead).push(id)
  const others = registrations.filter(
    (one) => isPossible(one) && isOfPods(one.outcome) && !given.includes(one),
  )
  return byId(fallbacks).flatMap((same) => {
    const [first, ...more] = same
    if (first === undefined || given.some((one) => isSameId(one, first))) return []
    if (others.some((one) => isAsGood(one, first))) return []
    const perhaps = others.find((one) => given.length === 0 || isSameId(one, first))
    const isCertain = same.some(({ outcome }) => whyOpen(outcome.verdict) === undefined)
    const unsure = perhaps ?? (isCertain ? undefined : first)
    const mayNot =
      unsure && appliesUnless(sourceText(unsure.source), whyOpen(unsure.outcome.verdict) ?? unsure.why ?? '')
    const isLost = there === undefined ? (mayNot ?? YES) : openOn(`whether ${container.name} is there`, there)
    const holds = all(isLost, not(unreadOf(container)))
    const { spiffeId = UNKNOWN_ID } = first
    return [{ container, spiffeId, fallbacks: [first, ...more], instead, kept, holds }]
  })
}

/** There may be a hundred thousand pods, and nearly all have one fallback and one identity: neither is grouped or sorted. */
function byId(fallbacks: readonly Registration[]): readonly (readonly Registration[])[] {
  return fallbacks.length === 1
    ? [fallbacks]
    : [...Map.groupBy(fallbacks, ({ spiffeId = UNKNOWN_ID }) => spiffeId).values()]
}

function idsGiven(given: readonly Registration[]): readonly string[] {
  const ids = given.map(({ spiffeId = UNKNOWN_ID }) => spiffeId)
  return ids.length < 2 ? ids : distinct(ids)
}

function isInEitherCase(
  id: string,
  given: readonly Registration[],
  fallbacks: readonly Registration[],
): boolean {
  return (
    fallbacks.some(({ spiffeId }) => spiffeId === id) ||
    given.some(({ spiffeId = UNKNOWN_ID, source }) => spiffeId === id && source.kind !== 'ClusterSPIFFEID')
  )
}

/** A fallback that would give something if nothing displaced it. */
function givesWay({ verdict, outcome }: Registration): boolean {
  return (
    verdict === 'displaced' &&
    !(outcome.verdict.state === 'displaced' && outcome.verdict.givesNothing === true)
  )
}

/** The registrations that certainly give a container its identities, if it is there at all: a webhook may add it. */
export function givenTo({
  container,
  registrations,
}: Pick<ContainerIdentities, 'container' | 'registrations'>): readonly Registration[] {
  const there = whyInjected(container)
  return registrations.filter(
    (one) => isHeld(one) || (there !== undefined && one.verdict === 'depends' && one.why === there),
  )
}

/** In the place of an ID that kleym does not know. */
export const UNKNOWN_ID = 'an ID that is not known'

function isSameId(one: Registration, other: Registration): boolean {
  return one.spiffeId === undefined || one.spiffeId === other.spiffeId
}

/** Whether it gives the same as a fallback would, and the server takes it if it takes that: all but the selectors is the same. */
function isAsGood({ outcome, why }: Registration, fallback: Registration): boolean {
  const { verdict, entry } = outcome
  if (verdict.state !== 'depends' || verdict.isSent !== true || verdict.why !== why) return false
  const [left, right] = [entry, fallback.outcome.entry].map((one) =>
    JSON.stringify({ ...one, selectors: [], placeholders: [] }),
  )
  return left === right
}

/** What a container loses and what it holds then, without the container: `loses A and holds B instead`, `loses A and keeps C`. */
export function lossText({
  spiffeId,
  instead,
  kept,
  holders = 1,
}: {
  readonly spiffeId: string
  /** The SPIFFE IDs that it holds now and did not hold before. */
  readonly instead: readonly string[]
  /** Those that it held before, too. */
  readonly kept: readonly string[]
  /** How many lose it. */
  readonly holders?: number
}): string {
  const [loses, holds, keeps, is] =
    holders === 1 ? ['loses', 'holds', 'keeps', 'is'] : ['lose', 'hold', 'keep', 'are']
  if (instead.length > 0) return `${loses} ${spiffeId} and ${holds} ${instead.join(' and ')} instead`
  return kept.length > 0
    ? `${loses} ${spiffeId} and ${keeps} ${kept.join(' and ')}`
    : `${loses} ${spiffeId} and ${is} left without an identity`
}

/**
 * What displaces the fallbacks of a pod: all of its bindings, unless something that is none displaces them already. That one is named
 * alone then: without the bindings the loss would be the same.
 */
export function displacersOf(
  { outcomes }: Pick<PodIdentities, 'outcomes'>,
  lost: readonly Pick<Displaced, 'fallbacks'>[],
  lookups: PodLookups,
): readonly Subject[] {
  const displacing = outcomes.filter(takesPart).map(({ source }) => source)
  // Of entries that something keeps SCM from creating, the one that displaces it is known all the same.
  const [by] = lost.flatMap(({ fallbacks }) => fallbacks.flatMap((one) => one.by ?? []))
  const known = displacing.length > 0 || by === undefined ? displacing : [by]
  const subjects = known.map((source) => ownerOf(source, lookups))
  const others = subjects.filter(({ kind }) => kind !== BINDING_KIND)
  return others.length > 0 ? others.slice(0, 1) : subjects
}

/** Whether it is certain that a registration was rendered for the pod, which is what displaces a fallback. */
export function takesPart({ source, fallback, verdict }: EntryOutcome): boolean {
  if (fallback || source.kind !== 'ClusterSPIFFEID') return false
  if (verdict.state === 'masked' || verdict.state === 'refused') return verdict.open === undefined
  return isAskedFor(verdict)
}

/** Why a default identity is lost. */
export function givesWayText({ fallbacks: [{ source }] }: Pick<Displaced, 'fallbacks'>): string {
  return `${sourceText(source)} is a fallback and gives way to any other registration of the pod`
}
