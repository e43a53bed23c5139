// Which runs are told to be short: those over files of few bytes. A long one would be slower by it.
import { expect, test } from 'vitest'
import { inProcess } from '../support/in-process.ts'
import { workspace } from '../support/workspace.ts'

const BINDING = [
  'apiVersion: kleym.sonda.red/v1alpha1',
  'kind: InferenceIdentityBinding',
  'metadata: { name: chat, namespace: team-a }',
  'spec: { poolRef: { name: llama } }',
  '',
].join('\n')
const LIMIT = 256 * 1024

async function timesTold(args: readonly string[], bytes: number): Promise<number> {
  const padding = `#${' '.repeat(bytes - BINDING.length - 2)}\n`
  const cwd = await workspace({ 'binding.yaml': `${BINDING}${padding}` })
  let told = 0
  const { stdout } = await inProcess(
    [...args, '--offline', '-f', '.'],
    cwd,
    {},
    { expectShortRun: () => told++ },
  )
  expect(stdout).toMatch(/chat|1 binding/)
  return told
}

test.each([
  { what: 'an explanation of one binding', args: ['explain', 'team-a/chat'], bytes: LIMIT, told: 1 },
  { what: 'an explanation of all', args: ['explain', '-A'], bytes: LIMIT, told: 1 },
  { what: 'an explanation of more bytes', args: ['explain', 'team-a/chat'], bytes: LIMIT + 1, told: 0 },
  { what: 'another question', args: ['conflicts', '-A'], bytes: LIMIT, told: 1 },
])('$what: $told', async ({ args, bytes, told }) => {
  expect(await timesTold(args, bytes)).toBe(told)
})
