// Abbreviations that every finding uses are spelled out once on a screen, below everything else.
import type { Layout } from './layout.ts'
import { BLANK, line, span, type Block } from './line.ts'
import { wrap } from './wrap.ts'

/** What each abbreviation stands for. */
const LONG_FORMS: Readonly<Record<string, string>> = {
  SCM: 'SPIRE Controller Manager',
  KAN: 'Kube Agentic Networking',
}

/** The line that spells out the abbreviations of a view, with a blank line before it; nothing where it has none. */
export function viewAbbreviations(view: Block, { width }: Layout): Block {
  const text = view.map((row) => row.map((piece) => piece.text).join('')).join('\n')
  const used = Object.entries(LONG_FORMS).filter(([short]) => new RegExp(`\\b${short}\\b`).test(text))
  if (used.length === 0) return []
  const said = used.map(([short, long]) => `${short}: ${long}`).join('; ')
  return [BLANK, ...wrap(line(span(said, 'dim')), { width, hang: 2 })]
}
