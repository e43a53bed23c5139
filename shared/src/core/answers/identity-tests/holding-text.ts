// What assertions say of the registrations of a container.
import type { ContainerHolding } from '../../analysis/index.ts'
import { namespacedName } from '../../model/namespaced-name.ts'
import type { Pod } from '../../model/objects/pod.ts'
import { shortPodText } from '../../model/objects/pod-index.ts'
import { sourceText, isPossible, verdictWord, type Registration } from '../../predict/index.ts'
import { whyOpenText } from '../../model/truth/truth.ts'

/** The registrations that select the pod of a container, and give the container nothing. */
export function othersOf({ pod, container, registrationsOf }: ContainerHolding): readonly Registration[] {
  return registrationsOf(pod, container).filter((one) => one.verdict !== 'issued' && !isPossible(one))
}

/** `team-a/llama-0:vllm`, `team-a/Deployment/llama:vllm`. */
export function containerText(pod: Pod, container: string): string {
  return `${namespacedName(pod.namespace, shortPodText(pod))}:${container}`
}

/** A container whose holding is reported. Those that a webhook may add to one pod are reported as one. */
export function whoText({ pod, container: { name, injectedBy } }: ContainerHolding): string {
  if (injectedBy === undefined) return containerText(pod, name)
  return `any container that a webhook adds to ${namespacedName(pod.namespace, shortPodText(pod))}`
}

/** `spiffe://example.org/... by ClusterSPIFFEID/x (binding team-a/chat)`. */
export function giftText(one: Registration, bindings: ReadonlyMap<string, string>): string {
  const binding = one.source.kind === 'ClusterSPIFFEID' ? bindings.get(one.source.name) : undefined
  const by = binding === undefined ? '' : ` (binding ${binding})`
  return `${one.spiffeId ?? 'an ID that is not known'} by ${sourceText(one.source)}${by}`
}

/** What becomes of a registration that gives a container nothing: `is not matched`, `fails to render`. */
export function becomes({ verdict }: Registration): string {
  return verdict === 'failed' ? verdictWord(verdict) : `is ${verdictWord(verdict)}`
}

/** That a container may hold any identity, and why. */
export function openText(holding: ContainerHolding): string {
  return `${whoText(holding)} may hold any identity: ${whyOpenText(holding.other) ?? ''}`
}
