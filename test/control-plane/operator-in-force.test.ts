// The condition InForce (docs/contract.md §7) where the cluster is older or set up otherwise than it expects, on a real API
// server: a CRD that does not know the condition yet, and a class that SCM's label cannot hold. What SCM itself makes of
// outputs is in test/svid/in-force.test.ts.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isRecord, listAt, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { SCM_CLASS_LABEL } from '../../shared/src/core/model/names.ts'
import type { ControlPlane } from './control-plane.ts'
import { startFaultProxy } from './fault-proxy.ts'
import { judgeWrites } from './write-rules.ts'
import { bindingId, conditionOf, estate, outputId, outputsOf, poolOnly, untilReason } from './objects.ts'
import { startLeading, startOperatorPlane, whileDown, type RunningOperator } from './operator.ts'
import { until } from '@kleym/testing/wait.ts'

const BINDINGS = 'inferenceidentitybindings.kleym.sonda.red'
/** What the CRD of the version before InForce allowed as the type of a condition. */
const TYPES_BEFORE = ['Ready', 'Conflict', 'InvalidRef', 'UnsafeSelector', 'RenderFailure']
const NAMES = ['first', 'second', 'third'] as const
const LEFT_OUT =
  'the API server refuses a status with InForce; it is written without it until the CRD changes'

let cp: ControlPlane
let operator: RunningOperator
beforeAll(async () => {
  cp = await startOperatorPlane({ without: [BINDINGS] })
  await cp.installCrd(olderCrd())
  await cp.apply([...estate('team-a'), ...NAMES.map((name) => poolOnly('team-a', name))])
  operator = await startLeading(cp)
})
afterAll(() => cp?.stop())

/** Today's CRD with that of the version before InForce in its status. */
function olderCrd(): JsonRecord {
  const crd = cp.crd(BINDINGS)
  let found = 0
  const text = JSON.stringify(crd, (key, value: unknown) => {
    if (key !== 'type' || !isRecord(value) || value['pattern'] !== '^[A-Za-z]+$') return value
    found++
    return { type: 'string', enum: TYPES_BEFORE }
  })
  if (found !== 1) throw new Error(`the CRD has ${found} types of conditions where one was expected`)
  const older: unknown = JSON.parse(text)
  if (!isRecord(older)) throw new TypeError('a CRD is an object')
  return older
}

function leftOut(): readonly JsonRecord[] {
  return operator.log().filter(({ message }) => message === LEFT_OUT)
}

async function inForceOf(name: string): Promise<JsonRecord | undefined> {
  return conditionOf(await cp.admin.get(bindingId('team-a', name)), 'InForce')
}

test('a CRD of before InForce gets whole statuses without it, and the log says so once', async () => {
  for (const name of NAMES) {
    const ready = await untilReason(cp, 'team-a', name, 'Reconciled')
    const types = listAt(ready, 'status', 'conditions').map((one) => stringAt(one, 'type'))
    expect(new Set(types)).toEqual(new Set(TYPES_BEFORE))
    expect(stringAt(ready, 'status', 'clusterSPIFFEID', 'name')).toBeDefined()
    expect(await outputsOf(cp, 'team-a', name)).toHaveLength(1)
  }
  // The line is written after the first status without it.
  await until(() => leftOut().length > 0, 'the log to say so')
  expect(leftOut()).toHaveLength(1)
  // Older API servers name the field without `status.`.
  expect(stringAt(leftOut()[0], 'why')).toMatch(/\bconditions\[5\]\.type: Unsupported value: "InForce"/)
})

test('while the CRD is that old nothing is tried again and again', async () => {
  const since = await cp.auditMark()
  await cp.apply([poolOnly('team-a', 'late')])
  await untilReason(cp, 'team-a', 'late', 'Reconciled')
  const resource = 'inferenceidentitybindings'
  const updates = await cp.audit({ since, verbs: ['update'], resource, atLeast: 1 })
  expect(updates.map(({ subresource, name, status }) => `${subresource} ${name} ${status}`)).toEqual([
    'status late 200',
  ])
  expect(leftOut()).toHaveLength(1)
})

test('once the CRD is of today every status has the condition, with no restart', async () => {
  await cp.installCrd(BINDINGS)
  for (const name of [...NAMES, 'late']) {
    await until(async () => (await inForceOf(name)) !== undefined, `InForce of team-a/${name}`)
    expect(stringAt(await inForceOf(name), 'status')).toBe('Unknown')
  }
  expect((await judgeWrites(cp)).broken).toEqual([])
})

test('without a right to read outputs it is undetermined, with it the operator sees the output again', async () => {
  const proxy = await startFaultProxy(cp)
  const injection = proxy.inject({
    path: /\/clusterspiffeids(\?|$)/,
    count: Infinity,
    fault: { kind: 'answer', status: 403, reason: 'Forbidden' },
  })
  operator = await whileDown(cp, operator, async () => undefined, { server: proxy.server })
  await until(async () => {
    expect(await inForceOf('first')).toMatchObject({ status: 'Unknown', reason: 'Undetermined' })
    return true
  }, 'InForce of team-a/first to be undetermined')
  injection.remove()
  // SCM's counters on the output: what is in force is said at once, and any other word a minute later (test/svid/in-force.test.ts).
  const [output] = await outputsOf(cp, 'team-a', 'first')
  const stats = { namespacesSelected: 1, podsSelected: 1, entriesToSet: 1 }
  await cp.admin.patch(outputId(stringAt(output, 'metadata', 'name') ?? ''), { status: { stats } }, 'status')
  await until(async () => {
    expect(await inForceOf('first')).toMatchObject({ status: 'True', reason: 'Registered' })
    return true
  }, 'InForce of team-a/first to be told again')
  await operator.stop()
  await proxy.stop()
  operator = await startLeading(cp)
})

test('a class that is no label value leaves the label out, and the operator says so at its start', async () => {
  const className = 'x'.repeat(64)
  operator = await whileDown(cp, operator, async () => undefined, {
    flags: [`--clusterspiffeid-class-name=${className}`],
  })
  const output = await until(async () => {
    const [one] = await outputsOf(cp, 'team-a', 'first')
    return stringAt(one, 'spec', 'className') === className && one
  }, 'the output of team-a/first to have the class')
  expect(stringAt(output, 'metadata', 'labels', SCM_CLASS_LABEL)).toBeUndefined()
  const said = operator.log().filter(({ className: which }) => which === className)
  expect(said.map(({ level, message }) => `${String(level)}: ${String(message)}`)).toEqual([
    'warn: the class is over 63 characters, so outputs have no label spire.spiffe.io/class-name: an SCM with filterByClassName sees none of them',
  ])
})
