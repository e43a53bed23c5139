// What bindings do to the proxies of meshes: an identity that a proxy takes from SPIRE must have the form that its mesh accepts.
import { consumersIn, type ConsumerInPod } from '../consumers/consumers-in-pod.ts'
import { isMeshIdentity } from '../consumers/consumers.ts'
import type { Container } from '../objects/pod.ts'
import type { EntryOutcome } from '../spire/prediction.ts'
import { isPossible, type Registration } from '../spire/registration.ts'
import { NO, whyOpenText } from '../truth/truth.ts'
import type { PodIdentities } from './pod-identities.ts'
import { ownerOf, type Note, type PodRule, type Scan } from './pod-note.ts'
import { namesContainer } from './workload-api-rules.ts'

/** The rules about proxies, over one pod. */
export const MESH_RULES: readonly PodRule[] = [unusableByProxy]

/** Identities of bindings that a proxy takes from SPIRE, and that its mesh does not accept. */
function unusableByProxy(facts: PodIdentities, scan: Scan): readonly Note[] {
  const { pod, outcomes } = facts
  const ours = outcomes.filter(
    ({ source, entry }) =>
      source.kind === 'ClusterSPIFFEID' &&
      scan.bindings.has(source.name) &&
      entry !== undefined &&
      !isMeshIdentity(entry.spiffeId),
  )
  if (ours.length === 0) return []
  return consumersIn(pod, scan.namespaceOf(pod.namespace)).flatMap((one) => {
    const { consumer, container, asksSpire } = one
    if (container === undefined || asksSpire === NO || consumer.accepts !== 'of a service account') return []
    const { name } = container
    return ours.flatMap((outcome): readonly Note[] => {
      const given = registrationFor(container, outcome, facts)
      if (given === undefined) return []
      return [
        {
          code: 'KLM440',
          subject: { ...ownerOf(outcome.source, scan), container: name },
          related: [],
          containers: [name],
          summary: (pods) => `${name} of ${pods} gets an identity that ${consumer.mesh} does not accept`,
          evidence: [
            `the binding gives ${outcome.entry?.spiffeId ?? ''}`,
            `${consumer.mesh} accepts spiffe://<trust domain>/ns/<namespace>/sa/<service account> alone`,
          ],
          ...dependsOn(one, given),
        },
      ]
    })
  })
}

/** A registration of an output by which a container gets its identity, or may get it; undefined: by none. */
function registrationFor(
  { name }: Container,
  outcome: EntryOutcome,
  { containers }: PodIdentities,
): Registration | undefined {
  const own = containers.find(({ container }) => container.name === name)
  // What is given to the pod as a whole is given to a container that a webhook adds.
  const alike = namesContainer(outcome) ? [] : containers
  const all = (own === undefined ? alike : [own]).flatMap(({ registrations }) =>
    registrations.filter((one) => one.outcome === outcome),
  )
  return all.find(({ verdict }) => verdict === 'issued') ?? all.find(isPossible)
}

/** What decides, where it is not certain that the proxy asks SPIRE, or that it gets the identity. */
function dependsOn(
  { asksSpire, container }: ConsumerInPod,
  { verdict, why = '' }: Registration,
): Pick<Note, 'depends'> | undefined {
  const name = container?.name ?? ''
  const open = whyOpenText(asksSpire)
  if (open !== undefined)
    return { depends: { on: `whether ${name} takes its certificates from SPIRE`, why: `depends: ${open}` } }
  return verdict === 'issued'
    ? undefined
    : { depends: { on: `whether ${name} gets the identity`, why: `depends: ${why}` } }
}
