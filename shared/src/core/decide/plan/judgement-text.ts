// What a judgement is called: one word for each state, for every list, summary and diagram.
import type { Judgement } from './plan.ts'

/** The state of a binding in words: `ready`, `refused`, `undetermined`, `waiting` or `being deleted`. */
export function judgementWord(state: Judgement['state']): string {
  return state === 'deleting' ? 'being deleted' : state
}
