// When SCM takes two entries for one: where the texts of SPIFFE ID, parent ID and sorted selectors, joined without
// separators, are equal. So `x:yz` is the same selector as `xy:z` (SCM v0.7.0, makeEntryKey; docs/spire-facts.md §11.1).
import { compareBytes } from '../../base/text/bytes.ts'
import { type EntrySelector, type RenderedEntry } from './prediction.ts'

/** A selector in its two parts. */
export type SelectorParts = Pick<EntrySelector, 'type' | 'value'>

/** The text whose hash SCM takes as the key of an entry. */
export function entryKey(
  entry: Pick<RenderedEntry, 'spiffeId' | 'parentId'> & {
    readonly selectors: readonly SelectorParts[]
  },
): string {
  let key = entry.spiffeId + entry.parentId
  for (const { type, value } of sortSelectors(entry.selectors)) key += type + value
  return key
}

/** Selectors by type, then by value, in the order of their bytes. */
export function sortSelectors<T extends SelectorParts>(selectors: readonly T[]): readonly T[] {
  // Most entries have one: half a million of them are compared with a server's.
  if (selectors.length < 2) return selectors
  return selectors.toSorted(
    (left, right) => compareBytes(left.type, right.type) || compareBytes(left.value, right.value),
  )
}
