// Upheavals that come together (docs/reliability.md, "Upheavals"): an upgrade and the late writes of the leader before it, a kill in
// the middle of writes and a restore of etcd, a namespace that is made anew behind a network that says nothing. Judged by every
// state that etcd went through, and by every write in the audit log.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dig, listAt, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { Dice } from '../../operator/test/simulation/dice.ts'
import type { ControlPlane } from './control-plane.ts'
import { holdWrites, type HeldWrites } from './held-writes.ts'
import { expectUntouched, foreign, nameOf, uidOf } from './in-force.ts'
import { leftWithout, ownersInForce, watchNeverTwo, type NeverTwo } from './never-two.ts'
import { binding, bindingId, estate, member, namespace, outputsIn, ownerOf, untilReason } from './objects.ts'
import { LEASE, OPERATOR, OPERATOR_B } from './operator-access.ts'
import { startOperatorPlane, stopAll, type RunningOperator } from './operator.ts'
import { probeUnderFlood, type Probed } from './probed.ts'
import { replicasOn, type User } from './replicas.ts'
import { allWatches } from './proxied-watches.ts'
import { until } from '@kleym/testing/wait.ts'
import { judgeWrites } from './write-rules.ts'

const OTHER_DOMAIN = 'other.example'
const OTHER_CLASS = 'other-class'
/** Enough that each write that is held may keep one. */
const MANY_WORKERS = '--workers=24'
/** A watch, which begins anew every half minute or so. */
const WATCHING = /[?&]watch=(?:1|true)/
/** Decides in which order what was held is let go. */
const DICE = new Dice(20_261_123)
/** The time of a Lease, one try to take it, and what a busy machine takes for them. */
const TAKEN_OVER_MS = 15_000 + 2_000 + 10_000

let cp: ControlPlane
let neverTwo: NeverTwo
let bystanders: readonly JsonRecord[]
beforeAll(async () => {
  cp = await startOperatorPlane()
  bystanders = await putBystanders()
  neverTwo = await watchNeverTwo(cp)
})
afterAll(() => stopAll(neverTwo, cp))

const { replica, proxied } = replicasOn(() => cp, [MANY_WORKERS])

/** An output of another owner, and one that a person has made under a name of kleym's shape for a binding that never was. */
function putBystanders(): Promise<readonly JsonRecord[]> {
  const shaped = { name: 'kleym-again-chat-0-pool-0123456789abcdef0123' }
  return Promise.all([
    cp.admin.create(foreign('not-ours')),
    cp.admin.create({ ...foreign('shaped'), metadata: shaped }),
  ])
}

async function standsBy(operator: RunningOperator): Promise<void> {
  await until(async () => (await operator.probe('/readyz')).status === 200, 'the standby to be ready')
}

/** A binding with its objective, on a container of its own name unless another is given. */
function on(space: string, name: string, containerName = name): readonly JsonRecord[] {
  return member(space, name, { containerName })
}

/** The same binding where it names a pool that is not there. */
function withoutPool(space: string, name: string): JsonRecord {
  return binding(space, name, { containerName: name, poolRef: { name: 'nowhere' } })
}

/** After a restore an operator waits for the Lease, and after a restart of the API server for its next try, on a machine that may be busy. */
const MENDED_MS = 150_000

/** Waits until the bindings of a namespace say these reasons, and those that are `Reconciled` have one output each, no other any. */
async function untilStands(space: string, reasons: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, reason] of Object.entries(reasons)) await untilReason(cp, space, name, reason)
  const owners = Object.keys(reasons).filter((name) => reasons[name] === 'Reconciled')
  const wanted = owners.map((name) => `${space}/${name}`).toSorted()
  await until(
    async () => {
      const found = (await outputsIn(cp, space)).map(ownerOf).toSorted()
      if (found.join() !== wanted.join()) throw new Error(`there are those of ${found.join(', ')}`)
      return true
    },
    `the outputs of ${space} to be those of ${wanted.join(', ')}`,
    MENDED_MS,
  )
}

function allReady(names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [name, 'Reconciled']))
}

/** What a history must be, and that these bindings (`namespace/name`) had an output all the time once they had one. */
async function holds(everInForce: readonly string[]): Promise<void> {
  expect(leftWithout(await neverTwo.holds(), new Set(everInForce))).toEqual([])
}

/** etcd goes back to its backup: another history begins, which is judged by itself. */
async function restore(everInForce: readonly string[]): Promise<void> {
  await holds(everInForce)
  neverTwo.stop()
  await cp.restoreEtcd()
  neverTwo = await watchNeverTwo(cp)
}

async function leaseVersion(): Promise<string | undefined> {
  return stringAt(await cp.admin.get(LEASE), 'metadata', 'resourceVersion')
}

async function leaseHolder(): Promise<string | undefined> {
  return stringAt(await cp.admin.get(LEASE), 'spec', 'holderIdentity')
}

/**
 * Waits for a renewal of the Lease, and for each that stands by to look at it: a Lease that is older than one that they have seen is how
 * they notice a restore (docs/reliability.md, "A datastore that is restored from a backup").
 */
async function untilLeaseRenewed(standbys: readonly User[]): Promise<void> {
  const before = await leaseVersion()
  await until(async () => (await leaseVersion()) !== before, 'the Lease to be renewed')
  const since = await cp.auditMark()
  for (const user of standbys) {
    const filter = { since, user, verbs: ['get'], resource: 'leases' }
    await until(async () => (await cp.audit(filter)).length > 0, `${user} to look at the Lease`)
  }
}

/** Answers to late writes for bindings of a namespace, in byte order: `409 POST chat`. */
function statusesIn(space: string, answers: readonly string[]): readonly string[] {
  const short = (answer: string): string =>
    answer
      .replace(`ClusterSPIFFEID kleym-${space}-`, '')
      .replace(/-objective-[0-9a-f]+$/, '')
      .replace('finalizer onto ', '')
  return answers.map(short).toSorted()
}

/** Gives up the Lease of a holder that is dead, so that no test waits for the rest of its time. */
async function giveLeaseUp(): Promise<void> {
  await cp.admin.patch(LEASE, { spec: { holderIdentity: '' } })
}

/** Waits until all outputs of a namespace are of this trust domain and class. */
async function untilOf(space: string, trustDomain: string, className: string | undefined): Promise<void> {
  await until(async () => {
    const wrong = (await outputsIn(cp, space)).filter(
      (output) =>
        dig(output, 'spec', 'className') !== className ||
        stringAt(output, 'spec', 'spiffeIDTemplate')?.startsWith(`spiffe://${trustDomain}/`) !== true,
    )
    if (wrong.length > 0) throw new Error(`${wrong.map(nameOf).join(', ')} are of other settings`)
    return true
  }, `the outputs of ${space} to be of ${trustDomain}`)
}

test('an upgrade of trust domain and class whose old leader ends with writes under way: they come before the new one leads, and in the middle of its own', async () => {
  const space = 'upgraded'
  const there = ['calm-0', 'calm-1', 'moves', 'goes', 'leaves']
  await cp.apply([...estate(space), ...there.flatMap((name) => on(space, name))])
  const { operator: older, proxy } = await proxied(OPERATOR)
  await untilStands(space, allReady(there))
  const flags = [`--trust-domain=${OTHER_DOMAIN}`, `--clusterspiffeid-class-name=${OTHER_CLASS}`]
  const { operator: newer, proxy: newerProxy } = await proxied(OPERATOR_B, { flags })
  await standsBy(newer)
  // From here on the new one sees nothing of what happens, and only in the middle of its own writes what has happened.
  const lagging = await allWatches(newerProxy)
  lagging.stall()
  const later = newerProxy.inject({ path: WATCHING, count: Infinity, fault: { kind: 'hold' } })
  const early = holdWrites(proxy, { unsent: [/^POST ClusterSPIFFEID .*-slow-/], unanswered: [] })
  const late = holdWrites(proxy, {
    unsent: [
      /^POST ClusterSPIFFEID .*-comes-/,
      /^PATCH finalizer onto fresh$/,
      /^PUT ClusterSPIFFEID .*-moves-/,
      /^DELETE ClusterSPIFFEID .*-goes-/,
      /^DELETE ClusterSPIFFEID .*-leaves-/,
    ],
    unanswered: [],
  })
  await cp.admin.delete(bindingId(space, 'goes'))
  await cp.apply([
    ...['slow', 'comes', 'fresh'].flatMap((name) => on(space, name)),
    ...on(space, 'moves', 'moved'),
    withoutPool(space, 'leaves'),
  ])
  await Promise.all([early.held(), late.held()])
  // Others want the containers of two that are deleted, and what was to be withdrawn is right again.
  await cp.admin.delete(bindingId(space, 'slow'))
  await cp.apply([...on(space, 'next', 'slow'), ...on(space, 'heir', 'goes'), ...on(space, 'leaves')])
  const holder = await leaseHolder()
  expect(await older.stop()).toBe('exit code 0')
  // Given up, it would let the new leader give `slow`'s container to `next` while a POST for `slow` is on its way.
  expect(await leaseHolder()).toBe(holder)
  const deletes = newerProxy.inject({ method: 'DELETE', count: Infinity, fault: { kind: 'hold' } })
  expect(statusesIn(space, await early.deliver(DICE))).toEqual(['201 POST slow'])
  await giveLeaseUp()
  await newer.leads()
  // It has written what is new, and wants to delete the outputs of the old settings, and that of `slow`.
  await deletes.hit([...there, 'slow'].length)
  await until(
    async () => listAt(await cp.admin.get(bindingId(space, 'fresh')), 'metadata', 'finalizers').length > 0,
    'it to have put its finalizer onto the new binding, for which the old one has one on its way',
  )
  later.release()
  later.remove()
  lagging.resume()
  expect(statusesIn(space, await late.deliver(DICE))).toEqual([
    '200 DELETE goes',
    '200 DELETE leaves',
    '200 PUT moves',
    '201 POST comes',
    '422 PATCH fresh',
  ])
  deletes.release()
  await untilStands(
    space,
    allReady(['calm-0', 'calm-1', 'moves', 'leaves', 'comes', 'fresh', 'next', 'heir']),
  )
  await untilOf(space, OTHER_DOMAIN, OTHER_CLASS)
  await holds(['calm-0', 'calm-1', 'moves', 'leaves'].map((name) => `${space}/${name}`))
})

/** What the leader has under way when it is killed: each is held where its sort of write can be lost. */
const UNDER_WAY = {
  unsent: [/^POST ClusterSPIFFEID .*-late-/, /^DELETE ClusterSPIFFEID .*-spared-/],
  unanswered: [
    /^PATCH finalizer onto added$/,
    /^POST ClusterSPIFFEID .*-posted-/,
    /^PUT ClusterSPIFFEID .*-moves-/,
    /^DELETE ClusterSPIFFEID .*-goes-/,
    /^DELETE ClusterSPIFFEID .*-leaves-/,
  ],
}
const THERE_BEFORE = ['calm-0', 'calm-1', 'goes', 'leaves', 'moves', 'spared']
/** What the bindings come to where all of that was carried out, or is done by the next leader. */
const STANDS_AFTER = {
  ...allReady(['calm-0', 'calm-1', 'moves', 'added', 'posted', 'late']),
  leaves: 'TargetPoolNotFound',
  spared: 'TargetPoolNotFound',
}
/** Far fewer than are asked in the shortest of the tests. */
const PROBES_AT_LEAST = 20

function deletionOf(name: string): RegExp {
  return new RegExp(`^DELETE ClusterSPIFFEID .*-${name}-`)
}

interface Interruption {
  readonly space: string
  /** What etcd goes back to. */
  readonly to: 'before' | 'after'
  readonly standbys: 0 | 1
}

/** Where a test is after a kill and a restore. */
interface Interrupted extends Interruption {
  readonly elsewhere: string
  /** Writes of the dead leader that are still on their way. */
  readonly writes: HeldWrites
  readonly standby: RunningOperator | undefined
  readonly probed: Probed | undefined
  /** The bindings (`namespace/name`) that have an output whatever happens. */
  readonly calm: readonly string[]
}

/** Kills a leader with writes under way, whose standby holds idle connections, and restores etcd; the API server goes on. */
async function interrupt({ space, to, standbys }: Interruption): Promise<Interrupted> {
  const elsewhere = `${space}-elsewhere`
  await cp.apply([
    ...[space, elsewhere].flatMap(estate),
    ...THERE_BEFORE.flatMap((name) => on(space, name)),
    ...['kept', 'deleted'].flatMap((name) => on(elsewhere, name)),
  ])
  const { operator: leader, proxy } = await proxied(OPERATOR)
  await untilStands(space, allReady(THERE_BEFORE))
  await untilStands(elsewhere, allReady(['kept', 'deleted']))
  const standby = standbys === 0 ? undefined : await replica(OPERATOR_B)
  if (standby !== undefined) await standsBy(standby)
  const probed = standby && (await probeUnderFlood(standby))
  if (to === 'before') await cp.backUpEtcd()
  const writes = holdWrites(proxy, UNDER_WAY)
  await cp.admin.delete(bindingId(space, 'goes'))
  await cp.apply([
    ...['added', 'posted', 'late'].flatMap((name) => on(space, name)),
    ...on(space, 'moves', 'moved'),
    ...['leaves', 'spared'].map((name) => withoutPool(space, name)),
  ])
  await writes.held()
  if (to === 'after') await cp.backUpEtcd()
  // What the leader and its standby know, and the restore takes back in either case.
  await cp.admin.delete(bindingId(elsewhere, 'deleted'))
  await cp.apply(on(elsewhere, 'lost', 'deleted'))
  await untilStands(elsewhere, allReady(['kept', 'lost']))
  await untilLeaseRenewed(standby === undefined ? [] : [OPERATOR_B])
  await leader.kill()
  const calm = [`${space}/calm-0`, `${space}/calm-1`, `${space}/moves`, `${elsewhere}/kept`]
  await restore(calm)
  return { space, to, standbys, elsewhere, writes, standby, probed, calm }
}

/** All is as etcd has it now, also after the late writes of the dead leader, and each probe and scrape was answered. */
async function expectRight({ space, elsewhere, to, writes, probed, calm }: Interrupted): Promise<void> {
  const stands = to === 'before' ? allReady(THERE_BEFORE) : STANDS_AFTER
  await untilStands(space, stands)
  await untilStands(elsewhere, allReady(['kept', 'deleted']))
  // A POST for a binding that is no more, or whose output is there; a DELETE of what is right again, or gone already.
  const late = {
    before: ['200 DELETE spared', '201 POST late'],
    after: ['404 DELETE spared', '409 POST late'],
  }
  expect(statusesIn(space, await writes.deliver(DICE))).toEqual(late[to])
  await untilStands(space, stands)
  await holds([...calm, `${elsewhere}/deleted`])
  const { answered, failed } = (await probed?.end()) ?? { answered: PROBES_AT_LEAST, failed: [] }
  expect(failed).toEqual([])
  expect(answered).toBeGreaterThanOrEqual(PROBES_AT_LEAST)
}

test.each<Interruption>([
  { to: 'before', standbys: 0, space: 'killed-0' },
  { to: 'after', standbys: 0, space: 'killed-1' },
  { to: 'after', standbys: 1, space: 'killed-2' },
])(
  'a leader with $standbys standing by is killed with seven writes under way, and etcd goes back to $to them',
  async (how) => {
    const interrupted = await interrupt(how)
    await cp.restartApiServer()
    await giveLeaseUp()
    const next = interrupted.standby ?? (await replica(OPERATOR_B))
    await next.leads()
    await expectRight(interrupted)
    expect(next.program.ended()).toBeUndefined()
  },
)

test('a standby under idle connections takes over in time after such a restore, and writes nothing while the API server answers from its caches of the other history', async () => {
  const interrupted = await interrupt({ to: 'before', standbys: 1, space: 'killed-3' })
  const { space, elsewhere, standby } = interrupted
  const beganMs = performance.now()
  await standby?.leads()
  expect(performance.now() - beganMs, 'the time until the take-over').toBeLessThan(TAKEN_OVER_MS)
  expect(await ownersInForce(neverTwo, elsewhere)).toEqual([`${elsewhere}/deleted`, `${elsewhere}/kept`])
  expect(await ownersInForce(neverTwo, space)).toEqual(THERE_BEFORE.map((name) => `${space}/${name}`))
  await cp.restartApiServer()
  await expectRight(interrupted)
})

test('a namespace is made anew while the outputs of its old bindings are withdrawn by an operator whose network falls silent, and comes back', async () => {
  const [space, calm] = ['again', 'calm']
  const names = Array.from({ length: 6 }, (_, at) => `chat-${at}`)
  const { operator, proxy } = await proxied(OPERATOR)
  await cp.apply([...estate(space), ...names.flatMap((name) => on(space, name))])
  await cp.apply([...estate(calm), ...on(calm, 'chat')])
  await untilStands(space, allReady(names))
  await untilStands(calm, allReady(['chat']))
  const before = new Set((await outputsIn(cp, space)).map(uidOf))
  const deletes = holdWrites(proxy, {
    unsent: names.slice(0, 3).map(deletionOf),
    unanswered: names.slice(3).map(deletionOf),
  })
  const id = { apiVersion: 'v1', kind: 'Namespace', name: space }
  await cp.admin.delete(id)
  await deletes.held()
  const watches = await allWatches(proxy)
  // From here on the network says nothing but about the Lease, which has a connection of its own.
  const silence = proxy.inject({ path: /^(?!.*\/leases)/, count: Infinity, fault: { kind: 'hold' } })
  watches.stall()
  // A user in a hurry takes the finalizers off by hand.
  for (const name of names) await cp.admin.patch(bindingId(space, name), { metadata: { finalizers: null } })
  await until(async () => {
    if ((await cp.admin.get(id)) !== undefined) return false
    await cp.apply([namespace(space)])
    return true
  }, 'the namespace to finish deleting')
  // The same bindings, each on the container that was the next one's.
  const containerOf = (at: number): string => names[(at + 1) % names.length] ?? ''
  await cp.apply([...estate(space), ...names.flatMap((name, at) => on(space, name, containerOf(at)))])
  expect((await outputsIn(cp, space)).map(ownerOf).toSorted()).toEqual(
    names.slice(0, 3).map((name) => `${space}/${name}`),
  )
  watches.resume()
  silence.release()
  silence.remove()
  expect(statusesIn(space, await deletes.deliver(DICE))).toEqual(
    names.slice(0, 3).map((name) => `200 DELETE ${name}`),
  )
  await untilStands(space, allReady(names))
  expect((await outputsIn(cp, space)).filter((output) => before.has(uidOf(output)))).toEqual([])
  expect(operator.program.ended(), 'the operator, which had its Lease all the time').toBeUndefined()
  await holds([`${calm}/chat`])
})

test('in all of that nothing foreign was touched, and every write was made as it must be', async () => {
  for (const bystander of bystanders) await expectUntouched(cp, bystander)
  expect((await judgeWrites(cp)).broken).toEqual([])
})
