// What containers lose because fallbacks give way on their pod, and what they hold instead.
import type { Subject } from '../findings/finding.ts'
import { BINDING_KIND } from '../names.ts'
import type { Container } from '../objects/pod.ts'
import { whyInjected } from '../spire/attestor.ts'
import { isAskedFor, sourceText, whyOpen, type EntryOutcome } from '../spire/prediction.ts'
import { isPossible, type Registration } from '../spire/registration.ts'
import { compareBytes } from '../text/bytes.ts'
import { isOfPods, type PodIdentities } from './pod-identities.ts'
import { ownerOf, type Scan } from './pod-note.ts'

/** A default identity that a container would hold if the fallback did not give way on its pod. */
export interface Displaced {
  readonly container: Container
  readonly fallback: Registration
  /** The SPIFFE IDs that it holds in its place: empty if it is left with none. In byte order. */
  readonly instead: readonly string[]
  /** Why it is not certain that the container loses it, a plain sentence fragment; undefined: it is. */
  readonly open: string | undefined
}

/**
 * The default identities that containers of a pod do not hold because fallbacks give way. One that a container holds all the
 * same, from another registration, is not lost.
 */
export function displacedOf({ containers }: PodIdentities): readonly Displaced[] {
  return containers.flatMap(({ container, registrations, issued }) => {
    // What a container holds that a webhook adds, it holds if it is there at all.
    const there = whyInjected(container)
    const given =
      there === undefined
        ? issued
        : registrations.filter(
            ({ verdict, why }) => verdict === 'issued' || (verdict === 'depends' && why === there),
          )
    const instead = [...new Set(given.map(({ spiffeId = UNKNOWN_ID }) => spiffeId))].toSorted(compareBytes)
    return registrations.flatMap((fallback) => {
      if (fallback.verdict !== 'displaced' || given.some((one) => isSameId(one, fallback))) return []
      const perhaps = registrations.find((one) => mayGive(one) && isSameId(one, fallback))
      const open = there ?? whyOpen(fallback.outcome.verdict) ?? perhaps?.why
      return [{ container, fallback, instead, open }]
    })
  })
}

/** In the place of an ID that kleym does not know. */
export const UNKNOWN_ID = 'an ID that is not known'

function isSameId(one: Registration, other: Registration): boolean {
  return one.spiffeId === undefined || one.spiffeId === other.spiffeId
}

/** What a container loses and what it holds then, without the container: `loses A and holds B instead`. */
export function lossText({
  spiffeId,
  instead,
  holders = 1,
}: {
  readonly spiffeId: string
  readonly instead: readonly string[]
  /** How many lose it. */
  readonly holders?: number
}): string {
  const [loses, holds, is] = holders === 1 ? ['loses', 'holds', 'is'] : ['lose', 'hold', 'are']
  return instead.length === 0
    ? `${loses} ${spiffeId} and ${is} left without an identity`
    : `${loses} ${spiffeId} and ${holds} ${instead.join(' and ')} instead`
}

/** A default identity that a container would have, were it not displaced, and that nothing replaces. */
export interface Loss {
  readonly container: Container
  readonly fallback: Registration
  /** The first registration that may give it an identity after all. */
  readonly perhaps: Registration | undefined
}

/** What the containers of a pod lose because fallbacks give way. */
export function lossesOf(facts: PodIdentities): readonly Loss[] {
  const registrations = new Map(facts.containers.map((one) => [one.container, one.registrations]))
  return displacedOf(facts).flatMap(({ container, fallback, instead }) =>
    // Whether an injected container is there is not certain, so neither is that it loses anything.
    instead.length > 0 || container.injectedBy !== undefined
      ? []
      : [{ container, fallback, perhaps: registrations.get(container)?.find(mayGive) }],
  )
}

function mayGive({ verdict, outcome }: Registration): boolean {
  return isPossible({ verdict }) && isOfPods(outcome)
}

/** What displaces the lost fallbacks of a pod: its bindings alone, if there are any. */
export function displacersOf(
  { outcomes }: PodIdentities,
  lost: readonly { readonly fallback: Pick<Registration, 'by'> }[],
  scan: Scan,
): readonly Subject[] {
  const displacing = outcomes.filter(takesPart).map(({ source }) => source)
  // Of entries that something keeps SCM from creating, the one that displaces it is known all the same.
  const [by] = lost.flatMap(({ fallback }) => fallback.by ?? [])
  const known = displacing.length > 0 || by === undefined ? displacing : [by]
  const subjects = known.map((source) => ownerOf(source, scan))
  const ours = subjects.filter(({ kind }) => kind === BINDING_KIND)
  return ours.length > 0 ? ours : subjects.slice(0, 1)
}

/** Whether it is certain that a registration was rendered for the pod, which is what displaces a fallback. */
function takesPart({ source, fallback, verdict }: EntryOutcome): boolean {
  if (fallback || source.kind !== 'ClusterSPIFFEID') return false
  if (verdict.state === 'masked' || verdict.state === 'refused') return verdict.open === undefined
  return isAskedFor(verdict)
}

/** Why a default identity is lost. */
export function givesWayText({ source }: Pick<Registration, 'source'>): string {
  return `${sourceText(source)} is a fallback and gives way to any other registration of the pod`
}
