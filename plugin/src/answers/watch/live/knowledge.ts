// What the watch does not know, and since when: said beside the table for as long as it is so. Pure.
import type { Finding } from '@kleym/shared/core/findings/index.ts'
import { groupsBy } from '@kleym/shared/core/base/groups.ts'
import type { OperatorDeployment } from '@kleym/shared/core/analysis/index.ts'
import { unknownReasonText, type UnknownReason } from '@kleym/shared/core/model/unknown-reason.ts'
import type { Resource } from '@kleym/shared/kube/api.ts'
import { resourceName } from '@kleym/shared/kube/resources.ts'
import { shortSubject } from '../../../text/findings.ts'
import type { FeedState } from './feed.ts'

/** One kind that is not known, or not as it is now. */
export interface MissingKind {
  readonly why: UnknownReason
  /** Until when its objects were followed; undefined: they never were. */
  readonly since: Date | undefined
}

/** What is known of what the rows are made of. */
export interface Knowledge {
  /** Since when the API server does not answer; undefined: it does. */
  readonly lostSince: Date | undefined
  readonly missing: readonly MissingKind[]
  /** How many replicas of the operator are available; undefined: that is not known. */
  readonly operator: string | undefined
  /** Why the operator is down; undefined: it runs, or that is not known. */
  readonly operatorDown: string | undefined
  /** What cannot be read of files, a sentence each. */
  readonly problems: readonly string[]
  /** Which settings two sources give differently, a sentence each. */
  readonly disagreements: readonly string[]
  /** Whether all bindings in scope are known, or were: only then does an empty table mean that there are none. */
  readonly bindingsKnown: boolean
  /** Whether the rows have been worked out, from kinds that were read or have failed. Until then there is no table. */
  readonly settled: boolean
}

/** What is known of a kind. */
export interface KindState {
  readonly resource: Resource
  readonly state: FeedState
}

/** The knowledge that the states of all kinds add up to; `required` are the kinds without which kleym does nothing, bindings first. */
export function knowledgeFrom(
  required: readonly KindState[],
  others: readonly KindState[],
  lostSince: Date | undefined,
): Omit<Knowledge, 'settled' | 'operator' | 'operatorDown' | 'disagreements' | 'problems'> {
  const bindings = required[0]?.state.kind
  return {
    lostSince,
    missing: [
      ...required.flatMap((kind) => missingOf(kind, true)),
      ...others.flatMap((kind) => missingOf(kind, false)),
    ],
    bindingsKnown: bindings === 'current' || bindings === 'old',
  }
}

/** A pool or objective kind of a group that is not installed is not reported; a required kind is. */
function missingOf({ resource, state }: KindState, isRequired: boolean): readonly MissingKind[] {
  switch (state.kind) {
    case 'current':
    case 'waiting':
      return []
    case 'absent': {
      const why: UnknownReason = { verb: 'list', what: resourceName(resource), cause: 'absent' }
      return isRequired ? [{ why, since: undefined }] : []
    }
    case 'unknown':
      return [{ why: state.why, since: undefined }]
    case 'old':
      return [{ why: state.why, since: state.since }]
  }
}

/** `cannot list Pod: forbidden; shown as of 12:03:04`. */
export function missingText({ why, since }: MissingKind): string {
  const old = since === undefined ? '' : `; shown as of ${timeText(since)}`
  const hint = why.cause === 'absent' ? ' (is its CRD installed?)' : ''
  return `${unknownReasonText(why)}${hint}${old}`
}

/** `operator 2/2`: replicas that are available, of those that are asked for. Undefined where no status says so. */
export function operatorText(operators: readonly OperatorDeployment[] | undefined): string | undefined {
  const seen = operators?.filter(({ isSeen }) => isSeen) ?? []
  if (seen.length === 0) return undefined
  const sum = (of: 'available' | 'wanted'): number => seen.reduce((total, one) => total + one[of], 0)
  return `operator ${sum('available')}/${sum('wanted')}`
}

/** `the operator is down: none of its 2 replicas is available; changes will not be applied`. */
export function operatorDownLine(why: string): string {
  return `the operator is down: ${why}; changes will not be applied`
}

/**
 * `settings disagree at team-a/chat and others: ... (KLM520)`: one line for all that say the same, without their number, so that
 * it stays while the operator rewrites one status after the other.
 */
export function disagreementLines(
  findings: readonly Pick<Finding, 'subject' | 'evidence' | 'code'>[],
): readonly string[] {
  return groupsBy(findings, evidenceText).map(([first, ...others]) => {
    const more = others.length > 0 ? ' and others' : ''
    return `settings disagree at ${shortSubject(first.subject)}${more}: ${evidenceText(first)}`
  })
}

function evidenceText({ evidence, code }: Pick<Finding, 'evidence' | 'code'>): string {
  return `${evidence.join('; ')} (${code})`
}

/** `disconnected since 12:03:04; showing the last known state`. */
export function lostText(since: Date): string {
  return `disconnected since ${timeText(since)}; showing the last known state`
}

/** The time of day where the person is, as on their wall. */
export function timeText(date: Date): string {
  return [date.getHours(), date.getMinutes(), date.getSeconds()]
    .map((part) => String(part).padStart(2, '0'))
    .join(':')
}
