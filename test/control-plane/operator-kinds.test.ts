// Kinds that are not there yet, go, come back, cannot be discovered or may not be read (docs/contract.md §4 and §8), on a
// real API server: what a binding needs decides, and nothing is withdrawn for not knowing.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dig, listAt, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import type { ControlPlane } from './control-plane.ts'
import type { CrdName } from './crds.ts'
import { startFaultProxy, type FaultProxy } from './fault-proxy.ts'
import { orphan, settle } from './in-force.ts'
import { watchNeverTwo, type NeverTwo } from './never-two.ts'
import {
  binding,
  bindingId,
  conditionOf,
  estate,
  namespace,
  objective,
  olderPool,
  outputs,
  outputsOf,
  perVariant,
  pool,
  poolOnly,
  untilReason,
} from './objects.ts'
import { operatorAccess } from './operator-access.ts'
import { startLeading, startOperator, startOperatorPlane, stopAll, type RunningOperator } from './operator.ts'
import { until } from '@kleym/testing/wait.ts'
import { judgeWrites } from './write-rules.ts'

const OUTPUTS: CrdName = 'clusterspiffeids.spire.spiffe.io'
const POOLS: CrdName = 'inferencepools.inference.networking.k8s.io'
const OLD_POOLS: CrdName = 'inferencepools.inference.networking.x-k8s.io'
const OBJECTIVES: CrdName = 'inferenceobjectives.llm-d.ai'
const OLD_OBJECTIVES: CrdName = 'inferenceobjectives.inference.networking.x-k8s.io'

/** Well below the 30 s after which a kind that is not there is looked for anyway: only a watch is as fast. */
const SOON_MS = 20_000

let cp: ControlPlane
let proxy: FaultProxy
let operator: RunningOperator
let neverTwo: NeverTwo
beforeAll(async () => {
  cp = await startOperatorPlane({ without: [OUTPUTS, OBJECTIVES, OLD_OBJECTIVES] })
  proxy = await startFaultProxy(cp)
  neverTwo = await watchNeverTwo(cp)
  operator = await startNext()
})
afterAll(() => stopAll(neverTwo, proxy, cp))

/** The next operator, which leads. */
function startNext(): Promise<RunningOperator> {
  return startLeading(cp, { server: proxy.server })
}

/** An objective of `llm-d.ai/v1alpha2`. */
function newObjective(space: string, name: string, poolName: string): JsonRecord {
  return { ...objective(space, name, poolName), apiVersion: 'llm-d.ai/v1alpha2' }
}

async function reasonSoon(space: string, name: string, reason: string): Promise<JsonRecord> {
  return until(
    async () => {
      const found = await cp.admin.get(bindingId(space, name))
      if (stringAt(conditionOf(found, 'Ready'), 'reason') === reason) return found
      throw new Error(`Ready is ${JSON.stringify(conditionOf(found, 'Ready'))}`)
    },
    `binding ${space}/${name} to be ${reason}`,
    SOON_MS,
  )
}

/** What must not change: UID and version of the only output of a binding. */
async function outputOf(space: string, name: string): Promise<string> {
  const own = await outputsOf(cp, space, name)
  expect(own).toHaveLength(1)
  return `${stringAt(own[0], 'metadata', 'uid')} ${stringAt(own[0], 'metadata', 'resourceVersion')}`
}

/** Waits until a new PoolOnly binding has its output: whatever came before it in the queue has been looked at. */
async function sentinel(space: string, name: string): Promise<void> {
  await cp.apply([
    poolOnly(space, name, { poolRef: { name: 'llama', group: 'inference.networking.k8s.io' } }),
  ])
  await untilReason(cp, space, name, 'Reconciled')
}

/** The operator's rights, without those on one resource. */
async function allowAllBut(group?: string, resource?: string): Promise<void> {
  const role = operatorAccess().find((object) => stringAt(object, 'kind') === 'ClusterRole')
  const rules = listAt(role, 'rules').filter(
    (rule) => !(listAt(rule, 'apiGroups')[0] === group && listAt(rule, 'resources')[0] === resource),
  )
  await cp.apply([{ ...role, rules }])
}

/** Has the kind of a CRD served in another version alone, or in none; the objects stay as they are stored. */
async function serveOnlyIn(name: CrdName, version: string | undefined): Promise<void> {
  const id = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name }
  const crd = await cp.admin.get(id)
  const [own] = listAt(crd, 'spec', 'versions')
  const further = version === undefined ? [] : [{ ...Object(own), name: version, storage: false }]
  const versions = [{ ...Object(own), served: false }, ...further]
  await cp.admin.patch(id, { spec: { versions } })
  const { group, names } = Object(dig(crd, 'spec'))
  const statusIn = async (one: string): Promise<number> => {
    const path = `/apis/${group}/${one}/${names.plural}?limit=1`
    return (await cp.admin.request({ method: 'GET', path })).status
  }
  await until(
    async () =>
      (await statusIn(stringAt(own, 'name') ?? '')) === 404 &&
      (version === undefined || (await statusIn(version)) === 200),
    `${name} to be served in ${version ?? 'no version'} alone`,
  )
}

async function removePools(): Promise<void> {
  await cp.removeCrd(POOLS)
  await cp.removeCrd(OLD_POOLS)
}

// Each test leaves all kinds installed.

test('kinds that are not there when the operator starts are picked up when they come, with no restart', async () => {
  await cp.apply([
    namespace('late'),
    pool('late', 'llama', { app: 'llama' }),
    poolOnly('late', 'whole'),
    binding('late', 'chat'),
    binding('late', 'old', { containerName: 'old' }),
  ])
  await untilReason(cp, 'late', 'whole', 'ClusterSPIFFEIDCRDMissing')
  await untilReason(cp, 'late', 'chat', 'InferenceObjectiveCRDMissing')
  await cp.installCrd(OUTPUTS)
  await reasonSoon('late', 'whole', 'Reconciled')
  await cp.installCrd(OBJECTIVES)
  await cp.apply([newObjective('late', 'chat', 'llama')])
  await reasonSoon('late', 'chat', 'Reconciled')
  await reasonSoon('late', 'old', 'TargetObjectiveNotFound')
  await cp.installCrd(OLD_OBJECTIVES)
  await cp.apply([objective('late', 'old', 'llama')])
  await reasonSoon('late', 'old', 'Reconciled')
  expect(await outputs(cp)).toHaveLength(3)
  expect(operator.program.ended()).toBeUndefined()
})

test('the kind of the outputs vanishes and comes back: the bindings say so, and the outputs are written anew', async () => {
  await cp.apply([
    namespace('outputs'),
    pool('outputs', 'llama', { app: 'llama' }),
    ...['one', 'two', 'gone'].map((name) => objective('outputs', name, 'llama')),
    ...['one', 'two', 'gone'].map((name) => binding('outputs', name, { containerName: name })),
  ])
  for (const name of ['one', 'two', 'gone']) await untilReason(cp, 'outputs', name, 'Reconciled')
  const before = await Promise.all([outputOf('outputs', 'one'), outputOf('outputs', 'two')])
  await cp.removeCrd(OUTPUTS)
  for (const name of ['one', 'two', 'gone']) {
    const missing = await reasonSoon('outputs', name, 'ClusterSPIFFEIDCRDMissing')
    expect(dig(missing, 'status', 'clusterSPIFFEID')).toBeUndefined()
    expect(listAt(missing, 'status', 'renderedSelectors')).toEqual([])
  }
  await cp.admin.delete(bindingId('outputs', 'gone'))
  await until(
    async () => (await cp.admin.get(bindingId('outputs', 'gone'))) === undefined,
    'a binding to be let go while there are no outputs',
    SOON_MS,
  )
  await cp.installCrd(OUTPUTS)
  for (const name of ['one', 'two']) await reasonSoon('outputs', name, 'Reconciled')
  const now = await Promise.all([outputOf('outputs', 'one'), outputOf('outputs', 'two')])
  expect(now.filter((each) => before.includes(each))).toEqual([])
  expect(await outputsOf(cp, 'outputs', 'gone')).toEqual([])
})

test('kinds that are served in another version alone are not gone: nothing is withdrawn or let go', async () => {
  const space = 'other-version'
  await cp.apply([
    namespace(space),
    pool(space, 'llama', { app: 'llama' }),
    poolOnly(space, 'stays', { poolRef: { name: 'llama', group: 'inference.networking.k8s.io' } }),
    perVariant(space, 'gone', 'prefill', {
      poolRef: { name: 'llama', group: 'inference.networking.k8s.io' },
    }),
  ])
  for (const name of ['stays', 'gone']) await untilReason(cp, space, name, 'Reconciled')
  const [settled, leaving] = [await outputOf(space, 'stays'), await outputOf(space, 'gone')]
  for (const name of [OUTPUTS, POOLS]) await serveOnlyIn(name, 'v9')
  await cp.admin.delete(bindingId(space, 'gone'))
  // A process that runs has seen the outputs, and one that starts has nothing but discovery to go by.
  await reasonSoon(space, 'stays', 'Undetermined')
  await operator.stop()
  operator = await startNext()
  const found = await cp.admin.get(bindingId(space, 'stays'))
  expect(stringAt(conditionOf(found, 'Ready'), 'message')).toContain(': served in another version')
  expect(stringAt(found, 'status', 'clusterSPIFFEID', 'uid')).toBe(settled.split(' ')[0])
  // What may still be in force keeps its binding.
  await cp.apply([
    poolOnly(space, 'late', { poolRef: { name: 'llama', group: 'inference.networking.k8s.io' } }),
  ])
  await reasonSoon(space, 'late', 'Undetermined')
  expect(await cp.admin.get(bindingId(space, 'gone'))).toBeDefined()
  for (const name of [OUTPUTS, POOLS]) await cp.installCrd(name)
  expect(await outputOf(space, 'stays')).toBe(settled)
  await reasonSoon(space, 'stays', 'Reconciled')
  await until(
    async () => (await cp.admin.get(bindingId(space, 'gone'))) === undefined,
    'a binding to be let go once its output can be seen',
    SOON_MS,
  )
  expect(await outputOf(space, 'stays')).toBe(settled)
  expect(leaving).not.toBe(settled)
  expect(await outputsOf(cp, space, 'gone')).toEqual([])
})

test('an operator starts while CRDs serve no version: nothing is withdrawn or let go', async () => {
  const space = 'no-version'
  const poolRef = { name: 'llama', group: 'inference.networking.k8s.io' }
  await cp.apply([
    namespace(space),
    pool(space, 'llama', { app: 'llama' }),
    poolOnly(space, 'stays', { poolRef }),
    perVariant(space, 'gone', 'prefill', { poolRef }),
  ])
  for (const name of ['stays', 'gone']) await untilReason(cp, space, name, 'Reconciled')
  const settled = await outputOf(space, 'stays')
  await operator.stop()
  for (const name of [OUTPUTS, POOLS]) await serveOnlyIn(name, undefined)
  await cp.admin.delete(bindingId(space, 'gone'))
  operator = await startNext()
  await untilReason(cp, space, 'stays', 'Undetermined', /: not served$/)
  for (const name of [OUTPUTS, POOLS]) await cp.installCrd(name)
  await reasonSoon(space, 'stays', 'Reconciled')
  expect(await outputOf(space, 'stays')).toBe(settled)
  await until(
    async () => (await cp.admin.get(bindingId(space, 'gone'))) === undefined,
    'a binding to be let go once its output can be seen',
    SOON_MS,
  )
  expect(await outputsOf(cp, space, 'gone')).toEqual([])
})

test('one pool kind of two vanishes and comes back: bindings to the other kind do not notice', async () => {
  const group = 'inference.networking.x-k8s.io'
  await cp.apply([
    namespace('pools'),
    pool('pools', 'llama', { app: 'llama' }),
    olderPool('pools', 'elder', { app: 'elder' }),
    poolOnly('pools', 'stays'),
    poolOnly('pools', 'by-group', { poolRef: { name: 'elder', group } }),
    poolOnly('pools', 'by-name', { poolRef: { name: 'elder' } }),
  ])
  for (const name of ['stays', 'by-group', 'by-name']) await untilReason(cp, 'pools', name, 'Reconciled')
  const untouched = await outputOf('pools', 'stays')
  await cp.removeCrd(OLD_POOLS)
  await reasonSoon('pools', 'by-group', 'InferencePoolCRDMissing')
  await reasonSoon('pools', 'by-name', 'TargetPoolNotFound')
  expect(await outputsOf(cp, 'pools', 'by-group')).toEqual([])
  expect(await outputsOf(cp, 'pools', 'by-name')).toEqual([])
  await cp.installCrd(OLD_POOLS)
  await reasonSoon('pools', 'by-group', 'TargetPoolNotFound')
  await cp.apply([olderPool('pools', 'elder', { app: 'elder' })])
  for (const name of ['by-group', 'by-name']) await reasonSoon('pools', name, 'Reconciled')
  expect(await outputOf('pools', 'stays')).toBe(untouched)
})

test('an earlier objective kind decides while it holds the name, and a later one when it vanishes', async () => {
  await cp.apply([
    namespace('objectives'),
    pool('objectives', 'llama', { app: 'llama' }),
    pool('objectives', 'other', { app: 'other' }),
    newObjective('objectives', 'chat', 'other'),
    objective('objectives', 'chat', 'llama'),
    binding('objectives', 'chat'),
  ])
  await untilReason(cp, 'objectives', 'chat', 'InvalidObjectiveRef')
  await cp.removeCrd(OBJECTIVES)
  await reasonSoon('objectives', 'chat', 'Reconciled')
  const settled = await outputOf('objectives', 'chat')
  const status = await cp.admin.get(bindingId('objectives', 'chat'))
  // The kind is in use elsewhere: that it comes changes nothing here.
  await cp.installCrd(OBJECTIVES)
  await cp.apply([
    newObjective('objectives', 'elsewhere', 'llama'),
    binding('objectives', 'elsewhere', { containerName: 'elsewhere' }),
  ])
  await reasonSoon('objectives', 'elsewhere', 'Reconciled')
  expect(await outputOf('objectives', 'chat')).toBe(settled)
  expect(await cp.admin.get(bindingId('objectives', 'chat'))).toEqual(status)
  // An object of that name changes it.
  await cp.apply([newObjective('objectives', 'chat', 'other')])
  await reasonSoon('objectives', 'chat', 'InvalidObjectiveRef')
  await cp.admin.delete({
    apiVersion: 'llm-d.ai/v1alpha2',
    kind: 'InferenceObjective',
    name: 'chat',
    namespace: 'objectives',
  })
  await reasonSoon('objectives', 'chat', 'Reconciled')
})

describe('a discovery that fails', () => {
  const CASES: readonly {
    readonly name: string
    readonly space: string
    readonly path: RegExp
    readonly status: number
    readonly message: string
  }[] = [
    {
      name: 'of objectives with 500',
      space: 'discovery-500',
      path: /^\/apis\/llm-d\.ai\/v1alpha2$/,
      status: 500,
      message: 'cannot discover InferenceObjective.llm-d.ai: failed',
    },
    {
      name: 'of objectives with 403',
      space: 'discovery-403',
      path: /^\/apis\/llm-d\.ai\/v1alpha2$/,
      status: 403,
      message: 'cannot discover InferenceObjective.llm-d.ai: forbidden',
    },
    {
      name: 'of pools with 503',
      space: 'discovery-503',
      path: /^\/apis\/inference\.networking\.(?:x-)?k8s\.io\/\w+$/,
      status: 503,
      message: 'cannot discover InferencePool.inference.networking.k8s.io: failed',
    },
    {
      name: 'of outputs with 500',
      space: 'discovery-of-outputs',
      path: /^\/apis\/spire\.spiffe\.io\/v1alpha1$/,
      status: 500,
      message: 'cannot discover ClusterSPIFFEID.spire.spiffe.io: failed',
    },
  ]
  test.each(CASES)('at start, $name: nothing is withdrawn', async ({ space, path, status, message }) => {
    await settle(cp, space)
    const settled = await outputOf(space, 'chat')
    expect(await operator.stop()).toBe('exit code 0')
    const injection = proxy.inject({ path, count: Infinity, fault: { kind: 'answer', status } })
    operator = await startNext()
    await untilReason(cp, space, 'chat', 'Undetermined', message)
    expect(await outputOf(space, 'chat')).toBe(settled)
    injection.remove()
    await untilReason(cp, space, 'chat', 'Reconciled')
    expect(await outputOf(space, 'chat')).toBe(settled)
  })

  test('that cannot tell whether a group exists (/apis): nothing is withdrawn, and the rest goes on', async () => {
    const space = 'discovery-of-groups'
    await settle(cp, space)
    const settled = await outputOf(space, 'chat')
    await cp.removeCrd(OBJECTIVES)
    await operator.stop()
    const injection = proxy.inject({
      path: /^\/apis$/,
      count: Infinity,
      fault: { kind: 'answer', status: 503 },
    })
    operator = await startNext()
    const message = 'cannot discover InferenceObjective.llm-d.ai: failed'
    await untilReason(cp, space, 'chat', 'Undetermined', message)
    await sentinel(space, 'whole')
    expect(await outputOf(space, 'chat')).toBe(settled)
    injection.remove()
    await untilReason(cp, space, 'chat', 'Reconciled')
    expect(await outputOf(space, 'chat')).toBe(settled)
    await cp.installCrd(OBJECTIVES)
  })

  test('later, when a CRD is touched: what is followed goes on being followed', async () => {
    const space = 'discovery-later'
    await cp.apply([...estate(space), newObjective(space, 'chat', 'llama'), binding(space, 'chat')])
    await untilReason(cp, space, 'chat', 'Reconciled')
    const settled = await outputOf(space, 'chat')
    const injection = proxy.inject({
      path: /^\/apis\/llm-d\.ai\/v1alpha2$/,
      count: Infinity,
      fault: { kind: 'answer', status: 500 },
    })
    const crd = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name: OBJECTIVES }
    await cp.admin.patch(crd, { metadata: { annotations: { 'example.org/touched': 'yes' } } })
    await injection.hit()
    await cp.apply([newObjective(space, 'new', 'llama'), binding(space, 'new', { containerName: 'new' })])
    await untilReason(cp, space, 'new', 'Reconciled')
    expect(await outputOf(space, 'chat')).toBe(settled)
    injection.remove()
  })
})

describe('a kind that may not be listed', () => {
  const CASES = [
    {
      group: 'llm-d.ai',
      resource: 'inferenceobjectives',
      message: 'cannot list InferenceObjective.llm-d.ai: forbidden',
      /** What does not ask that kind: an objective of a less preferred group does (docs/contract.md §4.2). */
      other: { mode: 'PoolOnly', objectiveRef: undefined, containerName: undefined },
    },
    {
      group: 'inference.networking.x-k8s.io',
      resource: 'inferencepools',
      message: 'cannot list InferencePool.inference.networking.x-k8s.io: forbidden',
      other: { poolRef: { name: 'llama', group: 'inference.networking.k8s.io' } },
    },
  ]

  test.each(CASES)(
    '$resource of $group: the bindings that need it wait with their outputs, the others go on',
    async ({ group, resource, message, other }) => {
      const space = `forbidden-${group.replaceAll('.', '-')}`
      await settle(cp, space)
      const settled = await outputOf(space, 'chat')
      await allowAllBut(group, resource)
      // A watch that is open goes on: rights are looked at when a request is made.
      expect(await operator.stop()).toBe('exit code 0')
      operator = await startNext()
      await untilReason(cp, space, 'chat', 'Undetermined', message)
      await cp.apply([
        binding(space, 'other', { objectiveRef: { name: 'chat' }, containerName: 'other', ...other }),
      ])
      await untilReason(cp, space, 'other', 'Reconciled')
      await sentinel(space, 'whole')
      expect(await outputOf(space, 'chat')).toBe(settled)
      await allowAllBut()
      await untilReason(cp, space, 'chat', 'Reconciled')
      expect(await outputOf(space, 'chat')).toBe(settled)
    },
  )

  test('nor be watched any more, while the operator runs: the same, and it recovers', async () => {
    const space = 'forbidden-later'
    await cp.apply([...estate(space), newObjective(space, 'chat', 'llama'), binding(space, 'chat')])
    await untilReason(cp, space, 'chat', 'Reconciled')
    const settled = await outputOf(space, 'chat')
    await allowAllBut('llm-d.ai', 'inferenceobjectives')
    await until(() => {
      // The authorizer follows its roles with a short delay: a watch that is let in again is cut again.
      proxy.watches(/llm-d\.ai/).drop()
      return proxy.requests.some(
        ({ isWatch, path, status }) => isWatch && path.includes('llm-d') && status === 403,
      )
    }, 'a watch of objectives to be forbidden')
    const message = 'cannot watch InferenceObjective.llm-d.ai: forbidden'
    await untilReason(cp, space, 'chat', 'Undetermined', message)
    await sentinel(space, 'whole')
    expect(await outputOf(space, 'chat')).toBe(settled)
    await allowAllBut()
    await untilReason(cp, space, 'chat', 'Reconciled')
    expect(await outputOf(space, 'chat')).toBe(settled)
  })
})

describe('where no pool kind is served any more', () => {
  const space = 'without-pools'
  const names = ['one', 'two', 'deleted']
  const MISSING =
    'error: the API server serves neither InferencePool.inference.networking.k8s.io nor InferencePool.inference.networking.x-k8s.io: there is nothing to compile; install the CRDs of the Gateway API Inference Extension'

  async function settleAll(): Promise<void> {
    await cp.apply(estate(space))
    await cp.apply(names.map((name) => poolOnly(space, name)))
    for (const name of names) await untilReason(cp, space, name, 'Reconciled')
  }

  test('a running operator withdraws everything, and goes on when one comes back', async () => {
    await settleAll()
    await removePools()
    for (const name of names) await reasonSoon(space, name, 'InferencePoolCRDMissing')
    // Those of the bindings of other tests too.
    await until(async () => (await outputs(cp)).length === 0, 'every output to be withdrawn', SOON_MS)
    await cp.installCrd(POOLS)
    await settleAll()
    expect(operator.program.ended()).toBeUndefined()
  })

  test('an operator that starts withdraws, removes orphans, finishes deletions and ends with one line', async () => {
    await settleAll()
    expect(await operator.stop()).toBe('exit code 0')
    await cp.admin.create(orphan(space, 'llama'))
    await cp.admin.delete(bindingId(space, 'deleted'))
    expect((await outputs(cp)).length).toBe(4)
    await removePools()
    // A discovery that fails is no absence: nothing ends, and nothing is withdrawn.
    const injection = proxy.inject({
      path: /^\/apis$/,
      count: Infinity,
      fault: { kind: 'answer', status: 503 },
    })
    operator = await startOperator(cp, { server: proxy.server, name: 'without-pools' })
    const unknown = 'cannot discover InferencePool.inference.networking.k8s.io: failed'
    await untilReason(cp, space, 'one', 'Undetermined', unknown)
    expect(await outputsOf(cp, space, 'one')).toHaveLength(1)
    expect(operator.program.ended()).toBeUndefined()
    expect(await operator.stop()).toBe('exit code 0')
    injection.remove()

    operator = await startOperator(cp, { server: proxy.server, name: 'without-pools' })
    await operator.program.end()
    expect(operator.program.ended()).toBe('exit code 1')
    const words = operator.log().filter((line) => !('level' in line))
    expect(words.map(({ message }) => message)).toEqual([MISSING])
    expect(await outputs(cp)).toEqual([])
    expect(await cp.admin.get(bindingId(space, 'deleted'))).toBeUndefined()
    for (const name of ['one', 'two']) await untilReason(cp, space, name, 'InferencePoolCRDMissing')
  })
})

test('in all of that every write was made as it must be, and never were there two on one container', async () => {
  expect((await judgeWrites(cp)).broken).toEqual([])
  await neverTwo.holds()
})
