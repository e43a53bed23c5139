// What one pod shows, gathered for all rules together: its registrations, and how each of its containers meets them.
import type { Container, Pod } from '../../model/objects/pod.ts'
import type { Truth } from '../../model/truth/truth.ts'
import { isPodAgent } from './static-index.ts'
import { verdictsOf, type Registration } from './registration.ts'
import type { EntryOutcome, Prediction } from './prediction.ts'

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
  /** Whether a container may be given an identity beside these, by what was not read or decided: no, or open. */
  readonly unreadOf: (container: Container) => Truth
}

/** Gathers the facts of a pod. */
export function podIdentitiesOf(prediction: Prediction, pod: Pod): PodIdentities {
  const outcomes = prediction.entriesOf(pod)
  const attested = pod.containers.filter(({ role }) => role !== 'ephemeral')
  return {
    pod,
    outcomes,
    containers: attested.map((one) => containerIdentities({ pod, outcomes }, one)),
    unreadOf: ({ name }) => prediction.unread(pod, name),
  }
}

/** The facts of one container of a pod, which need not be among those that are known. */
export function containerIdentities(
  { pod, outcomes }: Pick<PodIdentities, 'pod' | 'outcomes'>,
  container: Container,
): ContainerIdentities {
  const registrations = outcomes.length === 0 ? [] : verdictsOf(outcomes, pod, container)
  return { container, registrations, issued: registrations.filter(({ verdict }) => verdict === 'issued') }
}

/**
 * An agent that is no pod's node, such as that of a virtual machine, may still be one: `who-selects` shows that. It would tell
 * every pod of the cluster that it may hold one identity more. An entry with a selector of Kubernetes is for pods, whatever its parent.
 */
export function isOfPods({ source, entry }: EntryOutcome): boolean {
  return (
    source.kind === 'ClusterSPIFFEID' ||
    (entry !== undefined &&
      (isPodAgent(entry.parentId) || entry.selectors.some(({ type }) => type === 'k8s')))
  )
}
