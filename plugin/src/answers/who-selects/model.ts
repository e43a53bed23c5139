// What `who-selects` tells, as data: containers with every registration that would select them, and who names the
// identities.
import { identityGap } from '@kleym/shared/core/snapshot/unread.ts'
import type { UnknownReason } from '@kleym/shared/core/unknown-reason.ts'
import type { Analysis } from '@kleym/shared/core/analysis/analysis.ts'
import type { Container, Pod } from '@kleym/shared/core/objects/pod.ts'
import { hasPolicies } from '@kleym/shared/core/policies/policies.ts'
import { fates } from '@kleym/shared/core/rules/resting.ts'
import { containerVerdicts, type Registration } from '@kleym/shared/core/spire/registration.ts'
import { compareBytes } from '@kleym/shared/core/text/bytes.ts'
import type { NamedIds } from '../policies/named-by.ts'

/** One container of a pod that was asked about, and every registration that would select it. */
export interface ContainerAnswer {
  readonly container: Container
  readonly registrations: readonly Registration[]
  /** Why the container may get an identity from something that was not read; undefined: all of that was read. */
  readonly notRead: UnknownReason | undefined
}

/** One pod, or the template of a workload, with the containers that were asked about. */
export interface PodAnswer {
  readonly pod: Pod
  readonly containers: readonly ContainerAnswer[]
}

/** Which containers of the chosen pods are asked about. */
export interface ContainerFilter {
  readonly container: string | undefined
  readonly spiffeId: string | undefined
}

/** The answer for each pod that has a container to tell about. */
export function podAnswers(
  analysis: Analysis,
  pods: readonly Pod[],
  { container, spiffeId }: ContainerFilter,
): readonly PodAnswer[] {
  const { ofRegistration } = fates(analysis)
  return pods.flatMap((pod) => {
    const notRead = identityGap(analysis.snapshot, pod.namespace)
    const containers = pod.containers
      .filter(({ name }) => container === undefined || name === container)
      .map((one) => ({
        container: one,
        notRead,
        registrations: containerVerdicts(analysis.settled.prediction(), pod, one).map(ofRegistration),
      }))
      .filter(
        ({ registrations }) => spiffeId === undefined || registrations.some((one) => mayHold(one, spiffeId)),
      )
      .map(({ container: one, registrations }) => ({
        container: one,
        notRead,
        registrations:
          spiffeId === undefined ? registrations : registrations.filter((each) => mayHold(each, spiffeId)),
      }))
    return containers.length === 0 ? [] : [{ pod, containers }]
  })
}

/** Holds the ID, or may: what is not known must not be left out of an answer to "who would hold this?". */
function mayHold(one: Registration, wanted: string): boolean {
  const { verdict, spiffeId } = one
  if (verdict === 'unknown') return true
  return spiffeId === wanted && isHeld(one)
}

/** Who names the identities of an answer; undefined where there are no policies to speak of. */
export function namedIdsOf(
  analysis: Analysis,
  answers: readonly PodAnswer[],
  { spiffeId }: ContainerFilter,
): NamedIds | undefined {
  const policies = analysis.settled.policies()
  if (!hasPolicies(policies)) return undefined
  const held = answers.flatMap(({ containers }) =>
    containers.flatMap(({ registrations }) =>
      registrations.filter(isHeld).flatMap((one) => one.spiffeId ?? []),
    ),
  )
  const ids = [...new Set(spiffeId === undefined ? held : [spiffeId])].toSorted(compareBytes)
  const pods = answers.map(({ pod }) => pod)
  return { ids, by: policies.namedBy(ids, pods) }
}

function isHeld({ verdict }: Registration): boolean {
  return verdict === 'issued' || verdict === 'depends'
}

/** What kleym has yet to do about an output, by its name; outputs that are up to date have no entry. */
export function pendingByName({ changes }: Analysis): ReadonlyMap<string, string> {
  return new Map(
    changes.all.flatMap((change) =>
      change.kind === 'delete'
        ? []
        : [
            [
              change.output.metadata.name,
              change.kind === 'create' ? 'kleym has yet to create it' : 'kleym has yet to update it',
            ] as const,
          ],
    ),
  )
}
