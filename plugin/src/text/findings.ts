// How findings look, in every answer: one alone with proof and fix, one under the object that it is about, and counts.
import { namespacedName } from '@kleym/shared/core/model/namespaced-name.ts'
import { countBySeverity, type Finding, RULE_KIND, findingEntry } from '@kleym/shared/core/findings/index.ts'
import { subjectText, type Subject } from '@kleym/shared/core/model/objects/subject.ts'
import { counted } from '@kleym/shared/core/base/text/counted.ts'
import { BINDING_KIND } from '@kleym/shared/core/model/names.ts'
import { withPageUrls } from '../io/docs-url.ts'
import type { Layout } from './layout.ts'
import { line, lineWidth, MARKS, span, type Block, type Line, type Mark, type Piece } from './line.ts'
import { namesText } from './names.ts'
import { wrap } from './wrap.ts'

/** The mark of a finding. */
export const SEVERITY_MARK: Readonly<Record<Finding['severity'], Mark>> = {
  error: 'bad',
  warning: 'warn',
  info: 'note',
}

/** `2 errors, 1 warning`. */
export function severitiesText(findings: readonly Finding[]): string {
  const counts = countBySeverity(findings)
  const parts = [
    ...(counts.error > 0 ? [counted(counts.error, 'error')] : []),
    ...(counts.warning > 0 ? [counted(counts.warning, 'warning')] : []),
    ...(counts.info > 0 ? [`${counts.info} info`] : []),
  ]
  return parts.length === 0 ? 'no findings' : parts.join(', ')
}

/** The kinds of findings, as `the identity reaches no container (KLM404, 2), ...`, the most frequent first. */
export function kindsText(findings: readonly Finding[]): string {
  const groups = [...Map.groupBy(findings, ({ code }) => code)].toSorted(
    ([, left], [, right]) => right.length - left.length,
  )
  const said = groups.slice(0, CODES_NAMED).map(([code, same]) => {
    const times = same.length === 1 ? '' : `, ${same.length} times`
    return `${findingEntry(code).title} (${code}${times})`
  })
  const more = groups.length - said.length
  return `${said.join('; ')}${more > 0 ? `; and ${counted(more, 'other kind')}` : ''}`
}

/** More codes would take more than a line or two. */
const CODES_NAMED = 3

/** One finding: who, what and code in the first line, then proof and fix. */
export function viewFinding(one: Finding, layout: Layout): Block {
  return [
    ...findingHead(one, layout),
    ...factLines([one.summary, ...one.evidence], layout),
    ...wrap(line(`  fix: ${fixText(one.fix, layout)}`), layout.width, 7),
  ]
}

/** One finding whose summary and fix stand above already: who, what and code, then proof. */
export function viewEvidence(one: Finding, layout: Layout): Block {
  return [...findingHead(one, layout), ...factLines(one.evidence, layout)]
}

function findingHead({ subject, related, severity, code }: Finding, layout: Layout): Block {
  const who = [subject, ...related].map(shortSubject)
  const names = layout.wide ? who.join(', ') : namesText(who)
  const head = line(MARKS[SEVERITY_MARK[severity]], ' ', span(names, 'bold'), `: ${findingEntry(code).title}`)
  return withCode(head, code, layout)
}

function factLines(texts: readonly string[], { width }: Layout): Block {
  return texts.flatMap((text) => wrap(line(`  ${text}`), width, 4))
}

/** A fix, in which each command asks the same files or cluster as this answer. */
export function fixText(fix: string, { echo = '' }: Layout): string {
  return withPageUrls(fix).replaceAll(
    /kubectl kleym (?:explain|who-selects|diff)\b(?! KLM)/g,
    (command) => `${command}${echo}`,
  )
}

/** The code stands at the right edge where the line leaves room, else on the line's last row. */
export function withCode(head: Line, code: string, { width }: Layout): Block {
  const gap = Math.min(width, 100) - lineWidth(head) - code.length
  if (gap >= 2) return [[...head, span(' '.repeat(gap)), span(code, 'dim')]]
  return wrap([...head, span('  '), span(code, 'dim')], width, 2)
}

/** A binding by `namespace/name`, a rule of the policy before it by its name, anything else by kind too. */
export function shortSubject(subject: Subject): string {
  if (subject.kind === RULE_KIND) return `rule ${subject.name.slice(subject.name.indexOf('/') + 1)}`
  if (subject.kind !== BINDING_KIND) return subjectText(subject)
  const container = subject.container === undefined ? '' : `:${subject.container}`
  return `${namespacedName(subject.namespace, subject.name)}${container}`
}

/** A finding under the object that it is about: mark, sentence, code. */
export function findingPieces({ code, severity, summary, dependsOn }: Finding): readonly Piece[] {
  const rests = dependsOn === undefined ? '' : ` (depends on ${dependsOn.join(', ')})`
  return [MARKS[SEVERITY_MARK[severity]], ` ${summary}${rests}   `, span(code, 'dim')]
}
