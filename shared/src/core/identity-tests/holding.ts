// What a container holds, as an assertion looks at it: what is certain, what may be, and what gives an ID that is not known.
import type { Container, Pod } from '../objects/pod.ts'
import { shortPodText } from '../objects/pod-index.ts'
import { namespacedName } from '../namespaced-name.ts'
import { sourceText } from '../spire/prediction.ts'
import { unknownReasonText, type UnknownReason } from '../unknown-reason.ts'
import type { Registration } from '../spire/registration.ts'

/** The registrations of one container. */
export interface Holding {
  readonly pod: Pod
  readonly container: Container
  /** Issued for certain. */
  readonly held: readonly Registration[]
  /** May be issued; their ID is known. */
  readonly perhaps: readonly Registration[]
  /** Why it may hold any other identity; undefined where it cannot. */
  readonly open: string | undefined
  /** Select the pod, and give this container nothing. */
  readonly others: readonly Registration[]
}

/** What is known of a container's registrations. */
export interface Registrations {
  readonly registrations: readonly Registration[]
  /** Why there may be others. */
  readonly notRead: UnknownReason | undefined
}

/** The registrations of a container by what they come to. */
export function holdingOf(
  pod: Pod,
  container: Container,
  { registrations, notRead }: Registrations,
): Holding {
  const held: Registration[] = []
  const perhaps: Registration[] = []
  let open = notRead === undefined ? undefined : unknownReasonText(notRead)
  const others: Registration[] = []
  for (const one of registrations) {
    const isPossible = one.verdict === 'unknown' || one.verdict === 'depends'
    if (one.verdict === 'issued' && one.spiffeId !== undefined) held.push(one)
    else if (!isPossible) others.push(one)
    else if (one.verdict === 'depends' && one.spiffeId !== undefined) perhaps.push(one)
    else open ??= `${sourceText(one.source)}: ${one.why ?? ''}`
  }
  return { pod, container, held, perhaps, open, others }
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
