// The report of `settings`: a line for each setting. A setting that nothing says is no finding: this answer is where one looks.
import { compareFindings, type Finding } from '@kleym/shared/core/findings/index.ts'
import { counted } from '@kleym/shared/core/base/text/counted.ts'
import { namedSubject, reported, type Frame } from '../../frame/frame.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import type { Answer } from '../../text/answer.ts'
import { kindsText } from '../../text/findings.ts'
import { viewFindingGroups } from '../../text/finding-groups.ts'
import { BLANK, MARKS, type Mark } from '../../text/line.ts'
import { table, type TableCell } from '../../text/table.ts'
import { settingRows, type SettingRow } from './model.ts'

/** Makes the report; `written` is the file that was written, if one was. */
export function settingsFrame(input: AnswerInput, written: string | undefined): Frame {
  const rows = settingRows(input)
  const findings = [...input.inputFindings].toSorted(compareFindings)
  return {
    kind: 'SettingsReport',
    ...reported(
      async () => (await import('./schema.ts')).settingsReportSchema,
      () => ({ settings: rows }),
    ),
    findings,
    causes: [],
    names: (shown) => shown.map(namedSubject),
    answer: (_, kept) => settingsAnswer(rows, kept, written),
    view: (layout, shown) => [
      ...table(rows.map(cellsOf), { width: layout.width, gap: 2 }),
      ...(shown.length === 0 ? [] : [BLANK, ...viewFindingGroups(shown, layout)]),
    ],
  }
}

function settingsAnswer(
  rows: readonly SettingRow[],
  findings: readonly Finding[],
  written: string | undefined,
): Answer {
  const open = rows.filter(isOpen)
  const done = written === undefined ? [] : [`wrote ${written}; `]
  if (findings.length > 0) return { mark: 'warn', text: [...done, kindsText(findings)] }
  if (open.length === 0) return { mark: 'ok', text: [...done, 'every setting is given'] }
  const names = open.map(({ name }) => name).join(', ')
  const once =
    written === undefined ? 'write them once: kubectl kleym settings --write' : 'write them into the file'
  return {
    mark: 'note',
    text: [...done, `${counted(open.length, 'setting')} not given: ${names}`],
    reasons: [[`fix: ${once}, or give ${open.map(({ fix }) => fix).join(', ')}`]],
  }
}

/** Output labels are known to be none where no source says them and nothing asks for some. */
function isOpen({ setting, source, value }: SettingRow): boolean {
  return source === undefined && (setting !== 'outputLabels' || value === undefined)
}

function cellsOf(row: SettingRow): readonly TableCell[] {
  const { name, value, source, decides } = row
  const mark: Mark = isOpen(row) ? 'note' : 'ok'
  const said = value === undefined ? 'not known' : `${value === '' ? 'none' : value} (${source ?? 'assumed'})`
  return [MARKS[mark], name, `${said}: ${decides}`]
}
