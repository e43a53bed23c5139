// No SPIRE Controller Manager (SCM) runs beside most suites, and a minute after an output came the operator says so in `InForce`,
// whatever the test does (docs/contract.md §7). Whoever counts writes counts the others.
import { dig, listAt, stringAt, type JsonRecord, deepEqual } from '../../shared/src/core/base/json.ts'
import { IN_FORCE_CONDITION } from '../../shared/src/core/model/names.ts'
import type { AuditEvent } from './audit.ts'
import type { ControlPlane } from './control-plane.ts'

/** These events without the writes of a status in which `InForce` alone has changed. One that repeats the last is none of them. */
export async function besideInForce(
  cp: ControlPlane,
  events: readonly AuditEvent[],
): Promise<readonly AuditEvent[]> {
  const statuses = (await cp.audit({ verbs: ['update'], resource: 'inferenceidentitybindings' })).filter(
    ({ subresource, status }) => subresource === 'status' && status === 200,
  )
  const last = new Map<string, Said>()
  const left = new Set<string>()
  for (const { auditId, responseObject } of statuses) {
    const uid = stringAt(responseObject, 'metadata', 'uid') ?? ''
    const [now, before] = [saidIn(dig(responseObject, 'status')), last.get(uid)]
    if (deepEqual(now.others, before?.others) && !deepEqual(now.inForce, before?.inForce)) left.add(auditId)
    last.set(uid, now)
  }
  return events.filter(({ auditId }) => !left.has(auditId))
}

/** What a status says, apart. */
interface Said {
  readonly inForce: unknown
  readonly others: JsonRecord
}

function saidIn(status: unknown): Said {
  const conditions = listAt(status, 'conditions')
  return {
    inForce: conditions.find(isInForce),
    others: { ...Object(status), conditions: conditions.filter((one) => !isInForce(one)) },
  }
}

function isInForce(condition: unknown): boolean {
  return stringAt(condition, 'type') === IN_FORCE_CONDITION
}
