// What a judgement is called: one word for each state, for every list, summary and diagram.
import type { Judgement } from './plan.ts'

/** How a binding stands: `ready`, `refused`, `waiting`, `being deleted`; `undetermined` is called as the caller says. */
export function judgementWord(
  state: Judgement['state'],
  undetermined: 'not decided' | 'undetermined',
): string {
  switch (state) {
    case 'undetermined':
      return undetermined
    case 'deleting':
      return 'being deleted'
    case 'ready':
    case 'refused':
    case 'waiting':
      return state
  }
}
