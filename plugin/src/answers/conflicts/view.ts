// How `conflicts` looks: how many of what, then a block for each kind of clash, worst first.
import type { Finding } from '@kleym/shared/core/findings/index.ts'
import { counted, type NameSummary } from '@kleym/shared/core/base/text/counted.ts'
import { leadingWith, type Answer } from '../../text/answer.ts'
import type { Layout } from '../../text/layout.ts'
import { kindsText, severitiesText } from '../../text/findings.ts'
import { policiesText } from '../../text/names.ts'
import type { ConflictCounts } from './counts.ts'

/** The first lines: how many of the worst severity, which codes, and how many of the others. */
export function conflictsAnswer(
  findings: readonly Finding[],
  counts: ConflictCounts & { readonly refused: NameSummary },
  layout: Layout,
): Answer {
  const refused = refusedText(counts.refused)
  const where = whereText(counts, findings.length === 0)
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
  const grave = findings.filter(({ severity }) => severity === worst?.severity)
  const others = findings.filter(({ severity }) => severity !== worst?.severity)
  const scope = isEmpty ? '; no binding is in scope' : ` in ${where}`
  return {
    mark: 'note',
    ...leadingWith(
      [`${severitiesText(grave)}${scope}`],
      [kindsText(grave)],
      ...(others.length === 0 ? [] : [[`also ${severitiesText(others)}`]]),
      ...refused,
    ),
  }
}

/** A refused binding gets no identity, whether or not something clashes. */
function refusedText(refused: NameSummary): readonly (readonly string[])[] {
  if (refused.count === 0) return []
  return [
    [`${counted(refused.count, 'binding')} ${refused.count === 1 ? 'is' : 'are'} refused: ${refused.text()}`],
  ]
}

/** What was looked at; where nothing is found, in how many namespaces too. */
function whereText({ bindings, namespaces, policies = 0 }: ConflictCounts, isAbsence: boolean): string {
  const ofBindings = `${counted(bindings, 'binding')}${isAbsence ? ` of ${counted(namespaces, 'namespace')}` : ''}`
  if (policies === 0) return ofBindings
  return bindings === 0 ? policiesText(policies) : `${ofBindings} and ${policiesText(policies)}`
}
