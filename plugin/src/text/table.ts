// Columns that line up, as kubectl prints them: no boxes, two blanks between. The last column takes the rest of the
// width and wraps under itself.
import { lineText, lineWidth, span, toLine, type Block, type Line, type Pieces, type Span } from './line.ts'
import { shorten, wrap } from './wrap.ts'

/** What one cell holds. */
export type TableCell = Pieces

/** How a table is laid out. */
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

/** The narrowest that a wrapping last column gets. */
const LAST_COLUMN_MIN = 24
/** Below so many columns a table without room for its last column folds: its cells stand below each other. */
const NARROW = 60

/** Rows of cells as lines. Rows may have different lengths; an empty cell keeps its column. */
export function table(rows: readonly (readonly TableCell[])[], options: TableOptions): Block {
  const { width, indent = 0, gap = 2, header, limits = {} } = options
  const titled = header === undefined ? rows : [header.map((title) => span(title, 'dim')), ...rows]
  const cells = titled.map((row) => row.map((cell, column) => fit(cell, limits[column])))
  const widths = columnWidths(cells)
  const before = widths.reduce((sum, columns) => sum + columns + gap, indent)
  if (width < NARROW && before + LAST_COLUMN_MIN > width)
    return cells.slice(header === undefined ? 0 : 1).flatMap((row) => foldedRow(row, { width, indent, gap }))
  return cells.flatMap((row) => tableRow(row, widths, { width, indent, gap }))
}

/** The first cells on a line of their own, the last one below them. Without columns there are no titles. */
function foldedRow(
  row: readonly Line[],
  { width, indent, gap }: Required<Pick<TableOptions, 'width' | 'indent' | 'gap'>>,
): Block {
  const shift = span(' '.repeat(indent))
  const head = row.slice(0, -1).filter((cell) => cell.length > 0)
  const first = head.flatMap((cell, at) => (at === 0 ? cell : [span(' '.repeat(gap)), ...cell]))
  const below = wrap(row.at(-1) ?? [], Math.max(width - indent - 4, 1))
  return [
    ...(first.length === 0 ? [] : wrap([shift, ...first], width, indent + 2)),
    ...below.filter((cell) => cell.length > 0).map((last) => [shift, span('    '), ...last]),
  ]
}

function tableRow(
  row: readonly Line[],
  widths: readonly number[],
  { width, indent, gap }: Required<Pick<TableOptions, 'width' | 'indent' | 'gap'>>,
): Block {
  const head: Span[] = indent === 0 ? [] : [span(' '.repeat(indent))]
  let at = indent
  row.slice(0, -1).forEach((cell, column) => {
    const columns = (widths[column] ?? 0) + gap
    head.push(...cell, span(' '.repeat(columns - lineWidth(cell))))
    at += columns
  })
  const wrapped = wrap(row.at(-1) ?? [], Math.max(width - at, LAST_COLUMN_MIN))
  const hang = span(' '.repeat(at))
  return wrapped.map((last, number) => (number === 0 ? head.concat(last) : [hang].concat(last)))
}

function fit(cell: TableCell, limit: number | undefined): Line {
  const spans = toLine(cell)
  if (limit === undefined || lineWidth(spans) <= limit) return spans
  // A cell of several roles keeps the first one: it is shortened as a whole.
  return [span(shorten(lineText(spans), limit), spans[0]?.role)]
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
