// Whether the access policies of a snapshot are all that there are.
import type { UnknownReason } from '../model/unknown-reason.ts'

/** Whether policies are known. `absent`: the kind is not served. `not given`: files only, and none of them a policy. */
export type PolicyKnowledge =
  | { readonly state: 'absent' }
  | { readonly state: 'not given' }
  /** Some may be there all the same; the policies that are there were read nevertheless. */
  | { readonly state: 'unknown'; readonly why: UnknownReason }
  | { readonly state: 'known' }
