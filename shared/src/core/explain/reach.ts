// Whom the registration of a binding reaches, whom it misses although the labels are right, and what else those pods
// lose or hold because of it.
import { displacedOf, lossText, UNKNOWN_ID } from '../rules/displaced.ts'
import { podIdentitiesOf, type ContainerIdentities, type PodIdentities } from '../rules/pod-identities.ts'
import type { Pod } from '../objects/pod.ts'
import { isPossible } from '../spire/registration.ts'
import { sourceText, type EntryOutcome, type Prediction } from '../spire/prediction.ts'

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

/** A default identity that containers of a reached or missed pod would have without this registration. */
export interface Lost {
  readonly pod: Pod
  readonly containers: readonly string[]
  readonly spiffeId: string
  readonly source: string
  /** The SPIFFE IDs that they hold in its place: empty if they are left with none. */
  readonly instead: readonly string[]
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

/** Looks at every pod of a namespace that the ClusterSPIFFEID of that name selects. */
export function reachOf(prediction: Prediction, namespace: string, outputName: string): Reach {
  const reach = {
    reached: [] as Reached[],
    perhaps: [] as Missed[],
    missed: [] as Missed[],
    lost: [] as Lost[],
    alsoHeld: [] as AlsoHeld[],
  }
  for (const pod of prediction.podsByClusterSpiffeId(namespace).get(outputName) ?? []) {
    const facts = podIdentitiesOf(prediction, pod)
    const outcome = facts.outcomes.find(
      ({ source }) => source.kind === 'ClusterSPIFFEID' && source.name === outputName,
    )
    if (outcome !== undefined) record(facts, outcome, reach)
  }
  return reach
}

interface OpenReach extends Reach {
  readonly reached: Reached[]
  readonly perhaps: Missed[]
  readonly missed: Missed[]
  readonly lost: Lost[]
  readonly alsoHeld: AlsoHeld[]
}

function record(facts: PodIdentities, outcome: EntryOutcome, reach: OpenReach): void {
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
    const why = missedBecause(
      facts,
      met.map(({ registration }) => registration?.why),
      open?.registration?.why,
      outcome,
    )
    ;(isPossible({ verdict }) ? reach.perhaps : reach.missed).push({
      pod,
      verdict,
      why,
    })
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
  const others = new Set(met.filter((one) => isOfOthers(one, outcome)).map(({ container }) => container))
  const lost = displacedOf(facts).flatMap(({ container, fallback, instead, open }) => {
    const { source, spiffeId = UNKNOWN_ID } = fallback
    return others.has(container)
      ? []
      : { container: container.name, what: { spiffeId, source: sourceText(source), instead, open } }
  })
  for (const [, same] of Map.groupBy(lost, ({ what }) => JSON.stringify(what))) {
    const [first] = same
    if (first !== undefined)
      reach.lost.push({ pod, containers: same.map(({ container }) => container), ...first.what })
  }
}

/** Whether another registration that displaces fallbacks gives a container its identity, and this one does not. */
function isOfOthers({ issued }: ContainerIdentities, outcome: EntryOutcome): boolean {
  return (
    issued.some(({ source, outcome: { fallback } }) => source.kind === 'ClusterSPIFFEID' && !fallback) &&
    !issued.some((one) => one.outcome === outcome)
  )
}

/** The one reason that all containers share, else the containers that there are. */
function missedBecause(
  { containers }: PodIdentities,
  reasons: readonly (string | undefined)[],
  open: string | undefined,
  outcome: EntryOutcome,
): string {
  if (open !== undefined) return open
  if (containers.length === 0) return 'why' in outcome.verdict ? outcome.verdict.why : 'it has no containers'
  const [only, another] = new Set(reasons)
  const names = containers.map(({ container }) => container.name)
  const byName = containers.some(({ container }) => only?.endsWith(` is ${container.name}`) === true)
  if (only !== undefined && another === undefined && !byName) return only
  return names.length === 1 ? `its only container is ${names[0]}` : `its containers are ${names.join(', ')}`
}

/** What such containers lose and hold instead, without their names: `loses A and holds B instead (… is a fallback and gives way)`. */
export function lostText({ containers, spiffeId, source, instead, open }: Lost): string {
  const text = `${lossText({ spiffeId, instead, holders: containers.length })} (${source} is a fallback and gives way)`
  return open === undefined ? text : `perhaps ${text}: ${open}`
}
