// What bindings do to the proxies of meshes: an identity that a proxy takes from SPIRE must have the form that its mesh accepts.
import { consumersIn, proxiesOfAccount, type ProxyOfAccount } from '../consumers/consumers-in-pod.ts'
import { isMeshIdentity } from '../consumers/consumers.ts'
import type { Container } from '../objects/pod.ts'
import { judgeContainer, whyInjected } from '../spire/attestor.ts'
import { whyOpen, type EntryOutcome } from '../spire/prediction.ts'
import { isPossible, type Registration } from '../spire/registration.ts'
import { compareBytes } from '../text/bytes.ts'
import { all, whyOpenText, YES, type Truth } from '../truth/truth.ts'
import { displacersOf, givesWayText, lossText, UNKNOWN_ID } from './displaced.ts'
import { sourceSubject } from './install-rules.ts'
import type { PodIdentities } from './pod-identities.ts'
import { openOn, ownerOf, type Note, type PodRule, type Scan } from './pod-note.ts'
import { namesContainer } from './workload-api-rules.ts'

/** The rules about proxies, over one pod. */
export const MESH_RULES: readonly PodRule[] = [unusableByProxy, lostByProxy, unreachableForProxyOfNode]

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
  const proxies = proxiesOfAccount(pod, scan.namespaceOf(pod.namespace))
  // One that asks for its own ID takes no other.
  return proxies
    .filter(({ consumer }) => consumer.asksById !== true)
    .flatMap((one) => {
      const { consumer, container } = one
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
            holds: getsIt(one, given),
          },
        ]
      })
    })
}

/**
 * The identity of a service account that a mesh needs, and that its proxy loses because a fallback gives way: it is left with none, or
 * asks for that ID alone.
 */
function lostByProxy(facts: PodIdentities, scan: Scan): readonly Note[] {
  if (!facts.outcomes.some(({ fallback }) => fallback)) return []
  return proxiesOfAccount(facts.pod, scan.namespaceOf(facts.pod.namespace)).flatMap((one) => {
    const { consumer, container } = one
    const { name } = container
    const lost = lostBy(one, facts)
    if (lost === undefined) return []
    const { source, verdict, spiffeId, instead, why } = lost
    const by = 'by' in verdict ? verdict.by : undefined
    return displacersOf(facts, [{ fallback: { by } }], scan).map((subject): Note => ({
      code: 'KLM441',
      subject: { ...subject, container: name },
      related: [sourceSubject(source)],
      containers: [name],
      summary: (pods) => `${name} of ${pods} ${lossText({ spiffeId, instead })}`,
      evidence: [givesWayText(lost), `${consumer.mesh} needs the ID of the service account`],
      holds: all(asks(one), why === undefined ? YES : openOn(`whether ${name} holds another`, why)),
    }))
  })
}

interface LostByProxy extends EntryOutcome {
  readonly spiffeId: string
  /** What it holds in its place, which it does not ask for. */
  readonly instead: readonly string[]
  /** Why it is not certain; undefined: it is. */
  readonly why: string | undefined
}

/** Asked of the registrations of the pod: a container that a webhook adds need not be among those that are known. */
function lostBy(
  { container, consumer }: ProxyOfAccount,
  { pod, outcomes }: PodIdentities,
): LostByProxy | undefined {
  const held = new Set<string>()
  const there = whyInjected(container)
  let open: string | undefined
  let lost: LostByProxy | undefined
  for (const outcome of outcomes) {
    const { entry, verdict } = outcome
    const match = entry === undefined ? undefined : judgeContainer(pod, container, entry)
    if (entry === undefined || match === undefined || match.state === 'dead') continue
    const isGiven = match.state === 'issued' || match.why === there
    if (verdict.state === 'displaced') {
      if (isMeshIdentity(entry.spiffeId))
        lost ??= { ...outcome, spiffeId: entry.spiffeId, instead: [], why: whyOpen(verdict) }
    } else if (verdict.state === 'declared' && isGiven) held.add(entry.spiffeId)
    else if (verdict.state === 'declared') open ??= match.state === 'depends' ? match.why : undefined
    else if (isPossible({ verdict: verdict.state })) open ??= 'why' in verdict ? verdict.why : undefined
  }
  if (lost === undefined) return undefined
  const isServed = consumer.asksById === true ? held.has(lost.spiffeId) : held.size > 0
  return isServed ? undefined : { ...lost, instead: [...held].toSorted(compareBytes), why: lost.why ?? open }
}

/** Identities of one container, on a pod that a proxy of the node serves: it asks by the pod, which tells no containers apart. */
function unreachableForProxyOfNode({ pod, outcomes }: PodIdentities, scan: Scan): readonly Note[] {
  const narrow = outcomes.filter(
    (one) =>
      one.source.kind === 'ClusterSPIFFEID' && scan.bindings.has(one.source.name) && namesContainer(one),
  )
  if (narrow.length === 0) return []
  return consumersIn(pod, scan.namespaceOf(pod.namespace))
    .filter(({ container }) => container === undefined)
    .flatMap(({ consumer }) =>
      narrow.map(({ source, entry }): Note => ({
        code: 'KLM442',
        subject: ownerOf(source, scan),
        related: [],
        summary: (pods) => `${consumer.name} cannot take ${entry?.spiffeId ?? UNKNOWN_ID} for ${pods}`,
        evidence: [`${consumer.name} asks by the pod, and the identity is for one container`],
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
