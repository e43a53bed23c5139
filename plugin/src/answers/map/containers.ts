// What becomes of one container, from what `who-selects` says of it. It is never surer: nothing is `none` or `dead` while something
// that could not be read, or was not given, may give an identity.
import type { ContainerState } from '../parts/container-states.ts'
import { holdingOf, mayAdd, NOTHING_IN_COMMON, stateOf } from '../parts/holdings.ts'
import type { ContainerAnswer } from '../parts/pod-answers.ts'

/** What becomes of a container. */
export interface ContainerFate {
  readonly state: ContainerState
  /** The SPIFFE IDs that are certainly issued, each once. */
  readonly identities: readonly string[]
  /** Why it may get something else, or more. */
  readonly open: string | undefined
}

/** `bindings`: those behind outputs of ours; `unsettled`: why settings that were not given leave every absence open. */
export function fateOf(
  answer: Pick<ContainerAnswer, 'registrations' | 'notRead'>,
  bindings: ReadonlyMap<string, string>,
  unsettled: string | undefined,
): ContainerFate {
  const { registrations, notRead } = answer
  const holding = holdingOf(answer, NOTHING_IN_COMMON, unsettled !== undefined)
  const issued = registrations.filter(({ verdict }) => verdict === 'issued')
  const ids = new Set(issued.map(({ spiffeId }) => spiffeId))
  const adding = registrations.filter((one) => mayAdd(one, ids))
  const open =
    adding.find(({ verdict }) => verdict !== 'pending')?.why ??
    notRead ??
    adding.find(({ why }) => why !== undefined)?.why
  return {
    state: stateOf(answer, holding, bindings),
    identities: [...new Set(issued.flatMap(({ spiffeId }) => spiffeId ?? []))],
    open: open ?? (issued.length === 0 ? unsettled : undefined),
  }
}
