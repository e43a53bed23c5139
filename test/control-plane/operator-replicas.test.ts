// Two replicas of the operator: one writes, the other stands by, and however the first one ends, the second goes on from
// what is there. The replicas are two users, so that the audit log says which of them wrote what, and when.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dig, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { ANNOTATION_BINDING_UID, ANNOTATION_INSTALL } from '../../shared/src/core/model/names.ts'
import { WRITE_VERBS, type AuditEvent, type AuditMark } from './audit.ts'
import type { ControlPlane } from './control-plane.ts'
import { untilBindingGone } from './in-force.ts'
import { besideInForce } from './in-force-writes.ts'
import { isWrite } from './observed-request.ts'
import {
  binding,
  bindingId,
  namespace,
  objective,
  outputId,
  outputsOf,
  pool,
  untilReason,
} from './objects.ts'
import { LEASE, OPERATOR, OPERATOR_B } from './operator-access.ts'
import { startOperatorPlane, type OperatorOptions, type RunningOperator } from './operator.ts'
import { replicasOn } from './replicas.ts'
import { until } from '@kleym/testing/wait.ts'

/** How long nobody takes a Lease over that was not given up. */
const LEASE_MS = 15_000

let cp: ControlPlane
beforeAll(async () => {
  cp = await startOperatorPlane({ controllers: [] })
})
afterAll(() => cp?.stop())

const { replica, proxied } = replicasOn(() => cp)

async function untilReady(operator: RunningOperator): Promise<void> {
  await until(async () => (await operator.probe('/readyz')).status === 200, 'it to be ready')
}

/** A namespace with a pool, and an objective for each of these names. */
async function prepare(space: string, names: readonly string[]): Promise<void> {
  await cp.apply([
    namespace(space),
    pool(space, 'llama', { app: 'llama' }),
    ...names.map((name) => objective(space, name, 'llama')),
  ])
}

/** A binding that collides with none of the others. */
function apart(space: string, name: string): JsonRecord {
  return binding(space, name, { containerName: name })
}

/** Whether the outputs of a binding say that it has moved to another container. */
function isMoved(outputs: readonly JsonRecord[]): boolean {
  return outputs.length === 1 && JSON.stringify(outputs).includes('k8s:container-name:moved-')
}

/** A POST of an output: its URI names none. */
function isCreation(uri: string): boolean {
  return /\/clusterspiffeids(?:\?|$)/.test(uri)
}

function namesOf(word: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `${word}-${at}`)
}

async function allReady(space: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await untilReason(cp, space, name, 'Reconciled')
    expect(await outputsOf(cp, space, name), `the outputs of ${space}/${name}`).toHaveLength(1)
  }
}

/** What both replicas have written since a mark, in the order in which it came in. */
async function writesSince(since: AuditMark): Promise<readonly AuditEvent[]> {
  const writes = await cp.audit({ since, verbs: WRITE_VERBS })
  return writes
    .filter(({ user }) => user === OPERATOR || user === OPERATOR_B)
    .toSorted((a, b) => (a.receivedAt < b.receivedAt ? -1 : 1))
}

/** Whose turn it was to write, one after the other; throws where one began before another's last write was answered. */
function turnsOf(writes: readonly AuditEvent[]): readonly string[] {
  const turns: string[] = []
  let answered = ''
  for (const { user, receivedAt, answeredAt, uri } of writes) {
    if (user !== turns.at(-1)) {
      if (receivedAt <= answered) throw new Error(`${user} writes ${uri} while another's write is under way`)
      turns.push(user)
    }
    if (answeredAt > answered) answered = answeredAt
  }
  return turns
}

function leaseWritesOf(writes: readonly AuditEvent[], user: string): readonly AuditEvent[] {
  return writes.filter((write) => write.user === user && write.resource === 'leases')
}

function holderIn({ requestObject }: AuditEvent): string | undefined {
  return stringAt(requestObject, 'spec', 'holderIdentity')
}

test('a standby is ready and writes nothing; when its leader is killed it takes over, after the lease time, from what is there and not from what its watch has shown', async () => {
  const since = await cp.auditMark()
  const names = { before: namesOf('before', 5), during: namesOf('during', 15), after: namesOf('after', 3) }
  await prepare('killed', Object.values(names).flat())
  const leader = await replica(OPERATOR)
  await leader.leads()
  const { operator: standby, proxy } = await proxied(OPERATOR_B)
  await untilReady(standby)
  // From here on the standby does not see what becomes of outputs.
  const path = /\/clusterspiffeids\?/
  const lagging = await until(() => {
    const open = proxy.watches(path)
    return open.count === 1 && open
  }, 'the standby to watch outputs')
  lagging.stall()
  await cp.apply(names.before.map((name) => apart('killed', name)))
  await allReady('killed', names.before)
  await cp.apply(names.during.map((name) => apart('killed', name)))
  await leader.kill()
  expect((await standby.probe('/readyz')).status).toBe(200)
  expect(turnsOf(await writesSince(since))).toEqual([OPERATOR])

  await standby.leads()
  await allReady('killed', names.during)
  await cp.apply(names.after.map((name) => apart('killed', name)))
  await allReady('killed', names.after)
  const writes = await writesSince(since)
  expect(turnsOf(writes)).toEqual([OPERATOR, OPERATOR_B])
  const last = Date.parse(leaseWritesOf(writes, OPERATOR).at(-1)?.receivedAt ?? '')
  const taken = Date.parse(leaseWritesOf(writes, OPERATOR_B)[0]?.receivedAt ?? '')
  expect(taken - last).toBeGreaterThanOrEqual(LEASE_MS)
  // A cache that lags would have made it create what is there, or write what is right already.
  const second = (await besideInForce(cp, writes)).filter(
    ({ user, resource }) => user === OPERATOR_B && resource !== 'leases',
  )
  expect(second.filter(({ status }) => status >= 300).map(({ uri, status }) => `${status} ${uri}`)).toEqual(
    [],
  )
  expect(second.filter(({ uri }) => uri.includes('before-')).map(({ uri }) => uri)).toEqual([])
})

test('a take-over replays no history: what a watch that lags shows after it, and is gone, is neither written nor undone', async () => {
  const since = await cp.auditMark()
  const names = { stays: namesOf('stays', 3), moves: namesOf('moves', 3), goes: namesOf('goes', 3) }
  await prepare('history', Object.values(names).flat())
  const leader = await replica(OPERATOR)
  await leader.leads()
  const { operator: standby, proxy } = await proxied(OPERATOR_B)
  await untilReady(standby)
  // From here on the standby sees nothing of what becomes of bindings, pools and outputs.
  const path = /\/(?:clusterspiffeids|inferenceidentitybindings|inferencepools)\?/
  // There are two kinds of pools.
  const lagging = await until(() => {
    const open = proxy.watches(path)
    return open.count === 4 && open
  }, 'the standby to watch')
  lagging.stall()
  await cp.apply(Object.values(names).flatMap((some) => some.map((name) => apart('history', name))))
  await allReady('history', Object.values(names).flat())
  // Bindings that change containers, and others that are gone and whose containers those take that come.
  const taken = names.moves.map((name, at) => binding('history', name, { containerName: `moved-${at}` }))
  await cp.apply(taken)
  for (const name of names.goes) await cp.admin.delete(bindingId('history', name))
  for (const name of names.goes) await untilBindingGone(cp, 'history', name)
  await allReady('history', [...names.stays, ...names.moves])
  await until(async () => {
    const outputs = await Promise.all(names.moves.map((name) => outputsOf(cp, 'history', name)))
    return outputs.every(isMoved)
  }, 'the outputs to name the new containers')
  await leader.kill()
  await standby.leads()
  // Only now its watches show what was, in the order in which it was.
  lagging.resume()
  await cp.apply([apart('history', 'goes-0')])
  await allReady('history', ['goes-0'])
  const second = (await besideInForce(cp, await writesSince(since))).filter(
    ({ user, resource }) => user === OPERATOR_B && resource !== 'leases' && resource !== 'events',
  )
  expect(
    second.filter(({ uri }) => !uri.includes('goes-0') && !isCreation(uri)).map(({ uri }) => uri),
  ).toEqual([])
  expect(second.filter(({ uri }) => isCreation(uri))).toHaveLength(1)
})

test('a leader that is stopped finishes, gives the Lease up and exits with 0; the standby does not wait for the lease time', async () => {
  const since = await cp.auditMark()
  const names = namesOf('chat', 20)
  await prepare('stopped', names)
  const leader = await replica(OPERATOR)
  await leader.leads()
  const standby = await replica(OPERATOR_B)
  await untilReady(standby)
  await cp.apply(names.map((name) => apart('stopped', name)))
  expect(await leader.stop()).toBe('exit code 0')
  await standby.leads()
  await allReady('stopped', names)
  const writes = await writesSince(since)
  expect(turnsOf(writes)).toEqual([OPERATOR, OPERATOR_B])
  const own = writes.filter(({ user }) => user === OPERATOR)
  expect(own.at(-1)?.resource).toBe('leases')
  expect(own.map(({ status }) => status).filter((status) => status >= 300)).toEqual([])
  const [given] = leaseWritesOf(own, OPERATOR).slice(-1)
  expect(given && holderIn(given)).toBe('')
  const [taken] = leaseWritesOf(writes, OPERATOR_B)
  expect(Date.parse(taken?.receivedAt ?? '') - Date.parse(given?.receivedAt ?? '')).toBeLessThan(LEASE_MS)
})

test('a leader that is frozen in mid-write and wakes up after another took over writes nothing more, and what it had sent changes nothing', async () => {
  const since = await cp.auditMark()
  await prepare('frozen', ['sent', 'answered'])
  const { operator: leader, proxy } = await proxied(OPERATOR)
  await leader.leads()
  const standby = await replica(OPERATOR_B)
  await untilReady(standby)
  // Both wait for the answer to their finalizer: one write must still arrive, the other has been carried out.
  const sent = proxy.inject({ method: 'PATCH', path: /\/sent\?/, fault: { kind: 'hold' } })
  const answered = proxy.inject({ method: 'PATCH', path: /\/answered\?/, fault: { kind: 'hold answer' } })
  await cp.apply(['sent', 'answered'].map((name) => apart('frozen', name)))
  await Promise.all([sent.hit(), answered.hit()])
  await leader.pause()
  await standby.leads()
  await allReady('frozen', ['sent', 'answered'])

  sent.release()
  answered.release()
  await until(() => sent.hits[0]?.outcome === 'answered', 'the late write to be answered')
  // The test of its JSON Patch fails: the finalizer is there already.
  expect(sent.hits[0]?.status).toBe(422)
  const before = proxy.requests.length
  await leader.resume()
  await leader.program.end()
  expect(leader.program.ended()).toBe('exit code 1')
  expect(leader.program.lastWords()).toContain('the Lease is lost: the Lease was not renewed for 10 s')
  expect(
    proxy.requests
      .slice(before)
      .filter(isWrite)
      .map(({ method, path }) => `${method} ${path}`),
  ).toEqual([])
  const carriedOut = (await writesSince(since)).filter(({ status }) => status < 300)
  expect(turnsOf(carriedOut)).toEqual([OPERATOR, OPERATOR_B])
})

const LOSSES: readonly {
  readonly how: string
  readonly space: string
  readonly lose: () => Promise<unknown>
  readonly undo: () => Promise<unknown>
  readonly says: string
}[] = [
  {
    how: 'somebody else takes the Lease by hand',
    space: 'taken',
    lose: () => cp.admin.patch(LEASE, { spec: { holderIdentity: 'somebody else' } }),
    undo: async () => undefined,
    says: 'the Lease is lost: another process holds the Lease',
  },
  {
    how: 'the API server does not answer for longer than the renew deadline',
    space: 'silent',
    lose: () => cp.pauseApiServer(),
    undo: () => cp.resumeApiServer(),
    says: 'the Lease is lost: the Lease was not renewed for 10 s',
  },
]

test.for(LOSSES)(
  'where $how, the leader ends with exit code 1 and writes nothing more',
  async ({ space, lose, undo, says }) => {
    await prepare(space, ['early', 'late'])
    const leader = await replica(OPERATOR)
    await leader.leads()
    await cp.apply([apart(space, 'early')])
    await allReady(space, ['early'])
    await lose()
    await leader.program.end()
    await undo()
    expect(leader.program.ended()).toBe('exit code 1')
    expect(leader.program.lastWords()).toContain(says)
    const since = await cp.auditMark()
    await cp.apply([apart(space, 'late')])
    // The Lease is another's, or the late answer to a renewal: whoever comes next does the work, and alone.
    await cp.admin.delete(LEASE)
    await (await replica(OPERATOR_B)).leads()
    await allReady(space, ['late'])
    // A renewal that was sent to a silent server is logged when the server wakes up (mostly as a 504): nothing else may
    // be.
    const writes = await writesSince(since)
    const late = writes.filter(({ user }) => user === OPERATOR)
    expect(late.filter(({ resource }) => resource !== 'leases').map(({ uri }) => uri)).toEqual([])
    expect(turnsOf(writes.filter(({ resource }) => resource !== 'leases'))).toEqual([OPERATOR_B])
  },
)

test('of two that start at the same time one leads, and the other writes nothing but its claim to the Lease', async () => {
  const since = await cp.auditMark()
  const names = namesOf('chat', 5)
  await prepare('together', names)
  await cp.apply(names.map((name) => apart('together', name)))
  const both = await Promise.all([replica(OPERATOR), replica(OPERATOR_B)])
  await allReady('together', names)
  await Promise.all(both.map(untilReady))
  const done = (await writesSince(since)).filter(({ status }) => status < 300)
  const [leader, ...others] = turnsOf(done)
  expect(others).toEqual([])
  const held = await cp.admin.get(LEASE)
  expect(dig(held, 'spec', 'leaseTransitions')).toBe(0)
  const refused = (await writesSince(since)).filter(({ user }) => user !== leader)
  expect(refused.every(({ resource }) => resource === 'leases')).toBe(true)
})

/** Flags of an install of its own, whose Lease nobody else uses. */
function installOf(name: string, ...more: readonly string[]): OperatorOptions {
  return { flags: ['--leader-elect=false', `--leader-election-lease-name=${name}`, ...more] }
}

function marksOf(objects: readonly JsonRecord[]): readonly (string | undefined)[] {
  return objects.map((object) => stringAt(object, 'metadata', 'annotations', ANNOTATION_INSTALL))
}

test('a second install that does not know of the first writes nothing and is not ready; with --take-over it adopts what the first has left', async () => {
  const space = 'installs'
  const own = `${LEASE.namespace}/${LEASE.name}`
  await prepare(space, ['chat', 'late'])
  const first = await replica(OPERATOR)
  await first.leads()
  await cp.apply([apart(space, 'chat')])
  await allReady(space, ['chat'])
  expect(marksOf(await outputsOf(cp, space, 'chat'))).toEqual([own])

  const since = await cp.auditMark()
  const second = await replica(OPERATOR_B, installOf('other', '--trust-domain=other.org'))
  await second.leads()
  const said = `outputs of ${own} are here: uninstall it, or start this one with --take-over=${own}`
  await until(async () => (await second.probe('/readyz')).body.includes(said), 'the second to be not ready')
  // What both see.
  await cp.admin.patch(bindingId(space, 'chat'), { spec: { containerName: 'moved-chat' } })
  await cp.apply([apart(space, 'late')])
  await until(async () => isMoved(await outputsOf(cp, space, 'chat')), 'the first to follow the edit')
  await allReady(space, ['chat', 'late'])
  const writes = await writesSince(since)
  expect(writes.filter(({ user }) => user === OPERATOR_B)).toEqual([])
  expect((await first.probe('/readyz')).status).toBe(200)
  await Promise.all([first.stop(), second.stop()])

  // The release moves to another namespace.
  const uids = async (): Promise<readonly (string | undefined)[]> =>
    (await Promise.all(['chat', 'late'].map((name) => outputsOf(cp, space, name))))
      .flat()
      .map((object) => stringAt(object, 'metadata', 'uid'))
  const before = await uids()
  const moved = await replica(OPERATOR_B, installOf('moved', `--take-over=${own}`))
  await moved.leads()
  // Both: a mark that is left would stop the start below, which no longer takes over.
  await until(async () => {
    const marks = marksOf([...(await outputsOf(cp, space, 'chat')), ...(await outputsOf(cp, space, 'late'))])
    return marks.length === 2 && marks.every((mark) => mark === `${LEASE.namespace}/moved`)
  }, 'the outputs to be marked anew')
  await allReady(space, ['chat', 'late'])
  expect(await uids()).toEqual(before)
  await untilReady(moved)
  await moved.stop()

  // A version that knows no marks leaves them as they are; one that has removed them leaves outputs that are ours.
  const [late] = await outputsOf(cp, space, 'late')
  await cp.admin.patch(outputId(stringAt(late, 'metadata', 'name') ?? ''), {
    metadata: { annotations: { [ANNOTATION_INSTALL]: null } },
  })
  const back = await replica(OPERATOR_B, installOf('moved'))
  await back.leads()
  await until(
    async () => marksOf(await outputsOf(cp, space, 'late')).includes(`${LEASE.namespace}/moved`),
    'an output without a mark to be marked',
  )
  expect(await uids()).toEqual(before)
})

test('a restore of bindings and outputs, as by Velero: the outputs name UIDs that are gone, and are made anew', async () => {
  const space = 'velero'
  const taken = `--take-over=${LEASE.namespace}/moved`
  await prepare(space, ['chat'])
  const operator = await replica(OPERATOR, { flags: [taken] })
  await operator.leads()
  await cp.apply([apart(space, 'chat')])
  await allReady(space, ['chat'])
  const [output] = await outputsOf(cp, space, 'chat')
  const backup = [await cp.admin.get(bindingId(space, 'chat')), output].map(withoutVersion)
  await cp.admin.delete(bindingId(space, 'chat'))
  await until(
    async () => (await cp.admin.get(bindingId(space, 'chat'))) === undefined,
    'the binding to be gone',
  )
  await operator.stop()
  // Velero restores in the order of names of kinds, with finalizers and without statuses.
  for (const object of backup.toReversed()) await cp.admin.create(object)
  const next = await replica(OPERATOR, { flags: [taken] })
  await next.leads()
  await allReady(space, ['chat'])
  const [[now], restored] = await Promise.all([
    outputsOf(cp, space, 'chat'),
    cp.admin.get(bindingId(space, 'chat')),
  ])
  expect(stringAt(now, 'metadata', 'annotations', ANNOTATION_BINDING_UID)).toBe(
    stringAt(restored, 'metadata', 'uid'),
  )
})

function withoutVersion(object: JsonRecord | undefined): JsonRecord {
  const { status: _, ...rest } = object ?? {}
  const {
    uid: _uid,
    resourceVersion: _version,
    generation: _generation,
    creationTimestamp: _at,
    managedFields: _fields,
    ...metadata
  } = Object(rest['metadata'])
  return { ...rest, metadata }
}
