// Collisions (docs/contract.md §6) on a real API server: who is refused, what ends it, what blocks until it is gone, and that
// at no moment two outputs register the same container of the same pods. Every test ends by asking the history.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { dig, listAt, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import type { ControlPlane } from './control-plane.ts'
import { nameOf } from './in-force.ts'
import { watchNeverTwo, type NeverTwo } from './never-two.ts'
import {
  binding,
  bindingId,
  conditionOf,
  estate,
  eventsOf,
  HOLD,
  member,
  objective,
  outputId,
  outputs,
  outputsOf,
  ownerOf,
  pool,
  poolOnly,
  untilReason,
} from './objects.ts'
import { OPERATOR } from './operator-access.ts'
import { startLeading, startOperatorPlane, stopAll, type RunningOperator } from './operator.ts'
import { idOf } from './rest.ts'
import { until } from '@kleym/testing/wait.ts'

let cp: ControlPlane
let operator: RunningOperator
let neverTwo: NeverTwo
beforeAll(async () => {
  cp = await startOperatorPlane()
  neverTwo = await watchNeverTwo(cp)
  operator = await startLeading(cp)
})
afterEach(async () => {
  await neverTwo?.holds()
  const requests = (await cp?.audit({ user: OPERATOR })) ?? []
  const forbidden = requests.filter(({ status }) => status === 403)
  if (forbidden.length > 0) throw new Error(`the operator was forbidden ${JSON.stringify(forbidden[0])}`)
})
afterAll(() => stopAll(neverTwo, cp))

test.each<[relation: string, opposite: string, narrow: Labels]>([
  ['SamePods', 'SamePods', { app: 'llama' }],
  ['Contains', 'ContainedBy', { app: 'llama', region: 'eu' }],
])(
  'two bindings on one container are both refused, the output of the first is withdrawn: %s',
  async (relation, opposite, narrow) => {
    const space = `two-${relation.toLowerCase()}`
    await cp.apply([...estate(space), pool(space, 'narrow', narrow), ...member(space, 'a')])
    await untilReason(cp, space, 'a', 'Reconciled')
    await cp.apply([objective(space, 'b', 'narrow'), binding(space, 'b', { poolRef: { name: 'narrow' } })])

    const [a, b] = await Promise.all(
      ['a', 'b'].map((name) => untilReason(cp, space, name, 'IdentityCollision')),
    )
    for (const [own, peer, how] of [
      [a, 'b', relation],
      [b, 'a', opposite],
    ] as const) {
      const message = `identity collision with bindings ${peer}: PerObjective bindings must not share the same pod selector and container name`
      const spiffeID = `spiffe://example.org/ns/${space}/objective/${peer}`
      expect(conditionOf(own, 'Conflict')).toMatchObject({
        status: 'True',
        reason: 'IdentityCollision',
        message,
      })
      expect(conditionOf(own, 'Ready')).toMatchObject({
        status: 'False',
        reason: 'IdentityCollision',
        message,
      })
      expect(dig(own, 'status', 'conflicts')).toEqual([{ bindingName: peer, relation: how, spiffeID }])
      expect(dig(own, 'status', 'clusterSPIFFEID')).toBeUndefined()
    }
    expect(await inForce(space)).toEqual([])
  },
)

test('what is not provably the same container is no collision', async () => {
  const space = 'no-collision'
  await cp.apply([
    ...estate(space),
    pool(space, 'overlapping', { region: 'eu' }),
    pool(space, 'other', { app: 'gemma' }),
    ...member(space, 'a'),
    ...member(space, 'other-container', { containerName: 'router' }),
    ...member(space, 'other-account', { serviceAccountName: 'gemma' }),
    objective(space, 'other-pods', 'other'),
    binding(space, 'other-pods', { poolRef: { name: 'other' } }),
    objective(space, 'overlapping-pods', 'overlapping'),
    binding(space, 'overlapping-pods', { poolRef: { name: 'overlapping' } }),
    poolOnly(space, 'whole-pods'),
    poolOnly(space, 'whole-pods-too'),
  ])
  const names = ['a', 'other-container', 'other-account', 'other-pods', 'overlapping-pods', 'whole-pods']
  for (const name of [...names, 'whole-pods-too']) await untilReason(cp, space, name, 'Reconciled')
  expect(await inForce(space)).toHaveLength(7)
})

/** How the collision of `a` and `b` is ended, and what becomes of `b`; `a` is Reconciled in each case. */
const ENDS: readonly [string, (space: string) => Promise<unknown>, string | undefined][] = [
  ['another container', (space) => edit(space, 'b', { containerName: 'router' }), 'Reconciled'],
  ['another service account', (space) => edit(space, 'b', { serviceAccountName: 'gemma' }), 'Reconciled'],
  ['the deletion of a member', (space) => cp.admin.delete(bindingId(space, 'b')), undefined],
  [
    'another mode',
    (space) => edit(space, 'b', { mode: 'PoolOnly', containerName: null, objectiveRef: null }),
    'Reconciled',
  ],
  [
    'other labels of the pool of a member',
    (space) => cp.apply([pool(space, 'second', { app: 'gemma' })]),
    'Reconciled',
  ],
  [
    'an objective that leads to another pool now',
    (space) => cp.apply([objective(space, 'b', 'llama')]),
    'InvalidObjectiveRef',
  ],
  [
    'the deletion of the objective of a member',
    (space) => cp.admin.delete(idOf(objective(space, 'b', 'second'))),
    'TargetObjectiveNotFound',
  ],
  [
    'the deletion of the pool of a member',
    (space) => cp.admin.delete(idOf(pool(space, 'second', {}))),
    'TargetPoolNotFound',
  ],
  [
    'a reference to another pool',
    async (space) => {
      await cp.apply([pool(space, 'third', { app: 'gemma' }), objective(space, 'b', 'third')])
      await edit(space, 'b', { poolRef: { name: 'third' } })
    },
    'Reconciled',
  ],
]

test.each(ENDS.map((end, at) => [end[0], `end-${at}`, end[1], end[2]] as const))(
  'a collision is ended by %s',
  async (_how, space, end, reason) => {
    await cp.apply([
      ...estate(space),
      pool(space, 'second', { app: 'llama' }),
      objective(space, 'b', 'second'),
      ...member(space, 'a'),
    ])
    await untilReason(cp, space, 'a', 'Reconciled')
    await cp.apply([binding(space, 'b', { poolRef: { name: 'second' } })])
    await Promise.all(['a', 'b'].map((name) => untilReason(cp, space, name, 'IdentityCollision')))
    await end(space)
    const a = await untilReason(cp, space, 'a', 'Reconciled')
    expect(conditionOf(a, 'Conflict')).toMatchObject({ status: 'False', reason: 'Resolved', message: '' })
    expect(dig(a, 'status', 'conflicts')).toBeUndefined()
    const b = reason === undefined ? undefined : await untilReason(cp, space, 'b', reason)
    expect(dig(conditionOf(b, 'Conflict'), 'status')).toBe(b && 'False')
    expect(dig(b, 'status', 'conflicts')).toBeUndefined()
    expect(await inForce(space)).toHaveLength(reason === 'Reconciled' ? 2 : 1)
    // The collision did happen under the eyes of the history.
    const { withdrawn, refused } = await seenIn(space)
    expect(withdrawn).toBeGreaterThan(0)
    expect(refused).toEqual(new Set([`${space}/a`, `${space}/b`]))
    expect(await eventsOf(cp, space, 'a', 4)).toEqual([
      'Normal IdentityCollisionResolved',
      'Normal Reconciled',
      'Normal Reconciled',
      'Warning IdentityCollision',
    ])
  },
)

test('peers of a peer are no peers: both narrow ones collide with the wide one alone, and converge when it goes', async () => {
  const space = 'three'
  await cp.apply([
    ...estate(space),
    pool(space, 'eu', { app: 'llama', region: 'eu' }),
    pool(space, 'us', { app: 'llama', region: 'us' }),
    objective(space, 'eu', 'eu'),
    objective(space, 'us', 'us'),
    binding(space, 'eu', { poolRef: { name: 'eu' } }),
    binding(space, 'us', { poolRef: { name: 'us' } }),
  ])
  await Promise.all(['eu', 'us'].map((name) => untilReason(cp, space, name, 'Reconciled')))
  await cp.apply(member(space, 'wide'))
  const found = await Promise.all(
    ['eu', 'us', 'wide'].map((name) => untilReason(cp, space, name, 'IdentityCollision')),
  )
  expect(found.map(peersOf)).toEqual([
    ['wide ContainedBy'],
    ['wide ContainedBy'],
    ['eu Contains', 'us Contains'],
  ])
  expect(await inForce(space)).toEqual([])
  await cp.admin.delete(bindingId(space, 'wide'))
  await Promise.all(['eu', 'us'].map((name) => untilReason(cp, space, name, 'Reconciled')))
  expect(await inForce(space)).toHaveLength(2)
})

test('fifty members name the ten that follow them; one more rewrites eleven statuses; all converge in the end', async () => {
  const space = 'fifty'
  const names = Array.from({ length: 50 }, (_, at) => `m${String(at).padStart(2, '0')}`)
  await cp.apply([...estate(space), ...names.flatMap((name) => member(space, name))])
  const settled = (among: readonly string[]): Promise<unknown> =>
    Promise.all(
      among.map((name) => {
        const peers = followers(among, name)
        const listed = peers.map((peer) => peer.replace(' SamePods', '')).join(', ')
        const message = `identity collision with bindings ${listed} and more: PerObjective bindings must not share the same pod selector and container name`
        // Both are waited for: ten peers may be named before the eleventh is seen.
        return until(async () => {
          const found = await untilReason(cp, space, name, 'IdentityCollision')
          const said = stringAt(conditionOf(found, 'Conflict'), 'message')
          return peersOf(found).join() === peers.join() && said === message
        }, `${name} to name the ten that follow it, and more`)
      }),
    )
  await settled(names)
  expect(await inForce(space)).toEqual([])
  expect((await seenIn(space)).refused.size).toBe(names.length)

  const mark = await cp.auditMark()
  await cp.apply(member(space, 'm25x'))
  await settled([...names, 'm25x'].toSorted())
  const rewritten = await cp.audit({
    since: mark,
    user: OPERATOR,
    verbs: ['update'],
    namespace: space,
    atLeast: 11,
  })
  expect(rewritten.map(({ subresource }) => subresource)).toEqual(Array.from({ length: 11 }, () => 'status'))

  // Every second one takes a container of its own; the others still collide.
  const [moved, stay] = [names.filter((_, at) => at % 2 === 1), names.filter((_, at) => at % 2 === 0)]
  await Promise.all(moved.map((name) => edit(space, name, { containerName: name })))
  await Promise.all(moved.map((name) => untilReason(cp, space, name, 'Reconciled')))
  await settled([...stay, 'm25x'].toSorted())
  await Promise.all(stay.map((name) => cp.admin.delete(bindingId(space, name))))
  await untilReason(cp, space, 'm25x', 'Reconciled')
  expect(await inForce(space)).toHaveLength(26)
})

test.each<[string, number]>([
  ['two bindings swap', 2],
  ['three bindings rotate', 3],
])('%s their containers in one apply', async (_how, count) => {
  const space = `rotate-${count}`
  const names = ['a', 'b', 'c'].slice(0, count)
  const rotated = (by: number): readonly JsonRecord[] =>
    names.map((name, at) => binding(space, name, { containerName: `c${(at + by) % count}` }))
  await cp.apply([...estate(space), ...names.map((name) => objective(space, name, 'llama')), ...rotated(0)])
  await Promise.all(names.map((name) => untilReason(cp, space, name, 'Reconciled')))
  for (const round of [1, 2, 3, 4, 5]) {
    const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: rotated(round) })
    // In every second round the operator sees one edit after the other, else both at once.
    if (round % 2 === 0) await operator.pause()
    const applied = await cp.kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], { input })
    await operator.resume()
    expect(applied).toMatchObject({ status: 0, stderr: '' })
    for (const [at, name] of names.entries()) {
      await untilReason(cp, space, name, 'Reconciled')
      const [output] = await outputsOf(cp, space, name)
      expect(listAt(output, 'spec', 'workloadSelectorTemplates')).toContain(
        `k8s:container-name:c${(at + round) % count}`,
      )
    }
  }
  expect(await inForce(space)).toHaveLength(count)
})

test('the old output of an edited binding blocks its peer until it is gone', async () => {
  const space = 'edited'
  await cp.apply([...estate(space), ...member(space, 'a'), objective(space, 'a2', 'llama')])
  const old = await heldOutput(space, 'a')
  await edit(space, 'a', { objectiveRef: { name: 'a2' }, containerName: 'router' })
  await cp.apply(member(space, 'b'))
  await untilReason(cp, space, 'a', 'Reconciled')
  await expectToWait(
    space,
    'b',
    `ClusterSPIFFEID ${old}, of binding ${space}/a, which claims the same container`,
  )
  await release(old)
  await untilReason(cp, space, 'b', 'Reconciled')
  expect(await inForce(space)).toHaveLength(2)
})

test('a deleting binding whose output a foreign finalizer holds blocks its peer until it is gone', async () => {
  const space = 'deleting'
  await cp.apply([...estate(space), ...member(space, 'a')])
  const old = await heldOutput(space, 'a')
  await cp.admin.delete(bindingId(space, 'a'))
  await cp.apply(member(space, 'b'))
  await expectToWait(
    space,
    'b',
    `ClusterSPIFFEID ${old}, of binding ${space}/a, which claims the same container`,
  )
  expect(await cp.admin.get(bindingId(space, 'a'))).toBeDefined()
  await release(old)
  await untilReason(cp, space, 'b', 'Reconciled')
  await until(async () => (await cp.admin.get(bindingId(space, 'a'))) === undefined, 'binding a to be gone')
  expect(await inForce(space)).toHaveLength(1)
})

test('an orphan blocks whoever claims its container until it is gone', async () => {
  const space = 'orphaned'
  await cp.apply([...estate(space), ...member(space, 'a')])
  const old = await heldOutput(space, 'a')
  await cp.admin.delete(bindingId(space, 'a'))
  await cp.admin.patch(bindingId(space, 'a'), { metadata: { finalizers: [] } })
  await until(async () => (await cp.admin.get(bindingId(space, 'a'))) === undefined, 'binding a to be gone')
  await cp.apply(member(space, 'b'))
  await expectToWait(space, 'b', `ClusterSPIFFEID ${old}, an orphan, which claims the same container`)
  await release(old)
  await untilReason(cp, space, 'b', 'Reconciled')
  expect(await inForce(space)).toHaveLength(1)
})

test('a member that cannot withdraw its output does not say Conflict, and blocks nobody for longer than it must', async () => {
  const space = 'held'
  await cp.apply([...estate(space), ...member(space, 'a')])
  const old = await heldOutput(space, 'a')
  await cp.apply(member(space, 'b'))
  const b = await untilReason(cp, space, 'b', 'IdentityCollision')
  expect(peersOf(b)).toEqual(['a SamePods'])
  const message = `cannot delete ClusterSPIFFEID ${old}: held by finalizers`
  const a = await untilReason(cp, space, 'a', 'Undetermined', message)
  expect(conditionOf(a, 'Conflict')).toMatchObject({ status: 'False', reason: 'Resolved' })
  await release(old)
  await untilReason(cp, space, 'a', 'IdentityCollision')
  await edit(space, 'b', { containerName: 'router' })
  await Promise.all(['a', 'b'].map((name) => untilReason(cp, space, name, 'Reconciled')))
})

type Labels = Readonly<Record<string, string>>

function edit(space: string, name: string, spec: JsonRecord): Promise<JsonRecord> {
  return cp.admin.patch(bindingId(space, name), { spec })
}

/** What the history has seen in a namespace: how many outputs went, and which bindings were told a conflict. */
async function seenIn(
  space: string,
): Promise<{ readonly withdrawn: number; readonly refused: ReadonlySet<string> }> {
  const changes = await neverTwo.holds()
  const gone = changes.filter(({ kind, object }) => kind === 'output' && object === undefined)
  const conflicts = changes.filter(({ object }) => dig(conditionOf(object, 'Conflict'), 'status') === 'True')
  return {
    withdrawn: gone.filter(({ name }) => name.startsWith(`kleym-${space}-`)).length,
    refused: new Set(conflicts.flatMap(({ name }) => (name.startsWith(`${space}/`) ? [name] : []))),
  }
}

/** The names of the outputs for bindings of a namespace, terminating ones included. */
async function inForce(space: string): Promise<readonly string[]> {
  const all = await outputs(cp)
  return all.filter((output) => ownerOf(output).startsWith(`${space}/`)).map(nameOf)
}

/** `status.conflicts` as `<name> <relation>`. */
function peersOf(object: JsonRecord): readonly string[] {
  return listAt(object, 'status', 'conflicts').map(
    (peer) => `${stringAt(peer, 'bindingName')} ${stringAt(peer, 'relation')}`,
  )
}

/** The ten that follow a name in byte order, wrapping round, as `peersOf` has them. */
function followers(names: readonly string[], name: string): readonly string[] {
  const sorted = names.toSorted()
  const at = sorted.indexOf(name)
  const following = [...sorted.slice(at + 1), ...sorted.slice(0, at)]
  return following.slice(0, 10).map((peer) => `${peer} SamePods`)
}

/** Waits for a binding's output and puts a finalizer on it that is not kleym's; returns its name. */
async function heldOutput(space: string, name: string): Promise<string> {
  const ready = await untilReason(cp, space, name, 'Reconciled')
  const output = stringAt(ready, 'status', 'clusterSPIFFEID', 'name') ?? ''
  await cp.admin.patch(outputId(output), { metadata: { finalizers: [HOLD] } })
  return output
}

/** Waits until the output is to go, which a peer that waits for it may have said before, and lets it go. */
async function release(output: string): Promise<void> {
  await until(
    async () => stringAt(await cp.admin.get(outputId(output)), 'metadata', 'deletionTimestamp') !== undefined,
    `${output} to be asked to go`,
  )
  await cp.admin.patch(outputId(output), { metadata: { finalizers: null } })
}

async function expectToWait(space: string, name: string, forWhat: string): Promise<void> {
  const found = await untilReason(cp, space, name, 'WaitingForPeer', `waiting for ${forWhat}`)
  expect(conditionOf(found, 'Ready')).toMatchObject({ status: 'Unknown' })
  expect(await outputsOf(cp, space, name)).toEqual([])
}
