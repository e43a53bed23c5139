// `-o markdown`: one comment of a pull request, or a step summary. GitHub takes 65,536 characters of a comment, so the whole is
// bounded and says how much it leaves out. What a manifest holds stays text: no markup, no mention, no link comes of it.
import {
  countBySeverity,
  type Finding,
  findingEntry,
  type Severity,
} from '@kleym/shared/core/findings/index.ts'
import { subjectText } from '@kleym/shared/core/model/objects/subject.ts'
import { counted } from '@kleym/shared/core/base/text/counted.ts'
import { escapeMarkdown, escapeTerminal, neutraliseCommands } from '../io/escape.ts'
import { MARKS } from '../text/line.ts'
import { placeOfFinding, suppressionText, type CiResult } from './ci.ts'
import { summaryText } from './github.ts'

/** The most characters of the whole; what is written around it in a comment has some room left. */
export const MARKDOWN_MAX = 60_000
/** What the notes about what is left out may take, and the line that sums up. */
const RESERVED = 1_000
/** A single text of a manifest is not longer than this. */
const TEXT_MAX = 2_000

/** What is printed, beside the result itself. */
export interface MarkdownParts {
  /** The answer as text, without colours. */
  readonly view: string
  /** How a reader may colour it. */
  readonly language: 'text' | 'diff'
}

/** The whole output. */
export function toMarkdown(result: CiResult, { view, language }: MarkdownParts): string {
  const name = commandOf(result.kind)
  const page = new Page()
  page.always([`<!-- kleym ${name} -->`, `### kleym ${name}: ${headline(result)}`, ''])
  page.section('not known', result.unknowns, (text) => [`- ${MARKS.warn.text} not known: ${inline(text)}`])
  page.section('findings', result.findings, (one) => findingLines(one, result))
  page.section('differences', result.differences, (text) => [`- ${inline(text)}`])
  page.section('suppressed findings', result.suppressed, ({ finding, suppression }) => [
    `- suppressed: ${finding.code} ${inline(subjectText(finding.subject))} (${inline(suppressionText(suppression))})`,
  ])
  page.code(view, language, result.findings.length === 0)
  return page.finished(inline(summaryText(result)))
}

/** `WhoSelectsReport` is the answer of `who-selects`. */
function commandOf(kind: string): string {
  return kind
    .replace(/Report$/, '')
    .replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `-${letter}`)
    .toLowerCase()
}

function headline({ findings, differences, unknowns, passed }: CiResult): string {
  const { error, warning, info } = countBySeverity(findings)
  const parts = [
    ...(error === 0 ? [] : [counted(error, 'error')]),
    ...(warning === 0 ? [] : [counted(warning, 'warning')]),
    ...(info === 0 ? [] : [`${info} info`]),
    ...(differences.length === 0 ? [] : [counted(differences.length, 'difference')]),
    ...(passed.length === 0 ? [] : [`${passed.length} passed`]),
  ]
  const found = parts.length === 0 ? 'nothing to report' : parts.join(', ')
  return unknowns.length === 0 ? found : `${found}; not everything is known`
}

const SEVERITY_MARKS: Readonly<Record<Severity, string>> = {
  error: MARKS.bad.text,
  warning: MARKS.warn.text,
  info: MARKS.note.text,
}

function findingLines(one: Finding, result: CiResult): readonly string[] {
  const { code, severity, subject, summary, evidence, fix } = one
  const place = placeOfFinding(one, result)
  const where = place === undefined ? '' : ` (${place.file}:${place.line})`
  return [
    '<details>',
    `<summary>${SEVERITY_MARKS[severity]} ${severity} <b>${code}</b> ${inline(`${subjectText(subject)}: ${summary}${where}`)}</summary>`,
    '',
    ...evidence.map((text) => `- ${inline(text)}`),
    `- <b>fix:</b> ${inline(fix)}`,
    `- ${code}: ${inline(findingEntry(code).title)}; \`kubectl kleym explain ${code}\``,
    '',
    '</details>',
  ]
}

function inline(text: string): string {
  return escapeMarkdown(text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}…` : text)
}

/** What has been written so far, and how much of it there may be. */
class Page {
  readonly #rows: string[] = []
  #left = MARKDOWN_MAX - RESERVED

  always(rows: readonly string[]): void {
    for (const row of rows) {
      this.#rows.push(row)
      this.#left -= row.length + 1
    }
  }

  #fits(rows: readonly string[]): boolean {
    return rows.reduce((sum, row) => sum + row.length + 1, 0) <= this.#left
  }

  /** As many items as there is room for, in their order, and how many are left out. */
  section<Item>(what: string, items: readonly Item[], rowsOf: (item: Item) => readonly string[]): void {
    if (items.length === 0) return
    let shown = 0
    for (const item of items) {
      const rows = rowsOf(item)
      if (!this.#fits(rows)) break
      this.always(rows)
      shown++
    }
    if (shown < items.length) this.#leftOut(`${items.length - shown} of ${items.length} ${what} are left out`)
    this.always([''])
  }

  /** A verbatim text, folded away; only its first lines, if there is no room for all. */
  code(text: string, language: string, open: boolean): void {
    const lines = text
      .trimEnd()
      .split('\n')
      .map((row) => neutraliseCommands(escapeTerminal(row)).replaceAll(LONG_RUN, '$&\\'))
    if (lines.join('') === '') return
    const ticks = lines
      .flatMap((row) => row.match(/`+/g) ?? [])
      .reduce((most, run) => Math.max(most, run.length), 2)
    const fence = '`'.repeat(ticks + 1)
    const head = [
      open ? '<details open>' : '<details>',
      '<summary>the whole answer</summary>',
      '',
      `${fence}${language}`,
    ]
    const foot = [fence, '', '</details>', '']
    if (!this.#fits([...head, ...foot, ''.padEnd(ROOM_FOR_CODE)])) {
      this.#leftOut(`the ${counted(lines.length, 'line')} of the whole answer are left out`)
      return
    }
    this.always(head)
    let shown = 0
    for (const row of lines) {
      if (!this.#fits([row, ...foot])) break
      this.always([row])
      shown++
    }
    this.always(foot)
    if (shown < lines.length)
      this.#leftOut(`${lines.length - shown} of ${lines.length} lines of the whole answer are left out`)
  }

  /** Within what is reserved. */
  #leftOut(text: string): void {
    this.#rows.push(`- ${MARKS.warn.text} ${text}: a comment holds no more; the other formats have all of it`)
  }

  finished(last: string): string {
    return [...this.#rows, last, ''].join('\n')
  }
}

/** So many backticks in a row are interrupted: the fence around them has to be longer than any run, and takes room itself. */
const LONG_RUN = /`{100}(?=`)/g
/** Fewer characters of a text say nothing. */
const ROOM_FOR_CODE = 500
