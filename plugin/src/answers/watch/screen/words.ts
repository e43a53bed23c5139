// The words of the screen that do not come from the cluster: the line of keys, and help.
import { BLANK, line, MARKS, span, type Block, type Line } from '../../../text/line.ts'
import { wrap } from '../../../text/wrap.ts'
import type { ScreenState } from './state.ts'

/** The keys that mean something now, the most needed first; as many as fit. */
export function keysLine({ mode, isOpen, filter }: ScreenState, columns: number): Line {
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
            's order',
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
  ['s', 'trouble first, by name'],
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
    ...wrap('  The filter looks at namespace, name, verdict, reason and SPIFFE ID.', {
      width: columns,
      hang: 2,
    }),
  ]
}
