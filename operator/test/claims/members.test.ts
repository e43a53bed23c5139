// What belongs to a key, whether that is one member or many.
import { expect, test } from 'vitest'
import { Members } from '../../src/claims/members.ts'

type Move = readonly [member: string, before: string | undefined, now: string | undefined]

interface Case {
  readonly name: string
  readonly moves: readonly Move[]
  readonly left: Readonly<Record<string, readonly string[]>>
}

const cases: readonly Case[] = [
  { name: 'one member', moves: [['a', undefined, 'x']], left: { x: ['a'] } },
  {
    name: 'the same member twice',
    moves: [
      ['a', undefined, 'x'],
      ['a', undefined, 'x'],
    ],
    left: { x: ['a'] },
  },
  {
    name: 'many members',
    moves: [
      ['a', undefined, 'x'],
      ['b', undefined, 'x'],
      ['c', undefined, 'x'],
    ],
    left: { x: ['a', 'b', 'c'] },
  },
  {
    name: 'one of two that has left',
    moves: [
      ['a', undefined, 'x'],
      ['b', undefined, 'x'],
      ['a', 'x', undefined],
    ],
    left: { x: ['b'] },
  },
  {
    name: 'two that have left, and one that came back',
    moves: [
      ['a', undefined, 'x'],
      ['b', undefined, 'x'],
      ['a', 'x', undefined],
      ['b', 'x', undefined],
      ['a', undefined, 'x'],
    ],
    left: { x: ['a'] },
  },
  {
    name: 'a member that has moved to another key',
    moves: [
      ['a', undefined, 'x'],
      ['b', undefined, 'x'],
      ['a', 'x', 'y'],
    ],
    left: { x: ['b'], y: ['a'] },
  },
  {
    name: 'a member that stays where it is',
    moves: [
      ['a', undefined, 'x'],
      ['a', 'x', 'x'],
    ],
    left: { x: ['a'] },
  },
  {
    name: 'the other one, where somebody leaves who was not there',
    moves: [
      ['a', undefined, 'x'],
      ['b', 'x', undefined],
      ['b', 'y', undefined],
    ],
    left: { x: ['a'] },
  },
  {
    name: 'nobody, and no key',
    moves: [
      ['a', undefined, 'x'],
      ['a', 'x', undefined],
    ],
    left: {},
  },
]

test.each(cases)('members: $name', ({ moves, left }) => {
  const members = new Members()
  for (const [member, before, now] of moves) members.move(member, before, now)
  expect(Object.fromEntries([...members.keys()].map((key) => [key, [...members.of(key)]]))).toEqual(left)
  expect([...members.of('elsewhere')]).toEqual([])
})
