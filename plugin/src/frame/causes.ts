// What keeps an answer from being certain: the one list from which the exit code, the text and the report are read.
import { onceBy } from '@kleym/shared/core/base/groups.ts'
import {
  assumptionsThatCount,
  assumptionText,
  type Assumption,
  type ResolvedPolicy,
} from '@kleym/shared/core/analysis/index.ts'
import { subjectText } from '@kleym/shared/core/model/objects/subject.ts'
import {
  FINDING_CODES,
  findingEntry,
  isAtLeast,
  openFindings,
  type Concern,
  type Finding,
  type Severity,
} from '@kleym/shared/core/findings/index.ts'
import { unknownReasonText, type UnknownReason } from '@kleym/shared/core/model/unknown-reason.ts'
import { compareBytes } from '@kleym/shared/core/base/text/bytes.ts'
import type { AnswerInput } from '../gather/gather.ts'
import { namesText } from '../text/names.ts'

/** Something that is not known, by what depends on it. Every format lists causes in this order. */
export type Cause =
  /** Anything, or what one rule reports, `worst` at most: it could not be read, and the report lists it. Of a gap, `kind` is what was not read. */
  | {
      readonly leaves: 'anything'
      readonly why: UnknownReason
      readonly worst?: Severity
      readonly kind?: string
    }
  /** A statement that can be decided neither way; a sentence. */
  | { readonly leaves: 'a statement'; readonly text: string }
  /** Whether what was compared differs; a sentence. */
  | { readonly leaves: 'a difference'; readonly text: string }
  /** Whether there is a finding; a noun phrase. */
  | { readonly leaves: 'a finding'; readonly text: string }
  /** What depends on a setting that was not given. */
  | { readonly leaves: 'what depends on a setting'; readonly assumption: Assumption }
  /** What a registration gives whose template is not supported: any identity to any pod. */
  | { readonly leaves: 'a registration'; readonly of: readonly string[] }

/** What a cause leaves open. */
export type LeftOpen = Cause['leaves']

const ORDER: readonly LeftOpen[] = [
  'anything',
  'a statement',
  'a difference',
  'a finding',
  'what depends on a setting',
  'a registration',
]

/** Whether one of them leaves something of that kind open. */
export function leavesOpen(causes: readonly Cause[], ...kinds: readonly LeftOpen[]): boolean {
  return causes.some(({ leaves }) => kinds.includes(leaves))
}

/** A cause in one line. */
export function causeText(cause: Cause): string {
  switch (cause.leaves) {
    case 'anything':
      return unknownReasonText(cause.why)
    case 'what depends on a setting':
      return assumptionText(cause.assumption)
    case 'a registration': {
      const who = cause.of.length === 0 ? 'a ClusterSPIFFEID' : namesText(cause.of)
      return `${who}: template not supported, result unknown (${UNFOLLOWED})`
    }
    case 'a statement':
    case 'a difference':
    case 'a finding':
      return cause.text
  }
}

/** What could not be read: the field `missing` of a report. */
export function missingOf(causes: readonly Cause[]): readonly UnknownReason[] {
  return causes.flatMap((cause) => (cause.leaves === 'anything' ? [cause.why] : []))
}

/** The settings that were not given: the field `assumptions` of a report. */
export function assumptionsOf(causes: readonly Cause[]): readonly Assumption[] {
  return causes.flatMap((cause) => (cause.leaves === 'what depends on a setting' ? [cause.assumption] : []))
}

/** What an answer is about, and what it met itself. */
export interface CausesAsked extends Concern {
  readonly unread?: readonly UnknownReason[]
  readonly further?: readonly Cause[]
}

/**
 * The gaps of the snapshot that may hide something, what rules may have missed about what is asked, the settings that the answer depends on,
 * and what it met itself: each once, in their total order.
 */
export function causesOf(
  input: Pick<AnswerInput, 'after' | 'before'>,
  { unread = [], further = [], ...concern }: CausesAsked,
): readonly Cause[] {
  // What leaves more open comes last, and counts.
  const all = [
    ...openFindings(input.after, concern).toSorted(
      (a, b) => Number(isAtLeast(a.worst, b.worst)) - Number(isAtLeast(b.worst, a.worst)),
    ),
    ...[...input.after.snapshot.rest.missing].map(([kind, why]) => ({ kind, why })),
    ...unread.map((why) => ({ why })),
  ]
  const distinct = new Map(
    all.map((one) => [JSON.stringify([one.why.what, one.why.verb, one.why.cause, one.why.namespace]), one]),
  )
  const missing = [...distinct].toSorted(([a], [b]) => compareBytes(a, b)).map(([, one]) => one)
  const settings = [input.after, input.before].flatMap(({ openSettings }) =>
    assumptionsThatCount(openSettings),
  )
  const causes: readonly Cause[] = [
    ...missing.map((one): Cause => ({ leaves: 'anything', ...one })),
    ...further,
    ...settings.map((assumption): Cause => ({ leaves: 'what depends on a setting', assumption })),
  ]
  return onceBy(causes, causeText)
}

/** With what the findings of the answer say of registrations that kleym does not follow; in the order of what is left open. */
export function causesWith(causes: readonly Cause[], findings: readonly Finding[]): readonly Cause[] {
  const of = findings.filter(isUnfollowed).map(({ subject }) => subjectText(subject))
  const named: Cause = { leaves: 'a registration', of }
  const all = of.length === 0 ? causes : [...causes.filter(({ leaves }) => leaves !== named.leaves), named]
  return all.toSorted((left, right) => ORDER.indexOf(left.leaves) - ORDER.indexOf(right.leaves))
}

/** Whether a finding is about a registration that kleym does not follow. */
export function isUnfollowed({ code }: Finding): boolean {
  return findingEntry(code).isUnfollowed === true
}

const UNFOLLOWED = FINDING_CODES.filter((code) => findingEntry(code).isUnfollowed === true).join(', ')

/** The access policies of one namespace, or of all, as everything settles; objects of other programs are the question of `policies`. */
export function policiesIn({ after }: AnswerInput, namespace: string | undefined): readonly ResolvedPolicy[] {
  return after.settled
    .policies()
    .list.filter((one) => !one.isNamesAlone && (namespace === undefined || one.namespace === namespace))
}
