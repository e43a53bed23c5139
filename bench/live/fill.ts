// Puts an estate on a control plane as fast as one process can: several requests under way on connections that stay open.
import type { JsonRecord } from '../../shared/src/core/base/json.ts'
import type { ControlPlane } from '../../test/control-plane/control-plane.ts'
import { idOf } from '../../test/control-plane/rest.ts'
import { startOperator } from '../../test/control-plane/operator.ts'
import { untilSettled } from '../operator/measure.ts'
import { CLASS_NAME } from '../objects.ts'
import { AVAILABLE, liveEstate, type EstateSize } from './estate.ts'
import { podOf, podStatus, type PoolPodAsk } from './pods.ts'

/** More than the cores, since each waits for etcd now and then. */
const AT_ONCE = 16
/** After so many writes, the audit log is read on and etcd is compacted: neither may grow for ever. */
const BREATH = 5_000

/** Called with each step. */
export type Say = (line: string) => void

/**
 * Creates everything, has the operator write what it writes, and stops it when nothing waits any more: what is left is a
 * cluster in its final state, whose operator seems to run.
 */
export async function fill(cp: ControlPlane, size: EstateSize, say: Say): Promise<void> {
  const { stages, operator, pods } = liveEstate(size)
  for (const stage of stages) {
    say(`${stage.length} objects`)
    await all(cp, stage, (object) => cp.admin.create(object))
  }
  await cp.admin.patch(idOf(operator), { status: AVAILABLE }, 'status')
  say('the operator')
  const running = await startOperator(cp, { flags: [`--clusterspiffeid-class-name=${CLASS_NAME}`] })
  await untilSettled(running, 'Reconciled', size.bindings, 1_000)
  await running.stop()
  say(`${pods.length} pods`)
  await all(cp, pods, (pod) => createPod(cp, pod))
}

/** A status is dropped at the creation. */
async function createPod(cp: ControlPlane, ask: PoolPodAsk): Promise<void> {
  const pod: JsonRecord = podOf(ask)
  await cp.admin.create(pod)
  await cp.admin.patch(idOf(pod), { status: podStatus(ask.at) }, 'status')
}

async function all<T>(
  cp: ControlPlane,
  items: readonly T[],
  write: (item: T) => Promise<unknown>,
): Promise<void> {
  for (let from = 0; from < items.length; from += BREATH) {
    const queue = items.slice(from, from + BREATH).values()
    const work = async (): Promise<void> => {
      for (const item of queue) await write(item)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    await cp.auditMark()
    await cp.compactEtcd()
  }
}
