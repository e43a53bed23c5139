// What statuses say of all bindings together.
import { expect, test } from 'vitest'
import type { JsonRecord } from '../../src/core/base/json.ts'
import { countConditions, oldestStuck } from '../../src/core/analysis/settings/conditions.ts'
import { readBinding, type Binding } from '../../src/core/model/objects/binding.ts'
import { binding } from '@kleym/testing/manifests.ts'

interface Says {
  readonly name: string
  readonly status?: 'True' | 'False' | 'Unknown'
  readonly reason?: string
  readonly since?: string
  readonly made?: string
}

function said({ name, status, reason = 'R', since = '2026-01-02T00:00:00Z', made }: Says): Binding {
  const ready = { type: 'Ready', status, reason, message: '', lastTransitionTime: since }
  const conflict = { ...ready, type: 'Conflict', status: 'True', reason: 'NotThis' }
  const value: JsonRecord = binding({
    name,
    ...(status !== undefined && { status: { observedGeneration: 1, conditions: [conflict, ready] } }),
  })
  const metadata = { ...Object(value['metadata']), ...(made !== undefined && { creationTimestamp: made }) }
  return readBinding({ value: { ...value, metadata } }, 'live')
}

const many = (count: number, says: Omit<Says, 'name'>): readonly Binding[] =>
  Array.from({ length: count }, (_, at) => said({ name: `${says.reason ?? 'none'}-${at}`, ...says }))

test('conditions are counted by status, then by how many there are, then by reason', () => {
  const bindings = [
    ...many(1, {}),
    ...many(3, { status: 'Unknown', reason: 'Undetermined' }),
    ...many(1, { status: 'False', reason: 'B' }),
    ...many(1, { status: 'False', reason: 'A' }),
    ...many(2, { status: 'False', reason: 'Z' }),
    ...many(4, { status: 'True', reason: 'Reconciled' }),
  ]
  const counts = [
    { ready: 'True', reason: 'Reconciled', count: 4 },
    { ready: 'False', reason: 'Z', count: 2 },
    { ready: 'False', reason: 'A', count: 1 },
    { ready: 'False', reason: 'B', count: 1 },
    { ready: 'Unknown', reason: 'Undetermined', count: 3 },
    { ready: 'none', reason: '', count: 1 },
  ]
  expect(countConditions(bindings)).toEqual(counts)
  expect(countConditions(bindings.toReversed())).toEqual(counts)
  expect(countConditions([])).toEqual([])
})

const NONE = undefined
const since = (day: string): string => `2026-01-${day}T00:00:00Z`

test.each<[string, readonly Says[], object | undefined]>([
  ['none, where all are ready', [{ name: 'a', status: 'True' }], NONE],
  [
    'the one that has been refused for longer',
    [
      { name: 'a', status: 'False', since: since('05') },
      { name: 'b', status: 'Unknown', reason: 'WaitingForPeer', since: since('04') },
      { name: 'c', status: 'True', since: since('01') },
    ],
    { binding: { key: 'team-a/b' }, since: since('04'), reason: 'WaitingForPeer' },
  ],
  [
    'one without a status, since it was made',
    [
      { name: 'a', status: 'False', since: since('05') },
      { name: 'b', made: since('03') },
    ],
    { binding: { key: 'team-a/b' }, since: since('03'), reason: 'no status yet' },
  ],
  [
    'the first by name of two',
    [
      { name: 'b', status: 'False' },
      { name: 'a', status: 'False' },
    ],
    { binding: { key: 'team-a/a' } },
  ],
  ['none, of manifests that no server has', [{ name: 'a' }], NONE],
])('stuck for the longest time is %s', (_says, all, stuck) => {
  const found = oldestStuck(all.map(said))
  expect({ stuck: found }).toMatchObject({ stuck })
})
