// Columns that line up.
import { describe, expect, test } from 'vitest'
import { MARKS, render } from '../../src/text/line.ts'
import { PLAIN } from '../../src/io/palette.ts'
import { table } from '../../src/text/table.ts'

const plain = (block: Parameters<typeof render>[0]): string => render(block, PLAIN)

describe('table', () => {
  test('lines up columns and wraps the last one under itself', () => {
    const rows = [
      [MARKS.ok, 'pool', 'InferencePool/llama, read from the namespace of the binding'],
      [MARKS.bad, 'selector', 'empty'],
    ]
    expect(plain(table(rows, { width: 45, indent: 2 }))).toBe(
      '  ✓  pool      InferencePool/llama, read from\n' +
        '               the namespace of the binding\n' +
        '  ✗  selector  empty\n',
    )
  })

  test('has titles, a gap of choice, and shortens a column with a limit', () => {
    const rows = [['kleym-team-a-chat-objective-5f0c9d', 'ready']]
    expect(plain(table(rows, { width: 80, gap: 1, header: ['NAME', 'READY'], limits: { 0: 16 } }))).toBe(
      'NAME             READY\nkleym-team…f0c9d ready\n',
    )
  })

  test('folds below 60 columns, where the last column would have no room', () => {
    const rows = [[MARKS.bad, 'playground/expressions', 'UnsafeSelector']]
    expect(plain(table(rows, { width: 44, header: ['', 'NAME', 'REASON'] }))).toBe(
      '✗  playground/expressions\n    UnsafeSelector\n',
    )
    expect(plain(table(rows, { width: 60, header: ['', 'NAME', 'REASON'] }))).toContain('REASON')
  })

  test('takes rows of different lengths and wide characters', () => {
    expect(plain(table([['模型', 'a', 'x'], ['y']], { width: 80 }))).toBe('模型  a  x\ny\n')
  })
})
