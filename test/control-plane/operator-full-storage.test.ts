// etcd has reached its quota: the API server answers reads and refuses every write (docs/reliability.md, "Upheavals"). The operator
// cannot renew its Lease, ends, and is started again and again; once there is room, everything comes to what it should be.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonRecord } from '../../shared/src/core/base/json.ts'
import type { ControlPlane } from './control-plane.ts'
import { watchNeverTwo } from './never-two.ts'
import { bindingId, estate, member, outputsOf, untilReason } from './objects.ts'
import { startLeading, startOperator, startOperatorPlane, stopAll, type RunningOperator } from './operator.ts'
import { until } from '@kleym/testing/wait.ts'

const QUOTA = 24 * 1024 * 1024
const SPACE = 'full'
const NAMES = ['kept', 'edited', 'deleted']

let cp: ControlPlane
let operator: RunningOperator
beforeAll(async () => {
  cp = await startOperatorPlane({ controllers: [], etcdQuota: QUOTA })
  operator = await startLeading(cp)
})
afterAll(() => stopAll(cp))

/** Starts it again where it has ended, as a kubelet does. */
async function keepAlive(): Promise<void> {
  if (operator.program.ended() !== undefined) operator = await startOperator(cp)
}

function ballast(at: number): JsonRecord {
  const metadata = { name: `ballast-${at % 4}`, namespace: SPACE }
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { text: `${at} ${'x'.repeat(900_000)}` } }
}

test('storage that is full stops every write and harms nothing: all is right again when there is room', async () => {
  await cp.apply([...estate(SPACE), ...NAMES.flatMap((name) => member(SPACE, name, { containerName: name }))])
  for (const name of NAMES) await untilReason(cp, SPACE, name, 'Reconciled')
  // Objects of one revision that go on to the next leave the most behind.
  await until(async () => {
    for (let at = 0; ; at++) {
      const full = await cp.admin.apply(ballast(at)).then(
        () => false,
        (error: unknown) => String(error).includes('space exceeded'),
      )
      if (full) return true
    }
  }, 'etcd to be full')
  // What can be asked for is refused to everybody alike.
  await expect(
    cp.admin.patch(bindingId(SPACE, 'edited'), { spec: { containerName: 'proxy' } }),
  ).rejects.toThrow(/space/)
  // Its Lease runs out.
  await until(() => operator.program.ended(), 'the operator to lose its Lease')
  await keepAlive()
  for (const name of NAMES) expect(await outputsOf(cp, SPACE, name)).toHaveLength(1)
  await cp.freeEtcd()
  const neverTwo = await watchNeverTwo(cp)
  await until(async () => {
    await cp.admin.patch(bindingId(SPACE, 'edited'), { spec: { containerName: 'proxy' } })
    return true
  }, 'the API server to take writes again')
  await cp.admin.delete(bindingId(SPACE, 'deleted'))
  await until(async () => {
    await keepAlive()
    const [kept, edited, deleted] = await Promise.all(NAMES.map((name) => outputsOf(cp, SPACE, name)))
    const containers = JSON.stringify(edited?.map(({ spec }) => spec))
    if (
      kept?.length !== 1 ||
      edited?.length !== 1 ||
      deleted?.length !== 0 ||
      !containers.includes('container-name:proxy')
    )
      throw new Error(
        `outputs: ${kept?.length} kept, ${containers} edited, ${deleted?.length} of the deleted one`,
      )
    return true
  }, 'everything to be right again')
  await untilReason(cp, SPACE, 'edited', 'Reconciled')
  await neverTwo.holds()
  neverTwo.stop()
})
