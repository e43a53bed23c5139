// How `conflicts` looks: how many of what, then a block for each kind of clash, worst first.
import type { Finding } from '@kleym/shared/core/findings/index.ts'
import { counted, type NameSummary } from '@kleym/shared/core/base/text/counted.ts'
import type { Answer } from '../../text/answer.ts'
import type { Layout } from '../../text/layout.ts'
import { viewFindingGroups } from '../../text/finding-groups.ts'
import { kindsText, severitiesText } from '../../text/findings.ts'
import { span, type Block } from '../../text/line.ts'
import { policiesText } from '../../text/names.ts'
import type { ConflictCounts } from './counts.ts'

/** The first lines: how many of each severity, and the codes of the worst. */
export function conflictsAnswer(
  findings: readonly Finding[],
  counts: ConflictCounts & { readonly refused: NameSummary },
  layout: Layout,
): Answer {
  const refused = refusedText(counts.refused)
  const where = whereText(counts)
  const world = layout.world ?? ''
  const isEmpty = counts.bindings === 0 && (counts.policies ?? 0) === 0
  if (findings.length === 0 && isEmpty && layout.incomplete !== true)
    return { mark: 'note', text: [`no binding is in scope, and nothing else is seen to clash${world}`] }
  if (findings.length === 0) {
    const isOpen = layout.incomplete === true || layout.unsettled === true
    const what = isOpen ? 'nothing is known to clash' : 'nothing clashes'
    return {
      mark: counts.refused.count > 0 ? 'warn' : 'ok',
      text: [`${what} in ${where}${world}`],
      reasons: refused,
    }
  }
  const [worst] = findings
  return {
    mark: 'note',
    text: [
      span(`${severitiesText(findings)}${isEmpty ? '; no binding is in scope' : ` in ${where}`}`, 'bold'),
    ],
    reasons: [[kindsText(findings.filter(({ severity }) => severity === worst?.severity))], ...refused],
  }
}

/** What clashes, a block for each code. */
export function viewConflicts(findings: readonly Finding[], layout: Layout): Block {
  return viewFindingGroups(findings, layout)
}

/** A refused binding gets no identity, whether or not something clashes. */
function refusedText(refused: NameSummary): readonly (readonly string[])[] {
  if (refused.count === 0) return []
  return [
    [`${counted(refused.count, 'binding')} ${refused.count === 1 ? 'is' : 'are'} refused: ${refused.text()}`],
  ]
}

function whereText({ bindings, namespaces, policies = 0 }: ConflictCounts): string {
  const ofBindings = `${counted(bindings, 'binding')} of ${counted(namespaces, 'namespace')}`
  if (policies === 0) return ofBindings
  return bindings === 0 ? policiesText(policies) : `${ofBindings} and ${policiesText(policies)}`
}
