// What each key makes of the choices, and that the selection stays with its binding.
import { describe, expect, test } from 'vitest'
import { actionsOf, type PressedKey } from '../../../../src/answers/watch/screen/keys.ts'
import {
  namespaceChoices,
  reduce,
  withValidSelection,
  startState,
  type ScreenMode,
  type ScreenFacts,
  type ScreenState,
} from '../../../../src/answers/watch/screen/state.ts'
import { refused, row } from '../../../support/pictures.ts'

const NO_KEY: PressedKey = {
  upArrow: false,
  downArrow: false,
  pageUp: false,
  pageDown: false,
  home: false,
  end: false,
  return: false,
  escape: false,
  backspace: false,
  delete: false,
  ctrl: false,
  meta: false,
}

const ROWS = Array.from({ length: 30 }, (_, at) => row(`a/b${String(at).padStart(2, '0')}`))
const FACTS: ScreenFacts = {
  rows: ROWS,
  rowsFit: 10,
  detailFits: 5,
  detailLines: 12,
  namespaces: ['default', 'team-a', 'team-b'],
}

/** Presses keys one after the other, by name (`<down>`) or as they are typed. */
function press(
  keys: string,
  from: ScreenState = withValidSelection(startState(undefined), FACTS),
  facts = FACTS,
): ScreenState {
  let state = from
  for (const [written] of keys.matchAll(/<[\w-]+>|[^]/g)) {
    const [input, key] = keyOf(written)
    for (const action of actionsOf(input, key, state.mode)) state = reduce(state, action, facts)
  }
  return state
}

const NAMED: Readonly<Record<string, Partial<PressedKey>>> = {
  '<up>': { upArrow: true },
  '<down>': { downArrow: true },
  '<pgup>': { pageUp: true },
  '<pgdn>': { pageDown: true },
  '<home>': { home: true },
  '<end>': { end: true },
  '<enter>': { return: true },
  '<esc>': { escape: true },
  '<bs>': { delete: true },
}

function keyOf(written: string): readonly [string, PressedKey] {
  const control = /^<ctrl-(\w)>$/.exec(written)?.[1]
  if (control !== undefined) return [control, { ...NO_KEY, ctrl: true }]
  const named = NAMED[written]
  return named === undefined ? [written, NO_KEY] : ['', { ...NO_KEY, ...named }]
}

describe('moving', () => {
  test.each([
    ['at first', '', 'a/b00', 0],
    ['down', 'j', 'a/b01', 0],
    ['down by arrow', '<down><down>', 'a/b02', 0],
    ['up does not leave the table', 'k<up>', 'a/b00', 0],
    ['down to below the window', 'jjjjjjjjjjj', 'a/b11', 2],
    ['a page', '<pgdn>', 'a/b09', 0],
    ['a page by the space bar, twice', '  ', 'a/b18', 9],
    ['a page back', '<end><pgup>', 'a/b20', 20],
    ['to the last', 'G', 'a/b29', 20],
    ['to the last by key, and the first', '<end><home>', 'a/b00', 0],
    ['back up through the window', '<end>kkkkkkkkkkk', 'a/b18', 18],
  ])('%s', (_, keys, selected, top) => {
    const state = press(keys)
    expect([state.selected, state.top]).toEqual([selected, top])
  })

  test('several letters in one piece are several keys', () => {
    let state = withValidSelection(startState(undefined), FACTS)
    for (const action of actionsOf('jjj', NO_KEY, 'table')) state = reduce(state, action, FACTS)
    expect(state.selected).toBe('a/b03')
  })
})

describe('rows that come and go', () => {
  test.each([
    ['a row before it comes: the selection stays', [row('a/a'), ...ROWS], 'a/b05'],
    ['a row before it goes: the selection stays', ROWS.slice(3), 'a/b05'],
    [
      'its verdict changes: the selection stays',
      ROWS.map((one) => (one.key === 'a/b05' ? refused('a/b05') : one)),
      'a/b05',
    ],
    ['it goes: the next one takes its place', ROWS.filter(({ key }) => key !== 'a/b05'), 'a/b06'],
    ['all after it go too: the last one', ROWS.slice(0, 3), 'a/b02'],
    ['all go', [], undefined],
  ])('%s', (_, rows, selected) => {
    expect(withValidSelection(press('jjjjj'), { ...FACTS, rows }).selected).toBe(selected)
  })

  test('s goes through the columns and S back; the selection stays', () => {
    const orders = ['s', 'ss', 'sss', 'ssss', 'sssss', 'S'].map((keys) => press(keys).order)
    expect(orders).toEqual(['name', 'verdict', 'identity', 'change', 'trouble', 'change'])
    expect(press('jjjs').selected).toBe(press('jjj').selected)
  })

  test('c asks for the identity of the chosen binding, until the next key', () => {
    expect(press('jc').copied).toBe('spiffe://example.org/ns/a/objective/b01')
    expect(press('jcj').copied).toBeUndefined()
    const facts = { ...FACTS, rows: [refused('a/no')] }
    expect(press('c', withValidSelection(startState(undefined), facts), facts).copied).toBeNull()
  })

  test('the order changes: the selection stays', () => {
    const rows = ROWS.map((one, nth) => (nth > 20 ? refused(one.key) : one))
    const state = press('jjs', undefined, { ...FACTS, rows })
    expect([state.selected, state.place, state.order]).toEqual(['a/b23', 23, 'name'])
  })

  test('a window that grows shows no blank end', () => {
    expect(withValidSelection(press('G'), { ...FACTS, rowsFit: 25 }).top).toBe(5)
  })

  test('no room for the table is no harm', () => {
    expect(withValidSelection(press('jjj'), { ...FACTS, rowsFit: 0 }).selected).toBe('a/b03')
  })
})

describe('the filter', () => {
  test.each<[string, string, Partial<ScreenState>]>([
    ['is typed', '/b1', { mode: 'filter', filter: 'b1', selected: 'a/b10' }],
    ['letters are no commands', '/qjk', { mode: 'filter', filter: 'qjk', leaving: undefined }],
    ['is kept by Enter', '/b1<enter>', { mode: 'table', filter: 'b1' }],
    ['Enter again opens', '/b1<enter><enter>', { isOpen: true, selected: 'a/b10' }],
    ['arrows move within it', '/b1<down><down>', { selected: 'a/b12' }],
    ['loses its last letter', '/b12<bs>', { filter: 'b1' }],
    ['loses a whole character that is two units', '/b😀<bs>', { filter: 'b' }],
    ['is emptied', '/b12<ctrl-u>', { filter: '', mode: 'filter' }],
    ['is given up', '/b12<esc>', { filter: '', mode: 'table' }],
    ['is cleared from the table', '/b12<enter><esc>', { filter: '', mode: 'table' }],
  ])('%s', (_, keys, expected) => {
    expect(press(keys)).toMatchObject(expected)
  })
})

describe('the derivation', () => {
  test.each<[string, string, Partial<ScreenState>]>([
    ['is opened', '<enter>', { isOpen: true, detailTop: 0 }],
    ['is closed', '<enter><enter>', { isOpen: false }],
    [
      'is closed by Esc, which keeps the filter then',
      '/b1<enter><enter><esc>',
      { isOpen: false, filter: 'b1' },
    ],
    ['scrolls by pages', '<enter><pgdn>', { detailTop: 4, selected: 'a/b00' }],
    ['does not scroll beyond its end', '<enter><pgdn><pgdn><pgdn>', { detailTop: 7 }],
    ['scrolls to its end and back', '<enter><end><home>', { detailTop: 0, selected: 'a/b00' }],
    [
      'follows the selection, from its top',
      '<enter><pgdn>j',
      { isOpen: true, selected: 'a/b01', detailTop: 0 },
    ],
  ])('%s', (_, keys, expected) => {
    expect(press(keys)).toMatchObject(expected)
  })

  test('without a binding there is none to open', () => {
    const empty = { ...FACTS, rows: [] }
    expect(press('<enter>', withValidSelection(startState(undefined), empty), empty).isOpen).toBe(false)
  })
})

describe('the namespace', () => {
  test.each<[string, string, Partial<ScreenState>]>([
    ['is chosen from the list', 'n<down><down><enter>', { namespace: 'team-a', mode: 'table' }],
    ['all of them come first', 'n<enter>', { namespace: undefined, mode: 'table' }],
    ['is typed', 'nteam-b<enter>', { namespace: 'team-b' }],
    ['is typed in part', 'nteam<enter>', { namespace: 'team-a' }],
    ['may be one that is not known', 'nsecret<enter>', { namespace: 'secret' }],
    ['is left as it is', 'nteam-b<esc>', { namespace: 'kept', mode: 'table' }],
    ['the list has an end', 'n<down><down><down><down><down><enter>', { namespace: 'team-b' }],
  ])('%s', (_, keys, expected) => {
    expect(press(keys, withValidSelection(startState('kept'), FACTS))).toMatchObject(expected)
  })

  test.each([
    ['nothing', '', [undefined, 'default', 'team-a', 'team-b']],
    ['a part', 'eam', ['team-a', 'team-b', 'eam']],
    ['a whole name', 'team-b', ['team-b']],
    ['a whole name that is part of others', 'default', ['default']],
  ])('typing %s lists what fits', (_, typed, choices) => {
    expect(namespaceChoices(FACTS.namespaces, typed)).toEqual(choices)
  })
})

describe('leaving', () => {
  test.each<[string, string, ScreenState['leaving']]>([
    ['q', 'q', 'quit'],
    ['q in help', '?q', 'quit'],
    ['Ctrl-C', '<ctrl-c>', 'interrupt'],
    ['Ctrl-C while typing', '/b<ctrl-c>', 'interrupt'],
    ['Ctrl-C in the chooser', 'n<ctrl-c>', 'interrupt'],
    ['any other key in help only closes it', '?x', undefined],
    ['what means nothing', 'xyz', undefined],
  ])('%s', (_, keys, leaving) => {
    expect(press(keys).leaving).toBe(leaving)
  })

  test.each<[string, ScreenMode]>([
    ['?', 'help'],
    ['?j', 'table'],
  ])('%s ends in mode %s', (keys, mode) => {
    expect(press(keys).mode).toBe(mode)
  })
})
