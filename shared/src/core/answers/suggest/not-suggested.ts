// What `suggest` says of a binding that it does not propose.
import type { Mode } from '../../model/names.ts'
import type { Candidate } from './candidate.ts'

/** A binding that is not suggested. */
export interface NotSuggested {
  /** `impossible`: the operator refuses it, or it does harm. `unproven`: it depends. `open`: a person has to choose. */
  readonly state: 'impossible' | 'unproven' | 'open'
  readonly mode: Mode | undefined
  /** `PerObjective chat for container vllm`; empty where no binding can be named. */
  readonly what: string
  /** The bindings that were tried; empty where none could be named. */
  readonly tried: readonly Candidate[]
  /** The reason of the operator's condition, or the code of a finding. */
  readonly reason: string | undefined
  readonly why: string
  readonly fix: string | undefined
}

/** One that no object decides: a person has to choose. */
export function openChoice(parts: Pick<NotSuggested, 'mode' | 'what' | 'why' | 'fix'>): NotSuggested {
  return { ...parts, state: 'open', tried: [], reason: undefined }
}
