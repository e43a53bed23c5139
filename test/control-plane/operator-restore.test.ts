// etcd is restored from a backup while an operator runs: time goes back, and the same versions come again for other content
// (docs/contract.md §6, docs/reliability.md). Never two, nothing left over, and in force again within a minute.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { dig, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import type { ControlPlane } from './control-plane.ts'
import { ownersInForce, watchNeverTwo } from './never-two.ts'
import { bindingId, conditionOf, estate, member, outputId, untilReason } from './objects.ts'
import { LEASE } from './operator-access.ts'
import { startOperator, startOperatorPlane, stopAll, type RunningOperator } from './operator.ts'
import { runs } from '@kleym/testing/runs.ts'
import { pauseFor, until } from '@kleym/testing/wait.ts'

/** How long the operator may take until everything is right again, on a busy machine. */
const RIGHT_AGAIN_MS = 60_000
/**
 * Writes between the backup and the restore. How long ago a backup was made shows in versions alone: some 150 are a minute of
 * an ordinary cluster, and 3,000 an hour of a quiet one.
 */
const MINUTE = 150
const HOUR = 3_000
/** How many writes are under way at the same time. */
const WRITERS = 20

let cp: ControlPlane
let operator: RunningOperator
let standbys: RunningOperator[] = []
beforeAll(async () => {
  cp = await startOperatorPlane()
  operator = await startOperator(cp)
  await operator.leads()
})
afterEach(async () => {
  await Promise.all(standbys.map(async (standby) => standby.program.ended() ?? standby.kill()))
  standbys = []
})
afterAll(() => stopAll(cp))

async function isReason(space: string, name: string, reason: string): Promise<boolean> {
  const found = await cp.admin.get(bindingId(space, name))
  return stringAt(conditionOf(found, 'Ready'), 'reason') === reason
}

/** How often the operators have said that the API server answers from before a restore. */
function refusals(): number {
  return [operator, ...standbys]
    .flatMap((replica) => replica.log())
    .filter((line) => stringAt(line, 'message')?.includes('answers lists from before') === true).length
}

/** Starts operators that stand by, and waits until their caches are filled. */
async function standBy(count: number): Promise<void> {
  for (let at = 0; at < count; at++) standbys.push(await startOperator(cp, { name: `standby-${at}` }))
  for (const standby of standbys)
    await until(async () => (await standby.probe('/readyz')).status === 200, 'a standby to be ready')
}

/** Starts another operator where this one has ended, as Kubernetes would: a slow API server costs it its Lease. */
async function ensureOperator(): Promise<void> {
  if (operator.program.ended() !== undefined) operator = await startOperator(cp)
}

async function leaseVersion(): Promise<string | undefined> {
  return stringAt(await cp.admin.get(LEASE), 'metadata', 'resourceVersion')
}

async function restoresCounted(): Promise<number> {
  const [, count = 'none'] = /^kleym_datastore_restores_total (\d+)$/m.exec(await operator.metrics()) ?? []
  return Number(count)
}

/** The last that an operator has logged. */
function saidBy(one: RunningOperator): string {
  const messages = one.log().map((line) => `${stringAt(line, 'time')} ${stringAt(line, 'message')}`)
  return messages.slice(-20).join('; ')
}

/** Every two of: how long ago, how many stand by, and whether the API server is restarted. A campaign tries all three. */
const RESTORES = [
  { back: 'by a minute', age: 'minute', lost: MINUTE },
  { back: 'by an hour', age: 'hour', lost: HOUR },
]
  .flatMap((backup) =>
    [0, 1, 2].flatMap((replicas) => [
      { ...backup, replicas, restarts: true, name: 'and the API server is restarted' },
      {
        ...backup,
        replicas,
        restarts: false,
        name: 'and the API server goes on from its caches for a while',
      },
    ]),
  )
  .filter(
    ({ age, replicas, restarts }) =>
      runs(1) > 1 || (replicas + Number(age === 'hour') + Number(!restarts)) % 2 === 0,
  )

test.each(RESTORES)(
  'etcd goes back $back, $name, with $replicas standing by',
  async ({ age, lost, replicas, restarts }) => {
    const space = `${age}-${replicas}-${restarts ? 'restarted' : 'cached'}`
    await ensureOperator()
    await operator.leads()
    await standBy(replicas)
    const before = await restoresCounted()
    const refused = refusals()
    const first = operator
    await cp.apply([
      ...estate(space),
      ...member(space, 'old'),
      ...member(space, 'kept', { containerName: 'proxy' }),
    ])
    for (const name of ['old', 'kept']) await untilReason(cp, space, name, 'Reconciled')
    await cp.backUpEtcd()
    const lease = await leaseVersion()
    // What the operator knows, and what the restore takes back.
    await cp.admin.delete(bindingId(space, 'old'))
    await until(async () => (await cp.admin.get(bindingId(space, 'old'))) === undefined, 'the binding to go')
    await cp.apply(member(space, 'lost'))
    await untilReason(cp, space, 'lost', 'Reconciled')
    const writers = Array.from({ length: WRITERS }, async (_, writer) => {
      for (let write = 0; write < lost / WRITERS; write++) await cp.admin.apply(note(space, writer, write))
    })
    await Promise.all(writers)
    // A backup is older than the last renewal, or the Lease shows nothing (docs/reliability.md).
    await until(async () => (await leaseVersion()) !== lease, 'the Lease to be renewed')
    await cp.restoreEtcd()
    const neverTwo = await watchNeverTwo(cp)
    try {
      if (!restarts) await until(() => refusals() > refused, 'the lists of the old history to be refused')
      // Whatever the API server has answered until now, nothing was written.
      expect(await ownersInForce(neverTwo, space)).toEqual([`${space}/kept`, `${space}/old`])
      await cp.restartApiServer()
      await ensureOperator()
      // It wants the container of the binding that is there again, which the operator takes for deleted.
      await until(async () => {
        await cp.apply(member(space, 'new'))
        return true
      }, 'the API server to take a binding')
      await until(
        async () =>
          (await isReason(space, 'old', 'IdentityCollision')) &&
          (await isReason(space, 'new', 'IdentityCollision')),
        'both bindings to collide',
        RIGHT_AGAIN_MS,
      )
      expect(await ownersInForce(neverTwo, space)).toEqual([`${space}/kept`])
      await cp.admin.delete(bindingId(space, 'new'))
      await until(
        () => isReason(space, 'old', 'Reconciled'),
        'the binding to be in force again',
        RIGHT_AGAIN_MS,
      )
      expect(await ownersInForce(neverTwo, space)).toEqual([`${space}/kept`, `${space}/old`])
      // An operator that was started meanwhile has seen one history only.
      if (operator === first && first.program.ended() === undefined)
        await until(async () => (await restoresCounted()) > before, 'the restore to be counted').catch(
          (error: unknown) => {
            throw new Error(`${String(error)}; it has said: ${saidBy(first)}`, { cause: error })
          },
        )
    } finally {
      neverTwo.stop()
    }
  },
)

/** More bindings than an operator with one write a second has written for when the datastore goes back. */
const PENDING = 8
/** Longer than it would take to write for all of them, had it believed an old list: most writes of theirs would fail. */
const WRITTEN_MS = 15_000

test('what was yet to be written in the old history is not, while the API server goes on from its caches', async () => {
  const space = 'pending'
  await operator.kill()
  operator = await startOperator(cp, { flags: ['--writes-per-second=1'] })
  await operator.leads()
  await cp.apply([...estate(space), ...member(space, 'kept')])
  const kept = await untilReason(cp, space, 'kept', 'Reconciled')
  const output = outputId(stringAt(kept, 'status', 'clusterSPIFFEID', 'name') ?? '')
  await cp.backUpEtcd()
  const lease = await leaseVersion()
  const others = Array.from({ length: PENDING }, (_, at) =>
    member(space, `other-${at}`, { containerName: `other-${at}` }),
  )
  await cp.apply(others.flat())
  // Its output is to have these labels too, after the others have got theirs.
  const matchLabels = { lost: 'soon' }
  const llama = { apiVersion: 'inference.networking.k8s.io/v1', kind: 'InferencePool', name: 'llama' }
  await cp.admin.patch({ ...llama, namespace: space }, { spec: { selector: { matchLabels } } })
  await until(async () => (await leaseVersion()) !== lease, 'the Lease to be renewed')
  const written = await cp.admin.get(output)
  expect(dig(written, 'spec', 'podSelector', 'matchLabels')).not.toMatchObject(matchLabels)
  const refused = refusals()
  await cp.restoreEtcd()
  await until(() => refusals() > refused, 'the lists of the old history to be refused')
  await pauseFor(WRITTEN_MS)
  expect(operator.program.ended()).toBeUndefined()
  expect(await cp.admin.get(output)).toEqual(written)
  await cp.restartApiServer()
})

function note(space: string, writer: number, write: number): JsonRecord {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `written-${writer}`, namespace: space },
    data: { write: String(write) },
  }
}
