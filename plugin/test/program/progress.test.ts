// Every command that answers about files tells a person at a terminal how far it has come: while it reads, and while it works on what was read.
import { expect, test } from 'vitest'
import { PROJECT_ROOT } from '../support/estate.ts'
import { inProcess } from '../support/in-process.ts'
import { slowTerminal } from '../support/slow-terminal.ts'

const ESTATE = ['-R', '-f', 'examples/estate']

/** What a terminal shows of a command, on a machine that takes so long between two looks at the clock. */
async function shownOf(args: readonly string[], lookMs: number): Promise<string> {
  const { written, ...terminal } = slowTerminal(lookMs)
  await inProcess([...args, '--offline'], PROJECT_ROOT, {}, terminal)
  return written.join('')
}

test.each([
  ['explain', '-A', ...ESTATE],
  ['conflicts', '-A', ...ESTATE],
  ['who-selects', '-A', ...ESTATE],
  ['policies', '-A', ...ESTATE],
  ['suggest', '-A', ...ESTATE],
  ['migrate', '-A', ...ESTATE],
  ['map', '-A', ...ESTATE],
  ['why', 'team-a/chat', ...ESTATE],
  ['rename', 'objective/team-a/chat', 'assistant', ...ESTATE],
  ['verify', '-A', '--entries', 'examples/server/entries.json', ...ESTATE],
  ['diff', '-A', '--base', 'examples/pull-request/base', '-R', '-f', 'examples/pull-request/head'],
  ['test', 'examples/identity-tests/estate.yaml', ...ESTATE],
])('%s', async (...args) => {
  const shown = await shownOf(args, 1_000)
  expect(shown).toMatch(/\r\u001B\[Kreading file \d+ of \d+/)
  expect(shown).toMatch(/\r\u001B\[Kworking on \d+ objects/)
  // The answer stands where the line was.
  expect(shown.lastIndexOf('\r\u001B[K')).toBeGreaterThan(shown.lastIndexOf('working on'))
  expect(await shownOf(args, 0)).not.toContain('\r')
})
