// What the watch does not know, and since when: said beside the table for as long as it is so. Pure.
import { unknownReasonText, type UnknownReason } from '@kleym/shared/core/unknown-reason.ts'
import type { Resource } from '@kleym/shared/kube/api.ts'
import { resourceName } from '@kleym/shared/kube/resources.ts'
import type { Standing } from './feed.ts'

/** One kind that is not known, or not as it is now. */
export interface MissingKind {
  readonly why: UnknownReason
  /** Until when its objects were followed; undefined: they never were. */
  readonly since: Date | undefined
}

/** How far the rows may be believed. */
export interface Knowledge {
  /** Since when the API server has not been heard; undefined: it answers. */
  readonly lostSince: Date | undefined
  readonly missing: readonly MissingKind[]
  /** Whether all bindings in scope are known, or were: only then does an empty table mean that there are none. */
  readonly bindingsKnown: boolean
  /** Whether the rows have been worked out, from kinds that were read or have failed. Until then there is no table. */
  readonly settled: boolean
}

/** What is known of a kind. */
export interface KindStanding {
  readonly resource: Resource
  readonly standing: Standing
}

/** The knowledge that standings come to; `required` are the kinds without which kleym does nothing, bindings first. */
export function knowledgeFrom(
  required: readonly KindStanding[],
  others: readonly KindStanding[],
  lostSince: Date | undefined,
): Omit<Knowledge, 'settled'> {
  const bindings = required[0]?.standing.kind
  return {
    lostSince,
    missing: [
      ...required.flatMap((kind) => missingOf(kind, true)),
      ...others.flatMap((kind) => missingOf(kind, false)),
    ],
    bindingsKnown: bindings === 'current' || bindings === 'old',
  }
}

/** Pool and objective kinds of a group that nobody has installed are no news; those that kleym is about are. */
function missingOf({ resource, standing }: KindStanding, isRequired: boolean): readonly MissingKind[] {
  switch (standing.kind) {
    case 'current':
    case 'waiting':
      return []
    case 'absent': {
      const why: UnknownReason = { verb: 'list', what: resourceName(resource), cause: 'absent' }
      return isRequired ? [{ why, since: undefined }] : []
    }
    case 'unknown':
      return [{ why: standing.why, since: undefined }]
    case 'old':
      return [{ why: standing.why, since: standing.since }]
  }
}

/** `cannot list Pod: forbidden; shown as of 12:03:04`. */
export function missingText({ why, since }: MissingKind): string {
  const old = since === undefined ? '' : `; shown as of ${timeText(since)}`
  const hint = why.cause === 'absent' ? ' (is its CRD installed?)' : ''
  return `${unknownReasonText(why)}${hint}${old}`
}

/** `not connected since 12:03:04: this is the state of then`. */
export function lostText(since: Date): string {
  return `not connected since ${timeText(since)}: this is the state of then`
}

/** The time of day where the person is, as on their wall. */
export function timeText(date: Date): string {
  return [date.getHours(), date.getMinutes(), date.getSeconds()]
    .map((part) => String(part).padStart(2, '0'))
    .join(':')
}
