// `-o github`: workflow commands that GitHub Actions turns into annotations (actions/toolkit, command.ts), worst first,
// then one plain line that sums up. GitHub shows ten errors and ten warnings a step; the log has them all.
import { printable } from '../io/errors.ts'
import { countBySeverity, findingEntry, type Severity } from '@kleym/shared/core/findings/index.ts'
import { counted } from '@kleym/shared/core/base/text/counted.ts'
import { findingLines, placeOfFinding, suppressionText, type CiResult, type FilePlace } from './ci.ts'
import { escapeGithubMessage, escapeGithubProperty, neutraliseCommands } from '../io/escape.ts'

type Command = 'error' | 'warning' | 'notice'

const COMMANDS: Readonly<Record<Severity, Command>> = { error: 'error', warning: 'warning', info: 'notice' }

/** The whole output. */
export function toGithub(result: CiResult): string {
  return [
    ...result.unknowns.map((text) =>
      command('error', { title: 'kleym: the answer is not complete', lines: [`not known: ${text}`] }),
    ),
    ...result.findings.map((one) =>
      command(COMMANDS[one.severity], {
        title: `${one.code}: ${findingEntry(one.code).title}`,
        lines: findingLines(one),
        place: placeOfFinding(one, result),
      }),
    ),
    ...result.differences.map((text) => command('notice', { title: 'kleym diff', lines: [text] })),
    ...result.suppressed.map(({ finding, suppression }) =>
      printable(`${finding.code} ${findingLines(finding)[0] ?? ''} (${suppressionText(suppression)})`),
    ),
    printable(summaryText(result)),
  ]
    .map((text) => `${text}\n`)
    .join('')
}

/** `kleym ConflictsReport: 2 errors, 1 warning, 0 info; 1 suppressed; the answer is not complete; exit code 4`. */
export function summaryText({
  kind,
  findings,
  suppressed,
  differences,
  unknowns,
  assuming,
  exitCode,
}: CiResult): string {
  const { error, warning, info } = countBySeverity(findings)
  return [
    `kleym ${kind}: ${counted(error, 'error')}, ${counted(warning, 'warning')}, ${info} info`,
    ...(differences.length === 0 ? [] : [counted(differences.length, 'difference')]),
    `${suppressed.length} suppressed`,
    ...(unknowns.length === 0 ? [] : ['the answer is not complete']),
    ...(assuming === undefined ? [] : [assuming]),
    `exit code ${exitCode}`,
  ].join('; ')
}

interface Annotation {
  readonly title: string
  readonly lines: readonly string[]
  readonly place?: FilePlace | undefined
}

function command(name: Command, { title, lines, place }: Annotation): string {
  const properties = [
    ...(place === undefined
      ? []
      : [`file=${escapeGithubProperty(neutraliseCommands(place.file))}`, `line=${place.line}`]),
    `title=${escapeGithubProperty(neutraliseCommands(title))}`,
  ]
  // The runner makes line breaks of %0A.
  const message = lines.map((line) => escapeGithubMessage(neutraliseCommands(line))).join('%0A')
  return `::${name} ${properties.join(',')}::${message}`
}
