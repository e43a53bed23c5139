// What a container needs beside an entry, as far as its pod's spec shows: a way to the Workload API, and to ask at a time when
// the agent can attest it. If a webhook, a mesh or another container may help, the finding is not certain. If the helper is not
// among the files, there is none.
import { meshOf } from '../../analysis/index.ts'
import { NO, openOn, YES, type Truth } from '../../model/truth/truth.ts'
import { answerOf } from '../../model/objects/pods-alike.ts'
import type { Pod } from '../../model/objects/pod.ts'
import { hookWaitsForSvid, waitsForSvid } from '../../model/objects/svid-wait.ts'
import {
  asksForSpiffe,
  containerSpec,
  isOfSpire,
  whyNoAccess,
  workloadApiAccess,
} from '../../model/objects/workload-api.ts'
import {
  selectorsAskedFor,
  type EntryOutcome,
  type ContainerIdentities,
  type PodIdentities,
} from '../../predict/index.ts'
import { containerPart } from '../finding/finding.ts'
import { ownerOf, type Note, type PodRule, type PodLookups, bindingOf } from './pod-note.ts'

/** The rules about the Workload API, over one pod. */
export const WORKLOAD_API_RULES: readonly PodRule[] = [noWayToWorkloadApi, waitsInVain]

/** An output of a binding on a pod, and the containers to which it gives its identity. */
interface OutputOnPod {
  readonly outcome: EntryOutcome
  readonly containers: readonly ContainerIdentities[]
  /** Whether a selector of its entry names the container. */
  readonly isNarrow: boolean
}

/** What outputs of bindings give on a pod whose spec can be judged. */
function givenBy({ pod, outcomes, containers }: PodIdentities, lookups: PodLookups): readonly OutputOnPod[] {
  if (pod.perhaps !== undefined || answerOf(pod, isFromCluster)) return []
  return outcomes.flatMap((outcome) => {
    const { source, verdict } = outcome
    if (verdict.state !== 'declared' || bindingOf(source, lookups) === undefined) return []
    const holding = containers.filter(({ issued }) => issued.some((one) => one.outcome === outcome))
    return { outcome, containers: holding, isNarrow: namesContainer(outcome) }
  })
}

/** A workload in a cluster without pods: what webhooks make of its template is not in sight. */
function isFromCluster({ exists, origin }: Pod): boolean {
  return !exists && origin === undefined
}

function noWayToWorkloadApi(facts: PodIdentities, lookups: PodLookups): readonly Note[] {
  const { pod } = facts
  return givenBy(facts, lookups).flatMap(({ outcome, containers, isNarrow }): Note | readonly Note[] => {
    const accessOf = (one: ContainerIdentities): Truth => workloadApiAccess(pod, one.container)
    if (containers.length === 0 || containers.some((one) => accessOf(one) !== NO)) return []
    const others = facts.containers.filter((one) => !containers.includes(one))
    if (others.some((one) => accessOf(one).value === 'open')) return []
    if (containers.some((one) => isOfSpire(pod, one.container))) return []
    if (!pod.exists && (lookups.mayMountWorkloadApi || asksForSpiffe(pod))) return []
    const helper = others.find((one) => accessOf(one) === YES)?.container.name
    const mesh = meshOf(pod, lookups.namespaceOf(pod.namespace))
    const names = containers.map(({ container }) => container.name)
    const owner = ownerOf(outcome.source, lookups)
    return {
      code: 'KLM430',
      subject: isNarrow && names[0] !== undefined ? { ...owner, container: names[0] } : owner,
      related: [],
      containers: names,
      parts: names.map(containerPart),
      summary: (pods) =>
        isNarrow
          ? `container ${names.join(', ')} of ${pods} has no way to the Workload API`
          : `no container of ${pods} has a way to the Workload API`,
      evidence: [...new Set(containers.map((one) => whyNoAccess(pod, one.container)))].map(
        (why) => `mounted in ${names.join(', ')}: ${why}`,
      ),
      holds: helper === undefined && mesh === undefined ? YES : deliverer(helper, mesh),
    }
  })
}

function deliverer(helper: string | undefined, mesh: string | undefined): Truth {
  return helper === undefined
    ? openOn(
        `whether a proxy of ${mesh} hands identities to containers`,
        `a proxy of ${mesh} may be in the pod, and may hand out an identity`,
      )
    : openOn(
        'whether a container with the socket hands an identity to those beside it',
        `container ${helper} has the socket; what it asks for itself are its own identities`,
      )
}

/** What waits for an SVID in a pod of a binding, and cannot have one. */
function waitsInVain(facts: PodIdentities, lookups: PodLookups): readonly Note[] {
  const { pod } = facts
  const [first] = givenBy(facts, lookups)
  if (first === undefined) return []
  const subject = ownerOf(first.outcome.source, lookups)
  return facts.containers.flatMap(({ container, registrations }): readonly Note[] => {
    const { name } = container
    const note = {
      code: 'KLM431',
      subject: { ...subject, container: name },
      related: [],
      containers: [name],
    } as const
    const spec = containerSpec(pod, container)
    const notes: Note[] = []
    if (
      container.role === 'init' &&
      registrations.every(({ verdict, outcome }) => NEVER.has(verdict) && !isOpen(outcome)) &&
      waitsForSvid(spec, container.image)
    )
      notes.push({
        ...note,
        summary: (pods) =>
          `init container ${name} of ${pods} waits for an SVID, and no registration gives it one`,
        evidence: registrations.flatMap(({ why, outcome }) =>
          why === undefined || outcome !== first.outcome
            ? []
            : `the entry of the binding is not for it: ${why}`,
        ),
        holds: YES,
      })
    if (hookWaitsForSvid(spec)) {
      const isOpenToPods = registrations.some(
        ({ verdict, outcome }) => !NEVER.has(verdict) && !namesContainer(outcome),
      )
      notes.push({
        ...note,
        summary: (pods) => `the postStart hook of container ${name} of ${pods} waits for an SVID`,
        evidence: [
          'until the hook ends the kubelet does not report the container, so the agent does not find it',
        ],
        holds: isOpenToPods ? WITHOUT_SELECTORS : YES,
      })
    }
    return notes
  })
}

const WITHOUT_SELECTORS = openOn(
  'whether agents run with disable_container_selectors',
  'an agent with disable_container_selectors finds the pod without its container',
)

/** Verdicts with which a registration gives a container nothing. */
const NEVER: ReadonlySet<string> = new Set(['dead', 'failed', 'refused', 'ignored', 'displaced'])

function isOpen({ verdict }: EntryOutcome): boolean {
  return verdict.state === 'displaced' && verdict.open !== undefined
}

/** Whether a selector of an entry names one container. */
export function namesContainer({ entry }: EntryOutcome): boolean {
  return entry !== undefined && selectorsAskedFor(entry).some(({ value }) => value.startsWith('container-'))
}
