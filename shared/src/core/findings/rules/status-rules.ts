// Where a cluster is not what the operator would make of it: its status lags or says something else, its output was
// changed or is gone, or the operator does not run. Asked of a live cluster alone, with nothing changed on paper.
import { present } from '../../base/present.ts'
import { namespacedName } from '../../model/namespaced-name.ts'
import {
  type Analysis,
  lostOperator,
  whyOperatorDown,
  type OperatorDeployment,
} from '../../analysis/index.ts'
import { CLUSTER_SPIFFE_ID_KIND } from '../../model/names.ts'
import { readyOf, type Binding } from '../../model/objects/binding.ts'
import { type Action, verdictOf, type Reason } from '../../decide/index.ts'
import { bindingSubject } from '../../model/objects/subject.ts'
import { OPERATOR_SUBJECT } from './install-rules.ts'
import { openOn, YES } from '../../model/truth/truth.ts'
import { asFarAs, finding, type Finding } from '../finding/finding.ts'
import type { AskedRule } from '../finding/rule.ts'
import { counted } from '../../base/text/counted.ts'

/** What only the operator can know: whether a write went well, and what it could not read. */
const OPERATORS_OWN: ReadonlySet<string> = new Set<Reason>([
  'ManagedOutputApplyFailed',
  'Undetermined',
  'WaitingForPeer',
  'NamespaceFull',
])

/** What is found of a live cluster. */
export const statusRule = {
  codes: ['KLM540', 'KLM541', 'KLM542', 'KLM543'],
  find: statusFindings,
} as const satisfies AskedRule

/** The findings of a live cluster; `operators` is undefined where Deployments could not be looked for. */
function statusFindings(
  analysis: Analysis,
  operators: readonly OperatorDeployment[] | undefined,
): readonly Finding[] {
  const findings = analysis.snapshot.bindings.read.flatMap((binding) =>
    present(statusOf(binding, analysis), ...outputOf(binding, analysis)),
  )
  return present(...findings, operatorFinding(analysis, findings, operators))
}

function statusOf(binding: Binding, analysis: Analysis): Finding | undefined {
  const judgement = analysis.now.judgements.get(binding.key)
  // The operator says it only where finalizers keep the binding.
  if (judgement === undefined || judgement.state === 'deleting') return undefined
  const verdict = verdictOf(judgement)
  const subject = bindingSubject(binding)
  const { status, meta } = binding
  const seen = status?.observedGeneration
  if (seen === undefined || seen < (meta.generation ?? 0)) {
    const summary =
      seen === undefined
        ? 'the operator has written no status yet'
        : `the operator's status is about generation ${seen}, and the binding is at ${meta.generation ?? 0}`
    return finding('KLM540', { subject, summary })
  }
  const ready = readyOf(binding)
  if (ready?.reason === verdict.reason) return undefined
  if (ready !== undefined && OPERATORS_OWN.has(ready.reason)) {
    const summary = `the operator says ${ready.reason}: ${ready.message}`
    return finding('KLM541', { subject, summary, evidence: [`from here it is ${verdict.reason}`] })
  }
  // What could not be read from here is no other reason.
  if (judgement.state === 'undetermined') return undefined
  return finding('KLM541', {
    subject,
    summary: `the operator's status says ${ready?.reason ?? 'nothing'}, and it is ${verdict.reason}`,
    evidence: [...(ready === undefined ? [] : [`status: ${ready.message}`]), `here: ${verdict.message}`],
  })
}

function outputOf(binding: Binding, analysis: Analysis): readonly Finding[] {
  return analysis.changes.of(binding.key).flatMap((change) => {
    const summary = changeText(change, binding)
    if (summary === undefined) return []
    const name = change.kind === 'delete' ? change.live.object.meta.name : change.output.metadata.name
    return finding('KLM542', {
      subject: bindingSubject(binding),
      related: [{ kind: CLUSTER_SPIFFE_ID_KIND, namespace: '', name }],
      summary,
    })
  })
}

/** Undefined for what the status does not claim to have been done. */
function changeText(change: Action, { status }: Binding): string | undefined {
  switch (change.kind) {
    case 'create':
      return status?.clusterSPIFFEID?.name === change.output.metadata.name
        ? `ClusterSPIFFEID ${change.output.metadata.name} is gone, and the status says that it is in force`
        : undefined
    case 'update':
      return `ClusterSPIFFEID ${change.output.metadata.name} differs from what the binding renders in ${change.drift.join(', ')}`
    case 'delete':
      return `ClusterSPIFFEID ${change.live.object.meta.name} is still there: ${change.because}`
  }
}

/** That the operator is down: a finding of its own, since it is so for every binding. */
function operatorFinding(
  { snapshot: { bindings } }: Analysis,
  waiting: readonly Finding[],
  operators: readonly OperatorDeployment[] | undefined,
): Finding | undefined {
  const summary = whyOperatorDown(operators, waiting.length > 0)
  if (summary === undefined || !bindings.isAnyRead) return undefined
  const keys = new Set(waiting.map(({ subject }) => namespacedName(subject.namespace, subject.name)))
  return finding('KLM543', {
    subject: operators?.[0]?.subject ?? OPERATOR_SUBJECT,
    summary,
    evidence:
      keys.size === 0 ? [] : [`${counted(keys.size, 'binding')} wait${keys.size === 1 ? 's' : ''} for it`],
  })
}

/** That a change, or files by themselves, leave no operator. `whyUnread`: why one may be there all the same. */
export function lostOperatorFindings(
  after: readonly OperatorDeployment[],
  before: readonly OperatorDeployment[],
  whyUnread: string | undefined,
): readonly Finding[] {
  const lost = lostOperator(after, before)
  if (lost === undefined) return []
  const holds = whyUnread === undefined ? YES : openOn('whether another operator is there', whyUnread)
  return asFarAs(holds, finding('KLM543', { subject: lost.subject, summary: lost.why }))
}
