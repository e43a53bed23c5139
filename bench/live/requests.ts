// What one command asked of the API server, from the audit log, and the two promises about it that no machine changes
// (issue "kubectl kleym on a live cluster", what it must show).
import type { AuditEvent } from '../../test/control-plane/audit.ts'

/** Requests of one verb and resource: `list pods`, `get /apis`. */
export interface Asked {
  readonly what: string
  readonly count: number
}

export interface PluginRequests {
  readonly total: number
  /** Of those, lists: a page each. */
  readonly pages: number
  /** In the order in which they were first asked. */
  readonly asked: readonly Asked[]
}

/** At most so many for one binding. */
export const EXPLAIN_ONE_MAX = 20
/** Which groups are served: the one question that is no list. */
const DISCOVERY = 'get /apis'

export function countRequests(events: readonly AuditEvent[]): PluginRequests {
  const byWhat = Map.groupBy(events, whatOf)
  return {
    total: events.length,
    pages: events.filter(({ verb }) => verb === 'list').length,
    asked: [...byWhat].map(([what, same]) => ({ what, count: same.length })),
  }
}

/** Why an `explain` of one binding asks too much; undefined where it does not. */
export function explainsInFew({ total }: PluginRequests): string | undefined {
  if (total <= EXPLAIN_ONE_MAX) return undefined
  return `explain of one binding made ${total} requests; at most ${EXPLAIN_ONE_MAX} are promised`
}

/** Why `conflicts -A` does not read the cluster in pages alone; undefined where it does. */
export function readsPages({ asked }: PluginRequests): string | undefined {
  const others = asked.filter(({ what }) => what !== DISCOVERY && !what.startsWith('list '))
  if (others.length === 0) return undefined
  return `conflicts -A made requests that are no pages of lists: ${others.map(({ what, count }) => `${count} x ${what}`).join(', ')}`
}

function whatOf({ verb, resource, group, uri }: AuditEvent): string {
  if (resource === '') return `${verb} ${uri.replace(/\?.*/, '')}`
  return `${verb} ${resource}${group === '' ? '' : `.${group}`}`
}
