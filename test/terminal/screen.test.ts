// The widths of the plugin, against those of a terminal, and the terminal of the tests itself.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '@kleym/testing/runs.ts'
import { displayWidth } from '../../plugin/src/text/width.ts'
import { TerminalScreen } from './screen.ts'

const COLUMNS = 80

async function screenOf(text: string): Promise<TerminalScreen> {
  const screen = new TerminalScreen(COLUMNS, 4)
  await screen.write(Buffer.from(text))
  return screen
}

// Emoji are left out: the terminal takes them as Unicode 6 did, before most of them were wide.
test('a terminal moves its cursor by as much as the plugin counts', async () => {
  const unit = fc.constantFrom(
    'a',
    ' ',
    '-',
    '·',
    '✗',
    '→',
    '✓',
    '!',
    '…',
    'é',
    'я',
    '模',
    '型',
    '한',
    'Ａ',
    'あ',
    'e\u0301',
  )
  await fc.assert(
    fc.asyncProperty(fc.string({ unit, maxLength: 30 }), async (text) => {
      expect((await screenOf(text)).column).toBe(displayWidth(text))
    }),
    { numRuns: runs(100) },
  )
})

test('what is written twice at one place is seen as it is then, and the other screen as it was', async () => {
  const screen = await screenOf(
    'before\r\n\u001b[?1049h\u001b[2J\u001b[Hone\r\u001b[1mtwo\u001b[0m\u001b[2;3H模',
  )
  expect(screen.lines).toEqual(['two', '  模', '', ''])
  await screen.write(Buffer.from('\u001b[?1049l'))
  expect(screen.lines).toEqual(['before', '', '', ''])
})

test('a screen that grows keeps what is on it', async () => {
  const screen = await screenOf('1\r\n2\r\n3\r\n4\r\n5')
  expect(screen.lines).toEqual(['2', '3', '4', '5'])
  screen.resize(40, 2)
  expect(screen.lines).toEqual(['4', '5'])
})
