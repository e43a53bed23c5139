// How `conflicts` looks: how many of what, then each clash with its proof, its witness and its fix, worst first.
import type { Finding } from '@kleym/shared/core/findings/finding.ts'
import { counted } from '@kleym/shared/core/text/counted.ts'
import type { Layout } from '../../text/layout.ts'
import { severitiesText, viewFinding } from '../../text/findings.ts'
import { BLANK, line, MARKS, span, type Block } from '../../text/line.ts'
import { policiesText } from '../../text/names.ts'
import { wrap } from '../../text/wrap.ts'
import type { ConflictCounts } from './counts.ts'

/** The whole view. */
export function viewConflicts(findings: readonly Finding[], counts: ConflictCounts, layout: Layout): Block {
  const where = whereText(counts)
  const isEmpty = counts.bindings === 0 && (counts.policies ?? 0) === 0
  if (findings.length === 0 && isEmpty && layout.incomplete !== true)
    return wrap(
      line(MARKS.note, ` no binding is in scope, and nothing else is seen to clash${layout.world ?? ''}`),
      { width: layout.width, hang: 2 },
    )
  if (findings.length === 0) {
    const world = layout.world ?? ''
    const text =
      layout.incomplete === true || layout.unsettled === true
        ? line(MARKS.warn, ` nothing is known to clash in ${where}${world}`)
        : line(MARKS.ok, ` nothing clashes in ${where}${world}`)
    return wrap(text, { width: layout.width, hang: 2 })
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
