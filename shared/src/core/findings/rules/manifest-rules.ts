// Findings about manifests that the API server does not take as they are: it drops fields that a CRD does not have, and
// refuses wrong types. What is left of the object is what everything else here is about.
import type { Analysis } from '../../analysis/index.ts'
import { finding, type Finding } from '../finding/finding.ts'
import { ruleAtOnce, type Rule } from '../finding/rule.ts'
import { type Subject, bindingSubject } from '../../model/objects/subject.ts'
import {
  BINDING,
  OBJECTIVE_KIND,
  POOL_KIND,
  qualifiedKind,
  REGISTRATIONS,
  type Kind,
} from '../../model/kinds.ts'
import { SPIRE_GROUP } from '../../model/names.ts'
import {
  withoutPlaces,
  type DroppedField,
  type FaultList,
  type ManifestFault,
} from '../../model/objects/manifest-check.ts'
import type { FindingCode } from '../registry/findings.ts'

/** The findings of all manifests. */
export function manifestFindings(analysis: Analysis): readonly Finding[] {
  return analysis.snapshot.manifestFaults.flatMap((fault) => findingsOfFault(fault, analysis))
}

/** What is found about manifests. */
export const manifestRule: Rule = ruleAtOnce(['KLM420', 'KLM421', 'KLM550'], manifestFindings)

/** Whether a finding is about a manifest of a registration: it may concern every pod. */
export function isAboutRegistration({ code, subject }: Finding): boolean {
  return (code === DROPPED || code === REFUSED) && REGISTRATIONS.some(({ kind }) => kind === subject.kind)
}

const DROPPED: FindingCode = 'KLM420'
const REFUSED: FindingCode = 'KLM421'

function findingsOfFault(fault: ManifestFault, analysis: Analysis): readonly Finding[] {
  const { kind, dropped, refusals, whyNoPlace } = fault
  const isBinding = kind.kind === BINDING.kind
  const subject = subjectOf(fault)
  const related = bindingsThatName(fault, analysis)
  const found: Finding[] = []
  const droppedOnes = observed(
    dropped,
    (one) => droppedText(one, kind),
    ({ path, isNull }) => `${path} ${isNull}`,
  )
  if (droppedOnes !== undefined)
    found.push(finding(isBinding ? 'KLM550' : DROPPED, { subject, related, ...droppedOnes }))
  if (whyNoPlace !== undefined) found.push(finding(REFUSED, { subject, related, summary: whyNoPlace }))
  const refused = observed(
    refusals,
    (text) => text,
    (text) => text,
  )
  // The checks of a binding name its wrong types, under the code of each field.
  if (refused !== undefined && !isBinding) found.push(finding(REFUSED, { subject, related, ...refused }))
  return found
}

/** What a finding says of faults; undefined for none. The order of a list, and that something else stands in it, is no news. */
function observed<Fault>(
  { first, more, moreDigest }: FaultList<Fault>,
  textOf: (fault: Fault) => string,
  keyOf: (fault: Fault) => string,
): Required<Pick<Finding, 'summary' | 'evidence' | 'parts'>> | undefined {
  const [summary, ...others] = first.map(textOf)
  if (summary === undefined) return undefined
  const parts = new Map<string, string>()
  for (const one of first) {
    const key = withoutPlaces(keyOf(one))
    let place = 1
    while (parts.has(`${key} ${place}`)) place++
    parts.set(`${key} ${place}`, textOf(one))
  }
  const moreText = `and ${more} more`
  if (more > 0) parts.set(moreDigest, moreText)
  return { summary, evidence: [...others, ...(more > 0 ? [moreText] : [])], parts }
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
