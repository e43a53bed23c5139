// The words of the screen that do not come from the cluster: the line of keys, and help.
import { BLANK, line, MARKS, span, type Block, type Line } from '../../../text/line.ts'
import { wrap } from '../../../text/wrap.ts'
import type { ScreenState } from './state.ts'

/** What became of the last key, or the keys that mean something now, the most needed first; as many as fit. */
export function keysLine({ mode, isOpen, filter, copied }: ScreenState, columns: number): Line {
  if (copied !== undefined)
    return line(copied === null ? 'no identity to copy' : `copied ${copied}, if the terminal allows it`)
  const keys =
    mode === 'help'
      ? ['any key closes help', 'q quit']
      : mode === 'namespace'
        ? ['Enter choose', 'Esc cancel', 'type a name, or move']
        : [
            'q quit',
            '? help',
            isOpen ? 'Enter close' : 'Enter open',
            ...(isOpen ? ['PgUp/PgDn scroll'] : []),
            'j/k move',
            filter === '' ? '/ filter' : '/ filter, Esc clear',
            'n namespace',
            's sort',
            'c copy ID',
          ]
  let text = ''
  for (const key of keys) {
    const longer = text === '' ? key : `${text}   ${key}`
    if (longer.length > columns) break
    text = longer
  }
  return line(span(text, 'dim'))
}

const KEYS: readonly (readonly [keys: string, what: string])[] = [
  ['j k, arrows', 'move'],
  ['PgUp PgDn', 'a page, of what is open'],
  ['Home End', 'to the first, the last'],
  ['Enter', 'open, close'],
  ['/ Esc', 'filter, clear it'],
  ['n', 'namespace, or all'],
  ['s S', 'sort by the next, previous column'],
  ['c', 'copy the SPIFFE ID'],
  ['q Ctrl-C', 'quit'],
]

const KEYS_WIDTH = 13

/** What the keys and the marks mean: short enough for the smallest screens that people use. */
export function helpBlock(columns: number): Block {
  return [
    ...KEYS.map(([keys, what]) => line('  ', span(keys.padEnd(KEYS_WIDTH), 'bold'), what)),
    BLANK,
    line('  ', MARKS.ok, ' in force   ', MARKS.warn, ' not yet, or not known'),
    line('  ', MARKS.bad, ' refused    ', MARKS.note, ' being deleted'),
    BLANK,
    ...wrap('  The filter looks at namespace, name, verdict, reason and SPIFFE ID.', columns, 2),
  ]
}
