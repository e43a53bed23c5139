// All formats agree: the same findings by severity, the same suppressed ones, the same exit code, and none of them hides
// that something is not known. Over the whole estate, for every command.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { inProcess } from '../support/in-process.ts'
import { workspace } from '../support/workspace.ts'
import { agreedCounts } from '../support/formats-agree.ts'
import { ESTATE_FLAGS, PROJECT_ROOT } from '../support/estate.ts'

const OTHERS = ['text', 'wide', 'name'] as const

const COMMANDS: readonly (readonly [string, readonly string[]])[] = [
  ['explain', ['explain', '-A']],
  ['conflicts', ['conflicts', '-A']],
  ['who-selects', ['who-selects', '-A']],
  ['who-selects --entries', ['who-selects', '-A', '--entries']],
  ['policies', ['policies', '-A']],
  ['map', ['map', '-A']],
  ['suggest', ['suggest', '-A']],
  ['migrate', ['migrate', '-A']],
  ['rename', ['rename', 'objective/team-a/chat', 'assistant']],
  ['diff', ['diff']],
  ['verify', ['verify', '--entries', 'examples/server/entries.json']],
  ['why', ['why', 'deployment/llama', '-A', '--entries', 'examples/server/entries.json']],
  ['test', ['test', 'examples/identity-tests/estate.yaml']],
]

describe.each(COMMANDS)('%s over the whole estate', (_, command) => {
  test('as it is', async () => {
    const args = [...command, ...ESTATE_FLAGS]
    const { exitCode } = await agreedCounts(args, PROJECT_ROOT)
    for (const format of OTHERS)
      expect((await inProcess([...args, '-o', format], PROJECT_ROOT)).code).toBe(exitCode)
  })

  test('with suppressions and a stricter threshold', async () => {
    const codes = ['KLM402=iib/*/*', 'KLM601=xaccesspolicy/*/*', 'KLM412=iib/a/b']
    const flags = codes.flatMap((code) => ['--suppress', code])
    const args = [...command, ...ESTATE_FLAGS, ...flags, '--fail-on', 'warning']
    const { suppressed, warning, incomplete } = await agreedCounts(args, PROJECT_ROOT)
    expect(suppressed > 0).toBe(
      !['test', 'suggest', 'migrate', 'rename', 'verify', 'why'].includes(command[0] ?? ''),
    )
    // The flag that nothing answers to is one of them, unless what is not known might.
    expect(incomplete || warning > 0).toBe(true)
  })

  test('with a document that cannot be read: every format says so, and the exit code is 4', async () => {
    const cwd = await workspace({ 'broken.yaml': 'kind: [\n' })
    const args = [...command, ...ESTATE_FLAGS, '-f', join(cwd, 'broken.yaml'), '--fail-on', 'error']
    expect(await agreedCounts(args, PROJECT_ROOT)).toMatchObject({ incomplete: true, exitCode: 4 })
  })
})

test('places are those of the files: the line of a result holds the object it is about', async () => {
  const { stdout } = await inProcess(['conflicts', '-A', ...ESTATE_FLAGS, '-o', 'github'], PROJECT_ROOT)
  const places = [
    ...stdout.matchAll(/^::\w+ file=([^,]+),line=(\d+),title=KLM\d+[^:]*::(\w+)\/(?:[\w-]+\/)?([\w.-]+)/gm),
  ]
  expect(places.length).toBeGreaterThan(10)
  for (const [, file = '', line = '', kind = '', name = ''] of places) {
    const rows = (await readFile(join(PROJECT_ROOT, file), 'utf8')).split('\n').slice(Number(line) - 1)
    const end = rows.findIndex((row, at) => at > 0 && row.startsWith('---'))
    const object = rows.slice(0, end < 0 ? undefined : end).join('\n')
    expect(object).toContain(`kind: ${kind}`)
    expect(object).toContain(`name: ${name}`)
  }
})
