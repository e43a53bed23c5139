// What each format says about how much was found, read back from its text as its readers would.
import { parse } from 'yaml'
import { listAt, own, stringAt } from '@kleym/shared/core/base/json.ts'
import { SEVERITIES, type Severity } from '@kleym/shared/core/findings/registry/findings.ts'
import { parseXml } from './xml.ts'

export interface Counts extends Readonly<Record<Severity, number>> {
  readonly suppressed: number
  readonly exitCode: number
  /** Whether it says that something is not known. */
  readonly incomplete: boolean
}

/** The formats that say all of it. */
export const COUNTED_FORMATS = ['json', 'yaml', 'sarif', 'junit', 'github', 'mermaid', 'markdown'] as const
export type CountedFormat = (typeof COUNTED_FORMATS)[number]

/** Reads the counts of an answer. */
export function countsIn(format: CountedFormat, text: string): Counts {
  switch (format) {
    case 'json':
      return countsOfReport(JSON.parse(text))
    case 'yaml':
      return countsOfReport(parse(text, { maxAliasCount: 0 }))
    case 'sarif':
      return countsOfSarif(JSON.parse(text))
    case 'junit':
      return countsOfJunit(text)
    case 'github':
      return countsOfGithub(text)
    case 'mermaid':
      return countsOfMermaid(text)
    case 'markdown':
      return countsOfMarkdown(text)
  }
}

function bySeverity(found: readonly string[]): Readonly<Record<Severity, number>> {
  const [error = 0, warning = 0, info = 0] = SEVERITIES.map(
    (severity) => found.filter((one) => one === severity).length,
  )
  return { error, warning, info }
}

function countsOfReport(report: unknown): Counts {
  // KLM413 is the code of what kleym does not follow; a diff says so of its effect.
  const codes = [...listAt(report, 'findings'), ...listAt(report, 'suppressed')].map((one) =>
    stringAt(one, 'code'),
  )
  return {
    ...bySeverity(listAt(report, 'findings').map((one) => stringAt(one, 'severity') ?? '')),
    suppressed: listAt(report, 'suppressed').length,
    exitCode: Number(own(report, 'exitCode')),
    incomplete:
      listAt(report, 'missing').length + listAt(report, 'problems').length > 0 ||
      codes.includes('KLM413') ||
      listAt(report, 'findings').some((one) => listAt(one, 'dependsOn').length > 0) ||
      // An entry of which it is not known whether it should be there.
      listAt(own(report, 'entries'), 'openOn').length > 0 ||
      isOpen(listAt(report, 'chains')[0]) ||
      own(report, 'exitCode') === 4,
  }
}

/** Whether the way of an identity is not known to end, nor to reach its process. */
function isOpen(chain: unknown): boolean {
  return chain !== undefined && own(chain, 'broken') === null && own(chain, 'notKnown') !== null
}

function isSuppressed(result: unknown): boolean {
  return listAt(result, 'suppressions').length > 0
}

function countsOfSarif(log: unknown): Counts {
  const [run] = listAt(log, 'runs')
  const [invocation] = listAt(run, 'invocations')
  const results = listAt(run, 'results')
  const levels = results.filter((one) => !isSuppressed(one)).map((one) => stringAt(one, 'level') ?? '')
  return {
    ...bySeverity(levels.map((level) => (level === 'note' ? 'info' : level))),
    suppressed: results.filter(isSuppressed).length,
    exitCode: Number(own(invocation, 'exitCode')),
    incomplete: own(invocation, 'executionSuccessful') === false,
  }
}

function countsOfJunit(text: string): Counts {
  const [suite] = parseXml(text).children
  const cases = suite?.children.filter(({ name }) => name === 'testcase') ?? []
  const verdicts = cases.flatMap(({ children }) => children)
  const words = verdicts.map(({ name, attributes }) =>
    name === 'failure' ? (attributes['type']?.split(' ')[1] ?? '') : (attributes['message'] ?? ''),
  )
  const properties = suite?.children.find(({ name }) => name === 'properties')?.children ?? []
  const exitCode = properties.find(({ attributes }) => attributes['name'] === 'exitCode')
  return {
    ...bySeverity(words.map((word) => word.replace(/, below --fail-on [^]*/, ''))),
    suppressed: words.filter((word) => /^\w+, suppressed by /.test(word)).length,
    exitCode: Number(exitCode?.attributes['value']),
    incomplete: verdicts.some(({ name }) => name === 'error'),
  }
}

function countsOfGithub(text: string): Counts {
  const lines = text.trimEnd().split('\n')
  const commands = lines.flatMap((line) => /^::(\w+) .*?title=KLM\d+%3A/.exec(line)?.[1] ?? [])
  return {
    ...bySeverity(commands.map((command) => (command === 'notice' ? 'info' : command))),
    suppressed: lines.filter((line) => /^KLM\d+ .*\(suppressed by /.test(line)).length,
    exitCode: exitCodeOf(lines.at(-1)),
    incomplete: lines.some((line) => line.includes('::not known: ')),
  }
}

function countsOfMermaid(text: string): Counts {
  const lines = text.split('\n')
  const remarks = lines.flatMap((line) => /^ {2}n\d+\["[✗!·] (\w+) (?:\w+ )?KLM\d+/.exec(line)?.[1] ?? [])
  return {
    ...bySeverity(remarks),
    suppressed: remarks.filter((word) => word === 'suppressed').length,
    exitCode: exitCodeOf(lines[0]),
    incomplete: lines.some((line) => line.includes('! the answer is not complete')),
  }
}

function countsOfMarkdown(text: string): Counts {
  const lines = text.trimEnd().split('\n')
  const findings = lines.flatMap((line) => /^<summary>[✗!·] (\w+) <b>KLM\d+/.exec(line)?.[1] ?? [])
  // A comment has room for so many; the last ones are left out, and those are the least severe.
  const leftOut = Number(/(\d+) of \d+ findings are left out/.exec(text)?.[1] ?? 0)
  return {
    ...bySeverity([...findings, ...Array.from({ length: leftOut }, () => 'info')]),
    suppressed: lines.filter((line) => line.startsWith('- suppressed: KLM')).length,
    exitCode: exitCodeOf(lines.at(-1)),
    incomplete: lines.some((line) => line.startsWith('- ! not known: ')),
  }
}

/** The last words of the line that sums up. */
function exitCodeOf(line: string | undefined): number {
  return Number(/; exit code (\d)$/.exec(line ?? '')?.[1] ?? Number.NaN)
}
