// What befalls a cluster beside edits (docs/reliability.md, "Upheavals"): a namespace that comes back, a finalizer that somebody takes
// off again and again, an upgrade that changes two settings at once. Never two, nothing left over, nobody else held up.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dig, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import type { ControlPlane } from './control-plane.ts'
import { untilBindingGone } from './in-force.ts'
import { watchNeverTwo, type NeverTwo } from './never-two.ts'
import {
  bindingId,
  estate,
  member,
  namespace,
  outputsIn,
  outputsOf,
  ownerOf,
  untilReason,
} from './objects.ts'
import { OPERATOR, OPERATOR_B } from './operator-access.ts'
import {
  startLeading,
  startOperator,
  startOperatorPlane,
  stopAll,
  TRUST_DOMAIN,
  type RunningOperator,
} from './operator.ts'
import { RestError } from './rest.ts'
import { until } from '@kleym/testing/wait.ts'
import { judgeWrites } from './write-rules.ts'

const OTHER_DOMAIN = 'other.example'
const OTHER_CLASS = 'other-class'
const NAMES = Array.from({ length: 20 }, (_, at) => `chat-${at}`)

let cp: ControlPlane
let operator: RunningOperator
let neverTwo: NeverTwo
beforeAll(async () => {
  cp = await startOperatorPlane()
  neverTwo = await watchNeverTwo(cp)
  operator = await startLeading(cp)
})
afterAll(() => stopAll(neverTwo, cp))

/** A namespace with bindings that have nothing to do with each other. */
function team(space: string): readonly JsonRecord[] {
  return [...estate(space), ...NAMES.flatMap((name) => member(space, name, { containerName: name }))]
}

function finalizerPatches(space: string): Promise<number> {
  return cp.audit({ user: OPERATOR, verbs: ['patch'], namespace: space }).then((events) => events.length)
}

test('a namespace that is deleted and created again at once has one output for each binding, of the new UIDs', async () => {
  const space = 'again'
  await cp.apply(team(space))
  for (const name of NAMES) await untilReason(cp, space, name, 'Reconciled')
  const before = new Set((await outputsIn(cp, space)).map((output) => stringAt(output, 'metadata', 'uid')))
  const id = { apiVersion: 'v1', kind: 'Namespace', name: space }
  await cp.admin.delete(id)
  await until(async () => {
    // A namespace that terminates takes nothing, and an apply of it changes nothing.
    if ((await cp.admin.get(id)) !== undefined) return false
    await cp.apply([namespace(space)])
    return true
  }, 'the namespace to finish deleting')
  await cp.apply(team(space))
  for (const name of NAMES) await untilReason(cp, space, name, 'Reconciled')
  const after = await outputsIn(cp, space)
  expect(after.map(ownerOf).toSorted()).toEqual(NAMES.map((name) => `${space}/${name}`).toSorted())
  expect(after.filter((output) => before.has(stringAt(output, 'metadata', 'uid')))).toEqual([])
})

test('a finalizer that somebody takes off again and again is put back once for each time, and nobody else waits for it', async () => {
  const [space, elsewhere] = ['stripped', 'quiet']
  await cp.apply([...estate(space), ...member(space, 'chat'), ...estate(elsewhere)])
  await untilReason(cp, space, 'chat', 'Reconciled')
  const before = await finalizerPatches(space)
  const state = { isOver: false, taken: 0 }
  const taking = (async () => {
    while (!state.isOver) {
      const found = await cp.admin.get(bindingId(space, 'chat'))
      if (dig(found, 'metadata', 'finalizers') === undefined) continue
      await cp.admin.patch(bindingId(space, 'chat'), { metadata: { finalizers: null } })
      state.taken++
    }
  })()
  await until(() => state.taken >= 50, 'the finalizer to be taken off many times')
  await cp.apply(member(elsewhere, 'chat'))
  await untilReason(cp, elsewhere, 'chat', 'Reconciled')
  state.isOver = true
  await taking
  await until(
    async () => dig(await cp.admin.get(bindingId(space, 'chat')), 'metadata', 'finalizers') !== undefined,
    'the finalizer to be back',
  )
  expect((await finalizerPatches(space)) - before).toBeLessThanOrEqual(state.taken * 2)
  expect(await outputsOf(cp, space, 'chat')).toHaveLength(1)
})

test('a binding that is deleted while its finalizer is taken off leaves nothing behind', async () => {
  const space = 'stripped-and-gone'
  await cp.apply([...estate(space), ...member(space, 'chat')])
  for (let round = 0; round < 10; round++) {
    await cp.apply(member(space, 'chat'))
    await untilReason(cp, space, 'chat', 'Reconciled')
    // The operator may end the deletion before the patch comes.
    const stripped = cp.admin
      .patch(bindingId(space, 'chat'), { metadata: { finalizers: null } })
      .catch((error: unknown) => {
        if (!(error instanceof RestError && error.status === 404)) throw error
      })
    await Promise.all([stripped, cp.admin.delete(bindingId(space, 'chat'))])
    await untilBindingGone(cp, space)
  }
  const isGone = await until(async () => (await outputsIn(cp, space)).length === 0, 'the outputs to go')
  expect(isGone).toBe(true)
})

test('an upgrade that changes trust domain and class at once, and its way back, leave one output for each binding', async () => {
  const space = 'upgraded'
  await cp.apply(team(space))
  for (const name of NAMES) await untilReason(cp, space, name, 'Reconciled')
  const changed = [`--trust-domain=${OTHER_DOMAIN}`, `--clusterspiffeid-class-name=${OTHER_CLASS}`]
  // As a Deployment does it: the new one is ready before the old one ends.
  const newer = await startOperator(cp, { user: OPERATOR_B, name: OPERATOR_B, flags: changed })
  await until(async () => (await newer.probe('/readyz')).status === 200, 'the new replica to be ready')
  expect(await operator.stop()).toBe('exit code 0')
  await newer.leads()
  await untilAll(space, OTHER_DOMAIN, OTHER_CLASS)
  // And back, by a kill in the middle of it.
  const older = await startOperator(cp)
  await newer.kill()
  await older.leads()
  operator = older
  await untilAll(space, TRUST_DOMAIN, undefined)
})

/** Waits until each binding has one output, of this trust domain and class. */
async function untilAll(space: string, trustDomain: string, className: string | undefined): Promise<void> {
  await until(async () => {
    const found = await outputsIn(cp, space)
    const wrong = found.filter(
      (output) =>
        dig(output, 'spec', 'className') !== className ||
        stringAt(output, 'spec', 'spiffeIDTemplate')?.startsWith(`spiffe://${trustDomain}/`) !== true,
    )
    if (found.length !== NAMES.length || wrong.length > 0)
      throw new Error(`there are ${found.length} outputs, ${wrong.length} of them of the other settings`)
    return true
  }, `the outputs to be of ${trustDomain}`)
  for (const name of NAMES) await untilReason(cp, space, name, 'Reconciled')
}

test('in all of that every write was made as it must be, and never were there two on one container', async () => {
  expect((await judgeWrites(cp)).broken).toEqual([])
  await neverTwo.holds()
})
