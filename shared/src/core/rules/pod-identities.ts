// What one pod shows, gathered for all rules together: its registrations, and how each of its containers meets them.
import type { Container, Pod } from '../objects/pod.ts'
import { isPodAgent } from '../spire/static-index.ts'
import { containerVerdicts, isPossible, type Registration } from '../spire/registration.ts'
import type { EntryOutcome, Prediction } from '../spire/prediction.ts'

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

/** A default identity that a container would have, were it not displaced, and that nothing replaces. */
export interface Loss {
  readonly container: Container
  readonly fallback: Registration
  /** The first registration that may give it an identity after all. */
  readonly perhaps: Registration | undefined
}

/** What the containers of a pod lose because fallbacks give way. */
export function lossesOf({ containers }: PodIdentities): readonly Loss[] {
  return containers.flatMap(({ container, registrations, issued }) =>
    // Whether an injected container is there is not certain, so neither is that it loses anything.
    issued.length > 0 || container.injectedBy !== undefined
      ? []
      : registrations
          .filter(({ verdict }) => verdict === 'displaced')
          .map((fallback) => ({ container, fallback, perhaps: registrations.find(mayGive) })),
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
