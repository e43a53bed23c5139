// Which findings are suppressed, and which suppressions have no effect (docs/ci.md, "Findings that you accept"). It is part
// of the core because it is a rule about findings alone, without I/O or format.
import { FINDING_CODES, findingEntry } from '../registry/findings.ts'
import { didYouMean } from '../../base/text/suggest.ts'
import { finding, type Finding } from './finding.ts'
import { subjectText, type Subject } from '../../model/objects/subject.ts'
import { annotationEntries, objectKey, type AnnotationEntry, type ObjectMark } from './suppress-annotation.ts'
import { matchesPattern, type FlagSuppression } from './suppress-flag.ts'

/** What suppresses a finding. */
export interface Suppression {
  readonly by: 'flag' | 'annotation'
  /** As it was written: `KLM402=iib/team-a/*`, or the entry of the annotation. */
  readonly text: string
  /** Undefined for a flag, which has none. */
  readonly reason: string | undefined
}

/** A finding, and what suppresses it. */
export interface SuppressedFinding {
  readonly finding: Finding
  readonly suppression: Suppression
}

/** The suppressions that flags and annotations ask for. */
export interface SuppressionRequests {
  readonly flags: readonly FlagSuppression[]
  /** The objects that carry the annotation; others may be among them. */
  readonly marks: readonly ObjectMark[]
}

/** What else is needed to tell whether a suppression has an effect. */
export interface SuppressionContext {
  /** Every finding that there is, shown or not; undefined where those shown are all. */
  readonly all: (() => readonly Finding[]) | undefined
  /** Whether an object is among those that the answer is about: only its annotation is then judged. */
  readonly covers: (subject: Subject) => boolean
  /** Whether something is not known: then an unused suppression is not reported. */
  readonly incomplete: boolean
}

/** The findings after suppression. */
export interface SuppressionResult {
  readonly kept: readonly Finding[]
  readonly suppressed: readonly SuppressedFinding[]
  /** Findings about suppressions: unused ones, and annotations that do not count. */
  readonly problems: readonly Finding[]
}

/** Separates suppressed findings from the others, which keep their order, and judges the suppressions. */
export function suppress(
  findings: readonly Finding[],
  requests: SuppressionRequests,
  grounds: SuppressionContext,
): SuppressionResult {
  const annotated = requests.marks
    .filter(({ suppress: text }) => text !== undefined)
    .flatMap((mark) => annotationEntries(mark).map((entry) => ({ mark, entry })))
  if (requests.flags.length === 0 && annotated.length === 0)
    return { kept: findings, suppressed: [], problems: [] }
  const byObject = Map.groupBy(annotated, ({ mark }) => objectKey(mark))
  const suppressionOf = (one: Finding): Suppression | undefined => {
    const flag = requests.flags.find((each) => matchesPattern(each, one))
    if (flag !== undefined) return { by: 'flag', text: flag.text, reason: undefined }
    for (const { entry } of byObject.get(objectKey(one.subject)) ?? [])
      if (entry.code === one.code && entry.fault === undefined && refusalOf(one) === undefined)
        return { by: 'annotation', text: entry.text, reason: entry.reason }
    return undefined
  }
  const kept: Finding[] = []
  const suppressed: SuppressedFinding[] = []
  for (const one of findings) {
    const suppression = suppressionOf(one)
    if (suppression === undefined) kept.push(one)
    else suppressed.push({ finding: one, suppression })
  }
  const covered = annotated.filter(({ mark }) => grounds.covers(mark))
  const asksForAll = requests.flags.length > 0 || covered.length > 0
  const known = asksForAll ? [...(grounds.all?.() ?? []), ...findings] : findings
  return {
    kept,
    suppressed,
    problems: [
      ...unusedFlags(requests.flags, known, grounds),
      ...covered.flatMap(({ mark, entry }) => annotationProblem(mark, entry, known, grounds) ?? []),
    ],
  }
}

/** Why an annotation cannot suppress a finding of its own object; undefined where it can. */
export function refusalOf({ severity, subject, related, namespaces }: Finding): string | undefined {
  if (severity === 'error') return 'an error is suppressed by --suppress alone'
  const others = [...related.map(({ namespace }) => namespace), ...(namespaces ?? [])]
  const foreign = others.find((namespace) => namespace !== '' && namespace !== subject.namespace)
  return foreign === undefined ? undefined : `namespace ${foreign} is part of the finding`
}

function unusedFlags(
  flags: readonly FlagSuppression[],
  known: readonly Finding[],
  { incomplete }: SuppressionContext,
): readonly Finding[] {
  if (incomplete) return []
  return flags
    .filter((flag) => !known.some((one) => matchesPattern(flag, one)))
    .map((flag) =>
      finding('KLM530', {
        subject: { kind: 'Flag', namespace: '', name: `--suppress ${flag.text}` },
        summary: `no finding ${flag.code} is about ${flag.text.slice(flag.text.indexOf('=') + 1)}`,
      }),
    )
}

function annotationProblem(
  mark: ObjectMark,
  entry: AnnotationEntry,
  known: readonly Finding[],
  { all, incomplete }: SuppressionContext,
): Finding | undefined {
  const { kind, namespace, name } = mark
  const subject = { kind, namespace, name }
  const evidence = [`the annotation says ${JSON.stringify(entry.text)}`]
  const ineffective = (why: string): Finding => finding('KLM531', { subject, summary: why, evidence })
  if (entry.fault !== undefined) return ineffective(entry.fault)
  const { code } = entry
  if (code === undefined) return ineffective(unknownCode(entry.written))
  if (findingEntry(code).isOfSuppressions === true)
    return ineffective(`${code} is about suppressions, and nothing suppresses it`)
  const own = known.filter((one) => one.code === code && objectKey(one.subject) === objectKey(subject))
  const refused = own.map(refusalOf).find((why) => why !== undefined)
  if (refused !== undefined) return ineffective(`${code} stays: ${refused}`)
  if (own.length > 0 || all === undefined || incomplete) return undefined
  const summary = `no finding ${code} is about ${subjectText(subject)}`
  return finding('KLM530', { subject, summary, evidence })
}

function unknownCode(written: string): string {
  const hint = didYouMean(written, FINDING_CODES)
  return `there is no finding code ${written}${hint === undefined ? '' : `: ${hint}`}`
}
