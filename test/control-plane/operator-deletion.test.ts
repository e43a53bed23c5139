// The end of bindings, on a real API server (docs/contract.md §8, "Deletion"): the output goes first, a live list proves
// it, the finalizer goes last; and nothing that goes missing or gets in the way keeps a namespace from finishing its
// deletion.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { listAt, stringAt } from '../../shared/src/core/base/json.ts'
import { FINALIZER } from '../../shared/src/core/model/names.ts'
import { WRITE_VERBS, type AuditEvent, type AuditMark } from './audit.ts'
import type { ControlPlane } from './control-plane.ts'
import { POOL_CRDS, type CrdName } from './crds.ts'
import { annotationsOf, copyOf, uidOf, untilBindingGone, untilGone } from './in-force.ts'
import {
  binding,
  bindingId,
  namespace,
  objective,
  outputId,
  outputs,
  outputsOf,
  ownerOf,
  pool,
  poolOnly,
  untilReason,
} from './objects.ts'
import { LEASE, OPERATOR } from './operator-access.ts'
import {
  startLeading,
  startOperator,
  startOperatorPlane,
  stopAll,
  whileDown,
  type RunningOperator,
} from './operator.ts'
import { until } from '@kleym/testing/wait.ts'
import { judgeWrites, sortOf } from './write-rules.ts'

const OTHER_FINALIZER = 'example.com/other'
const OUTPUTS_CRD: CrdName = 'clusterspiffeids.spire.spiffe.io'

let cp: ControlPlane
let operator: RunningOperator
beforeAll(async () => {
  cp = await startOperatorPlane()
  operator = await startLeading(cp)
})
afterAll(() => stopAll(cp))

/** Does something while no operator runs. */
async function meanwhile(act: () => Promise<void>): Promise<void> {
  operator = await whileDown(cp, operator, act)
}

/** A namespace with a pool, and its settled bindings: PoolOnly, in the order of their names. */
async function register(space: string, names: readonly string[] = ['chat']): Promise<readonly string[]> {
  await cp.apply([namespace(space), pool(space, 'llama', { app: 'llama' })])
  await cp.apply(names.map((name) => poolOnly(space, name)))
  return Promise.all(
    names.map(async (name) => {
      const ready = await untilReason(cp, space, name, 'Reconciled')
      return stringAt(ready, 'status', 'clusterSPIFFEID', 'name') ?? ''
    }),
  )
}

/** Asks for a namespace's deletion, and waits until that has come to its bindings. */
async function beginToDelete(space: string, names: readonly string[]): Promise<void> {
  await deleteNamespace(space)
  for (const name of names) {
    await until(async () => {
      const found = await cp.admin.get(bindingId(space, name))
      return stringAt(found, 'metadata', 'deletionTimestamp') !== undefined
    }, `binding ${space}/${name} to be asked to go`)
  }
}

function deleteNamespace(name: string): Promise<void> {
  return cp.admin.delete({ apiVersion: 'v1', kind: 'Namespace', name })
}

async function untilNamespaceGone(name: string): Promise<void> {
  await until(
    async () => (await cp.admin.get({ apiVersion: 'v1', kind: 'Namespace', name })) === undefined,
    `namespace ${name} to finish deleting`,
  )
}

/** What the operator did about the bindings of a namespace and about the outputs since a mark, as the log has it. */
async function done(since?: AuditMark): Promise<readonly AuditEvent[]> {
  return cp.audit({ user: OPERATOR, ...(since === undefined ? {} : { since }) })
}

function finalizersIn(object: unknown): readonly unknown[] {
  return listAt(object, 'metadata', 'finalizers')
}

/** Whether one was answered before the other came. */
function isBefore(first: AuditEvent | undefined, second: AuditEvent | undefined): boolean {
  return (first?.answeredAt ?? 'never') <= (second?.receivedAt ?? '')
}

async function expectEndsInOneLine(ending: RunningOperator): Promise<void> {
  await until(() => ending.program.ended(), 'the operator to end by itself')
  expect(ending.program.ended()).toBe('exit code 1')
  const words = ending.log().filter((line) => line['level'] === undefined)
  expect(words).toEqual([
    {
      message: expect.stringMatching(
        /^error: the API server serves neither InferencePool.* install the CRDs/,
      ),
    },
  ])
}

describe('the order of things', () => {
  test('the finalizer is confirmed before the output is written, and given up after a list that began after its deletion', async () => {
    const [name = ''] = await register('order')
    await cp.admin.delete(bindingId('order', 'chat'))
    await untilBindingGone(cp, 'order')
    const events = await done()
    const ofBinding = events.filter(({ namespace: space, verb }) => space === 'order' && verb === 'patch')
    const ofOutput = events.filter((event) => event.resource === 'clusterspiffeids' && event.name === name)
    const [added, dropped, ...more] = ofBinding
    expect(more).toEqual([])
    expect(added?.requestObject).toContainEqual({
      op: 'add',
      path: '/metadata/finalizers',
      value: [FINALIZER],
    })
    expect(dropped?.requestObject).toContainEqual({ op: 'remove', path: '/metadata/finalizers/0' })
    expect(ofOutput.map(({ verb, status }) => `${verb} ${status}`)).toEqual(['create 201', 'delete 200'])
    const [created, deleted] = ofOutput
    const statuses = events.filter((event) => event.namespace === 'order' && event.verb === 'update')
    expect(statuses.filter((event) => isBefore(deleted, event))).toEqual([])
    expect(added?.status).toBe(200)
    expect(isBefore(added, created)).toBe(true)
    const lists = events.filter(
      (event) =>
        event.verb === 'list' &&
        event.resource === 'clusterspiffeids' &&
        isBefore(deleted, event) &&
        isBefore(event, dropped),
    )
    expect(lists.length).toBeGreaterThanOrEqual(1)
  })

  test('of a namespace with 50 bindings that goes at once, many share one list', async () => {
    const names = Array.from({ length: 50 }, (_, at) => `binding-${at}`)
    const beginning = await cp.auditMark()
    const written = await register('fifty', names)
    expect(new Set(written).size).toBe(50)
    const early = await done(beginning)
    const finalizers = new Map(
      early.filter((event) => event.verb === 'patch').map((event) => [event.name, event] as const),
    )
    const unguarded = early.filter(
      (event) =>
        sortOf(event) === 'create clusterspiffeids' &&
        !isBefore(finalizers.get(ownerOf(event.requestObject).replace('fifty/', '')), event),
    )
    expect(unguarded.map((event) => event.name)).toEqual([])
    const mark = await cp.auditMark()
    await meanwhile(() => beginToDelete('fifty', names))
    await Promise.all(names.map((name) => untilBindingGone(cp, 'fifty', name)))
    const events = await done(mark)
    const sorts = Map.groupBy(events, sortOf)
    expect(sorts.get('delete clusterspiffeids')).toHaveLength(50)
    // One that comes a version late is refused and changes nothing, and the next one is right.
    const { let: letGo = [], ...refused } = Object.groupBy(
      sorts.get('patch inferenceidentitybindings') ?? [],
      ({ status }) => (status === 200 ? 'let' : status),
    )
    expect(new Set(letGo.map(({ name }) => name)).size).toBe(50)
    expect(letGo).toHaveLength(50)
    expect(Object.values(refused).flat().length, `refused: ${JSON.stringify(refused)}`).toBeLessThan(10)
    const lists = sorts.get('list clusterspiffeids')?.length ?? 0
    expect(lists).toBeGreaterThanOrEqual(1)
    // How many share one is a matter of how long it takes; one list for each binding is what must not be.
    expect(lists).toBeLessThan(40)
    const left = (await outputs(cp)).filter((output) => ownerOf(output).startsWith('fifty/'))
    expect(left).toEqual([])
  })
})

/** How often the operator has come back to a binding after a fixed time. */
async function looksAgain(): Promise<number> {
  const line = /^controller_runtime_reconcile_total\{.*result="requeue_after".*\} (\d+)$/m
  return Number(line.exec(await operator.metrics())?.[1] ?? 0)
}

describe('what others hold', () => {
  test('another finalizer on the binding keeps it, but neither its output nor our finalizer', async () => {
    const [name = ''] = await register('held-binding')
    await cp.admin.patch(bindingId('held-binding', 'chat'), {
      metadata: { finalizers: [FINALIZER, OTHER_FINALIZER] },
    })
    await cp.admin.delete(bindingId('held-binding', 'chat'))
    await untilGone(cp, name)
    const left = await until(async () => {
      const found = await cp.admin.get(bindingId('held-binding', 'chat'))
      return finalizersIn(found).join() === OTHER_FINALIZER && found
    }, 'our finalizer to be gone')
    expect(stringAt(left, 'metadata', 'deletionTimestamp')).toBeDefined()
    await cp.admin.patch(bindingId('held-binding', 'chat'), { metadata: { finalizers: null } })
    await untilBindingGone(cp, 'held-binding')
    expect(await outputsOf(cp, 'held-binding', 'chat')).toEqual([])
  })

  test('another finalizer on the output keeps the binding until the output is gone', async () => {
    const [name = ''] = await register('held-output')
    await cp.admin.patch(outputId(name), { metadata: { finalizers: [OTHER_FINALIZER] } })
    const mark = await cp.auditMark()
    await cp.admin.delete(bindingId('held-output', 'chat'))
    await until(
      async () => stringAt(await cp.admin.get(outputId(name)), 'metadata', 'deletionTimestamp') !== undefined,
      'the output to be asked to go',
    )
    // Looked at, left alone, and looked at again.
    const before = await looksAgain()
    await until(async () => (await looksAgain()) >= before + 2, 'the operator to look twice more')
    expect(finalizersIn(await cp.admin.get(bindingId('held-output', 'chat')))).toEqual([FINALIZER])
    await cp.admin.patch(outputId(name), { metadata: { finalizers: null } })
    await untilBindingGone(cp, 'held-output')
    // A watch ends now and then; and a delete that comes a version late, as the finalizer was just put on, changes nothing.
    const filter = { since: mark, user: OPERATOR, verbs: WRITE_VERBS, resource: 'clusterspiffeids' }
    const writes = (await cp.audit(filter)).filter(({ status }) => status !== 409)
    expect(writes.map(({ verb, status }) => `${verb} ${status}`)).toEqual(['delete 200'])
  })

  test('a foreign object under our name and copies by hand hold nothing up and stay', async () => {
    const [name = ''] = await register('look-alike')
    const output = await cp.admin.get(outputId(name))
    await cp.admin.create(copyOf(output ?? {}, 'look-alike-copy'))
    await cp.admin.patch(outputId(name), { metadata: { annotations: null } })
    await untilReason(cp, 'look-alike', 'chat', 'OutputNotOwned')
    await deleteNamespace('look-alike')
    await untilBindingGone(cp, 'look-alike')
    const left = await Promise.all([name, 'look-alike-copy'].map((one) => cp.admin.get(outputId(one))))
    expect(left.map((one) => annotationsOf(one))).toEqual([{}, annotationsOf(output)])
    expect(uidOf(left[0])).toBe(uidOf(output))
    for (const one of [name, 'look-alike-copy']) await cp.admin.delete(outputId(one))
  })
})

describe('with no operator at the time', () => {
  test('a binding that was deleted while the operator was down is finished at its start', async () => {
    const [name = ''] = await register('down')
    await meanwhile(() => cp.admin.delete(bindingId('down', 'chat')))
    await untilBindingGone(cp, 'down')
    expect(await cp.admin.get(outputId(name))).toBeUndefined()
  })

  test('a binding that is being deleted without our finalizer gets none, its output goes all the same, and one status says so', async () => {
    const [name = ''] = await register('without')
    let mark: AuditMark | undefined = undefined
    await meanwhile(async () => {
      await cp.admin.patch(bindingId('without', 'chat'), { metadata: { finalizers: [OTHER_FINALIZER] } })
      await cp.admin.delete(bindingId('without', 'chat'))
      mark = await cp.auditMark()
    })
    await untilGone(cp, name)
    await untilReason(cp, 'without', 'chat', 'Deleting')
    // Anything else that a person does to it changes nothing about that.
    await cp.admin.patch(bindingId('without', 'chat'), { metadata: { labels: { look: 'here' } } })
    await register('without-sentinel')
    expect(finalizersIn(await cp.admin.get(bindingId('without', 'chat')))).toEqual([OTHER_FINALIZER])
    await cp.admin.patch(bindingId('without', 'chat'), { metadata: { finalizers: null } })
    await untilBindingGone(cp, 'without')
    const onBinding = (await done(mark)).filter(
      (event) =>
        event.namespace === 'without' &&
        event.resource === 'inferenceidentitybindings' &&
        event.verb !== 'get',
    )
    expect(onBinding.map(({ verb, subresource }) => `${verb} ${subresource}`)).toEqual(['update status'])
  })
})

describe('finalizers never wedge', () => {
  test('a namespace with bindings goes while the kind ClusterSPIFFEID is not there', async () => {
    const names = ['one', 'two', 'three']
    await register('no-outputs', names)
    await register('no-outputs-binding')
    await cp.removeCrd(OUTPUTS_CRD)
    onTestFinished(() => cp.installCrd(OUTPUTS_CRD))
    await untilReason(cp, 'no-outputs', 'one', 'ClusterSPIFFEIDCRDMissing')
    await deleteNamespace('no-outputs')
    await untilNamespaceGone('no-outputs')
    await cp.admin.delete(bindingId('no-outputs-binding', 'chat'))
    await untilBindingGone(cp, 'no-outputs-binding')
    expect(await cp.admin.serves('spire.spiffe.io/v1alpha1', 'ClusterSPIFFEID')).toBe(false)
  })

  test('also when it vanishes while the deletion is under way, and when the operator starts without it', async () => {
    const [name = ''] = await register('vanishing')
    await register('vanished')
    // The output cannot go, so the binding waits; then the kind goes from under it.
    await cp.admin.patch(outputId(name), { metadata: { finalizers: [OTHER_FINALIZER] } })
    await cp.admin.delete(bindingId('vanishing', 'chat'))
    await until(
      async () => stringAt(await cp.admin.get(outputId(name)), 'metadata', 'deletionTimestamp') !== undefined,
      'the output to be asked to go',
    )
    const removed = cp.removeCrd(OUTPUTS_CRD)
    onTestFinished(() => cp.installCrd(OUTPUTS_CRD))
    await cp.admin.patch(outputId(name), { metadata: { finalizers: null } })
    await removed
    await untilBindingGone(cp, 'vanishing')
    await meanwhile(() => cp.admin.delete(bindingId('vanished', 'chat')))
    await untilBindingGone(cp, 'vanished')
    expect(await cp.admin.serves('spire.spiffe.io/v1alpha1', 'ClusterSPIFFEID')).toBe(false)
  })

  test('a cluster without pools: the operator withdraws, removes orphans, finishes deletions and ends with one clear line', async () => {
    const [kept = ''] = await register('no-pools-kept')
    const [deletedOutput = ''] = await register('no-pools-namespace', ['one'])
    const [orphan = ''] = await register('no-pools-orphan')
    await cp.apply([
      objective('no-pools-kept', 'chat', 'llama'),
      binding('no-pools-kept', 'chat-objective', { objectiveRef: { name: 'chat' } }),
    ])
    await untilReason(cp, 'no-pools-kept', 'chat-objective', 'Reconciled')
    expect(await operator.stop()).toBe('exit code 0')
    onTestFinished(async () => {
      await Promise.all(POOL_CRDS.map((crd) => cp.installCrd(crd)))
      operator = await startLeading(cp)
    })
    await cp.admin.patch(bindingId('no-pools-orphan', 'chat'), { metadata: { finalizers: null } })
    await cp.admin.delete(bindingId('no-pools-orphan', 'chat'))
    await beginToDelete('no-pools-namespace', ['one'])
    for (const crd of POOL_CRDS) await cp.removeCrd(crd)

    const mark = await cp.auditMark()
    const first = await startOperator(cp)
    await expectEndsInOneLine(first)
    for (const name of [kept, deletedOutput, orphan])
      expect(await cp.admin.get(outputId(name))).toBeUndefined()
    expect(await outputs(cp)).toEqual([])
    for (const name of ['chat', 'chat-objective']) {
      await untilReason(cp, 'no-pools-kept', name, 'InferencePoolCRDMissing')
    }
    await untilBindingGone(cp, 'no-pools-namespace', 'one')
    // An end in order: what was decided has been told, and whoever comes next need not wait for the Lease.
    const events = await cp.audit({
      user: OPERATOR,
      resource: 'events',
      namespace: 'no-pools-kept',
      since: mark,
    })
    expect(events.map(({ requestObject }) => stringAt(requestObject, 'reason'))).toEqual([
      'InferencePoolCRDMissing',
      'InferencePoolCRDMissing',
    ])
    const lease = await cp.admin.get(LEASE)
    expect(stringAt(lease, 'spec', 'holderIdentity') ?? '').toBe('')

    // What is asked for after its end is done by the next start, which a Deployment sees to.
    await beginToDelete('no-pools-kept', ['chat', 'chat-objective'])
    await expectEndsInOneLine(await startOperator(cp))
    await Promise.all(['no-pools-namespace', 'no-pools-kept'].map(untilNamespaceGone))
  })
})

test('in all of this every write was a POST, a PUT or a DELETE that names what it judged, under kleym-operator', async () => {
  expect((await judgeWrites(cp)).broken).toEqual([])
  await Promise.all(['fifty', 'look-alike'].map(untilNamespaceGone))
})
