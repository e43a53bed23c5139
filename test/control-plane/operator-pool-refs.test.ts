// Objectives with `poolRefs`, a list that is proposed for llm-d.ai (docs/contract.md §4.2), on a real API server with a CRD that
// has it: one entry that leads to the pool is enough, and a list that cannot be read keeps what is there.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dig, isRecord, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import type { ControlPlane } from './control-plane.ts'
import { binding, conditionOf, estate, outputsOf, poolOnly, untilReason } from './objects.ts'
import { startLeading, startOperatorPlane, type RunningOperator } from './operator.ts'
import { until } from '@kleym/testing/wait.ts'
import { judgeWrites } from './write-rules.ts'

const OBJECTIVES = 'inferenceobjectives.llm-d.ai'
const SPACE = 'team-a'

let cp: ControlPlane
let operator: RunningOperator
let uid: string | undefined
beforeAll(async () => {
  cp = await startOperatorPlane({ without: [OBJECTIVES] })
  await cp.installCrd(withPoolRefs())
  operator = await startLeading(cp)
})
afterAll(() => cp?.stop())

/** The CRD with `spec.poolRefs`, of which it checks nothing but that it is a list of mappings; `poolRef` is not required. */
function withPoolRefs(): JsonRecord {
  const entry = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  let found = 0
  const text = JSON.stringify(cp.crd(OBJECTIVES), (key, value: unknown) => {
    if (key !== 'spec' || !isRecord(value) || !isRecord(dig(value, 'properties', 'poolRef'))) return value
    found++
    const properties = { ...Object(value['properties']), poolRefs: { type: 'array', items: entry } }
    return { type: 'object', properties }
  })
  if (found !== 1) throw new Error(`the CRD has ${found} specs with a poolRef where one was expected`)
  const crd: unknown = JSON.parse(text)
  if (!isRecord(crd)) throw new TypeError('a CRD is an object')
  return crd
}

function objective(poolRefs: readonly JsonRecord[]): JsonRecord {
  return {
    apiVersion: 'llm-d.ai/v1alpha2',
    kind: 'InferenceObjective',
    metadata: { name: 'chat', namespace: SPACE },
    spec: { priority: 1, poolRefs },
  }
}

/** How often the operator has planned to look again because of what it did not know. */
async function retries(): Promise<number> {
  const lines = (await operator.metrics()).split('\n')
  return lines
    .filter((line) => /^controller_runtime_reconcile_total\{.*result="error"/.test(line))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

async function outputUid(): Promise<string | undefined> {
  const [output] = await outputsOf(cp, SPACE, 'chat')
  return stringAt(output, 'metadata', 'uid')
}

test('one of several pools is the one of the binding', async () => {
  await cp.apply([
    ...estate(SPACE),
    objective([{ name: 'other' }, { name: 'llama', group: 'inference.networking.k8s.io', namespace: '' }]),
    binding(SPACE, 'chat'),
  ])
  await untilReason(cp, SPACE, 'chat', 'Reconciled')
  uid = await outputUid()
  expect(uid).toBeDefined()
})

test('a list that cannot be read leaves the output as it is, and no timer is set', async () => {
  const before = await retries()
  await cp.apply([objective([{ name: 'other' }, { pool: 'llama' }])])
  const object = await untilReason(cp, SPACE, 'chat', 'Undetermined')
  const ready = conditionOf(object, 'Ready')
  expect(ready).toMatchObject({
    status: 'Unknown',
    message: expect.stringContaining(
      'cannot read poolRefs of InferenceObjective.llm-d.ai in namespace team-a: malformed',
    ),
  })
  expect(stringAt(object, 'status', 'clusterSPIFFEID', 'uid')).toBe(uid)
  // Another binding that comes and is ready shows that the operator has gone on since.
  await cp.apply([poolOnly(SPACE, 'later')])
  await untilReason(cp, SPACE, 'later', 'Reconciled')
  expect(await outputUid()).toBe(uid)
  expect(await retries()).toBe(before)
})

test('once it can be read it decides again', async () => {
  await cp.apply([objective([{ name: 'llama' }])])
  await untilReason(cp, SPACE, 'chat', 'Reconciled')
  expect(await outputUid()).toBe(uid)
})

test.each<[string, readonly JsonRecord[]]>([
  ['leads to other pools alone', [{ name: 'other' }, { name: 'another' }]],
  ['is empty', []],
])('a list that %s refuses the binding, and the output goes', async (_, poolRefs) => {
  await cp.apply([objective(poolRefs)])
  await untilReason(cp, SPACE, 'chat', 'InvalidObjectiveRef')
  expect(await outputsOf(cp, SPACE, 'chat')).toEqual([])
  await cp.apply([objective([{ name: 'llama' }])])
  await untilReason(cp, SPACE, 'chat', 'Reconciled')
  await until(async () => (await outputUid()) !== undefined, 'the output to be back')
})

test('all of it keeps to the rules of writes', async () => {
  expect((await judgeWrites(cp)).broken).toEqual([])
})
