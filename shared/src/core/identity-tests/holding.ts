// What a container holds, as an assertion looks at it: what is certain, what may be, and what gives an ID that is not known.
import type { Analysis } from '../analysis/analysis.ts'
import { undecidedFor, undecidedText } from '../analysis/undecided.ts'
import { namespacedName } from '../namespaced-name.ts'
import type { Container, Pod } from '../objects/pod.ts'
import { shortPodText } from '../objects/pod-index.ts'
import type { SelectablePods } from './container-selector.ts'
import { fates } from '../rules/resting.ts'
import { identityGap } from '../snapshot/unread.ts'
import { whyInjected } from '../spire/attestor.ts'
import { sourceText } from '../spire/prediction.ts'
import { containerVerdicts, possibleVerdicts, verdictWord, type Registration } from '../spire/registration.ts'
import { unknownReasonText } from '../unknown-reason.ts'

/** The registrations of one container. */
export interface ContainerHolding {
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
  /** All that select the pod, for a container of it; worked out again, since only a failure tells of them. */
  readonly registrationsOf: (pod: Pod, container: Container) => readonly Registration[]
}

/** Tells what the containers of each pod hold in what an analysis settles to. */
export function holdingReader(
  analysis: Analysis,
  pods: SelectablePods,
): (pod: Pod) => readonly ContainerHolding[] {
  const prediction = analysis.settled.prediction()
  const { ofRegistration } = fates(analysis)
  const { assumptions, alternatives } = analysis.openSettings
  const isGiven = assumptions.length === 0 && alternatives.length === 0
  const gaps = new Map<string, string | undefined>()
  const gapOf = (namespace: string): string | undefined => {
    if (gaps.has(namespace)) return gaps.get(namespace)
    const gap = identityGap(analysis.snapshot, namespace)
    const text = gap === undefined ? undefined : unknownReasonText(gap)
    gaps.set(namespace, text)
    return text
  }
  // Mostly every binding is decided, and there may be a hundred thousand pods.
  const isAnyUndecided = analysis.settled.undecided.size > 0
  const isPlain = ({ injectedBy }: Container): boolean => isGiven && injectedBy === undefined
  const registrationsOf = (pod: Pod, container: Container): readonly Registration[] => {
    const all = containerVerdicts(prediction, pod, container)
    return isPlain(container) ? all : all.map((one) => ofRegistration(ifThere(one, container)))
  }
  return (pod) => {
    const notRead = gapOf(pod.namespace)
    return pods.containersOf(pod).map((container) => {
      const registrations = isPlain(container)
        ? possibleVerdicts(prediction, pod, container)
        : registrationsOf(pod, container)
      const [undecided] = isAnyUndecided
        ? undecidedFor(analysis.settled.undecided, pod, container.name)
        : NONE_UNDECIDED
      const open = notRead ?? (undecided === undefined ? undefined : undecidedText(undecided))
      return holdingOf(pod, container, { registrations, registrationsOf, notRead: open })
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
  {
    registrations,
    registrationsOf,
    notRead,
  }: Pick<ContainerHolding, 'registrationsOf'> & {
    /** Those that it holds or may hold are among them. */
    readonly registrations: readonly Registration[]
    readonly notRead: string | undefined
  },
): ContainerHolding {
  // There may be a hundred thousand pods: a list is made where something goes into it.
  let held = NONE
  let perhaps = NONE
  let open = notRead
  for (const one of registrations) {
    const { verdict, spiffeId } = one
    if (isHeld(one)) held = withOne(held, one)
    else if (verdict === 'depends' && spiffeId !== undefined) perhaps = withOne(perhaps, one)
    else if (isPossible(one)) open ??= `${sourceText(one.source)}: ${one.why ?? ''}`
  }
  const perhapsThere = pod.perhaps?.why ?? whyInjected(container)
  return { pod, container, perhapsThere, held, perhaps, open, registrationsOf }
}

function isHeld({ verdict, spiffeId }: Registration): boolean {
  return verdict === 'issued' && spiffeId !== undefined
}

function isPossible({ verdict }: Registration): boolean {
  return verdict === 'unknown' || verdict === 'depends'
}

/** The registrations that select the pod of a container, and give the container nothing. */
export function othersOf({ pod, container, registrationsOf }: ContainerHolding): readonly Registration[] {
  return registrationsOf(pod, container).filter((one) => !isHeld(one) && !isPossible(one))
}

const NONE: Registration[] = []
const NONE_UNDECIDED: ReturnType<typeof undecidedFor> = []

function withOne(list: Registration[], one: Registration): Registration[] {
  if (list === NONE) return [one]
  list.push(one)
  return list
}

/** The IDs of registrations, each once, in their order. */
export function idsOf(registrations: readonly Registration[]): readonly string[] {
  const [first, ...others] = registrations
  if (others.length === 0) return first?.spiffeId === undefined ? [] : [first.spiffeId]
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

/** What becomes of a registration that gives a container nothing: `is not matched`, `fails to render`. */
export function becomes({ verdict }: Registration): string {
  return verdict === 'failed' ? verdictWord(verdict) : `is ${verdictWord(verdict)}`
}

/** That a container may hold any identity, and why. */
export function openText({ pod, container, open = '' }: ContainerHolding): string {
  return `${containerText(pod, container.name)} may hold any identity: ${open}`
}
