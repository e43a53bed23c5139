// What a judgement comes to, in short: one word for each state, for every list, summary and diagram, and the ID that it gives.
import type { Judgement } from './plan.ts'

/** The state of a binding in words: `ready`, `refused`, `undetermined`, `waiting` or `being deleted`. */
export function judgementWord(state: Judgement['state']): string {
  return state === 'deleting' ? 'being deleted' : state
}

/** The SPIFFE ID that a binding gives; undefined for one that is not ready. */
export function idOfReady(judgement: Judgement | undefined): string | undefined {
  return judgement?.state === 'ready' ? judgement.resolved.identity.spiffeId : undefined
}
