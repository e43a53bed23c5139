// What is said of each binding, which rows are shown, and in which order.
import { describe, expect, test } from 'vitest'
import {
  changesBetween,
  compareRows,
  countsText,
  filterRows,
  markOf,
  outcomeText,
  verdictText,
  type Row,
} from '../../../../src/answers/watch/live/rows.ts'
import { refused, row } from '../../../support/pictures.ts'

describe('what is said of a row', () => {
  test.each<[string, Row, string, string, string]>([
    ['in force', row('a/b'), 'ok', 'ready', 'spiffe://example.org/ns/a/objective/b'],
    [
      'not there yet',
      row('a/b', { pending: 'create' }),
      'warn',
      'ready, to be created',
      'spiffe://example.org/ns/a/objective/b',
    ],
    [
      'drifted',
      row('a/b', { pending: 'update' }),
      'warn',
      'ready, to be updated',
      'spiffe://example.org/ns/a/objective/b',
    ],
    ['refused', refused('a/b'), 'bad', 'UnsafeSelector', 'it is not safe'],
    [
      'refused and still in force',
      { ...refused('a/b'), pending: 'withdraw' },
      'bad',
      'UnsafeSelector, to be withdrawn',
      'it is not safe',
    ],
    [
      'waiting',
      row('a/b', { state: 'waiting', reason: 'WaitingForPeer', message: 'waiting for it' }),
      'warn',
      'WaitingForPeer',
      'waiting for it',
    ],
    [
      'undetermined',
      row('a/b', { state: 'undetermined', reason: 'Undetermined', message: 'cannot list' }),
      'warn',
      'Undetermined',
      'cannot list',
    ],
    ['being deleted', row('a/b', { state: 'deleting', reason: 'Deleting' }), 'note', 'being deleted', ''],
  ])('%s', (_, one, mark, verdict, outcome) => {
    expect([markOf(one), verdictText(one), outcomeText(one)]).toEqual([mark, verdict, outcome])
  })

  test('counts name the states that there are, the worst first', () => {
    expect(countsText([row('a/a'), refused('a/b'), row('a/c'), row('a/d', { state: 'waiting' })])).toBe(
      '1 refused, 1 waiting, 2 ready',
    )
  })
})

describe('the filter', () => {
  const rows = [row('team-a/chat'), row('team-b/chat'), refused('team-b/embed', 'TargetPoolNotFound')]
  test.each([
    ['nothing keeps all', '', ['team-a/chat', 'team-b/chat', 'team-b/embed']],
    ['blanks keep all', '  ', ['team-a/chat', 'team-b/chat', 'team-b/embed']],
    ['a namespace', 'team-b', ['team-b/chat', 'team-b/embed']],
    ['a name', 'embed', ['team-b/embed']],
    ['a state', 'refused', ['team-b/embed']],
    ['part of a reason, in any case', 'POOLNOT', ['team-b/embed']],
    ['part of a SPIFFE ID', 'org/ns/team-a/', ['team-a/chat']],
    ['every one of several words', 'chat team-b', ['team-b/chat']],
    ['what nothing has', 'absent', []],
    ['no expression, only text', '.*', []],
  ])('%s', (_, filter, kept) => {
    expect(filterRows(rows, filter).map(({ key }) => key)).toEqual(kept)
  })
})

describe('the order', () => {
  const rows = [
    row('b/ready', { since: new Date(1) }),
    row('a/ready'),
    row('a/gone', { state: 'deleting' }),
    row('a/new', { pending: 'create' }),
    refused('b/refused'),
    refused('a/refused'),
  ]
  test.each([
    ['by namespace and name', 'name', ['a/gone', 'a/new', 'a/ready', 'a/refused', 'b/ready', 'b/refused']],
    ['trouble first', 'trouble', ['a/refused', 'b/refused', 'a/new', 'a/gone', 'a/ready', 'b/ready']],
    ['by verdict', 'verdict', ['a/refused', 'b/refused', 'a/gone', 'a/ready', 'b/ready', 'a/new']],
    [
      'by identity, those without one last',
      'identity',
      ['a/gone', 'a/new', 'a/ready', 'b/ready', 'a/refused', 'b/refused'],
    ],
    ['the last changed first', 'change', ['b/ready', 'a/gone', 'a/new', 'a/ready', 'a/refused', 'b/refused']],
  ] as const)('%s', (_, order, keys) => {
    expect(rows.toSorted(compareRows(order)).map(({ key }) => key)).toEqual(keys)
    expect(
      rows
        .toReversed()
        .toSorted(compareRows(order))
        .map(({ key }) => key),
    ).toEqual(keys)
  })

  test('names go by namespace first, as kubectl lists them: a dash is no slash', () => {
    const keys = [row('a-b/x'), row('a/y')].toSorted(compareRows('name')).map(({ key }) => key)
    expect(keys).toEqual(['a/y', 'a-b/x'])
  })
})

describe('what has changed between two pictures', () => {
  const [chat, embed, llama] = [row('a/chat'), row('a/embed'), row('a/llama')]
  test.each<[string, readonly Row[], readonly Row[], readonly string[]]>([
    ['at first all are new', [], [chat, embed], ['added a/chat', 'added a/embed']],
    ['nothing', [chat, embed], [{ ...chat }, { ...embed }], []],
    ['one comes', [chat], [chat, embed], ['added a/embed']],
    ['one goes', [chat, embed], [embed], ['removed a/chat']],
    ['a verdict', [chat], [refused('a/chat')], ['changed a/chat']],
    ['what is due', [chat], [{ ...chat, pending: 'update' }], ['changed a/chat']],
    ['an identity', [chat], [{ ...chat, spiffeId: 'spiffe://other' }], ['changed a/chat']],
    [
      'a message',
      [refused('a/chat')],
      [refused('a/chat', 'UnsafeSelector', 'still not')],
      ['changed a/chat'],
    ],
    ['a count of pods', [chat], [{ ...chat, pods: 1 }], ['changed a/chat']],
    [
      'all at once, trouble first',
      [chat, embed],
      [refused('a/embed'), llama],
      ['changed a/embed', 'removed a/chat', 'added a/llama'],
    ],
  ])('%s', (_, before, after, changes) => {
    expect(changesBetween(before, after).map(({ kind, row: one }) => `${kind} ${one.key}`)).toEqual(changes)
  })
})
