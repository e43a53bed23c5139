// Whether a registration applies, as a truth.
import { openOn, YES, type Truth } from '../../model/truth/truth.ts'
import { sourceText, whyOpen, type EntryOutcome } from '../../predict/index.ts'

/** Whether a registration applies to its pod, whatever becomes of its entry then. */
export function applies({ source, verdict }: EntryOutcome): Truth {
  return appliesUnless(sourceText(source), whyOpen(verdict))
}

/** Whether what is named applies; `why` leaves it open, and nothing does if that is undefined. */
export function appliesUnless(what: string, why: string | undefined): Truth {
  return why === undefined ? YES : openOn(`whether ${what} applies`, why)
}
