// A person who waits for files sees how far they are read, within a file too.
import { expect, test } from 'vitest'
import { WANTED_KINDS } from '../../src/gather/wanted-kinds.ts'
import { loadFiles } from '../../src/sources/load.ts'
import { slowTerminal } from '../support/slow-terminal.ts'
import { workspace } from '../support/workspace.ts'

const POD = 'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n'

/** What a terminal shows while files are read on a machine that takes so long between two looks at the clock. */
async function shownOf(files: Readonly<Record<string, string>>, lookMs: number): Promise<readonly string[]> {
  const { written, ...terminal } = slowTerminal(lookMs)
  const io = { cwd: await workspace(files), env: {}, stdin: none(), ...terminal }
  const args = { files: ['.'], recursive: false, kustomize: [] }
  await loadFiles(args, { wanted: WANTED_KINDS, namespace: 'default', dumps: true }, io)
  return written
}

async function* none(): AsyncGenerator<Uint8Array> {}

test('one file of many documents tells how many have been read, and the line is wiped', async () => {
  const shown = await shownOf({ 'a.yaml': Array.from({ length: 30 }, () => POD).join('---\n') }, 100)
  expect(shown.length).toBeGreaterThan(10)
  expect(shown.join('')).toMatch(/reading file 1 of 1, document 2\d/)
  expect(shown.at(-1)).toBe('\r\u001B[K')
})

test('a file that takes a while in one step is named before it', async () => {
  const json = JSON.stringify({ apiVersion: 'v1', kind: 'Pod', x: 'x'.repeat(9 * 1024 * 1024) })
  expect((await shownOf({ 'big.json': json }, 0)).join('')).toContain('reading big.json: 9 MiB')
})

test('what is read at once shows nothing', async () => {
  expect(await shownOf({ 'a.yaml': POD }, 1)).toEqual([])
})
