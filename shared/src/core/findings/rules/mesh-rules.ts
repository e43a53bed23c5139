// What bindings do to the proxies of meshes: an identity that a proxy takes from SPIRE must have the form that its mesh accepts.
import { consumersIn, proxiesOfAccount, type ProxyOfAccount, isMeshIdentity } from '../../analysis/index.ts'
import { BINDING_KIND } from '../../model/names.ts'
import type { Container } from '../../model/objects/pod.ts'
import {
  type EntryOutcome,
  isPossible,
  type Registration,
  containerIdentities,
  type PodIdentities,
} from '../../predict/index.ts'
import { all, openOn, whyOpenText, YES, type Truth } from '../../model/truth/truth.ts'
import {
  displacedFrom,
  displacersOf,
  takesPart,
  givesWayText,
  lossText,
  UNKNOWN_ID,
  type Displaced,
} from './displaced.ts'
import { sourceSubject } from './install-rules.ts'
import { ownerOf, type Note, type PodRule, type PodLookups, bindingOf } from './pod-note.ts'
import { namesContainer } from './workload-api-rules.ts'

/** The rules about proxies, over one pod. */
export const MESH_RULES: readonly PodRule[] = [unusableByProxy, lostByProxy, unreachableForProxyOfNode]

/** Identities of bindings that a proxy takes from SPIRE, and that its mesh does not accept. */
function unusableByProxy(facts: PodIdentities, lookups: PodLookups): readonly Note[] {
  const { pod, outcomes } = facts
  const ours = outcomes.filter(
    ({ source, entry }) =>
      bindingOf(source, lookups) !== undefined && entry !== undefined && !isMeshIdentity(entry.spiffeId),
  )
  if (ours.length === 0) return []
  const proxies = proxiesOfAccount(pod, lookups.namespaceOf(pod.namespace))
  // One that asks for its own ID takes no other.
  return proxies
    .filter(({ consumer }) => consumer.asksById !== true)
    .flatMap((one) => {
      const { consumer, container } = one
      const { name } = container
      return ours.flatMap((outcome): Note | readonly Note[] => {
        const given = registrationFor(container, outcome, facts)
        if (given === undefined) return []
        return {
          code: 'KLM440',
          subject: { ...ownerOf(outcome.source, lookups), container: name },
          related: [],
          containers: [name],
          summary: (pods) => `${name} of ${pods} gets an identity that ${consumer.mesh} does not accept`,
          evidence: [
            `the binding gives ${outcome.entry?.spiffeId ?? ''}`,
            `${consumer.mesh} accepts spiffe://<trust domain>/ns/<namespace>/sa/<service account> alone`,
          ],
          holds: getsIt(one, given),
        }
      })
    })
}

/**
 * The identity of a service account that a mesh needs, and that its proxy loses because a fallback gives way: it is left with none, or
 * asks for that ID alone.
 */
function lostByProxy(facts: PodIdentities, lookups: PodLookups): readonly Note[] {
  if (!facts.outcomes.some(({ fallback }) => fallback)) return []
  const bindings = facts.outcomes.filter(takesPart).flatMap(({ source }) => bindingOf(source, lookups) ?? [])
  return proxiesOfAccount(facts.pod, lookups.namespaceOf(facts.pod.namespace)).flatMap((proxy) => {
    const { consumer, container } = proxy
    const { name } = container
    return lossesOfProxy(proxy, facts).flatMap((lost) =>
      displacersOf(facts, [lost], lookups).map((subject): Note => ({
        code: 'KLM441',
        subject: { ...subject, container: name },
        // What the proxy lacks is a matter of the bindings on its pod too, whatever displaces the fallback.
        related: [
          ...lost.fallbacks.map(({ source }) => sourceSubject(source)),
          ...(subject.kind === BINDING_KIND ? [] : bindings),
        ],
        containers: [name],
        summary: (pods) => `${name} of ${pods} ${lossText(lost)}`,
        evidence: [givesWayText(lost), `${consumer.mesh} needs the ID of the service account`],
        holds: all(asks(proxy), lost.holds),
      })),
    )
  })
}

/** The identities of its mesh that a proxy does not hold because fallbacks give way, and that nothing which it holds replaces. */
export function lossesOfProxy(
  { container, consumer }: ProxyOfAccount,
  facts: Pick<PodIdentities, 'pod' | 'outcomes' | 'unreadOf'>,
): readonly Displaced[] {
  return displacedFrom(containerIdentities(facts, container), facts.unreadOf).filter(
    ({ spiffeId, instead, kept }) =>
      isMeshIdentity(spiffeId) && (instead.length + kept.length === 0 || consumer.asksById === true),
  )
}

/** Identities of one container, on a pod that a proxy of the node serves: it asks by the pod, which tells no containers apart. */
function unreachableForProxyOfNode({ pod, outcomes }: PodIdentities, lookups: PodLookups): readonly Note[] {
  const narrow = outcomes.filter((one) => bindingOf(one.source, lookups) !== undefined && namesContainer(one))
  if (narrow.length === 0) return []
  return consumersIn(pod, lookups.namespaceOf(pod.namespace))
    .filter(({ container }) => container === undefined)
    .flatMap(({ consumer }) =>
      narrow.map(({ source, entry }): Note => ({
        code: 'KLM442',
        subject: ownerOf(source, lookups),
        related: [],
        summary: (pods) => `${consumer.name} cannot take ${entry?.spiffeId ?? UNKNOWN_ID} for ${pods}`,
        evidence: [`${consumer.name} asks by the pod, and the identity is for one container`],
        holds: YES,
      })),
    )
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
  const possible = (own === undefined ? alike : [own]).flatMap(({ registrations }) =>
    registrations.filter((one) => one.outcome === outcome),
  )
  return possible.find(({ verdict }) => verdict === 'issued') ?? possible.find(isPossible)
}

/** Whether the proxy asks SPIRE, and gets the identity. */
function getsIt(one: ProxyOfAccount, { verdict, why = '' }: Registration): Truth {
  const gets = verdict === 'issued' ? YES : openOn(`whether ${one.container.name} gets the identity`, why)
  return all(asks(one), gets)
}

function asks({ asksSpire, consumer, container: { name } }: ProxyOfAccount): Truth {
  const why = whyOpenText(asksSpire)
  if (why === undefined) return YES
  const on =
    consumer.asksById === true
      ? `which ID ${name} asks for`
      : `whether ${name} takes its certificates from SPIRE`
  return openOn(on, why)
}
