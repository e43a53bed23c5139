import { join } from 'node:path'
import { expect, test } from 'vitest'
import { COMMANDS } from '../../src/cli/commands.ts'
import { EXIT } from '../../src/cli/errors.ts'
import { inProcess } from './in-process.ts'

const ROOT = join(import.meta.dirname, '../../..')

/** The examples of all help pages that are one plain command. */
const LINES = Object.values(COMMANDS).flatMap(({ examples }) =>
  examples
    .map((example) => (typeof example === 'string' ? example : example.command))
    .filter((line) => line.startsWith('<%= config.bin %> '))
    .map((line) => line.replace('<%= config.bin %> ', '')),
)

test.each(LINES)('the example `kubectl kleym %s` answers', async (line) => {
  const ran = await inProcess(line.split(' '), ROOT)
  // What stderr says shows up when this fails.
  const answered = ran.code === EXIT.ok || ran.code === EXIT.findings || ran.code === EXIT.incomplete
  expect({ ...ran, stdout: ran.stdout !== '', answered }).toMatchObject({ stdout: true, answered: true })
})
