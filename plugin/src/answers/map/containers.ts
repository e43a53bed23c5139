// What becomes of one container, from what `who-selects` says of it: the same registrations, in one word. It is never surer
// than they are: nothing is `none` or `dead` while something that could not be read, or was not given, may give an identity.
import type { ContainerAnswer, ShownRegistration } from '../parts/pod-answers.ts'
import type { ContainerState } from './container-states.ts'

/** What a container comes to. */
export interface ContainerFate {
  readonly state: ContainerState
  /** The SPIFFE IDs that are certainly issued, each once. */
  readonly identities: readonly string[]
  /** Those that it perhaps gets, each once. */
  readonly perhaps: readonly string[]
  /** Why it may get something else, or more. */
  readonly open: string | undefined
}

/** Why a container without an identity has none: the verdict that came nearest to one decides. */
const NEAREST: readonly ShownRegistration['verdict'][] = [
  'refused',
  'failed',
  'displaced',
  'masked',
  'ignored',
  'dead',
]

/** Verdicts that leave open whether the container gets the identity. */
const OPEN: ReadonlySet<ShownRegistration['verdict']> = new Set<ShownRegistration['verdict']>([
  'depends',
  'unknown',
])

/** Whether a registration gives a container its identity, or may. */
export function mayHold({ verdict }: Pick<ShownRegistration, 'verdict'>): boolean {
  return verdict === 'issued' || verdict === 'pending' || OPEN.has(verdict)
}

/** `unsettled`: why settings that were not given leave every absence open. */
export function fateOf(
  { registrations, notRead }: Pick<ContainerAnswer, 'registrations' | 'notRead'>,
  unsettled: string | undefined,
): ContainerFate {
  const issued = registrations.filter(({ verdict }) => verdict === 'issued')
  const open = registrations.filter(({ verdict }) => OPEN.has(verdict))
  const pending = registrations.filter(({ verdict }) => verdict === 'pending')
  const why = open[0]?.why ?? notRead ?? pending[0]?.why
  const fate = {
    identities: idsOf(issued),
    perhaps: idsOf([...open, ...pending]),
    open: why ?? (issued.length === 0 ? unsettled : undefined),
  }
  if (issued.length > 0) {
    const isOne = fate.identities.length <= 1 && issued.every(({ spiffeId }) => spiffeId !== undefined)
    return { ...fate, state: isOne ? 'issued' : 'several' }
  }
  if (pending.length > 0) return { ...fate, state: 'pending' }
  if (open.length > 0 || notRead !== undefined || unsettled !== undefined)
    return { ...fate, state: 'undetermined' }
  const verdicts = new Set(registrations.map(({ verdict }) => verdict))
  const nearest = NEAREST.find((verdict) => verdicts.has(verdict))
  return { ...fate, state: nearest === undefined ? 'none' : stateOfVerdict(nearest) }
}

function stateOfVerdict(verdict: ShownRegistration['verdict']): ContainerState {
  switch (verdict) {
    case 'refused':
    case 'failed':
    case 'displaced':
    case 'masked':
    case 'ignored':
    case 'dead':
    case 'issued':
    case 'pending':
      return verdict
    case 'depends':
    case 'unknown':
      return 'undetermined'
  }
}

function idsOf(registrations: readonly ShownRegistration[]): readonly string[] {
  return [...new Set(registrations.flatMap(({ spiffeId }) => spiffeId ?? []))]
}
