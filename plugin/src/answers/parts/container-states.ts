// What may become of a container, how legends call it, and how bad it is. Words and types alone, since the page of the map in the browser
// reads them too.

/** What becomes of a container, in the order in which legends and tables list it. */
export const CONTAINER_STATES = [
  'issued',
  'several',
  'pending',
  'undetermined',
  'refused',
  'failed',
  'displaced',
  'masked',
  'ignored',
  'dead',
  'none',
] as const
/** One of them. */
export type ContainerState = (typeof CONTAINER_STATES)[number]

/** The state in words, for a legend. */
export const STATE_TEXTS: Readonly<Record<ContainerState, string>> = {
  issued: 'one identity is issued',
  several: 'several identities are issued',
  pending: 'kleym must still write what gives it an identity',
  undetermined: 'it is not known whether it gets an identity',
  refused: 'the SPIRE server refuses the entry',
  failed: 'SCM cannot make the entry',
  displaced: 'its fallback gave way to another registration',
  masked: 'another object owns the same entry',
  ignored: 'SCM does not act on what selects it',
  dead: 'what selects its pod has a selector that does not match it',
  none: 'nothing selects its pod',
}

/** What a container with several identities has to expect. */
export const SEVERAL_WHY = 'which of them a client gets first is not defined'

/** How bad a state is. */
export type StateMark = 'ok' | 'note' | 'warn' | 'bad'

/** How bad each is: the same in every answer and picture. */
export const STATE_MARKS: Readonly<Record<ContainerState, StateMark>> = {
  issued: 'ok',
  several: 'warn',
  pending: 'warn',
  undetermined: 'warn',
  refused: 'bad',
  failed: 'warn',
  displaced: 'note',
  masked: 'note',
  ignored: 'note',
  dead: 'note',
  none: 'note',
}

/** The state of a container that only a registration with this verdict selects. */
export function stateOfVerdict(verdict: ContainerState | 'depends' | 'unknown'): ContainerState {
  return verdict === 'depends' || verdict === 'unknown' ? 'undetermined' : verdict
}
