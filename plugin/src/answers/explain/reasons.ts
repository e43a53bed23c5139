// Condition reasons without a finding code, such as `NotHandled`: what `explain` prints about them.
import {
  IN_FORCE_REASON_NAMES,
  IN_FORCE_REASONS,
  REASON_NAMES,
  REASONS,
} from '@kleym/shared/core/decide/index.ts'
import { codeOfReason } from '@kleym/shared/core/findings/index.ts'
import { IN_FORCE_CONDITION } from '@kleym/shared/core/model/names.ts'

/** What a condition reason means, from the registries of the operator. */
export interface ReasonPage {
  readonly reason: string
  /** The condition that has the reason. */
  readonly condition: string
  /** The status of that condition. */
  readonly status: 'True' | 'False' | 'Unknown'
  readonly meaning: string
  /** What to do; empty where nothing is wrong. */
  readonly fix: string
}

const PAGES: readonly ReasonPage[] = [
  ...REASON_NAMES.filter((reason) => codeOfReason(reason) === undefined).map((reason): ReasonPage => {
    const { condition, ready, meaning, fix } = REASONS[reason]
    return { reason, condition, status: ready, meaning, fix }
  }),
  ...IN_FORCE_REASON_NAMES.map((reason): ReasonPage => {
    const { status, message, fix } = IN_FORCE_REASONS[reason]
    return { reason, condition: IN_FORCE_CONDITION, status, meaning: message, fix }
  }),
]

/** The page of the reason that a word names, in any case of letters; undefined where it names none. */
export function reasonPageOf(word: string): ReasonPage | undefined {
  return PAGES.find(({ reason }) => reason.toLowerCase() === word.toLowerCase())
}
