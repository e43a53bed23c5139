// A finding: something that a person should know, with a stable code, what it is about, what shows it, and the fix.
import { dependsText, type Assumption } from '../../analysis/index.ts'
import { namespacedName } from '../../model/namespaced-name.ts'
import { compareSubjects, subjectText, type Subject } from '../../model/objects/subject.ts'
import { findingEntry, type FindingCode, type Severity } from '../registry/findings.ts'
import { compareBytes } from '../../base/text/bytes.ts'
import { NO, type Truth } from '../../model/truth/truth.ts'
import { decidingText, unknownText } from '../../model/truth/unknown.ts'

/**
 * The several things that a finding is about, a text for each: the fields of a manifest that are wrong, the sources of a rule. A further
 * one is new. The key of one holds no count and no position in a list.
 */
export type Parts = ReadonlyMap<string, string>

/** The part for a container of a finding that may be about several. */
export function containerPart(name: string): string {
  return `container ${name}`
}

/** What pods show, of whichever namespaces are asked about. */
export interface ShownByNamespace {
  of(namespaces: ReadonlySet<string>): ShownWithin
}

/** What pods of some namespaces show, and the evidence that this takes the place of: so many lines from the first one. */
export interface ShownWithin {
  readonly summary: string
  readonly evidence: readonly string[]
  readonly insteadOf: number
}

/** One finding of a rule. */
export interface Finding {
  readonly code: FindingCode
  readonly severity: Severity
  readonly subject: Subject
  /** The other objects that are part of it, in a total order. */
  readonly related: readonly Subject[]
  /** One sentence: what is the case here. */
  readonly summary: string
  /** What shows it, a line each, in a total order. */
  readonly evidence: readonly string[]
  readonly fix: string
  /** The namespaces of the pods that show it, where pods do. */
  readonly namespaces: ReadonlySet<string> | undefined
  /** What pods of some of these namespaces show; absent where pods of no two show it. */
  readonly within?: ShownByNamespace
  readonly parts?: Parts
  /** What decides whether it is about more parts than these, which is not known; absent: nothing. */
  readonly moreParts?: readonly string[]
  /**
   * What it depends on and is not known: settings that were not given, facts that the objects do not show; absent: nothing. It
   * is then no error (docs/assumptions.md).
   */
  readonly dependsOn?: readonly string[]
}

/** What a rule reports. The registry gives code and severity, and the fix where a rule gives none. */
export interface Observation {
  readonly subject: Subject
  readonly related?: readonly Subject[]
  readonly summary: string
  readonly evidence?: readonly string[]
  readonly fix?: string
  readonly namespaces?: ReadonlySet<string>
  readonly parts?: Parts
}

/** Makes a finding of a code. */
export function finding(code: FindingCode, observation: Observation): Finding {
  const entry = findingEntry(code)
  return {
    code,
    severity: entry.severity,
    subject: observation.subject,
    related: (observation.related ?? []).toSorted(compareSubjects),
    summary: observation.summary,
    evidence: observation.evidence ?? [],
    fix: observation.fix ?? entry.fix,
    namespaces: observation.namespaces,
    ...(observation.parts !== undefined && { parts: observation.parts }),
  }
}

/** A finding that depends on settings which were not given: it says so, and is no error. */
export function depending(one: Finding, on: readonly Assumption[], when?: string): Finding {
  if (on.length === 0) return one
  const why = `${dependsText(on)}${when === undefined ? '' : `: true if ${when}`}`
  return notCertain(
    one,
    on.map(({ what }) => what),
    why,
  )
}

/** A finding as far as it holds: as it is, or with what it depends on and why, each once; none if it does not hold. */
export function asFarAs(holds: Truth, one: Finding): readonly Finding[] {
  if (holds === NO) return []
  let judged = one
  const named = new Set<string>()
  for (const cause of holds.causes) {
    const [on, why] = [decidingText(cause), `depends: ${unknownText(cause)}`]
    if (!judged.evidence.includes(why)) judged = notCertain(judged, named.has(on) ? [] : [on], why)
    named.add(on)
  }
  return [judged]
}

/** A finding that rests on something which is not known: `on` says what, a noun phrase each, and `why` is a line of evidence. */
export function notCertain(one: Finding, on: readonly string[], why: string): Finding {
  return {
    ...one,
    severity: one.severity === 'error' ? 'warning' : one.severity,
    evidence: [...one.evidence, why],
    dependsOn: [...(one.dependsOn ?? []), ...on],
  }
}

/** A finding as it is about some of the namespaces whose pods show it; the same where no pods of them do. */
export function withinNamespaces(one: Finding, wanted: ReadonlySet<string>): Finding {
  const namespaces = wanted.intersection(one.namespaces ?? new Set())
  if (one.within === undefined || namespaces.size === 0 || namespaces.size === one.namespaces?.size)
    return one
  const { summary, evidence, insteadOf } = one.within.of(namespaces)
  return { ...one, summary, evidence: [...evidence, ...one.evidence.slice(insteadOf)], namespaces }
}

/**
 * A finding as it is about the pods of a namespace, where these are why it concerns that one: which pods hold the identity of a binding
 * of it is told of all.
 */
export function seenFrom(namespace: string | undefined, one: Finding): Finding {
  const isNamed = namedIn(one).some((named) => named.namespace === namespace)
  return namespace === undefined || isNamed ? one : withinNamespaces(one, new Set([namespace]))
}

/** Worst first, then by code, subject, related subjects and summary: a total order. */
export function compareFindings(left: Finding, right: Finding): number {
  return (
    SEVERITY_RANK[left.severity] - SEVERITY_RANK[right.severity] ||
    compareBytes(left.code, right.code) ||
    compareSubjects(left.subject, right.subject) ||
    compareRelated(left.related, right.related) ||
    compareBytes(left.summary, right.summary)
  )
}

/** Subject by subject: thousands of findings with thousands of related subjects each mostly differ in the first. */
function compareRelated(left: readonly Subject[], right: readonly Subject[]): number {
  for (const [at, subject] of left.entries()) {
    const other = right[at]
    const order = other === undefined ? 1 : compareBytes(subjectText(subject), subjectText(other))
    if (order !== 0) return order
  }
  return left.length - right.length
}

/**
 * Equal for findings that may count as the same one before and after a change: code, subject and related subjects. What else counts
 * there stands in `explain/finding-changes.ts`.
 */
export function findingKey(one: Finding): string {
  return [one.code, ...namedIn(one).map(subjectText)].join('\n')
}

/** What a finding names: its subject, then the others. */
export function namedIn({ subject, related }: Finding): readonly Subject[] {
  return [subject, ...related]
}

/** How many findings there are of each severity. */
export function countBySeverity(findings: readonly Finding[]): Readonly<Record<Severity, number>> {
  const counts = { error: 0, warning: 0, info: 0 }
  for (const { severity } of findings) counts[severity]++
  return counts
}

/** Whether a finding is about one of these objects, as subject or as a related one; `keys` are `namespace/name`. */
export function isAbout(found: Finding, kind: string, keys: ReadonlySet<string>): boolean {
  return namedIn(found).some((one) => one.kind === kind && keys.has(namespacedName(one.namespace, one.name)))
}

/** Whether a severity is as bad as a threshold, or worse. */
export function isAtLeast(severity: Severity, threshold: Severity): boolean {
  return SEVERITY_RANK[severity] <= SEVERITY_RANK[threshold]
}

const SEVERITY_RANK: Readonly<Record<Severity, number>> = { error: 0, warning: 1, info: 2 }
