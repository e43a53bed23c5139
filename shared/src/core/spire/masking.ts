// Who gets a registration entry that several objects ask for: SCM's order of preference, as far as the facts that decide it
// are known (docs/spire-facts.md §3, §11.1).
import { preferred, type Precedence } from './precedence.ts'
import { sourceText, type EntrySource } from './prediction.ts'

/** One of several objects that want the same entry. */
export interface MaskingCandidate {
  readonly source: EntrySource
  readonly precedence: Precedence
  /** Whether it surely wants it. */
  readonly certain: boolean
}

/** What the contest means for one contender. */
export type MaskingResult =
  | { readonly kind: 'wins' }
  | { readonly kind: 'masked'; readonly by: EntrySource; readonly why: string }
  | { readonly kind: 'uncertain'; readonly why: string }

/**
 * Who gets the entry. A contender that another one surely beats is masked, also when that one is refused by the server
 * later; where the order, or whether a better one takes part at all, is not known, the result is open.
 */
export function resolveMasking(contenders: readonly MaskingCandidate[]): readonly MaskingResult[] {
  const best = bestOf(contenders)
  if (best === undefined) return contenders.map((contender) => uncertainMasking(contender, contenders))
  let openBy: MaskingCandidate | undefined
  const results = contenders.map((contender): MaskingResult => {
    if (contender === best) return { kind: 'wins' }
    const order = preferred(best.precedence, contender.precedence)
    if (order === 'left') {
      return {
        kind: 'masked',
        by: best.source,
        why: `${sourceText(best.source)} wants the same entry and comes first`,
      }
    }
    openBy ??= contender
    return { kind: 'uncertain', why: sameEntryWhy(best.source) }
  })
  const rival = openBy
  if (rival === undefined) return results
  return results.map((result) =>
    result.kind === 'wins' ? { kind: 'uncertain', why: sameEntryWhy(rival.source) } : result,
  )
}

/** The certain contender that no other certain one beats; of equals that nobody can order, any. */
function bestOf(contenders: readonly MaskingCandidate[]): MaskingCandidate | undefined {
  let best: MaskingCandidate | undefined
  for (const contender of contenders) {
    if (!contender.certain) continue
    if (best === undefined || preferred(contender.precedence, best.precedence) === 'left') best = contender
  }
  return best
}

function uncertainMasking(
  contender: MaskingCandidate,
  contenders: readonly MaskingCandidate[],
): MaskingResult {
  const rival = contenders.find((other) => other !== contender)
  return rival === undefined ? { kind: 'wins' } : { kind: 'uncertain', why: sameEntryWhy(rival.source) }
}

function sameEntryWhy(rival: EntrySource): string {
  return `${sourceText(rival)} wants the same entry, and which of the two SCM takes is not known`
}
