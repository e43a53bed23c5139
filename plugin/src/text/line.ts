// The pieces of a text view, as plain data: a view is a function from a report to lines, and one place
// turns lines into text. That place escapes, so nothing hostile gets past it.
import { escapeTerminal, neutraliseCommands } from '../io/escape.ts'
import { driveAtOnce, type Steps } from '@kleym/shared/core/base/steps.ts'
import type { Palette, Role } from '../io/palette.ts'
import { displayWidth } from './width.ts'

export { displayWidth }

/** A run of text in one role. */
export interface Span {
  readonly text: string
  readonly role: Role | undefined
}

/** Text, with or without a role. */
export type Piece = string | Span
/** One line, without its line break. */
export type Line = readonly Span[]
/** Lines, one below the other. */
export type Block = readonly Line[]
/** The same one by one, where there may be too many to be kept. */
export type Lines = Iterable<Line, void>

/** A span in a role: `span('refused', 'bad')`. */
export function span(text: string, role?: Role): Span {
  return { text: escapeTerminal(text), role }
}

/** Pieces as they are given to a layout: one, or a line of them. */
export type Pieces = Piece | readonly Piece[]

/** One piece or several as a line. */
export function toLine(pieces: Pieces): Line {
  return typeof pieces === 'string' || 'text' in pieces ? line(pieces) : line(...pieces)
}

/** A line from its pieces; their text is escaped here, so that widths are those of what is shown. */
export function line(...pieces: readonly Piece[]): Line {
  return pieces
    .map((piece) => (typeof piece === 'string' ? span(piece) : span(piece.text, piece.role)))
    .filter((piece) => piece.text !== '')
}

/** An empty line. */
export const BLANK: Line = []

/** Blocks with a blank line between two of them; without those that are empty. */
export function apart(blocks: readonly Block[]): Block {
  return blocks
    .filter((block) => block.length > 0)
    .flatMap((block, at) => (at === 0 ? block : [BLANK, ...block]))
}

/** The marks that carry the meaning, each with the role that colours it. */
export const MARKS = {
  ok: { text: '✓', role: 'ok' },
  warn: { text: '!', role: 'warn' },
  bad: { text: '✗', role: 'bad' },
  note: { text: '·', role: 'dim' },
} as const satisfies Record<string, Span>
/** The name of a mark. */
export type Mark = keyof typeof MARKS

const WORST_FIRST: readonly Mark[] = ['bad', 'warn', 'note', 'ok']

/** What a list with the worst first is sorted by. */
export function markRank(mark: Mark): number {
  return WORST_FIRST.indexOf(mark)
}

/** The worst of several marks. */
export function worstMark(...marks: readonly Mark[]): Mark {
  return WORST_FIRST.find((mark) => marks.includes(mark)) ?? 'ok'
}

/** The text of a line, in no role. */
export function lineText(spans: Line): string {
  return spans.map(({ text }) => text).join('')
}

/** The columns of a line. */
export function lineWidth(spans: Line): number {
  return spans.reduce((sum, { text }) => sum + displayWidth(text), 0)
}

/** Lines moved to the right. */
export function indent(block: Block, columns: number): Block {
  return block.map((spans) => (spans.length === 0 ? spans : [span(' '.repeat(columns)), ...spans]))
}

/** The finished text: each line escaped, painted, without trailing blanks, with its line break. */
export function render(lines: Lines, palette: Palette): string {
  return driveAtOnce(rendering(lines, palette))
}

/** The same in steps, one for each line: a line is made when its turn comes, and of those before it the text alone is kept. */
export function* rendering(lines: Lines, palette: Palette): Steps<string> {
  const texts: string[] = []
  for (const spans of lines) {
    yield
    texts.push(renderLine(spans, palette), '\n')
  }
  return texts.join('')
}

function renderLine(spans: Line, palette: Palette): string {
  const safe = spans.map(({ text, role }) => ({ text: escapeTerminal(text), role }))
  const plain = lineText(safe)
  const harmless = neutraliseCommands(plain)
  // A CI command may be split over spans; such a line loses its colours, not its text.
  if (harmless !== plain) return harmless.trimEnd()
  return trimEnd(safe)
    .map(({ text, role }) => palette.paint(role, text))
    .join('')
}

function trimEnd(spans: Line): Line {
  const last = spans.at(-1)
  if (last === undefined) return spans
  const text = last.text.trimEnd()
  if (text === last.text) return spans
  return text === '' ? trimEnd(spans.slice(0, -1)) : [...spans.slice(0, -1), { ...last, text }]
}
