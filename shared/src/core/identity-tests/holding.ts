// What a container holds, as an assertion looks at it: what is certain, what may be, and what gives an ID that is not known.
import type { Analysis } from '../analysis/analysis.ts'
import { undecidedFor, undecidedText } from '../analysis/undecided.ts'
import { getOrCreate } from '../get-or-create.ts'
import { namespacedName } from '../namespaced-name.ts'
import type { Container, Pod } from '../objects/pod.ts'
import { shortPodText } from '../objects/pod-index.ts'
import type { SelectablePods } from './container-selector.ts'
import { fates } from '../rules/resting.ts'
import { identityGap } from '../snapshot/unread.ts'
import { whyInjected } from '../spire/attestor.ts'
import { sourceText } from '../spire/prediction.ts'
import { containerVerdicts, type Registration } from '../spire/registration.ts'
import { unknownReasonText } from '../unknown-reason.ts'

/** The registrations of one container. */
export interface Holding {
  readonly pod: Pod
  readonly container: Container
  /** Why it is not certain that the container is there; undefined where it is. The rest is what holds if it is there. */
  readonly perhapsThere: string | undefined
  /** Issued for certain. */
  readonly held: readonly Registration[]
  /** May be issued; their ID is known. */
  readonly perhaps: readonly Registration[]
  /** Why it may hold any other identity; undefined where it cannot. */
  readonly open: string | undefined
  /** Select the pod, and give this container nothing. */
  readonly others: readonly Registration[]
}

/** Tells what the containers of each pod hold in what an analysis settles to. */
export function holdingReader(analysis: Analysis, pods: SelectablePods): (pod: Pod) => readonly Holding[] {
  const prediction = analysis.settled.prediction()
  const { ofRegistration } = fates(analysis)
  const gaps = new Map<string, string | undefined>()
  return (pod) => {
    const notRead = getOrCreate(gaps, pod.namespace, () => {
      const gap = identityGap(analysis.snapshot, pod.namespace)
      return gap === undefined ? undefined : unknownReasonText(gap)
    })
    return pods.containersOf(pod).map((container) => {
      const registrations = containerVerdicts(prediction, pod, container).map((one) =>
        ofRegistration(ifThere(one, container)),
      )
      const [undecided] = undecidedFor(analysis.settled.undecided, pod, container.name)
      const open = notRead ?? (undecided === undefined ? undefined : undecidedText(undecided))
      return holdingOf(pod, container, registrations, open)
    })
  }
}

/** The registration of a container that a webhook may add, as if it were there: that it may not be is told of the container. */
function ifThere(one: Registration, container: Container): Registration {
  const isOnlyThat = one.verdict === 'depends' && one.why !== undefined && one.why === whyInjected(container)
  return isOnlyThat ? { ...one, verdict: 'issued', why: undefined, selector: undefined } : one
}

function holdingOf(
  pod: Pod,
  container: Container,
  registrations: readonly Registration[],
  notRead: string | undefined,
): Holding {
  const held: Registration[] = []
  const perhaps: Registration[] = []
  let open = notRead
  const others: Registration[] = []
  for (const one of registrations) {
    const isPossible = one.verdict === 'unknown' || one.verdict === 'depends'
    if (one.verdict === 'issued' && one.spiffeId !== undefined) held.push(one)
    else if (!isPossible) others.push(one)
    else if (one.verdict === 'depends' && one.spiffeId !== undefined) perhaps.push(one)
    else open ??= `${sourceText(one.source)}: ${one.why ?? ''}`
  }
  const perhapsThere = pod.perhaps?.why ?? whyInjected(container)
  return { pod, container, perhapsThere, held, perhaps, open, others }
}

/** The IDs of registrations, each once, in their order. */
export function idsOf(registrations: readonly Registration[]): readonly string[] {
  return [...new Set(registrations.flatMap(({ spiffeId }) => spiffeId ?? []))]
}

/** `team-a/llama-0:vllm`, `team-a/Deployment/llama:vllm`. */
export function containerText(pod: Pod, container: string): string {
  return `${namespacedName(pod.namespace, shortPodText(pod))}:${container}`
}

/** `spiffe://example.org/... by ClusterSPIFFEID/x (binding team-a/chat)`. */
export function giftText(one: Registration, bindings: ReadonlyMap<string, string>): string {
  const binding = one.source.kind === 'ClusterSPIFFEID' ? bindings.get(one.source.name) : undefined
  const by = binding === undefined ? '' : ` (binding ${binding})`
  return `${one.spiffeId ?? 'an ID that is not known'} by ${sourceText(one.source)}${by}`
}

/** That a container may hold any identity, and why. */
export function openText({ pod, container, open = '' }: Holding): string {
  return `${containerText(pod, container.name)} may hold any identity: ${open}`
}
