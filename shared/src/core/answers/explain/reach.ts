// Whom the registration of a binding reaches, whom it misses although the labels are right, and what else those pods
// lose or hold because of it.
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
import type { Pod } from '../../model/objects/pod.ts'
import { whyOpenText } from '../../model/truth/truth.ts'

/** A pod that the registration reaches, and the containers that it gives the identity to. */
export interface Reached {
  readonly pod: Pod
  readonly containers: readonly string[]
}

/** A pod that the registration selects without reaching any of its containers. */
export interface Missed {
  readonly pod: Pod
  readonly verdict: string
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

/** Looks at every pod of a namespace that the ClusterSPIFFEID of that name selects. */
export function reachOf(
  prediction: Prediction,
  namespace: string,
  outputName: string,
  among: ReachAmong,
): Reach {
  const reach: OpenReach = { reached: [], perhaps: [], missed: [], lost: [], alsoHeld: [] }
  for (const pod of prediction.podsByClusterSpiffeId(namespace).get(outputName) ?? []) {
    const facts = podIdentitiesOf(prediction, pod)
    const outcome = facts.outcomes.find(
      ({ source }) => source.kind === 'ClusterSPIFFEID' && source.name === outputName,
    )
    if (outcome !== undefined) record(facts, outcome, among, reach)
  }
  return reach
}

/** A reach that is being filled. */
type OpenReach = { readonly [Part in keyof Reach]: Reach[Part][number][] }

function record(
  facts: PodIdentities,
  outcome: EntryOutcome,
  { outputs, together }: ReachAmong,
  reach: OpenReach,
): void {
  const { pod, containers } = facts
  const met = containers.map((one) => ({
    ...one,
    registration: one.registrations.find((registration) => registration.outcome === outcome),
  }))
  const issued = met.filter(({ registration }) => registration?.verdict === 'issued')
  if (issued.length > 0)
    reach.reached.push({ pod, containers: issued.map(({ container }) => container.name) })
  else {
    const open = met.find(({ registration }) => registration !== undefined && registration.verdict !== 'dead')
    const telling = open ?? met[0]
    const verdict = telling?.registration?.verdict ?? outcome.verdict.state
    const why = missedBecause(facts, met, open?.registration?.why, outcome)
    ;(isPossible({ verdict }) ? reach.perhaps : reach.missed).push({ pod, verdict, why })
  }
  for (const { container, issued: all } of issued) {
    for (const other of all) {
      if (other.outcome === outcome) continue
      reach.alsoHeld.push({
        pod,
        container: container.name,
        spiffeId: other.spiffeId ?? '',
        source: sourceText(other.source),
      })
    }
  }
  const others = new Set(
    met.filter((one) => isOfOthers(one, outcome, outputs)).map(({ container }) => container),
  )
  const displacer = facts.outcomes.find(
    (one) => takesPart(one) && !outputs.has(one.source.name) && together?.has(one.source.name) !== true,
  )
  const by = displacer && sourceText(displacer.source)
  const lost = displacedOf(facts).flatMap(
    ({ container, spiffeId, fallbacks: [{ source }], instead, kept, holds }) =>
      others.has(container)
        ? []
        : {
            container: container.name,
            what: { spiffeId, source: sourceText(source), by, instead, kept, open: whyOpenText(holds) },
          },
  )
  for (const [, same] of Map.groupBy(lost, ({ what }) => JSON.stringify(what))) {
    const [first] = same
    if (first !== undefined)
      reach.lost.push({ pod, containers: same.map(({ container }) => container), ...first.what })
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
  met: readonly { readonly registration: Registration | undefined }[],
  open: string | undefined,
  outcome: EntryOutcome,
): string {
  if (open !== undefined) return open
  if (containers.length === 0) return 'why' in outcome.verdict ? outcome.verdict.why : 'it has no containers'
  const other = met.find(
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
