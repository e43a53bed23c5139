// One tenant's objects, as large as the API server takes them, and many of them: the operator keeps its Lease and stays small, also
// when it starts over them, and a binding of another namespace waits for none of it (docs/reliability.md, "One tenant's large
// objects"). Fewer than the bench has, which measures; what they did to the operator before shows with these too.
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonRecord } from '../../shared/src/core/base/json.ts'
import { until } from '@kleym/testing/wait.ts'
import type { ControlPlane } from './control-plane.ts'
import {
  bindingId,
  conditionOf,
  estate,
  member,
  namespace,
  olderPool,
  poolOnly,
  untilReason,
} from './objects.ts'
import { startLeading, startOperatorPlane, stopAll, type RunningOperator } from './operator.ts'

/** The aim for the memory of the operator, in MiB. */
const MEMORY_MAX = 256
/** On a machine that the tests share; what is aimed at is a second. */
const ELSEWHERE_MS = 30_000
const POOL = { apiVersion: 'inference.networking.x-k8s.io/v1alpha2', kind: 'InferencePool' }
const MANY = 400
const LARGE = 40

let cp: ControlPlane
let operator: RunningOperator
beforeAll(async () => {
  cp = await startOperatorPlane()
  await cp.apply([...estate('elsewhere'), namespace('tenant')])
  operator = await startLeading(cp)
})
afterAll(() => stopAll(cp))

/** The most memory of the operator that was resident so far, in MiB. */
function peak(): number {
  const status = readFileSync(`/proc/${operator.program.pid}/status`, 'utf8')
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]) / 1024
}

async function readyElsewhere(name: string): Promise<void> {
  await cp.apply(member('elsewhere', name, { containerName: name }))
  await until(
    async () => {
      const found = await cp.admin.get(bindingId('elsewhere', name))
      return conditionOf(found, 'Ready')?.['reason'] === 'Reconciled'
    },
    'a binding of another namespace to be ready',
    ELSEWHERE_MS,
  )
}

/** It has been this process all the time: whoever loses the Lease ends. */
function expectAlive(): void {
  expect(operator.program.ended()).toBeUndefined()
  expect(operator.log().filter(({ level }) => level === 'error')).toEqual([])
}

/** An empty entry makes the API server forget the managed fields, whose bytes count as well. */
function withoutManagedFields(object: JsonRecord, metadata: JsonRecord = {}): JsonRecord {
  return { ...object, metadata: { ...Object(object['metadata']), ...metadata, managedFields: [{}] } }
}

function numbered(count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `large-${at}`)
}

function selectorOf(count: number, key: (at: number) => string): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [key(at), 'x']))
}

test.each<{ name: string; space: string; labels: Readonly<Record<string, string>> }>([
  {
    name: 'a selector of 1.25 MB',
    space: 'wide-pool',
    labels: selectorOf(60_000, (at) => `label-${at}`),
  },
  {
    name: 'a selector of 64 keys of 20 KB',
    space: 'long-pool',
    labels: selectorOf(64, (at) => `${'k'.repeat(20_000)}${at}`),
  },
])(
  'a pool with $name, 400 bindings that name it and edits all the time cost no Lease',
  async ({ space, labels }) => {
    await cp.apply([namespace(space)])
    const id = { ...POOL, name: 'llama', namespace: space }
    await cp.admin.create(withoutManagedFields(olderPool(space, 'llama', labels)))
    await cp.apply(numbered(MANY).map((name) => poolOnly(space, name)))
    for (let edit = 0; edit < 10; edit++) {
      await cp.admin.patch(id, { spec: { selector: { version: `edit-${edit}` } } })
      await readyElsewhere(`${space}-${edit}`)
    }
    for (const name of numbered(MANY)) await untilReason(cp, space, name, 'InvalidPoolSelector')
    expectAlive()
    expect(peak()).toBeLessThan(MEMORY_MAX)
  },
)

test('bindings of 4,500 finalizers and pools of long keys keep it small, and when it starts over them too', async () => {
  const finalizers = Array.from(
    { length: 4_500 },
    (_, at) => `${'example.'.repeat(22)}com/${'h'.repeat(55)}${at}`,
  )
  const labels = selectorOf(64, (at) => `${'k'.repeat(18_000)}${at}`)
  for (const name of numbered(LARGE)) {
    const binding = poolOnly('tenant', name, { poolRef: { name } })
    await cp.admin.create(withoutManagedFields(olderPool('tenant', name, labels)))
    await cp.admin.create(withoutManagedFields(binding, { finalizers }))
  }
  await readyElsewhere('while-they-come')
  expectAlive()
  expect(peak(), 'while they come').toBeLessThan(MEMORY_MAX)
  expect(await operator.stop()).toBe('exit code 0')
  operator = await startLeading(cp)
  await readyElsewhere('after-a-start')
  for (const name of numbered(LARGE)) await untilReason(cp, 'tenant', name, 'InvalidPoolSelector')
  expectAlive()
  expect(peak(), 'of a start').toBeLessThan(MEMORY_MAX)
})
