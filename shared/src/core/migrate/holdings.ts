// What containers hold in one state, and what one registration gives to whom.
import type { State } from '../analysis/state.ts'
import { undecidedFor } from '../analysis/undecided.ts'
import type { Container, Pod } from '../objects/pod.ts'
import { compareBytes } from '../text/bytes.ts'
import type { EntrySource } from '../spire/prediction.ts'
import { containerVerdicts } from '../spire/registration.ts'

/** What one container holds. */
export interface HeldIdentities {
  /** The SPIFFE IDs that it certainly holds, in byte order. */
  readonly ids: readonly string[]
  /** Whether it may hold others. */
  readonly isOpen: boolean
}

/** What a container holds in a state. */
export function holdingOf(state: State, pod: Pod, container: Container): HeldIdentities {
  const registrations = containerVerdicts(state.prediction(), pod, container)
  const ids = registrations.flatMap(({ verdict, spiffeId }) =>
    verdict === 'issued' && spiffeId !== undefined ? [spiffeId] : [],
  )
  return {
    ids: [...new Set(ids)].toSorted(compareBytes),
    isOpen:
      registrations.some(({ verdict }) => verdict === 'depends' || verdict === 'unknown') ||
      undecidedFor(state.undecided, pod, container.name).length > 0,
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

/** The pods that a registration selects, with what it gives them; in the order of the pods. */
export function givenBy(state: State, source: EntrySource): readonly GivenIds[] {
  const prediction = state.prediction()
  return state.base.podsInQuestion.flatMap((pod) => {
    if (!prediction.entriesOf(pod).some((one) => isSame(one.source, source))) return []
    const ids = new Map<string, string>()
    const perhaps = new Map<string, string>()
    let open: string | undefined
    for (const container of pod.containers) {
      for (const one of containerVerdicts(prediction, pod, container)) {
        if (!isSame(one.source, source)) continue
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
