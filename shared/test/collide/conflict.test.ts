// docs/contract.md §6: which claims collide, and what a refusal says of it.
import { describe, expect, test } from 'vitest'
import { collisionPeers } from '../../src/core/decide/collide/conflict.ts'
import {
  binding,
  estate,
  got,
  judgementOf,
  objective,
  pool,
  poolOnly,
  reasonOf,
  settledCluster,
  type SettledCluster,
} from '@kleym/testing/manifests.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'
import { NARROW, tenant, WIDE } from './claims.ts'

const TAIL = ': PerObjective bindings must not share the same pod selector and container name'

function relationsOf(one: SettledCluster, key: string): Record<string, string> | undefined {
  const judgement = judgementOf(one, key)
  if (judgement.state !== 'refused' || judgement.collision === undefined) return undefined
  const all = judgement.collision.all()
  return Object.fromEntries(all.map(({ claim, relation }) => [claim.owner, relation]))
}

describe('two declared claims', () => {
  test.each([
    ['equal labels are the same pods', WIDE, WIDE, 'SamePods', 'SamePods'],
    ['fewer labels contain more', WIDE, NARROW, 'Contains', 'ContainedBy'],
    ['more labels are contained by fewer', NARROW, WIDE, 'ContainedBy', 'Contains'],
    [
      'labels in another order are the same pods',
      NARROW,
      { region: 'eu', app: 'llama' },
      'SamePods',
      'SamePods',
    ],
  ])('%s', (_name, a, b, fromA, fromB) => {
    const one = settledCluster([...tenant('a', a), ...tenant('b', b)])
    expect(relationsOf(one, 'team-a/a')).toEqual({ 'team-a/b': fromA })
    expect(relationsOf(one, 'team-a/b')).toEqual({ 'team-a/a': fromB })
    expect(one.settled.outputs).toEqual([])
  })

  test.each([
    ['other values', tenant('b', { app: 'other' })],
    ['labels that only may overlap', tenant('b', { tier: 'gold' })],
    ['as many labels that overlap in one', tenant('b', { app: 'llama', tier: 'gold' }, {})],
    ['another container', tenant('b', WIDE, { containerName: 'lora' })],
    ['another service account', tenant('b', WIDE, { serviceAccountName: 'other' })],
    [
      'PoolOnly',
      [...tenant('b', WIDE), poolOnly({ name: 'b', spec: { poolRef: { name: 'b' } } })].toSpliced(2, 1),
    ],
    ['a peer that is refused for something else', tenant('b', WIDE, { mode: 'Both' })],
    ['a peer whose objective is gone', tenant('b', WIDE).toSpliced(1, 1)],
    [
      'a peer that is being deleted and has no output',
      [...tenant('b', WIDE).slice(0, 2), binding({ name: 'b', deletedAt: '2026-01-01T00:00:00Z' })],
    ],
  ])('do not collide with %s', (name, peer) => {
    const own = name === 'as many labels that overlap in one' ? NARROW : WIDE
    expect(reasonOf(settledCluster([...tenant('a', own), ...peer]), 'team-a/a')).toBe('Reconciled')
  })

  test('do not collide across namespaces', () => {
    const other = [
      pool({ namespace: 'team-b' }),
      objective({ namespace: 'team-b' }),
      binding({ namespace: 'team-b' }),
    ]
    expect(reasonOf(settledCluster([...estate(binding()), ...other]))).toBe('Reconciled')
  })

  test('collide with one SPIFFE ID too: two bindings of one objective on one container', () => {
    const one = settledCluster(estate(binding(), binding({ name: 'again' })))
    expect(relationsOf(one, 'team-a/llama')).toEqual({ 'team-a/again': 'SamePods' })
  })

  test('are not transitive: peers are direct peers', () => {
    // {app}, {app, x} and {app, y}: the last two share no provable pod.
    const one = settledCluster([
      ...tenant('all', WIDE),
      ...tenant('x', { ...WIDE, x: '1' }),
      ...tenant('y', { ...WIDE, y: '1' }),
    ])
    expect(relationsOf(one, 'team-a/all')).toEqual({ 'team-a/x': 'Contains', 'team-a/y': 'Contains' })
    expect(relationsOf(one, 'team-a/x')).toEqual({ 'team-a/all': 'ContainedBy' })
    expect(relationsOf(one, 'team-a/y')).toEqual({ 'team-a/all': 'ContainedBy' })
  })

  test('PoolOnly bindings never collide, not even with each other', () => {
    const one = settledCluster(estate(poolOnly({ name: 'a' }), poolOnly({ name: 'b' }), binding()))
    expect(['a', 'b', 'llama'].map((name) => reasonOf(one, `team-a/${name}`))).toEqual(
      Array(3).fill('Reconciled'),
    )
  })
})

describe('what is said of a collision', () => {
  test.each([
    ['one peer', 2, 'b00', numbered(1)],
    ['peers that follow, then those before', 4, 'b02', numbered(3, 0, 1)],
    ['ten peers', 11, 'b00', numbered(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)],
    ['the first ten of eleven', 12, 'b00', `${numbered(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)} and more`],
    ['ten that wrap round', 15, 'b12', `${numbered(13, 14, 0, 1, 2, 3, 4, 5, 6, 7)} and more`],
    [
      'ten that begin at the start, for the last one',
      15,
      'b14',
      `${numbered(0, 1, 2, 3, 4, 5, 6, 7, 8, 9)} and more`,
    ],
  ])('%s', (_name, count, own, named) => {
    expect(messageOf(crowd(count), own)).toBe(`identity collision with bindings ${named}${TAIL}`)
  })

  test.each([
    ['n', 'x', 'a'],
    ['a', 'n', 'x'],
    ['x', 'a', 'n'],
  ])(
    'the ten named are the first of all relations, where each has more: %s %s %s',
    (same, wider, narrower) => {
      const one = settledCluster([
        ...tenant('m', NARROW),
        ...twelve(same, NARROW),
        ...twelve(wider, WIDE),
        ...twelve(narrower, { ...NARROW, zone: 'b' }),
      ])
      const named = Array.from({ length: 10 }, (_, at) => `n${String(at).padStart(2, '0')}`).join(', ')
      expect(messageOf(one, 'm')).toBe(`identity collision with bindings ${named} and more${TAIL}`)
    },
  )

  test('names are merged in byte order from all relations', () => {
    const one = settledCluster([
      ...tenant('a', NARROW),
      ...tenant('b', WIDE),
      ...tenant('c', NARROW),
      ...tenant('B', WIDE),
    ])
    expect(messageOf(one, 'a')).toBe(`identity collision with bindings b, c${TAIL}`)
    const judgement = judgementOf(one, 'team-a/a')
    const collision = got(judgement.state === 'refused' ? judgement.collision : undefined)
    expect(collisionPeers(collision)).toEqual([
      { bindingName: 'b', relation: 'ContainedBy', spiffeID: 'spiffe://example.org/ns/team-a/objective/b' },
      { bindingName: 'c', relation: 'SamePods', spiffeID: 'spiffe://example.org/ns/team-a/objective/c' },
    ])
  })

  test('one more member rewrites at most eleven statuses', () => {
    const before = crowd(40)
    const after = settledCluster([
      ...estate(binding({ name: 'b20x' })),
      ...before.snapshot.bindings.read.map(({ meta }) => binding({ name: meta.name })),
    ])
    const changed = before.snapshot.bindings.read.filter(
      ({ meta }) => messageOf(before, meta.name) !== messageOf(after, meta.name),
    )
    expect(changed).toHaveLength(10)
  })

  test('the plugin gets every member', () => {
    expect(Object.keys(got(relationsOf(crowd(15), 'team-a/b12')))).toHaveLength(14)
  })
})

/** Bindings `b00`, `b01` and so on, which all collide. */
function crowd(count: number): SettledCluster {
  const names = Array.from({ length: count }, (_, at) => numbered(at))
  return settledCluster(estate(...names.map((name) => binding({ name }))))
}

function numbered(...numbers: readonly number[]): string {
  return numbers.map((number) => `b${String(number).padStart(2, '0')}`).join(', ')
}

/** Tenants whose names begin with a letter. */
function twelve(letter: string, labels: Readonly<Record<string, string>>): readonly JsonRecord[] {
  return Array.from({ length: 12 }, (_, at) =>
    tenant(`${letter}${String(at).padStart(2, '0')}`, labels),
  ).flat()
}

function messageOf(one: SettledCluster, name: string): string {
  const judgement = judgementOf(one, `team-a/${name}`)
  return judgement.state === 'refused' ? judgement.message : judgement.state
}
