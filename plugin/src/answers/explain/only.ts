// `--only`: the bindings in one state.
import type { Judgement } from '@kleym/shared/core/decide/index.ts'

/** The values of `--only`. */
export const ONLY = ['refused', 'ready', 'waiting', 'unknown'] as const
/** One of them. */
export type Only = (typeof ONLY)[number]

const STATES: Readonly<Record<Only, readonly Judgement['state'][]>> = {
  refused: ['refused'],
  ready: ['ready'],
  waiting: ['waiting', 'deleting'],
  unknown: ['undetermined'],
}

/** Whether a binding in a state is shown. */
export function isShownBy(only: Only | undefined, state: Judgement['state']): boolean {
  return only === undefined || STATES[only].includes(state)
}
