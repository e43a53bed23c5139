// What a diff tells as its reason is reported once: the summary and the fix of a new error, the bindings whose verdict changes.
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { inProcess } from '../../support/in-process.ts'

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url))
const SUMMARY = 'ClusterSPIFFEID/mesh-llama gives the identity to 1 pod of namespace team-b'
const FIX = 'fix: Find out who made the other registration'

async function diff(...args: readonly string[]): Promise<string> {
  const { stdout } = await inProcess(['diff', '--offline', ...args], ROOT, { COLUMNS: '200' })
  return stdout
}

function timesIn(text: string, part: string): number {
  return text.split(part).length - 1
}

const STEAL = ['--live', 'examples/estate', '-R', '-f', 'examples/changes/steal-identity']

test.each([
  ['the only new error', STEAL],
  ['an error beside broken tests', [...STEAL, '--tests', 'examples/identity-tests']],
])('%s has its summary and its fix once', async (_, args) => {
  const text = await diff(...args)
  expect({ summary: timesIn(text, SUMMARY), fix: timesIn(text, FIX) }).toEqual({ summary: 1, fix: 1 })
})

test('the only new error is the reason below the first line, its fix the third', async () => {
  const [, reason, fix] = (await diff(...STEAL)).split('\n')
  expect(reason).toBe(`  ${SUMMARY} (KLM308)`)
  expect(fix).toContain(FIX)
})

test('a new finding is no reason of what containers lose', async () => {
  const text = await diff('--live', 'examples/estate', '-R', '-f', 'examples/changes/rename-objective')
  const [lead, ...rest] = text.split('\n')
  expect(lead).toMatch(/^! 3 containers of team-a lose \S+ and hold \S+ instead$/)
  expect(rest).toContain('  new: a policy names an identity that nothing gives (KLM601)')
})

test('bindings that the reason names are in no list below; those that it counts are', async () => {
  const two = await diff('--live', 'examples/estate', '-R', '-f', 'examples/changes/add-collision')
  expect(two).not.toContain('(not there)')
  expect(two.split('\n')[2]).toContain(
    'team-a/chat: ready → refused (IdentityCollision); team-a/batch is new',
  )
  const three = await diff('--base', 'examples/pull-request/base', '-R', '-f', 'examples/pull-request/head')
  expect(three.split('\n')[2]).toBe('  team-c/search and 1 more are deleted; team-c/web-search is new: ready')
  expect(three).toMatch(/^ {2}team-c\/tagging +ready → \(deleted\)$/m)
})

test('containers that lose all are named once', async () => {
  const text = await diff('--live', 'examples/estate', '-R', '-f', 'examples/changes/add-collision')
  expect(text).toContain('  ! all 3 are left without an identity')
  expect(timesIn(text, 'team-a/llama-pqjm8lw-mv9tr, team-a/llama-pqjm8lw-qx54w\n')).toBe(1)
})
