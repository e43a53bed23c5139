// What containers hold in one state, and what one registration gives to whom.
import type { Analysis } from '../analysis/analysis.ts'
import { undecidedFor } from '../analysis/undecided.ts'
import type { Container, Pod } from '../objects/pod.ts'
import { compareBytes } from '../text/bytes.ts'
import { fates } from '../rules/resting.ts'
import type { EntrySource } from '../spire/prediction.ts'
import { containerVerdicts, type Registration } from '../spire/registration.ts'

/** What one container holds. */
export interface HeldIdentities {
  /** The SPIFFE IDs that it certainly holds, in byte order. */
  readonly ids: readonly string[]
  /** The further SPIFFE IDs that it may hold, in byte order. */
  readonly perhaps: readonly string[]
  /** Whether it may hold others than these. */
  readonly isOther: boolean
}

/** Tells what containers hold as an analysis settles; what rests on settings that were not given, they hold perhaps. */
export function holdingsIn(analysis: Analysis): (pod: Pod, container: Container) => HeldIdentities {
  const { ofRegistration } = fates(analysis)
  return (pod, container) =>
    heldOf(
      containerVerdicts(analysis.settled.prediction(), pod, container).map(ofRegistration),
      undecidedFor(analysis.settled.undecided, pod, container.name).length > 0,
    )
}

function heldOf(registrations: readonly Registration[], isUndecided: boolean): HeldIdentities {
  const idsOf = (verdict: Registration['verdict']): Set<string> =>
    new Set(registrations.flatMap((one) => (one.verdict === verdict ? (one.spiffeId ?? []) : [])))
  const ids = idsOf('issued')
  return {
    ids: [...ids].toSorted(compareBytes),
    perhaps: [...idsOf('depends').difference(ids)].toSorted(compareBytes),
    isOther:
      isUndecided ||
      registrations.some(
        ({ verdict, spiffeId }) => verdict === 'unknown' || (verdict === 'depends' && spiffeId === undefined),
      ),
  }
}

/** What one registration gives to the containers of one pod. */
export interface GivenIds {
  readonly pod: Pod
  /** By the name of the container: the ID that it certainly gets. */
  readonly ids: ReadonlyMap<string, string>
  /** By the name of the container: an ID that it may get. */
  readonly perhaps: ReadonlyMap<string, string>
  /** Why it is not certain what some containers get; undefined where it is. */
  readonly open: string | undefined
}

/**
 * The pods that a registration selects, with what it gives them as the analysis settles; in the order of the pods. What rests on
 * settings that were not given is not certain, nor is that it gives nothing.
 */
export function givenBy(analysis: Analysis, source: EntrySource): readonly GivenIds[] {
  const { settled: state } = analysis
  const prediction = state.prediction()
  const { ofRegistration } = fates(analysis)
  return state.base.podsInQuestion.flatMap((pod) => {
    if (!prediction.entriesOf(pod).some((one) => isSame(one.source, source))) return []
    const ids = new Map<string, string>()
    const perhaps = new Map<string, string>()
    let open: string | undefined
    for (const container of pod.containers) {
      for (const registration of containerVerdicts(prediction, pod, container)) {
        if (!isSame(registration.source, source)) continue
        const one = ofRegistration(registration)
        if (one.verdict === 'issued' && one.spiffeId !== undefined) ids.set(container.name, one.spiffeId)
        if (one.verdict !== 'depends' && one.verdict !== 'unknown') continue
        open ??= one.why
        if (one.spiffeId !== undefined) perhaps.set(container.name, one.spiffeId)
      }
    }
    return [{ pod, ids, perhaps, open }]
  })
}

function isSame(left: EntrySource, right: EntrySource): boolean {
  return left.kind === right.kind && left.name === right.name
}
