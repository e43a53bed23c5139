// What may become of a container, how legends call it, and how bad it is. Words and types alone, since the page of the map in the browser
// reads them too.
import { keysOf } from '@kleym/shared/core/base/json.ts'

/** How bad a state is. */
export type StateMark = 'ok' | 'note' | 'warn' | 'bad'

/** How bad each state is, the same in every answer and picture, and its words for a legend. */
export const STATES = {
  issued: { mark: 'ok', text: 'one identity is issued' },
  several: { mark: 'warn', text: 'several identities are issued' },
  pending: { mark: 'warn', text: 'kleym must still write what gives it an identity' },
  undetermined: { mark: 'warn', text: 'it is not known whether it gets an identity' },
  refused: { mark: 'bad', text: 'the SPIRE server refuses the entry' },
  failed: { mark: 'warn', text: 'SCM cannot make the entry' },
  displaced: { mark: 'note', text: 'its fallback gave way to another registration' },
  masked: { mark: 'note', text: 'another object owns the same entry' },
  ignored: { mark: 'note', text: 'SCM does not act on what selects it' },
  dead: { mark: 'note', text: 'what selects its pod has a selector that does not match it' },
  none: { mark: 'note', text: 'nothing selects its pod' },
} as const satisfies Readonly<Record<string, { readonly mark: StateMark; readonly text: string }>>

/** One of them. */
export type ContainerState = keyof typeof STATES

/** What becomes of a container, in the order in which legends and tables list it. */
export const CONTAINER_STATES = keysOf(STATES)

/** What a container with several identities has to expect. */
export const SEVERAL_WHY = 'which of them a client gets first is not defined'

/** The state of a container that only a registration with this verdict selects. */
export function stateOfVerdict(verdict: ContainerState | 'depends' | 'unknown'): ContainerState {
  return verdict === 'depends' || verdict === 'unknown' ? 'undetermined' : verdict
}
