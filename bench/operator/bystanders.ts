// One collision group as large as can be, and what it does to bindings outside it: how long a new binding in another namespace
// takes to become ready while the group is being created, and while one more joins it.
import { dig, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import type { ControlPlane } from '../../test/control-plane/control-plane.ts'
import {
  binding,
  bindingId,
  conditionOf,
  namespace,
  objective,
  pool,
} from '../../test/control-plane/objects.ts'
import { OPERATOR } from '../../test/control-plane/operator-access.ts'
import { startOperator, startOperatorPlane } from '../../test/control-plane/operator.ts'
import { until } from '@kleym/testing/wait.ts'
import { createAll, createEstate, serverCpu, untilSettled, type Start } from './measure.ts'
import { countRequests } from './requests.ts'
import { collisionGroup, nameAt } from './shapes.ts'
import { usageOf, type Usage } from './usage.ts'

/** What one phase did. */
export interface Phase {
  /** Until the whole group has its verdict, from the first creation. */
  readonly seconds: number
  readonly writes: number
  /** CPU seconds of the operator and the API server. */
  readonly cpu: number
  readonly serverCpu: number
  /** From the answer to a POST of a binding elsewhere to its being ready, in milliseconds, one after the other. */
  readonly elsewhereMs: readonly number[]
}

export interface Bystanders {
  readonly created: Phase
  readonly joined: Phase
  readonly operator: Usage
}

const GROUP = 'crowd'
const ELSEWHERE = 'elsewhere'
const PROBES_MIN = 5

/** Creates a collision group of `count` under the eyes of a running operator. */
export async function measureBystanders(
  count: number,
  start: Start,
  say: (line: string) => void,
): Promise<Bystanders> {
  const cp = await startOperatorPlane({ controllers: [] })
  try {
    const { bindings, ...rest } = collisionGroup(count, GROUP)
    await createEstate(cp, { ...rest, bindings: [] })
    const late = 'late'
    await cp.apply([
      namespace(ELSEWHERE),
      pool(ELSEWHERE, 'llama', { app: 'llama' }),
      objective(GROUP, late, 'llama'),
    ])
    const operator = await startOperator(cp, start)
    await operator.leads()
    const elsewhere = probes(cp)
    const phase = async (objects: readonly JsonRecord[], standing: number): Promise<Phase> => {
      const since = await cp.auditMark()
      const cpuFrom = usageOf(operator.program.pid).cpu
      const serverFrom = serverCpu(cp)
      const from = performance.now()
      const done = createAll(cp, objects).then(() =>
        untilSettled(operator, 'IdentityCollision', standing, 250),
      )
      const elsewhereMs = await elsewhere(done)
      return {
        seconds: (performance.now() - from) / 1000,
        writes: countRequests(await cp.audit({ since, user: OPERATOR })).writes,
        cpu: usageOf(operator.program.pid).cpu - cpuFrom,
        serverCpu: serverCpu(cp) - serverFrom,
        elsewhereMs,
      }
    }
    say('a group is created')
    const created = await phase(bindings, count)
    say('one more joins')
    const joined = await phase([binding(GROUP, late)], count + 1)
    return { created, joined, operator: usageOf(operator.program.pid) }
  } finally {
    await cp.stop()
  }
}

/** Creates binding after binding elsewhere until `over`, and a few at least. */
function probes(cp: ControlPlane): (over: Promise<void>) => Promise<readonly number[]> {
  let made = 0
  const one = async (): Promise<number> => {
    const name = nameAt(made)
    made++
    await cp.admin.create(objective(ELSEWHERE, name, 'llama'))
    await cp.admin.create(binding(ELSEWHERE, name, { containerName: name }))
    const from = performance.now()
    await until(async () => {
      const found = await cp.admin.get(bindingId(ELSEWHERE, name))
      const ready = conditionOf(found, 'Ready')
      return stringAt(ready, 'status') === 'True' && dig(ready, 'observedGeneration') === 1
    }, `${name} elsewhere to be ready`)
    return performance.now() - from
  }
  return async (over) => {
    const times: number[] = []
    const state = { isOver: false }
    const watch = async (): Promise<void> => {
      await over
      state.isOver = true
    }
    const ended = watch()
    while (!state.isOver || times.length < PROBES_MIN) times.push(await one())
    await ended
    return times
  }
}
