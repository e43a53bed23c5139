// What the page of a finding code says: docs/findings and `kubectl kleym explain CODE` have the same words.
import { findingEntry, type FindingCode } from './findings.ts'

/** The sections of a code's page: a heading and a paragraph each. */
export function pageSections(
  code: FindingCode,
): readonly { readonly heading: string; readonly text: string }[] {
  const entry = findingEntry(code)
  return [
    { heading: 'Meaning', text: entry.meaning },
    { heading: 'Impact', text: entry.consequence },
    { heading: 'Fix', text: entry.fix },
  ]
}

/** What shows a finding and what does not, as YAML; or why no manifest alone can. */
export type PageExample = { readonly bad: string; readonly good: string } | { readonly none: string }
