// Back to the version before, on a real API server. The version before is the one that ships; the newer one is played: its CRD has a
// field and a condition more, its outputs an annotation and a label more, and its statuses words that this version does not
// know. What is right stays as it is, and is this version's to change.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dig, isRecord, listAt, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import type { ControlPlane } from './control-plane.ts'
import { untilBindingGone } from './in-force.ts'
import { watchNeverTwo, type NeverTwo } from './never-two.ts'
import {
  bindingId,
  conditionOf,
  estate,
  member,
  outputs,
  outputsOf,
  perVariant,
  poolOnly,
  untilReason,
} from './objects.ts'
import { OPERATOR } from './operator-access.ts'
import { startLeading, startOperatorPlane, stopAll, type RunningOperator } from './operator.ts'
import { idOf } from './rest.ts'
import { until } from '@kleym/testing/wait.ts'

const BINDINGS = 'inferenceidentitybindings.kleym.sonda.red'
const SPACE = 'team-a'
const READY = ['objective', 'pool', 'variant'] as const
const NAMES = [...READY, 'refused'] as const
const MARK = 'kleym.sonda.red/mark-of-the-next'
const NEXT_FIELD = 'placementOfTheNext'

let cp: ControlPlane
let neverTwo: NeverTwo
let operator: RunningOperator
/** The outputs as the newer version leaves them. */
let left: readonly JsonRecord[]
beforeAll(async () => {
  cp = await startOperatorPlane({ without: [BINDINGS] })
  await cp.installCrd(nextCrd())
  neverTwo = await watchNeverTwo(cp)
  await cp.apply([
    ...estate(SPACE),
    ...member(SPACE, 'objective', { containerName: 'vllm' }),
    poolOnly(SPACE, 'pool'),
    perVariant(SPACE, 'variant', 'prefill'),
    poolOnly(SPACE, 'refused', { poolRef: { name: 'none' } }),
  ])
  operator = await startLeading(cp)
  for (const name of READY) await untilReason(cp, SPACE, name, 'Reconciled')
  await untilReason(cp, SPACE, 'refused', 'TargetPoolNotFound')
  await operator.stop()
  for (const output of await outputs(cp)) {
    const metadata = { annotations: { [MARK]: 'x' }, labels: { [MARK]: 'x' } }
    await cp.admin.patch(idOf(output), { metadata })
  }
  for (const name of NAMES)
    await cp.admin.patch(bindingId(SPACE, name), { status: await nextStatus(name) }, 'status')
  left = await outputs(cp)
})
afterAll(() => stopAll(neverTwo, cp))

/** Today's CRD with a field more in its status. */
function nextCrd(): JsonRecord {
  const text = JSON.stringify(cp.crd(BINDINGS), (key, value: unknown) =>
    key === 'properties' && isRecord(value) && 'computedSpiffeIDs' in value
      ? { ...value, [NEXT_FIELD]: { type: 'string' } }
      : value,
  )
  if (!text.includes(NEXT_FIELD)) throw new Error('the CRD has no status to add a field to')
  return Object(JSON.parse(text))
}

/** A binding's status with a reason, a condition and a field of the newer version. */
async function nextStatus(name: string): Promise<JsonRecord> {
  const conditions = listAt(await cp.admin.get(bindingId(SPACE, name)), 'status', 'conditions').map((one) =>
    stringAt(one, 'type') === 'Ready' ? { ...Object(one), reason: 'AWordOfTheNext' } : one,
  )
  const more = {
    type: 'Placed',
    status: 'True',
    reason: 'Placed',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }
  return { conditions: [...conditions, more], [NEXT_FIELD]: 'x' }
}

async function conditionsOf(name: string): Promise<readonly (string | undefined)[]> {
  const binding = await cp.admin.get(bindingId(SPACE, name))
  return listAt(binding, 'status', 'conditions').map((one) => stringAt(one, 'type'))
}

test('the version before writes no output, whatever the newer one has left on it, and says its own words', async () => {
  const mark = await cp.auditMark()
  await cp.installCrd(cp.crd(BINDINGS))
  operator = await startLeading(cp)
  for (const name of NAMES) {
    await until(async () => {
      const reason = stringAt(conditionOf(await cp.admin.get(bindingId(SPACE, name)), 'Ready'), 'reason')
      return reason !== undefined && reason !== 'AWordOfTheNext'
    }, `the status of ${name} to be of this version`)
  }
  expect(await outputs(cp)).toEqual(left)
  const written = await cp.audit({ since: mark, user: OPERATOR, resource: 'clusterspiffeids' })
  expect(written.filter(({ verb }) => !['get', 'list', 'watch'].includes(verb))).toEqual([])
  for (const name of READY) {
    expect(conditionOf(await cp.admin.get(bindingId(SPACE, name)), 'Ready')?.['status']).toBe('True')
    expect(dig(await cp.admin.get(bindingId(SPACE, name)), 'status', NEXT_FIELD)).toBeUndefined()
  }
})

test('it changes and deletes them as its own, and leaves the marks that it does not know', async () => {
  await cp.admin.patch(bindingId(SPACE, 'pool'), { spec: { serviceAccountName: 'gemma' } })
  const changed = await until(async () => {
    const [output] = await outputsOf(cp, SPACE, 'pool')
    return JSON.stringify(output).includes('k8s:sa:gemma') && output
  }, 'the output to follow')
  expect(stringAt(changed, 'metadata', 'annotations', MARK)).toBe('x')
  await cp.admin.delete(bindingId(SPACE, 'variant'))
  await untilBindingGone(cp, SPACE, 'variant')
  expect(await outputsOf(cp, SPACE, 'variant')).toEqual([])
})

test('with the newer CRD again and a restart, no output is written', async () => {
  const before = await outputs(cp)
  await operator.stop()
  await cp.installCrd(nextCrd())
  operator = await startLeading(cp)
  await cp.apply([poolOnly(SPACE, 'last')])
  await untilReason(cp, SPACE, 'last', 'Reconciled')
  const names = new Set(before.map((output) => stringAt(output, 'metadata', 'name')))
  const after = (await outputs(cp)).filter((output) => names.has(stringAt(output, 'metadata', 'name')))
  expect(after).toEqual(before)
  expect(await conditionsOf('objective')).toContain('Ready')
  expect(operator.log().filter(({ level }) => level === 'error')).toEqual([])
})
