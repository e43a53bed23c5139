// The report of `conflicts`: every finding about things that clash, worst first.
import { findingSteps } from '@kleym/shared/core/rules/all.ts'
import { compareFindings, type Finding } from '@kleym/shared/core/findings/finding.ts'
import type { FindingCode } from '@kleym/shared/core/registry/findings.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import { bindingsIn, countsOf } from './counts.ts'
import { conflictsFields } from './json.ts'
import { viewConflicts } from './view.ts'
import { concerns, namedSubject, type Frame } from '../../frame/frame.ts'
import { missingOf } from '../../frame/missing.ts'

/** Beside the 3xx (bindings and registrations among themselves), the 4xx (what SPIRE makes of them) and the 6xx (access policies). */
const CLASHES: ReadonlySet<FindingCode> = new Set<FindingCode>([
  'KLM110',
  'KLM509',
  'KLM512',
  'KLM520',
  'KLM521',
  'KLM550',
])
/** Nothing clashes where no pod is there yet. */
const NO_CLASHES: ReadonlySet<FindingCode> = new Set<FindingCode>(['KLM412'])

/** Makes the report for one namespace, or for all. */
export function conflictsFrame(input: AnswerInput, namespace: string | undefined): Frame {
  const all = [...input.drive(findingSteps(input.after)), ...input.inputFindings]
  const findings = all.filter((one) => isClash(one) && concerns(one, namespace)).toSorted(compareFindings)
  const bindings = bindingsIn(input, namespace)
  const counts = countsOf(input, bindings, namespace)
  return {
    kind: 'ConflictsReport',
    fields: () => conflictsFields(counts),
    findings,
    missing: missingOf(
      input,
      bindings.flatMap(({ key }) => input.after.now.judgements.get(key) ?? []),
    ),
    suppressionScope: {
      all: () => all,
      covers: (subject) => namespace === undefined || subject.namespace === namespace,
    },
    names: (shown) => shown.map(namedSubject),
    diagram: async (shown) => (await import('./diagram.ts')).conflictsDiagram(shown),
    view: (layout, shown) => viewConflicts(shown, counts, layout),
  }
}

function isClash({ code }: Finding): boolean {
  return CLASHES.has(code) || (/^KLM[346]/.test(code) && !NO_CLASHES.has(code))
}
