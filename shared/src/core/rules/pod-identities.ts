// What one pod shows, gathered for all rules together: its registrations, and how each of its containers meets them.
import type { Container, Pod } from '../objects/pod.ts'
import { whyInjected } from '../spire/attestor.ts'
import { isPodAgent } from '../spire/static-index.ts'
import { containerVerdicts, isPossible, type Registration } from '../spire/registration.ts'
import { whyOpen, type EntryOutcome, type Prediction } from '../spire/prediction.ts'
import { compareBytes } from '../text/bytes.ts'

/** A container, and the registrations whose selectors may match it. */
export interface ContainerIdentities {
  readonly container: Container
  readonly registrations: readonly Registration[]
  readonly issued: readonly Registration[]
}

/** A pod, its registrations, and its containers. */
export interface PodIdentities {
  readonly pod: Pod
  readonly outcomes: readonly EntryOutcome[]
  /** Without ephemeral containers, which SPIRE never attests. */
  readonly containers: readonly ContainerIdentities[]
}

/** Gathers the facts of a pod. */
export function podIdentitiesOf(prediction: Prediction, pod: Pod): PodIdentities {
  const outcomes = prediction.entriesOf(pod)
  const attested = pod.containers.filter(({ role }) => role !== 'ephemeral')
  return {
    pod,
    outcomes,
    containers: attested.map((container) => {
      const registrations = outcomes.length === 0 ? [] : containerVerdicts(prediction, pod, container)
      return { container, registrations, issued: registrations.filter(({ verdict }) => verdict === 'issued') }
    }),
  }
}

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
    const instead = [...new Set(issued.map(({ spiffeId = UNKNOWN_ID }) => spiffeId))].toSorted(compareBytes)
    return registrations.flatMap((fallback) => {
      if (fallback.verdict !== 'displaced' || issued.some((one) => isSameId(one, fallback))) return []
      const perhaps = registrations.find((one) => mayGive(one) && isSameId(one, fallback))
      const open = whyInjected(container) ?? whyOpen(fallback.outcome.verdict) ?? perhaps?.why
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

/**
 * An agent that is no pod's node, such as that of a virtual machine, may still be one: `who-selects` shows that. It would tell
 * every pod of the cluster that it may hold one identity more.
 */
export function isOfPods({ source, entry }: EntryOutcome): boolean {
  return source.kind === 'ClusterSPIFFEID' || (entry !== undefined && isPodAgent(entry.parentId))
}
