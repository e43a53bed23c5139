// The watch as a stream, as `kubectl get -w` does it: a line for each binding, then a line for each change; or the same as
// JSON, one object per line. What is not known goes to stderr, and into the JSON.
import { escapeJsonText } from '../../../io/escape.ts'
import { line, lineWidth, MARKS, render, span, type Piece } from '../../../text/line.ts'
import type { Palette } from '../../../io/palette.ts'
import { lostText, missingText, operatorDownLine, type Knowledge } from './knowledge.ts'
import type { StreamFormat } from './formats.ts'
import { bindingEvent, knowledgeEvent } from './json.ts'
import type { Picture } from './live-state.ts'
import { changesBetween, markOf, outcomeText, verdictText, type Row, type RowChange } from './rows.ts'

/** How the stream prints. */
export interface StreamOptions {
  readonly format: StreamFormat
  /** Whether rows say their namespace. */
  readonly allNamespaces: boolean
  readonly palette: Palette
  /** For the answer. */
  readonly print: (text: string) => void
  /** For what a person should know about it; one line without its line break. */
  readonly note: (text: string) => void
}

/** Takes one picture after the other and prints what has changed. */
export class PlainStream {
  readonly #options: StreamOptions
  #rows: readonly Row[] | undefined
  #knowledge = ''
  #notes: ReadonlySet<string> = new Set()
  #widths: readonly number[] = []

  constructor(options: StreamOptions) {
    this.#options = options
  }

  /** Nothing is printed before there is a whole picture. */
  show({ rows, knowledge }: Picture): void {
    if (!knowledge.settled) return
    if (this.#options.format === 'json') this.#showJson(rows, knowledge)
    else this.#showText(rows, knowledge)
    this.#rows = rows
  }

  #showText(rows: readonly Row[], knowledge: Knowledge): void {
    this.#noteKnowledge(knowledge)
    const isDown = knowledge.operatorDown !== undefined
    const { print, palette, allNamespaces } = this.#options
    const first = this.#rows === undefined
    if (first && rows.length === 0 && knowledge.bindingsKnown) this.#options.note('no bindings yet')
    if (first || (this.#rows?.length === 0 && rows.length > 0 && this.#widths.length === 0))
      this.#widths = widthsOf(rows, { allNamespaces, isDown })
    if (first) print(render([streamLine(titles(allNamespaces), this.#widths)], palette))
    const changes = changesBetween(this.#rows ?? [], rows)
    print(
      render(
        changes.map((change) => streamLine(cellsOf(change, { allNamespaces, isDown }), this.#widths)),
        palette,
      ),
    )
  }

  /** Notes each gap once when it appears and once when it is closed. */
  #noteKnowledge(knowledge: Knowledge): void {
    const now = new Set(notesOf(knowledge))
    for (const text of now) if (!this.#notes.has(text)) this.#options.note(`! ${text}`)
    for (const text of this.#notes) if (!now.has(text)) this.#options.note(`✓ no longer so: ${text}`)
    this.#notes = now
  }

  #showJson(rows: readonly Row[], knowledge: Knowledge): void {
    const { print } = this.#options
    const known = jsonLine(knowledgeEvent(knowledge))
    if (known !== this.#knowledge) print(known)
    this.#knowledge = known
    for (const change of changesBetween(this.#rows ?? [], rows)) print(jsonLine(bindingEvent(change)))
  }
}

function notesOf({
  lostSince,
  missing,
  operatorDown,
  disagreements,
  problems,
}: Knowledge): readonly string[] {
  return [
    ...(operatorDown === undefined ? [] : [operatorDownLine(operatorDown)]),
    ...(lostSince === undefined ? [] : [lostText(lostSince)]),
    ...disagreements,
    ...problems,
    ...missing.map(missingText),
  ]
}

function titles(allNamespaces: boolean): readonly Piece[] {
  const where = allNamespaces ? ['NAMESPACE'] : []
  return [' ', ...where, 'NAME', 'VERDICT', 'IDENTITY OR REASON'].map((text) => span(text, 'dim'))
}

interface CellOptions {
  readonly allNamespaces: boolean
  /** Whether the operator is down. */
  readonly isDown: boolean
}

/** Mark, namespace, name, verdict, and the identity or why there is none. */
function cellsOf({ kind, row }: RowChange, { allNamespaces, isDown }: CellOptions): readonly Piece[] {
  const where = allNamespaces ? [row.namespace] : []
  if (kind === 'removed') return [MARKS.note, ...where, row.name, 'deleted', '']
  const mark = MARKS[markOf(row, isDown)]
  return [mark, ...where, row.name, span(verdictText(row, isDown), mark.role), outcomeText(row)]
}

/** Columns keep the widths that the first rows gave them, so that they line up for as long as names allow. */
function widthsOf(rows: readonly Row[], options: CellOptions): readonly number[] {
  const head = titles(options.allNamespaces)
  const all = [head, ...rows.map((row) => cellsOf({ kind: 'added', row }, options))]
  return head.map((_, column) => Math.max(...all.map((cells) => lineWidth(line(cells[column] ?? '')))))
}

function streamLine(cells: readonly Piece[], widths: readonly number[]): ReturnType<typeof line> {
  const pieces = cells.flatMap((cell, column) => {
    const shown = line(cell)
    const isLast = column === cells.length - 1
    const gap = isLast ? 0 : Math.max(0, (widths[column] ?? 0) - lineWidth(shown)) + (column === 0 ? 1 : 2)
    return [...shown, span(' '.repeat(gap))]
  })
  return line(...pieces)
}

function jsonLine(value: unknown): string {
  return `${escapeJsonText(JSON.stringify(value))}\n`
}
