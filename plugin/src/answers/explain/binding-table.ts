// Several bindings as a table, with the columns that `kubectl get iib` has and the containers that each identity reaches.
import { inForceText } from '@kleym/shared/core/analysis/index.ts'
import type { Explanation } from '@kleym/shared/core/answers/index.ts'
import type { Finding } from '@kleym/shared/core/findings/index.ts'
import { markUnder } from '../../frame/outcome.ts'
import type { Layout } from '../../text/layout.ts'
import { MARKS, type Block, type Mark } from '../../text/line.ts'
import { table, type TableCell } from '../../text/table.ts'
import { shorten } from '../../text/wrap.ts'

const COLUMNS = ['', 'NAMESPACE', 'NAME', 'READY', 'REASON', 'OUTPUT', 'REACHES', 'SPIFFE-ID'] as const
type Column = (typeof COLUMNS)[number]
type Row = Readonly<Record<Column, string>> & { readonly mark: Mark }

const GAP = 2
/** Less than this of an ID says nothing. */
const ID_MIN = 24

/**
 * A row for each binding, with the mark of what is found about it. On a narrow screen an ID loses its trust domain, then its middle,
 * then it is left out: `-o wide` has it.
 */
export function bindingTable(
  explanations: readonly Explanation[],
  layout: Layout & {
    readonly findingsByBinding: ReadonlyMap<string, readonly Finding[]>
    readonly isOperatorDown: boolean
  },
): Block {
  const rows = explanations.map((one) => rowOf(one, layout.findingsByBinding.get(one.key)))
  const used = COLUMNS.filter(
    (column) =>
      (column !== 'REACHES' || rows.some((row) => row.REACHES !== '')) &&
      (column !== 'OUTPUT' || layout.isOperatorDown),
  )
  const before = used
    .slice(0, -1)
    .map((column) => Math.max(column.length, ...rows.map((row) => row[column].length)))
  // The mark, which is in no cell as text, takes one column.
  const room = layout.width - before.reduce((sum, columns) => sum + columns + GAP, 1)
  const columns = room < ID_MIN ? used.slice(0, -1) : used
  return table(
    rows.map((row) =>
      columns.map((column): TableCell => {
        if (column === '') return MARKS[row.mark]
        return column === 'SPIFFE-ID' ? idText(row[column], room) : row[column]
      }),
    ),
    { width: layout.width, gap: GAP, header: columns },
  )
}

function idText(id: string, room: number): string {
  if (id.length <= room) return id
  const path = id.replace(/^spiffe:\/\/[^/]+/, '…')
  return path.length <= room ? path : shorten(path, room)
}

function rowOf(one: Explanation, about: readonly Finding[] | undefined): Row {
  const { judgement, verdict, identity } = one
  const slash = one.key.indexOf('/')
  return {
    mark: bindingMark(one, about),
    '': '',
    NAMESPACE: one.key.slice(0, slash),
    NAME: one.key.slice(slash + 1),
    READY: verdict.ready,
    REASON: verdict.reason,
    OUTPUT: outputText(one),
    REACHES: judgement.state === 'ready' ? reachText(one) : '',
    'SPIFFE-ID': identity?.spiffeId ?? '',
  }
}

/** What is true of the output while the operator is down. */
function outputText({ judgement, output, withdrawn, inForce }: Explanation): string {
  if (withdrawn.length > 0 || output?.state === 'up to date') return inForceText(inForce)
  return judgement.state === 'ready' ? 'not applied yet' : ''
}

/** The mark of a binding, whichever is worse: what its state and reach give it, or what is found about it. */
export function bindingMark(one: Explanation, about: readonly Finding[] = []): Mark {
  return markUnder(about, markOf(one, reachText(one)))
}

/** How many containers the identity reaches; a question mark where that is not known, or may be more. */
function reachText({ reach, podsUnknown }: Explanation): string {
  const count = reach?.reached.reduce((sum, { containers }) => sum + containers.length, 0) ?? 0
  const isOpen = reach === undefined || podsUnknown !== undefined || reach.perhaps.length > 0
  return isOpen ? `${count}?` : String(count)
}

function markOf({ judgement }: Explanation, reaches: string): Mark {
  switch (judgement.state) {
    case 'ready':
      return reaches.startsWith('0') || reaches.endsWith('?') ? 'warn' : 'ok'
    case 'deleting':
      return 'note'
    case 'refused':
    case 'undetermined':
    case 'waiting':
      return 'warn'
  }
}
