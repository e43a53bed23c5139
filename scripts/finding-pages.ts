// The registries of finding codes and of condition reasons as Markdown, for docs/.
import {
  IN_FORCE_REASON_NAMES,
  IN_FORCE_REASONS,
} from '../shared/src/core/decide/reasons/in-force-reasons.ts'
import { REASONS, REASON_NAMES, type ReasonEntry } from '../shared/src/core/decide/reasons/reasons.ts'
import {
  FINDING_CODES,
  findingEntry,
  type FindingCode,
} from '../shared/src/core/findings/registry/findings.ts'
import { pageSections, type PageExample } from '../shared/src/core/findings/registry/pages.ts'

const NOTE = '<!-- Generated from shared/src/core/findings/registry by `npm run generate`; do not edit. -->'

/** `docs/findings/<code>.md`. */
export function findingPage(code: FindingCode, example: PageExample): string {
  const entry = findingEntry(code)
  const reason = entry.reason === undefined ? '' : `, condition reason \`${entry.reason}\``
  const sections = pageSections(code).map(({ heading, text }) => `## ${heading}\n\n${text}\n`)
  return [
    NOTE,
    `# ${code}: ${entry.title}\n`,
    `Severity: **${entry.severity}**${reason}.\n`,
    ...sections,
    exampleText(example),
    `The same page at a terminal: \`kubectl kleym explain ${code}\`. All codes: [findings](README.md).\n`,
  ].join('\n')
}

function exampleText(example: PageExample): string {
  if ('none' in example) return `## Example\n\nNo manifest alone shows it. ${example.none}\n`
  return `## Bad\n\n${yamlBlock(example.bad)}\n## Good\n\n${yamlBlock(example.good)}`
}

function yamlBlock(text: string): string {
  return `\`\`\`yaml\n${text}\`\`\`\n`
}

/** `docs/findings/README.md`: all codes in one table. */
export function findingsIndex(): string {
  const rows = FINDING_CODES.map((code) => {
    const { severity, title, reason } = findingEntry(code)
    return `| [${code}](${code}.md) | ${severity} | ${title} | ${reason === undefined ? '' : `\`${reason}\``} |`
  })
  return [
    NOTE,
    '# Findings\n',
    'Every code that `kubectl kleym` reports. A code never changes its meaning and is never used again for another.\n',
    '| code | severity | what | condition reason |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}

/** `docs/reference/reasons.md`: what the conditions of a binding can say. */
export function reasonsPage(): string {
  const rows = REASON_NAMES.map((name) => {
    const { condition, ready, meaning, fix }: ReasonEntry = REASONS[name]
    return `| \`${name}\` | ${condition} | ${ready} | ${meaning} | ${fix} |`
  })
  return [
    NOTE,
    '# Condition reasons\n',
    'Five conditions of a binding decide: `Ready`, `Conflict`, `InvalidRef`, `UnsafeSelector` and `RenderFailure`. When `Ready`',
    'is False, exactly one of the other four is True, and `Ready` repeats its reason and message. The sixth, `InForce`, tells',
    'whether the SPIRE controller manager acts on the ClusterSPIFFEID; nothing is decided or withdrawn because of it.\n',
    '| reason | condition | `Ready` is | meaning | fix |',
    '|---|---|---|---|---|',
    ...rows,
    '',
    '## `InForce`\n',
    'Read from the counters that the SPIRE controller manager writes into `status.stats` of the ClusterSPIFFEID. Said at once are',
    '`Registered`, `Pending`, `NoOutput`, and `Undetermined` if outputs cannot be read; all else once it has lasted a minute.\n',
    '| reason | `InForce` is | meaning | fix |',
    '|---|---|---|---|',
    ...IN_FORCE_REASON_NAMES.map((name) => {
      const { status, message, fix } = IN_FORCE_REASONS[name]
      return `| \`${name}\` | ${status} | ${message} | ${fix} |`
    }),
    '',
  ].join('\n')
}
