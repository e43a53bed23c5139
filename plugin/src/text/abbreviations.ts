// Abbreviations that every finding uses are spelled out once on a screen, below everything else.
import type { Layout } from './layout.ts'
import { BLANK, line, lineText, span, type Lines } from './line.ts'
import { wrap } from './wrap.ts'

/** What each abbreviation stands for. */
const LONG_FORMS: Readonly<Record<string, string>> = {
  SCM: 'SPIRE Controller Manager',
  KAN: 'Kube Agentic Networking',
}

/** A view, then the line that spells out the abbreviations in it, with a blank line before; nothing if it has none. */
export function* withAbbreviations(view: Lines, { width }: Layout): Lines {
  const unseen = new Set(Object.keys(LONG_FORMS))
  for (const row of view) {
    const text = lineText(row)
    for (const short of unseen)
      if (text.includes(short) && new RegExp(`\\b${short}\\b`).test(text)) unseen.delete(short)
    yield row
  }
  const said = Object.entries(LONG_FORMS).flatMap(([short, long]) =>
    unseen.has(short) ? [] : `${short}: ${long}`,
  )
  if (said.length === 0) return
  yield BLANK
  yield* wrap(line(span(said.join('; '), 'dim')), width, 2)
}
