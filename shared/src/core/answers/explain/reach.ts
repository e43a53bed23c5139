// Whom the registration of a binding reaches, whom it misses although the labels are right, and what else those pods
// lose or hold because of it.
import { groupsBy } from '../../base/groups.ts'
import { displacedOf, lossText, takesPart } from '../../findings/index.ts'
import {
  podIdentitiesOf,
  type ContainerIdentities,
  type PodIdentities,
  isPossible,
  type Registration,
  sourceText,
  type EntryOutcome,
  type Prediction,
} from '../../predict/index.ts'
import { lazy } from '../../base/lazy.ts'
import type { Steps } from '../../base/steps.ts'
import type { Pod } from '../../model/objects/pod.ts'
import { workingOn } from '../../model/objects/pods-alike.ts'
import { whyOpenText } from '../../model/truth/truth.ts'

/** A pod that the registration reaches, and the containers that it gives the identity to. */
export interface Reached {
  readonly pod: Pod
  readonly containers: readonly string[]
}

/** A pod that the registration selects without reaching any of its containers. */
export interface Missed {
  readonly pod: Pod
  readonly verdict: Registration['verdict'] | EntryOutcome['verdict']['state']
  readonly why: string
}

/** A default identity that containers of a reached or missed pod would have if fallbacks did not give way. */
export interface Lost {
  readonly pod: Pod
  readonly containers: readonly string[]
  readonly spiffeId: string
  readonly source: string
  /** What the fallback would give way to without any binding: the loss is not this registration's. Undefined: nothing. */
  readonly by: string | undefined
  /** The SPIFFE IDs that they hold in its place. */
  readonly instead: readonly string[]
  /** Those that they hold in either case. If there are none of either, they are left without an identity. */
  readonly kept: readonly string[]
  /** Why it is not certain that they lose it, a plain sentence fragment; undefined: it is. */
  readonly open: string | undefined
}

/** Further identities of a reached container. */
export interface AlsoHeld {
  readonly pod: Pod
  readonly container: string
  readonly spiffeId: string
  readonly source: string
}

/** What a registration does to the pods that it selects. */
export interface Reach {
  readonly reached: readonly Reached[]
  /** Containers for which it depends on what only the node knows. */
  readonly perhaps: readonly Missed[]
  readonly missed: readonly Missed[]
  readonly lost: readonly Lost[]
  readonly alsoHeld: readonly AlsoHeld[]
}

/** The ClusterSPIFFEIDs that a registration is looked at among, by name. */
export interface ReachAmong {
  /** The outputs of bindings: what containers lose is reported with the binding that gives them another identity. */
  readonly outputs: Pick<ReadonlyMap<string, unknown>, 'has'>
  /** Those that are applied together with this one. */
  readonly together?: ReadonlySet<string>
}

/**
 * What the ClusterSPIFFEIDs of these names do to the pods of a namespace that they select, by name. It is worked out once for pods
 * that are alike. `naming` is called with how many pods and identities are about to be named, and may throw.
 */
export function* reachesOf(
  prediction: Prediction,
  namespace: string,
  names: ReadonlySet<string>,
  among: ReachAmong,
  naming: (count: number) => void = () => {},
): Steps<ReadonlyMap<string, Reach>> {
  const reaches = new Map(
    [...names].map((name): readonly [string, OpenReach] => [
      name,
      { reached: [], perhaps: [], missed: [], lost: [], alsoHeld: [] },
    ]),
  )
  const selected = prediction.podsByClusterSpiffeId(namespace)
  const asked = new Set([...names].flatMap((name) => selected.get(name) ?? []))
  const pods = prediction.podsIn(namespace).filter((pod) => asked.has(pod))
  const partsOf = (pod: Pod): readonly PodPart[] => {
    const facts = podIdentitiesOf(prediction, pod)
    const displaced = displacedOf(facts)
    return facts.outcomes.flatMap((outcome) => {
      const reach = outcome.source.kind === 'ClusterSPIFFEID' ? reaches.get(outcome.source.name) : undefined
      if (reach === undefined) return []
      return { reach, done: lazy(() => doneToPod(facts, displaced, outcome, among)) }
    })
  }
  yield* workingOn(pods, partsOf, (pod, parts) => {
    for (const { reach, done } of parts) {
      const { containers, missed, lost, alsoHeld } = done()
      naming(1 + lost.length + alsoHeld.length)
      if (missed === undefined) reach.reached.push({ pod, containers })
      else (isPossible(missed) ? reach.perhaps : reach.missed).push({ pod, ...missed })
      for (const one of lost) reach.lost.push({ pod, ...one })
      for (const one of alsoHeld) reach.alsoHeld.push({ pod, ...one })
    }
  })
  return reaches
}

/** A reach that is being filled. */
type OpenReach = { readonly [Part in keyof Reach]: Reach[Part][number][] }

/** What a registration does to a pod, whichever pod that is. */
interface DoneToPod {
  /** The containers that it gives the identity to. */
  readonly containers: readonly string[]
  /** Why it gives it to none. */
  readonly missed: Omit<Missed, 'pod'> | undefined
  readonly lost: readonly Omit<Lost, 'pod'>[]
  readonly alsoHeld: readonly Omit<AlsoHeld, 'pod'>[]
}

/** A reach that a pod is part of. What is done to the pod is worked out when the first of those that are alike is named. */
interface PodPart {
  readonly reach: OpenReach
  readonly done: () => DoneToPod
}

function doneToPod(
  facts: PodIdentities,
  displaced: ReturnType<typeof displacedOf>,
  outcome: EntryOutcome,
  { outputs, together }: ReachAmong,
): DoneToPod {
  const judged = facts.containers.map((one) => ({
    ...one,
    registration: one.registrations.find((registration) => registration.outcome === outcome),
  }))
  const issued = judged.filter(({ registration }) => registration?.verdict === 'issued')
  const others = new Set(
    judged.filter((one) => isOfOthers(one, outcome, outputs)).map(({ container }) => container),
  )
  const displacer = facts.outcomes.find(
    (one) => takesPart(one) && !outputs.has(one.source.name) && together?.has(one.source.name) !== true,
  )
  const by = displacer && sourceText(displacer.source)
  const lost = displaced.flatMap(({ container, spiffeId, fallbacks: [{ source }], instead, kept, holds }) =>
    others.has(container)
      ? []
      : {
          container: container.name,
          what: { spiffeId, source: sourceText(source), by, instead, kept, open: whyOpenText(holds) },
        },
  )
  return {
    containers: issued.map(({ container }) => container.name),
    missed: issued.length > 0 ? undefined : missedOf(facts, judged, outcome),
    lost: groupsBy(lost, ({ what }) => JSON.stringify(what)).map((same) => ({
      containers: same.map(({ container }) => container),
      ...same[0].what,
    })),
    alsoHeld: issued.flatMap(({ container, issued: all }) =>
      all
        .filter((other) => other.outcome !== outcome)
        .map(({ spiffeId = '', source }) => ({
          container: container.name,
          spiffeId,
          source: sourceText(source),
        })),
    ),
  }
}

/** A container, and what becomes of the registration in question for it. */
interface JudgedContainer extends ContainerIdentities {
  readonly registration: Registration | undefined
}

function missedOf(
  facts: PodIdentities,
  judged: readonly JudgedContainer[],
  outcome: EntryOutcome,
): Omit<Missed, 'pod'> {
  const open = judged.find(
    ({ registration }) => registration !== undefined && registration.verdict !== 'dead',
  )
  const telling = open ?? judged[0]
  return {
    verdict: telling?.registration?.verdict ?? outcome.verdict.state,
    why: missedBecause(facts, judged, open?.registration?.why, outcome),
  }
}

/** Whether the output of another binding gives a container its identity, and this one does not. */
function isOfOthers(
  { issued }: ContainerIdentities,
  outcome: EntryOutcome,
  outputs: ReachAmong['outputs'],
): boolean {
  return (
    issued.some(({ source }) => source.kind === 'ClusterSPIFFEID' && outputs.has(source.name)) &&
    !issued.some((one) => one.outcome === outcome)
  )
}

/** The first reason that is not the name of a container, else the containers that there are. */
function missedBecause(
  { containers }: PodIdentities,
  judged: readonly JudgedContainer[],
  open: string | undefined,
  outcome: EntryOutcome,
): string {
  if (open !== undefined) return open
  if (containers.length === 0) return 'why' in outcome.verdict ? outcome.verdict.why : 'it has no containers'
  const other = judged.find(
    ({ registration }) => registration?.selector?.startsWith('k8s:container-name:') !== true,
  )
  if (other?.registration?.why !== undefined) return other.registration.why
  const names = containers.map(({ container }) => container.name)
  return names.length === 1 ? `its only container is ${names[0]}` : `its containers are ${names.join(', ')}`
}

/** What such containers lose and hold instead, without their names: `loses A and holds B instead (… is a fallback and gives way)`. */
export function lostText(lost: Lost): string {
  const { containers, source, by, open } = lost
  const to = by === undefined ? '' : ` to ${by}`
  const text = `${lossText({ ...lost, holders: containers.length })} (${source} is a fallback and gives way${to})`
  return open === undefined ? text : `perhaps ${text}: ${open}`
}
