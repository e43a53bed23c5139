// How the screen looks: scope and counts, what is not known, the table with its window, the derivation below, the keys.
// A function from the picture and the choices to exactly as many lines as the terminal has.
import { firstAnswer } from '../../../frame/operator-down.ts'
import { NOTHING, outcomeOf } from '../../../frame/outcome.ts'
import { viewAnswer } from '../../../text/answer.ts'
import { namespaceWritten } from '@kleym/shared/core/model/namespaced-name.ts'
import { counted } from '@kleym/shared/core/base/text/counted.ts'
import { unknownReasonText } from '@kleym/shared/core/model/unknown-reason.ts'
import { BLANK, line, lineWidth, MARKS, span, type Block, type Line } from '../../../text/line.ts'
import { displayWidth } from '../../../text/width.ts'
import { shorten, wrap } from '../../../text/wrap.ts'
import { lostText, missingText, operatorDownLine, timeText, type Knowledge } from '../live/knowledge.ts'
import type { Picture } from '../live/live-state.ts'
import { countsText, markOf, outcomeText, verdictText, type Row } from '../live/rows.ts'
import {
  columnsFor,
  GAP,
  MIN_SIZE,
  podsText,
  shareLines,
  TITLES,
  type TableColumns,
  type LineShares,
  type TerminalSize,
} from './layout.ts'
import type { KnownNamespaces } from '../live/session.ts'
import { namespaceChoices, shownRows, type ScreenFacts, type ScreenState } from './state.ts'
import { helpBlock, keysLine } from './words.ts'

/** What the screen shows beside picture and choices. */
export interface ScreenSetting {
  /** The cluster as a person calls it. */
  readonly cluster: string
  readonly size: TerminalSize
  readonly namespaces: KnownNamespaces
  readonly now: Date
}

/** A screen, and what the next key needs to know of it. */
export interface Screen {
  readonly lines: Block
  readonly facts: ScreenFacts
}

/** At most so many lines say what is not known; the rest are counted. */
const STATUS_MAX = 3

/** Draws the screen. `state` must have a valid selection for the same rows and size. */
export function draw(picture: Picture, state: ScreenState, setting: ScreenSetting): Screen {
  const columns = Math.max(MIN_SIZE.columns, setting.size.columns)
  const height = Math.max(MIN_SIZE.rows, setting.size.rows)
  const rows = shownRows(picture.rows, state)
  const head = [...header(picture, rows, state, setting, columns), ...status(picture.knowledge)]
  const free = height - head.length - 1
  const isOpen = state.isOpen && state.mode !== 'help' && state.mode !== 'namespace'
  const share = shareLines(free, { size: setting.size, rows: rows.length, isOpen })
  const detail = share.detail === 0 ? [] : detailBlock(picture, columns)
  const facts: ScreenFacts = {
    rows: picture.rows,
    rowsFit: Math.max(0, share.table - 1),
    detailFits: Math.max(0, share.detail - 1),
    detailLines: detail.length,
    namespaces: setting.namespaces.names,
  }
  const body = bodyOf(picture, rows, state, { setting, columns, share, detail })
  const all = [...head, ...toHeight(body, free), footer(state, columns)]
  return { lines: toHeight(all, height).map((one) => cut(one, columns)), facts }
}

interface BodyLayout {
  readonly setting: ScreenSetting
  readonly columns: number
  readonly share: LineShares
  readonly detail: Block
}

function bodyOf(picture: Picture, rows: readonly Row[], state: ScreenState, frame: BodyLayout): Block {
  if (state.mode === 'help') return helpBlock(frame.columns)
  if (state.mode === 'namespace') return chooser(state, frame)
  const { share, detail } = frame
  const table = share.table === 0 ? [] : toHeight(tableBlock(picture, rows, state, frame), share.table)
  if (share.detail === 0) return table
  const { detailTop } = state
  const shown = detail.slice(detailTop, detailTop + share.detail - 1)
  return [...table, detailTitle(state, detail.length, share.detail - 1), ...shown]
}

function header(
  { rows: all, knowledge }: Picture,
  rows: readonly Row[],
  { namespace, filter, order }: ScreenState,
  { cluster }: ScreenSetting,
  columns: number,
): Block {
  const scope = namespace === undefined ? 'all namespaces' : `namespace ${namespace}`
  const filtered = filter === '' ? '' : `, ${rows.length} with ${filter}`
  const sorted = order === 'trouble' ? '' : `, by ${order}`
  const counts = !knowledge.settled
    ? 'reading…'
    : !knowledge.bindingsKnown
      ? 'bindings are not known'
      : `${counted(all.length, 'binding')}${all.length === 0 ? '' : `: ${countsText(all)}`}${filtered}${sorted}`
  const operator = knowledge.operator === undefined ? '' : `  ${knowledge.operator}`
  const where = line(span('kleym', 'bold'), `  ${scope}  `, span(`${cluster}${operator}`, 'dim'))
  const one = line(...where, '  ', counts)
  return lineWidth(one) <= columns ? [one] : [where, line(counts)]
}

function status({ lostSince, missing, operatorDown, disagreements, problems }: Knowledge): Block {
  const down =
    operatorDown === undefined ? [] : [line(MARKS.bad, ' ', span(operatorDownLine(operatorDown), 'bold'))]
  const lost = lostSince === undefined ? [] : [span(lostText(lostSince), 'bold')]
  // While nothing answers, each kind fails for the same reason.
  const others = lostSince === undefined ? missing.map(missingText) : []
  const lines = [...lost, ...disagreements, ...problems, ...others].map((text) => line(MARKS.warn, ' ', text))
  if (lines.length <= STATUS_MAX) return [...down, ...lines]
  const more = lines.length - STATUS_MAX + 1
  return [...down, ...lines.slice(0, STATUS_MAX - 1), line(MARKS.warn, ` and ${more} more`)]
}

function tableBlock(picture: Picture, rows: readonly Row[], state: ScreenState, frame: BodyLayout): Block {
  const { knowledge } = picture
  if (rows.length === 0) return [BLANK, line(`  ${emptyText(picture, state)}`)]
  const nameOf = state.namespace === undefined ? (row: Row) => row.key : (row: Row) => row.name
  const columns = columnsFor(rows, frame.columns, nameOf, knowledge)
  const looks = { isDown: knowledge.operatorDown !== undefined, now: frame.setting.now }
  const window = rows.slice(state.top, state.top + frame.share.table - 1)
  return [
    titles(columns, knowledge),
    ...window.map((row) =>
      tableRow(row, columns, { ...looks, name: nameOf(row), isSelected: row.key === state.selected }),
    ),
  ]
}

function emptyText({ rows, knowledge }: Picture, { filter, namespace }: ScreenState): string {
  if (!knowledge.settled) return 'reading…'
  if (!knowledge.bindingsKnown) return 'nothing to show: bindings could not be read'
  if (rows.length > 0) return `no binding with ${filter}; Esc clears the filter`
  return namespace === undefined ? 'no bindings' : `no bindings in namespace ${namespace}; n chooses another`
}

/** What is old says so where it is read, too. */
function titles(columns: TableColumns, { lostSince }: Knowledge): Line {
  const cells = [
    ...cellsBefore(columns, title),
    padded(title('verdict'), columns.verdict),
    ...(columns.outcome === 0 ? [] : [title('outcome')]),
  ]
  const old = lostSince === undefined ? [] : [span(`  as of ${timeText(lostSince)}`, 'bold')]
  return [span('    '), ...joined(cells), ...old]
}

function title(column: keyof TableColumns): Line {
  return line(span(TITLES[column], 'dim'))
}

/** The cells before the verdict; a column without room has none. */
function cellsBefore(
  columns: TableColumns,
  cellOf: (column: 'binding' | 'pods' | 'since') => Line,
): readonly Line[] {
  return (['binding', 'pods', 'since'] as const).flatMap((column) =>
    columns[column] === 0 ? [] : [padded(cellOf(column), columns[column])],
  )
}

interface RowLook {
  readonly name: string
  readonly isSelected: boolean
  /** Whether the operator is down. */
  readonly isDown: boolean
  readonly now: Date
}

function tableRow(row: Row, columns: TableColumns, { name, isSelected, isDown, now }: RowLook): Line {
  const isNew = row.since !== undefined && now.getTime() - row.since.getTime() < NEW_MS
  const cells = {
    binding: span(shorten(name, columns.binding), isSelected || isNew ? 'bold' : undefined),
    pods: span(podsText(row).padStart(columns.pods)),
    since: span(sinceText(row, now), isNew ? 'bold' : 'dim'),
  }
  const before = cellsBefore(columns, (column) => line(cells[column]))
  return line(
    span(isSelected ? '>' : ' ', 'bold'),
    span(isNew ? '*' : ' ', 'bold'),
    MARKS[markOf(row, isDown)],
    ' ',
    ...joined([...before, ...verdictCells(row, isDown, columns)]),
  )
}

/** The verdict and the identity, or why there is none. A verdict is read whole: a long one takes the room of the sentence that explains it. */
function verdictCells(row: Row, isDown: boolean, { verdict, outcome }: TableColumns): readonly Line[] {
  const text = verdictText(row, isDown)
  const { role } = MARKS[markOf(row, isDown)]
  const room = outcome === 0 ? verdict : verdict + GAP + outcome
  const whole = shorten(text, displayWidth(text) > verdict ? room : verdict, 'end')
  const left = room - Math.max(verdict, displayWidth(whole)) - GAP
  const why = span(shortOutcome(row, left), row.state === 'ready' ? undefined : 'dim')
  return [
    padded(line(span(whole, role)), verdict),
    ...(left < Math.min(outcome, OUTCOME_LEAST) || outcome === 0 ? [] : [line(why)]),
  ]
}

/** How long a row that has changed is marked, in milliseconds. */
const NEW_MS = 10_000
/** Fewer columns of a sentence say nothing. */
const OUTCOME_LEAST = 12

/** `59s`, `59m`, `23h`, `9d`: since when a row is as it is; empty if that is not known. */
function sinceText({ since }: Row, now: Date): string {
  if (since === undefined) return ''
  const seconds = Math.max(0, Math.floor((now.getTime() - since.getTime()) / 1000))
  if (seconds < 60) return `${seconds}s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`
  return seconds < 86_400 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`
}

/** An identity loses first what they all have in common: scheme and trust domain. */
function shortOutcome(row: Row, width: number): string {
  const text = outcomeText(row)
  if (row.state !== 'ready') return shorten(text, width, 'end')
  const path = `…${text.replace(/^spiffe:\/\/[^/]*/, '')}`
  return displayWidth(text) <= width ? shorten(text, width) : shorten(path, width)
}

function detailTitle({ selected, detailTop }: ScreenState, lines: number, fit: number): Line {
  const more =
    lines > fit ? `, lines ${detailTop + 1} to ${Math.min(lines, detailTop + fit)} of ${lines}` : ''
  return line(span(`EXPLAIN ${selected ?? ''}${more}`, 'dim'))
}

/** The derivation as lines of this width. */
function detailBlock({ detail, knowledge }: Picture, columns: number): Block {
  switch (detail.state) {
    case 'closed':
      return []
    case 'reading':
      return [line(MARKS.note, ` reading the pods of ${namespaceWritten(detail.key)}…`)]
    case 'deleted':
      return [line(MARKS.note, ` ${detail.key} is not there any more`)]
    case 'unread':
      return [line(MARKS.warn, ` ${detail.key} may be there: ${unknownReasonText(detail.why)}`)]
    case 'whole':
      return detail.view(columns)
    case 'shown': {
      const { frame, podGap, assumptions } = detail
      const text = podGap === undefined ? '' : ` whom it reaches is not known: ${unknownReasonText(podGap)}`
      const gap = text === '' ? [] : [...wrap(line(MARKS.warn, text), columns, 2), BLANK]
      const incomplete = podGap !== undefined || knowledge.missing.length > 0
      const layout = { width: columns, wide: false, incomplete }
      const notes = assumptions.flatMap((note) => wrap(line(MARKS.note, ` ${note}`), columns, 2))
      const answer = frame.answer?.(layout, frame.findings)
      const outcome = outcomeOf({ ...NOTHING, incomplete, findings: frame.findings }, 'never')
      const first =
        answer === undefined
          ? []
          : [
              ...viewAnswer(firstAnswer(answer, frame.findings, outcome), { ...SETTLED, incomplete }, layout),
              BLANK,
            ]
      return [
        ...gap,
        ...first,
        ...frame.view(layout, frame.findings),
        ...(notes.length === 0 ? [] : [BLANK]),
        ...notes,
      ]
    }
  }
}

/** What is not known of settings stands in notes of their own. */
const SETTLED = { unsettled: false, notShown: 0 }

function chooser({ typed, choice }: ScreenState, { setting, share }: BodyLayout): Block {
  const { names, note } = setting.namespaces
  const choices = namespaceChoices(names, typed)
  const fit = Math.max(1, share.table - (note === undefined ? 1 : 2))
  const from = Math.max(0, Math.min(choice - fit + 1, choices.length - fit))
  const listed = choices.slice(from, from + fit).map((name, at) => {
    const isChosen = from + at === choice
    const text = span(name ?? 'all namespaces', isChosen ? 'bold' : undefined)
    return line(span(isChosen ? '> ' : '  ', 'bold'), text)
  })
  const why = note === undefined ? [] : [line(MARKS.warn, ` ${note}`)]
  return [line(`namespace: ${typed}_`), ...why, ...listed]
}

function footer(state: ScreenState, columns: number): Line {
  return state.mode === 'filter' ? line(`filter: ${state.filter}_`) : keysLine(state, columns)
}

function joined(cells: readonly Line[]): Line {
  return cells.flatMap((cell, at) => (at === 0 ? cell : [span('  '), ...cell]))
}

function padded(cell: Line, width: number): Line {
  return [...cell, span(' '.repeat(Math.max(0, width - lineWidth(cell))))]
}

/** A line that does not reach beyond the edge: the terminal would break it in two. */
function cut(spans: Line, width: number): Line {
  if (lineWidth(spans) <= width) return spans
  const kept: Line[number][] = []
  let left = width
  for (const { text, role } of spans) {
    const shown = span(lineWidth([span(text)]) <= left - 1 ? text : shorten(text, left, 'end'), role)
    kept.push(shown)
    left -= lineWidth([shown])
    if (left <= 0 || shown.text !== text) break
  }
  return kept
}

function toHeight(block: Block, height: number): Block {
  const missing = Math.max(0, height - block.length)
  return [...block.slice(0, height), ...Array.from({ length: missing }, () => BLANK)]
}
