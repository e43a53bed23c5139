// Lines become text in one place, which escapes, paints and trims.
import { describe, expect, test } from 'vitest'
import { indent, line, MARKS, render, span, BLANK } from '../../src/text/line.ts'
import { COLOURED, PLAIN } from '../../src/io/palette.ts'

const plain = (block: Parameters<typeof render>[0]): string => render(block, PLAIN)

describe('render', () => {
  test('paints roles, and leaves the text as it is without colours', () => {
    const block = [line(MARKS.bad, ' ', span('chat', 'bold'), ' is refused')]
    expect(plain(block)).toBe('✗ chat is refused\n')
    expect(render(block, COLOURED)).toBe('\u001b[31m✗\u001b[39m \u001b[1mchat\u001b[22m is refused\n')
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

test('indent moves lines and leaves empty ones empty', () => {
  expect(plain(indent([line('a'), BLANK, line('b')], 2))).toBe('  a\n\n  b\n')
})
