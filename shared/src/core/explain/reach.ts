// Whom the registration of a binding reaches, whom it misses although the labels are right, and what else those pods
// lose or hold because of it.
import { lossesOf, podIdentitiesOf, type PodIdentities } from '../rules/pod-identities.ts'
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
  for (const [, losses] of Map.groupBy(lossesOf(facts), ({ fallback }) => sourceText(fallback.source))) {
    const [first] = losses
    if (first === undefined) continue
    reach.lost.push({
      pod,
      containers: losses.map(({ container }) => container.name),
      spiffeId: first.fallback.spiffeId ?? '',
      source: sourceText(first.fallback.source),
    })
  }
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
