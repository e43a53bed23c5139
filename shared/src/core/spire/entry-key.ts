// When two entries are one to SCM: the texts of SPIFFE ID, parent ID and sorted selectors, put together without
// separators, are equal. So `x:yz` is the same selector as `xy:z` (SCM v0.7.0, makeEntryKey; facts/spire.md §11.1).
import { compareBytes } from '../text/bytes.ts'
import { preferred, type Precedence } from './precedence.ts'
import { sourceText, type EntrySelector, type EntrySource, type RenderedEntry } from './prediction.ts'

/** The text whose hash SCM takes as the key of an entry. */
export function entryKey(entry: Pick<RenderedEntry, 'spiffeId' | 'parentId' | 'selectors'>): string {
  const selectors = sortSelectors(entry.selectors).map(({ type, value }) => type + value)
  return entry.spiffeId + entry.parentId + selectors.join('')
}

/** Selectors by type, then by value, in the order of their bytes. */
export function sortSelectors<T extends Pick<EntrySelector, 'type' | 'value'>>(
  selectors: readonly T[],
): readonly T[] {
  return selectors.toSorted(
    (left, right) => compareBytes(left.type, right.type) || compareBytes(left.value, right.value),
  )
}

/** One of several objects that want the same entry. */
export interface Contender {
  readonly source: EntrySource
  readonly precedence: Precedence
  /** Whether it surely wants it. */
  readonly certain: boolean
}

/** What the contest means for one contender. */
export type MaskingResult =
  | { readonly kind: 'wins' }
  | { readonly kind: 'masked'; readonly by: EntrySource; readonly why: string }
  | { readonly kind: 'open'; readonly why: string }

/**
 * Who gets the entry. A contender that another one surely beats is masked, also when that one is refused by the server
 * later; where the order, or whether a better one takes part at all, is not known, the result is open.
 */
export function resolveMasking(contenders: readonly Contender[]): readonly MaskingResult[] {
  const best = bestOf(contenders)
  if (best === undefined) return contenders.map((contender) => uncertainMasking(contender, contenders))
  let openBy: Contender | undefined
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
    return { kind: 'open', why: sameEntryWhy(best.source) }
  })
  const rival = openBy
  if (rival === undefined) return results
  return results.map((result) =>
    result.kind === 'wins' ? { kind: 'open', why: sameEntryWhy(rival.source) } : result,
  )
}

/** The certain contender that no other certain one beats; of equals that nobody can order, any. */
function bestOf(contenders: readonly Contender[]): Contender | undefined {
  let best: Contender | undefined
  for (const contender of contenders) {
    if (!contender.certain) continue
    if (best === undefined || preferred(contender.precedence, best.precedence) === 'left') best = contender
  }
  return best
}

function uncertainMasking(contender: Contender, contenders: readonly Contender[]): MaskingResult {
  const rival = contenders.find((other) => other !== contender)
  return rival === undefined ? { kind: 'wins' } : { kind: 'open', why: sameEntryWhy(rival.source) }
}

function sameEntryWhy(rival: EntrySource): string {
  return `${sourceText(rival)} wants the same entry, and which of the two SCM takes is not known`
}
