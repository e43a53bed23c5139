// What an operator asked of the API server, counted from the audit log.
import { WRITE_VERBS, type AuditEvent } from '../../test/control-plane/audit.ts'

export interface OperatorRequests {
  /** Writes of anything but the Lease. */
  readonly writes: number
  /** Of those, the refused ones: conflicts, for example. */
  readonly refused: number
  /** Reads of one object other than the Lease. */
  readonly reads: number
  /** Pages of lists. */
  readonly pages: number
  /** All requests but those pages and the Lease's: watches, discovery, reads and writes. */
  readonly besidePages: number
  readonly lease: number
}

const WRITES: ReadonlySet<string> = new Set(WRITE_VERBS)

export function countRequests(events: readonly AuditEvent[]): OperatorRequests {
  const lease = events.filter(({ resource }) => resource === 'leases')
  const others = events.filter(({ resource }) => resource !== 'leases')
  const writes = others.filter(({ verb }) => WRITES.has(verb))
  const pages = others.filter(({ verb }) => verb === 'list').length
  return {
    writes: writes.length,
    refused: writes.filter(({ status }) => status >= 300).length,
    // Discovery is a `get` as well, of no resource.
    reads: others.filter(({ verb, resource }) => verb === 'get' && resource !== '').length,
    pages,
    besidePages: others.length - pages,
    lease: lease.length,
  }
}

/**
 * All but the later status writes of a binding: what is written before SCM has spoken. Each first one says all that kleym has
 * decided, and the next what has become of it (`InForce`).
 */
export function beforeScmSpoke(events: readonly AuditEvent[]): readonly AuditEvent[] {
  const seen = new Set<string>()
  return events.filter(({ verb, resource, subresource, namespace, name }) => {
    if (`${verb} ${resource} ${subresource}` !== 'update inferenceidentitybindings status') return true
    const binding = `${namespace}/${name}`
    const isLater = seen.has(binding)
    seen.add(binding)
    return !isLater
  })
}

/** When the last write of anything but the Lease was answered, in milliseconds since 1970. */
export function lastWriteMs(events: readonly AuditEvent[]): number {
  const answered = events
    .filter(({ verb, resource }) => WRITES.has(verb) && resource !== 'leases')
    .map(({ answeredAt }) => Date.parse(answeredAt))
  return answered.reduce((last, at) => Math.max(last, at), Number.NEGATIVE_INFINITY)
}
