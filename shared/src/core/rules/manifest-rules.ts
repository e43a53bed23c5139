// Findings about manifests that the API server does not take as they are: it drops fields that a CRD does not have, and
// refuses wrong types. What is left of the object is what everything else here is about.
import type { Analysis } from '../analysis/analysis.ts'
import { finding, type Finding, type Subject } from '../findings/finding.ts'
import { bindingSubject } from '../findings/subjects.ts'
import { BINDING, OBJECTIVE_KIND, POOL_KIND, qualifiedKind, type Kind } from '../kinds.ts'
import { SPIRE_GROUP } from '../names.ts'
import type { DroppedField, ManifestFault } from '../objects/manifest-check.ts'
import type { FindingCode } from '../registry/findings.ts'

/** The findings of all manifests. */
export function manifestFindings(analysis: Analysis): readonly Finding[] {
  return analysis.snapshot.manifestFaults.flatMap((fault) => findingsOfFault(fault, analysis))
}

/** Whether a finding is about a manifest of a registration: it may concern every pod. */
export function isAboutRegistration({ code, subject }: Finding): boolean {
  return (code === DROPPED || code === REFUSED) && SPIRE_KINDS.has(subject.kind)
}

const DROPPED: FindingCode = 'KLM420'
const REFUSED: FindingCode = 'KLM421'
const SPIRE_KINDS: ReadonlySet<string> = new Set(['ClusterSPIFFEID', 'ClusterStaticEntry'])

function findingsOfFault(fault: ManifestFault, analysis: Analysis): readonly Finding[] {
  const { kind, dropped, refusals } = fault
  const isBinding = kind.kind === BINDING.kind
  const subject = subjectOf(fault)
  const related = bindingsThatName(fault, analysis)
  const found: Finding[] = []
  const [field] = dropped
  if (field !== undefined) {
    const parts = dropped.map((one) => droppedText(one, kind))
    const [summary = '', ...evidence] = parts
    found.push(finding(isBinding ? 'KLM550' : DROPPED, { subject, related, summary, evidence, parts }))
  }
  const [refusal] = refusals
  // The checks of a binding name its wrong types, under the code of each field.
  if (refusal !== undefined && !isBinding)
    found.push(
      finding(REFUSED, { subject, related, summary: refusal, evidence: refusals.slice(1), parts: refusals }),
    )
  return found
}

function droppedText({ path, isNull, near: [nearest] }: DroppedField, { kind, version }: Kind): string {
  const meant = nearest === undefined ? '' : `; did you mean ${nearest}?`
  return isNull
    ? `${path} is null, which the API server drops`
    : `${path} is no field of ${kind} (${version})${meant}`
}

/** A registration is named by its kind alone, as by all other rules; kinds of several groups with theirs. */
function subjectOf({ kind, namespace, name }: ManifestFault): Subject {
  const isAlone = kind.group === SPIRE_GROUP || kind.kind === BINDING.kind
  return { kind: isAlone ? kind.kind : qualifiedKind(kind), namespace, name }
}

/** The bindings that rest on a pool or an objective. */
function bindingsThatName(
  { kind, namespace, name }: ManifestFault,
  { compiled }: Analysis,
): readonly Subject[] {
  if (kind.kind !== POOL_KIND && kind.kind !== OBJECTIVE_KIND) return []
  return compiled.flatMap(({ binding }) => {
    const ref = kind.kind === POOL_KIND ? binding.poolRef : binding.objectiveRef
    const isNamed = ref.ok && ref.value?.name === name && binding.meta.namespace === namespace
    return isNamed ? [bindingSubject(binding)] : []
  })
}
