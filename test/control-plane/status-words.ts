// What a status says (docs/contract.md §2 and §7), as a whole: so that a test notices what is there and should not be.
import { expect } from 'vitest'
import { dig, isRecord, listAt, own, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import {
  DECISION_CONDITIONS,
  IN_FORCE_CONDITION,
  type ConditionType,
} from '../../shared/src/core/model/names.ts'
import { REASONS, type Reason } from '../../shared/src/core/decide/reasons/reasons.ts'
import { conditionOf } from './objects.ts'

/** What a condition says, without its time. */
export interface Said {
  readonly type: string
  readonly status: string
  readonly reason: string
  readonly message: string
  readonly observedGeneration: unknown
}

/** The conditions of a status that decide, as they stand there: all but `InForce`. */
export function said(object: JsonRecord): readonly unknown[] {
  return listAt(object, 'status', 'conditions')
    .filter((condition) => stringAt(condition, 'type') !== IN_FORCE_CONDITION)
    .map((condition) =>
      Object.fromEntries(Object.entries(condition ?? {}).filter(([key]) => key !== 'lastTransitionTime')),
    )
}

/** What `InForce` says: its reason; undefined where the condition is not there. */
export function inForceReason(object: JsonRecord): string | undefined {
  return stringAt(conditionOf(object, IN_FORCE_CONDITION), 'reason')
}

/** All conditions that decide for the object's generation, saying what the test wants of each. */
export function all(object: JsonRecord, of: (type: ConditionType) => Partial<Said>): readonly unknown[] {
  const observedGeneration = dig(object, 'metadata', 'generation')
  return DECISION_CONDITIONS.map((type) => ({ type, observedGeneration, ...of(type) }))
}

const RESOLVED = { status: 'False', reason: 'Resolved', message: '' }

/** What a status says beside the conditions. */
export function told(object: JsonRecord): JsonRecord {
  const status = own(object, 'status')
  const entries = Object.entries(isRecord(status) ? status : {})
  return Object.fromEntries(entries.filter(([key]) => key !== 'conditions'))
}

/** All is well, and the status tells of the output that is in force. */
export function expectReady(object: JsonRecord): void {
  const name = stringAt(object, 'status', 'clusterSPIFFEID', 'name')
  const message = `compiled into ClusterSPIFFEID ${name}`
  expect(said(object)).toEqual(
    all(object, (type) => (type === 'Ready' ? { status: 'True', reason: 'Reconciled', message } : RESOLVED)),
  )
  // No SCM runs beside these suites.
  expect(['Pending', 'NotHandled']).toContain(inForceReason(object))
  expect(told(object)).toEqual({
    observedGeneration: dig(object, 'metadata', 'generation'),
    trustDomain: 'example.org',
    computedSpiffeIDs: [expect.anything()],
    renderedSelectors: [expect.anything()],
    clusterSPIFFEID: { name, uid: expect.any(String) as unknown },
  })
}

/** One failure condition is True, `Ready` repeats it, and what was in force is no longer reported. */
export function expectRefused(object: JsonRecord, reason: Reason, says: readonly string[]): void {
  const message = stringAt(conditionOf(object, 'Ready'), 'message') ?? ''
  for (const part of says) expect(message).toContain(part)
  expect(said(object)).toEqual(
    all(object, (type) => {
      if (type === 'Ready') return { status: 'False', reason, message }
      return type === REASONS[reason].condition ? { status: 'True', reason, message } : RESOLVED
    }),
  )
  expect(inForceReason(object)).toBe('NoOutput')
  const { conflicts, ...rest } = told(object)
  const observedGeneration = dig(object, 'metadata', 'generation')
  expect(rest).toEqual({ observedGeneration, trustDomain: 'example.org' })
  expect(conflicts !== undefined).toBe(reason === 'IdentityCollision')
}
