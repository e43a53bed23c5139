import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { indent, line, lineWidth, MARKS, render, span, BLANK } from '../../src/text/line.ts'
import { choosePalette, COLOURED, PLAIN } from '../../src/io/palette.ts'
import { table } from '../../src/text/table.ts'
import { displayWidth } from '../../src/text/width.ts'
import { shorten, wrap } from '../../src/text/wrap.ts'

const plain = (block: Parameters<typeof render>[0]): string => render(block, PLAIN)

describe('displayWidth', () => {
  test.each([
    ['ASCII', 'team-a/chat', 11],
    ['our marks', '√ ‼ × ·', 7],
    ['wide characters', '模型', 4],
    ['Hangul and full-width letters', '한Ａ', 4],
    ['an emoji', '🦙✅', 4],
    ['other scripts', 'größe имя', 9],
    ['a combining accent', 'e\u0301', 1],
    ['nothing', '', 0],
  ])('%s', (_, text, columns) => {
    expect(displayWidth(text)).toBe(columns)
  })
})

describe('choosePalette', () => {
  test.each([
    ['a terminal has colours', 'auto', {}, true, true],
    ['a pipe has none', 'auto', {}, false, false],
    ['NO_COLOR turns them off', 'auto', { NO_COLOR: '1' }, true, false],
    ['an empty NO_COLOR says nothing', 'auto', { NO_COLOR: '' }, true, true],
    ['NO_COLOR beats FORCE_COLOR', 'auto', { NO_COLOR: '1', FORCE_COLOR: '1' }, true, false],
    ['FORCE_COLOR turns them on in a pipe', 'auto', { FORCE_COLOR: '1' }, false, true],
    ['FORCE_COLOR=0 turns them off', 'auto', { FORCE_COLOR: '0' }, true, false],
    ['a dumb terminal has none', 'auto', { TERM: 'dumb' }, true, false],
    ['--color always beats all', 'always', { NO_COLOR: '1', TERM: 'dumb' }, false, true],
    ['--color never beats all', 'never', { FORCE_COLOR: '1' }, true, false],
  ] as const)('%s', (_, flag, env, isTerminal, coloured) => {
    expect(choosePalette({ flag, env, isTerminal })).toBe(coloured ? COLOURED : PLAIN)
  })
})

describe('render', () => {
  test('paints roles, and leaves the text as it is without colours', () => {
    const block = [line(MARKS.bad, ' ', span('chat', 'bold'), ' is refused')]
    expect(plain(block)).toBe('× chat is refused\n')
    expect(render(block, COLOURED)).toBe('\u001b[31m×\u001b[39m \u001b[1mchat\u001b[22m is refused\n')
  })

  test('drops trailing blanks, across spans', () => {
    expect(plain([line('a  ', span('  ', 'dim')), BLANK, line('b')])).toBe('a\n\nb\n')
  })

  test.each([
    ['a control sequence in a name', 'x\u001b[2Jy', String.raw`x\x1b[2Jy`],
    ['a line break in a name', 'x\n::error::y', String.raw`x\n::error::y`],
    ['a CI command at the beginning of a line', '::error::y', String.raw`\x3a:error::y`],
    ['a right-to-left mark', 'x\u202ey', String.raw`x\u202ey`],
  ])('%s comes out escaped', (_, text, expected) => {
    expect(plain([[{ text, role: 'bold' }]])).toBe(`${expected}\n`)
  })

  test('a CI command that is split over spans is no command either', () => {
    expect(render([line(span(':', 'bold'), ':error::x')], COLOURED)).toBe('\\x3a:error::x\n')
  })
})

describe('wrap', () => {
  test('breaks between words and hangs what follows', () => {
    expect(plain(wrap('fix: give one of them its own containerName', { width: 20, hang: 5 }))).toBe(
      'fix: give one of\n     them its own\n     containerName\n',
    )
  })

  test('never breaks an ID', () => {
    const id = `spiffe://example.org/ns/${'a'.repeat(60)}`
    expect(plain(wrap(`gets ${id} now`, { width: 20 }))).toBe(`gets\n${id}\nnow\n`)
  })

  test('keeps leading blanks, inner gaps and roles', () => {
    const wrapped = wrap([span('  '), span('one', 'bold'), '  two ', span('three', 'bad')], {
      width: 11,
      hang: 4,
    })
    expect(render(wrapped, COLOURED)).toBe('  \u001b[1mone\u001b[22m  two\n    \u001b[31mthree\u001b[39m\n')
  })

  test('loses no word, and exceeds the width only for a word that is too long', () => {
    fc.assert(
      fc.property(
        fc.array(fc.stringMatching(/^[a-z]{1,12}$/), { minLength: 1 }),
        fc.integer({ min: 8, max: 40 }),
        (words, width) => {
          const wrapped = wrap(words.join(' '), { width, hang: 2 })
          expect(plain(wrapped).split(/\s+/).filter(Boolean)).toEqual(words)
          const tooWide = wrapped.filter((row) => lineWidth(row) > width)
          for (const row of tooWide) expect(plain([row]).trim()).not.toContain(' ')
        },
      ),
    )
  })
})

describe('shorten', () => {
  test.each([
    ['what fits stays', 'llama', 5, 'middle', 'llama'],
    ['the middle gives way', 'kleym-team-a-chat-objective-5f0c9d', 20, 'middle', 'kleym-team-a-…5f0c9d'],
    ['the end gives way', 'kleym-team-a-chat-objective-5f0c9d', 20, 'end', 'kleym-team-a-chat-o…'],
    ['wide characters count twice', '模型模型', 5, 'end', '模型…'],
    ['one column holds the sign', 'llama', 1, 'middle', '…'],
  ] as const)('%s', (_, name, width, where, expected) => {
    expect(shorten(name, width, where)).toBe(expected)
    expect(displayWidth(expected)).toBeLessThanOrEqual(width)
  })
})

describe('table', () => {
  test('lines up columns and wraps the last one under itself', () => {
    const rows = [
      [MARKS.ok, 'pool', 'InferencePool/llama, read from the namespace of the binding'],
      [MARKS.bad, 'selector', 'empty'],
    ]
    expect(plain(table(rows, { width: 45, indent: 2 }))).toBe(
      '  √  pool      InferencePool/llama, read from\n' +
        '               the namespace of the binding\n' +
        '  ×  selector  empty\n',
    )
  })

  test('has titles, a gap of choice, and shortens a column with a limit', () => {
    const rows = [['kleym-team-a-chat-objective-5f0c9d', 'ready']]
    expect(plain(table(rows, { width: 80, gap: 1, header: ['NAME', 'READY'], limits: { 0: 16 } }))).toBe(
      'NAME             READY\nkleym-team…f0c9d ready\n',
    )
  })

  test('takes rows of different lengths and wide characters', () => {
    expect(plain(table([['模型', 'a', 'x'], ['y']], { width: 80 }))).toBe('模型  a  x\ny\n')
  })
})

test('indent moves lines and leaves empty ones empty', () => {
  expect(plain(indent([line('a'), BLANK, line('b')], 2))).toBe('  a\n\n  b\n')
})
