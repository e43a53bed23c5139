// Fitting text into columns: words wrap, names are shortened, an ID is never broken (it would not paste).
import { escapeTerminal } from '../io/escape.ts'
import { toLine, type Block, type Line, type Pieces, type Span } from './line.ts'
import { displayWidth } from './width.ts'

/** The width of a text view where no terminal tells. */
export const DEFAULT_WIDTH = 80
/** Wider lines are hard to read; tables may use more. */
export const PROSE_WIDTH = 120

/** One long line as several, broken between words, the later ones indented by `hang`. A word that is longer than `width` sticks out. */
export function wrap(pieces: Pieces, width: number, hang = 0): Block {
  const whole = toLine(pieces)
  if (fitsWhole(whole, width)) return [whole]
  const lines: Span[][] = []
  let row: Span[] = []
  let used = 0
  let fresh = true
  for (const word of words(whole)) {
    if (!fresh && used + word.gap + word.width > width) {
      lines.push(row)
      row = []
      add(row, hang, undefined)
      used = hang
      fresh = true
    }
    if (!(fresh && lines.length > 0)) {
      add(row, word.gap, undefined)
      used += word.gap
    }
    for (const { text, role } of word.spans) add(row, text, role)
    used += word.width
    fresh = false
  }
  lines.push(row)
  return lines
}

/** Text, or so many blanks, at the end of a row. Neighbours of one role are one span, so that colour codes are few. */
function add(row: Span[], more: string | number, role: Span['role']): void {
  const text = typeof more === 'string' ? more : ' '.repeat(more)
  if (text === '') return
  const last = row.at(-1)
  if (last !== undefined && last.role === role) row[row.length - 1] = { text: last.text + text, role }
  else row.push({ text, role })
}

/** Most lines are short, and of one piece: there is nothing to take apart. A blank has no role, and none ends a line. */
function fitsWhole([first, ...more]: Line, width: number): boolean {
  if (first === undefined || more.length > 0 || first.text.endsWith(' ')) return false
  return (first.role === undefined || !first.text.includes(' ')) && displayWidth(first.text) <= width
}

interface Word {
  /** Blanks before it. */
  readonly gap: number
  readonly spans: readonly Span[]
  readonly width: number
}

/** The words of a line; a word may run over several spans. */
function words(spans: Line): readonly Word[] {
  const found: Word[] = []
  let gap = 0
  let parts: Span[] = []
  const close = (): void => {
    if (parts.length === 0) return
    found.push({ gap, spans: parts, width: parts.reduce((sum, { text }) => sum + displayWidth(text), 0) })
    parts = []
    gap = 0
  }
  for (const { text, role } of spans) {
    for (const token of text.match(/ +|[^ ]+/g) ?? []) {
      if (token.startsWith(' ')) {
        close()
        gap += token.length
      } else parts.push({ text: token, role })
    }
  }
  close()
  return found
}

/**
 * A name in at most `width` columns: its middle (or its end) gives way to `…`. Only for display where the whole name
 * is not needed; machine output always has it whole.
 */
export function shorten(name: string, width: number, where: 'middle' | 'end' = 'middle'): string {
  const text = escapeTerminal(name)
  if (displayWidth(text) <= width) return text
  if (width <= 1) return '…'
  const tail = where === 'end' ? 0 : Math.floor((width - 1) / 3)
  const end = tail === 0 ? [] : fitting(Array.from(text).toReversed(), tail).toReversed()
  return `${fitting(text, width - 1 - tail).join('')}…${end.join('')}`
}

/** As many of the characters, from the first on, as have room. */
function fitting(characters: Iterable<string>, width: number): readonly string[] {
  let used = 0
  const out: string[] = []
  for (const character of characters) {
    used += displayWidth(character)
    if (used > width) break
    out.push(character)
  }
  return out
}
