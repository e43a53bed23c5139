// How `conflicts` looks: how many of what, then each clash with its proof, its witness and its fix, worst first.
import {
  countBySeverity,
  subjectText,
  type Finding,
  type Subject,
} from '@kleym/shared/core/findings/finding.ts'
import { counted } from '@kleym/shared/core/text/counted.ts'
import { RULE_KIND } from '@kleym/shared/core/rules/policy-rules.ts'
import { BINDING_KIND } from '@kleym/shared/core/names.ts'
import { findingEntry } from '@kleym/shared/core/registry/findings.ts'
import type { Layout } from '../../text/layout.ts'
import { BLANK, line, lineWidth, MARKS, span, type Block, type Line, type Mark } from '../../text/line.ts'
import { namesText } from '../../text/names.ts'
import { wrap } from '../../text/wrap.ts'

const SEVERITY_MARK: Readonly<Record<Finding['severity'], Mark>> = {
  error: 'bad',
  warning: 'warn',
  info: 'note',
}

export interface ConflictCounts {
  readonly bindings: number
  readonly namespaces: number
  /** Access policies; undefined where there are none to speak of. */
  readonly policies?: number
}

/** The whole view. */
export function viewConflicts(findings: readonly Finding[], counts: ConflictCounts, layout: Layout): Block {
  const where = whereText(counts)
  const isEmpty = counts.bindings === 0 && (counts.policies ?? 0) === 0
  if (findings.length === 0 && isEmpty && layout.incomplete !== true)
    return [line(MARKS.note, ' no binding is in scope, and nothing else is seen to clash')]
  if (findings.length === 0) {
    return layout.incomplete === true
      ? [line(MARKS.warn, ` nothing is known to clash in ${where}`)]
      : [line(MARKS.ok, ` nothing clashes in ${where}`)]
  }
  return [
    line(span(`${severitiesText(findings)} in ${where}`, 'bold')),
    ...findings.flatMap((one) => [BLANK, ...viewFinding(one, layout)]),
  ]
}

function whereText({ bindings, namespaces, policies = 0 }: ConflictCounts): string {
  const and = policies === 0 ? '' : ` and ${policiesText(policies)}`
  return `${counted(bindings, 'binding')} of ${counted(namespaces, 'namespace')}${and}`
}

/** `1 policy`, `2 policies`. */
export function policiesText(count: number): string {
  return count === 1 ? '1 policy' : `${count} policies`
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

/** One finding: who, what and code in the first line, then proof and fix. */
export function viewFinding(one: Finding, layout: Layout): Block {
  const who = [one.subject, ...one.related].map(shortSubject)
  const names = layout.wide ? who.join(', ') : namesText(who)
  const head = line(
    MARKS[SEVERITY_MARK[one.severity]],
    ' ',
    span(names, 'bold'),
    `: ${findingEntry(one.code).title}`,
  )
  return [
    ...withCode(head, one.code, layout),
    ...[one.summary, ...one.evidence].flatMap((text) =>
      wrap(line(`  ${text}`), { width: layout.width, hang: 4 }),
    ),
    ...wrap(line(`  fix: ${one.fix}`), { width: layout.width, hang: 7 }),
  ]
}

/** The code stands at the right edge where the line leaves room, else on the line's last row. */
function withCode(head: Line, code: string, { width }: Layout): Block {
  const gap = Math.min(width, 100) - lineWidth(head) - code.length
  if (gap >= 2) return [[...head, span(' '.repeat(gap)), span(code, 'dim')]]
  return wrap([...head, span('  '), span(code, 'dim')], { width, hang: 2 })
}

/** A binding by `namespace/name`, a rule of the policy before it by its name, anything else by kind too. */
function shortSubject(subject: Subject): string {
  if (subject.kind === RULE_KIND) return `rule ${subject.name.slice(subject.name.indexOf('/') + 1)}`
  if (subject.kind !== BINDING_KIND) return subjectText(subject)
  const container = subject.container === undefined ? '' : `:${subject.container}`
  return `${subject.namespace}/${subject.name}${container}`
}
