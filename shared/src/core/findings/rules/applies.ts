// Whether a registration applies, as a truth.
import { openOn, YES, type Truth } from '../../model/truth/truth.ts'
import { sourceText, whyOpen, type EntryOutcome } from '../../predict/index.ts'

/** Whether a registration applies to its pod, whatever becomes of its entry then. */
export function applies({ source, verdict }: EntryOutcome): Truth {
  const why = whyOpen(verdict)
  return why === undefined ? YES : openOn(`whether ${sourceText(source)} applies`, why)
}
