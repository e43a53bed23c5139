// How the lines of a terminal are shared out. Pure.
import { displayWidth } from '../../../text/width.ts'
import type { Knowledge } from '../live/knowledge.ts'
import { outcomeText, verdictText, type Row } from '../live/rows.ts'

/** Columns and rows of a terminal. */
export interface TerminalSize {
  readonly columns: number
  readonly rows: number
}

/** The smallest terminal that is laid out for; a smaller one cuts lines off. */
export const MIN_SIZE: TerminalSize = { columns: 20, rows: 6 }

/** From so many rows on, the table stays beside the derivation, which then has two thirds. */
const BOTH_FROM = 24
const TABLE_MIN = 4

/** How many lines table and derivation get; either may be none. */
export interface LineShares {
  readonly table: number
  readonly detail: number
}

/** Shares out the lines that header, status and footer leave; a table needs no more than its rows and a title. */
export function shareLines(lines: number, { size, rows, isOpen }: LineDemand): LineShares {
  const free = Math.max(1, lines)
  if (!isOpen) return { table: free, detail: 0 }
  if (size.rows < BOTH_FROM) return { table: 0, detail: free }
  const table = Math.min(rows + 1, Math.max(TABLE_MIN, Math.floor(free / 3)))
  return { table, detail: free - table }
}

/** What asks for lines. */
export interface LineDemand {
  readonly size: TerminalSize
  /** The rows of the table. */
  readonly rows: number
  /** Whether there is a derivation to show. */
  readonly isOpen: boolean
}

/** The columns of the table; a column without room is 0. */
export interface TableColumns {
  readonly binding: number
  readonly verdict: number
  readonly pods: number
  readonly since: number
  readonly outcome: number
}

const MARKER = 4
/** Blanks between two columns. */
export const GAP = 2
/** Below this, an identity cannot be told from another. */
const OUTCOME_MIN = 20
const PODS_FROM = 100
const SINCE_FROM = 60
/** `59m`, `364d`. */
const SINCE_WIDTH = 5

/** Columns for rows on a terminal: names first, then verdicts, then what is left for the identities. */
export function columnsFor(
  rows: readonly Row[],
  columns: number,
  nameOf: (row: Row) => string,
  { operatorDown }: Pick<Knowledge, 'operatorDown'> = { operatorDown: undefined },
): TableColumns {
  const room = columns - MARKER
  const names = widest(rows, nameOf, TITLES.binding)
  const verdicts = widest(rows, (row) => verdictText(row, operatorDown !== undefined), TITLES.verdict)
  const pods =
    columns >= PODS_FROM && rows.some((row) => row.pods !== undefined)
      ? widest(rows, podsText, TITLES.pods)
      : 0
  const since = columns >= SINCE_FROM && rows.some((row) => row.since !== undefined) ? SINCE_WIDTH : 0
  const besides = [pods, since].filter((width) => width > 0).reduce((sum, width) => sum + GAP + width, 0)
  const beside = names + GAP + verdicts + besides + GAP
  const wanted = Math.min(OUTCOME_MIN, widest(rows, outcomeText, TITLES.outcome))
  if (beside + wanted <= room)
    return { binding: names, verdict: verdicts, pods, since, outcome: room - beside }
  if (columns >= 2 * (OUTCOME_MIN + MARKER)) {
    const binding = Math.min(names, Math.floor(room * 0.4))
    const left = room - binding - (since === 0 ? 0 : since + GAP) - 2 * GAP
    const verdict = Math.min(verdicts, Math.max(8, left - OUTCOME_MIN))
    return { binding, verdict, pods: 0, since, outcome: left - verdict }
  }
  const verdict = Math.min(verdicts, Math.floor(room / 2))
  return { binding: Math.min(names, room - verdict - GAP), verdict, pods: 0, since: 0, outcome: 0 }
}

/** What stands above the columns. */
export const TITLES = {
  binding: 'BINDING',
  verdict: 'VERDICT',
  pods: 'PODS',
  since: 'SINCE',
  outcome: 'IDENTITY, OR WHY NOT',
} as const

/** How many pods SCM selects; empty where SCM has written no count. */
export function podsText({ pods }: Row): string {
  return pods === undefined ? '' : String(pods)
}

function widest(rows: readonly Row[], text: (row: Row) => string, title: string): number {
  let width = title.length
  for (const row of rows) width = Math.max(width, displayWidth(text(row)))
  return width
}
