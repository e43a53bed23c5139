// Columns that line up, as kubectl prints them: no boxes, two blanks between. The last column takes the rest of the
// width and wraps under itself.
import { line, lineWidth, span, type Block, type Line, type Piece, type Span } from './line.ts'
import { shorten, wrap } from './wrap.ts'

export type Cell = Piece | readonly Piece[]

export interface TableOptions {
  /** Columns that the whole table may take. */
  readonly width: number
  /** Blanks before the first column. */
  readonly indent?: number
  /** Blanks between columns. */
  readonly gap?: number
  /** Column titles, painted dim. */
  readonly header?: readonly string[]
  /** The widest that a column may be, by its number from 0; what is longer is shortened in the middle. */
  readonly limits?: Readonly<Record<number, number>>
}

/** The narrowest that a wrapping last column gets; on a smaller terminal the lines stick out instead. */
const LAST_COLUMN_MIN = 24

/** Rows of cells as lines. Rows may have different lengths; an empty cell keeps its column. */
export function table(rows: readonly (readonly Cell[])[], options: TableOptions): Block {
  const { width, indent = 0, gap = 2, header, limits = {} } = options
  const titled = header === undefined ? rows : [header.map((title) => span(title, 'dim')), ...rows]
  const cells = titled.map((row) => row.map((cell, column) => fit(cell, limits[column])))
  const widths = columnWidths(cells)
  return cells.flatMap((row) => {
    const spans: Span[] = indent === 0 ? [] : [span(' '.repeat(indent))]
    let at = indent
    row.slice(0, -1).forEach((cell, column) => {
      const pad = (widths[column] ?? 0) - lineWidth(cell) + gap
      spans.push(...cell, span(' '.repeat(pad)))
      at += (widths[column] ?? 0) + gap
    })
    const room = Math.max(width - at, LAST_COLUMN_MIN)
    const [first = [], ...rest] = wrap(row.at(-1) ?? [], { width: room })
    return [[...spans, ...first], ...rest.map((later): Line => [span(' '.repeat(at)), ...later])]
  })
}

function fit(cell: Cell, limit: number | undefined): Line {
  const spans = Array.isArray(cell) ? line(...(cell as readonly Piece[])) : line(cell as Piece)
  if (limit === undefined || lineWidth(spans) <= limit) return spans
  // A cell of several roles keeps the first one: it is shortened as a whole.
  return [span(shorten(spans.map(({ text }) => text).join(''), limit), spans[0]?.role)]
}

/** The widest cell of each column; the last cell of a row does not count, since nothing stands after it. */
function columnWidths(rows: readonly (readonly Line[])[]): readonly number[] {
  const widths: number[] = []
  for (const row of rows) {
    row.slice(0, -1).forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, lineWidth(cell))
    })
  }
  return widths
}
