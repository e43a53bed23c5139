// Why the prediction leaves a registration open. Each cause stands in docs/contributing/spire.md under its name; a reason that is none
// of them fails the suites.
import type { EntryOutcome } from '../../shared/src/core/predict/spire/prediction.ts'

/** The causes that these suites can come across, by the words of the reason that the prediction gives. */
const CAUSES = {
  'a bundle of another trust domain': /^the SPIRE server takes it only if it holds a bundle of /,
  "a trust domain that is not SCM's": /^the SPIRE server takes it only in its own trust domain, /,
  "a definition in SCM's render cache": / uses a definition, and SCM's render cache compares none/,
  'the text of a Go struct': / cannot be predicted: the text of a Go struct/,
  'Endpoints that were not given': /Endpoints/,
  'an entry that stops SCM for every object': / keeps SCM from creating entries, /,
  'an object that cannot be decoded': / cannot be decoded, and keeps SCM from seeing /,
} as const satisfies Record<string, RegExp>

/** The names of all causes. */
export const CAUSE_NAMES: readonly string[] = Object.keys(CAUSES)

/** The name of the cause; the reason itself where it is no known one. */
export function causeOf({ verdict }: EntryOutcome): string {
  const why = 'why' in verdict ? verdict.why : verdict.state
  return Object.entries(CAUSES).find(([, pattern]) => pattern.test(why))?.[0] ?? why
}
